"""What a stream has given: `Completion`, the message, and `ToolCall`, one call of it.

Both are live: the assembler fills them while the stream is read, and anyone may read them at any time. Reading costs O(1),
but for the texts, which cost their length when they are read after they have grown.
"""

from __future__ import annotations

__all__ = ["Completion", "ToolCall"]


class ToolCall:
    """One call of a tool. Live until `ToolCallEnd`, then final."""


class Completion:
    """The message that a stream gives. Live until `StreamEnd`, then final."""
