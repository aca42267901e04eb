"""Mistral's chat: Chat Completions with calls that come whole, most often in the chunk that has the finish reason.

What differs is covered by the tolerant reader of Chat Completions: content as a list of parts, arguments as an
object, no index (2024), and the ids `"null"` and indexes 0 that the SDK makes of missing ones. The SDK wraps each
chunk in an event. Ids have nine letters or digits, and requests with others are refused; so generated ones have that
form.

Source: https://docs.mistral.ai/api/
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from toolstream.identity import absent
from toolstream.providers.openai_chat import OpenAIChat

if TYPE_CHECKING:
    from toolstream.assembler import Assembler

__all__ = ["Mistral"]


def _new_id() -> str:
    return os.urandom(5).hex()[:9]


class Mistral(OpenAIChat):
    """One stream of chunks."""

    name = "mistral"

    def __init__(self, assembler: Assembler) -> None:
        OpenAIChat.__init__(self, assembler)
        assembler.default_id = _new_id

    def feed(self, event: dict[str, Any]) -> None:
        """One chunk, or one event of the SDK, which has the chunk inside."""
        data = event.get("data")
        if isinstance(data, dict) and "choices" not in event:
            event = data
        OpenAIChat.feed(self, event)

    def _calls(self, choice: int, entries: list[Any]) -> None:
        """Several calls of which none has an id have no index either: the SDK's 0 in each of them is none."""
        if all(isinstance(entry, dict) and absent(entry.get("id")) and entry.get("index") == 0 for entry in entries):
            entries = [{field: value for field, value in entry.items() if field != "index"} for entry in entries]
        OpenAIChat._calls(self, choice, entries)
