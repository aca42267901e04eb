"""Deltas of any protocol to calls, events, defects and verdicts.

Providers call methods; nothing is built per piece but its event. Two ways in:

- *identity inferred* (Chat Completions and its kin): `delta` with whatever the entry carries; rules 1 to 4 find the call;
- *identity announced* (all other protocols): `open` when the protocol announces a call, then `append`, `replace`, `whole`,
  `final_text` with the call that `open` or `find` gave, and `end` where the protocol ends it.

Calls that were not ended are ended by `close`, when the stream ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, TypeAlias

from toolstream.completion import Completion, ToolCall
from toolstream.types import Event, Limits

__all__ = ["Assembler", "Meaning"]

Meaning: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]
"""What a provider's finish word means."""


class Assembler:
    """One stream's calls. A provider is made with it and calls it; `ToolCallStream` owns it and takes the events."""

    call_word: bool = True
    """Does the protocol have a finish word for calls? A provider without one sets it to false (no `finish_mismatch`)."""

    completion: Completion

    def __init__(
        self,
        *,
        strict: bool = False,
        changes: bool = False,
        limits: Limits | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None: ...

    # ------------------------------------------------------------ identity inferred

    def delta(
        self,
        choice: int,
        index: object,
        id: object,
        name: object,
        arguments: object,
        *,
        kind: str = "function",
        bare: int | None = None,
    ) -> ToolCall | None:
        """One entry of a delta, by rules 1 to 5; the call it went to, `None` for an orphan or an entry of nothing.

        `index`: as sent, `MISSING` if there is no such key. `id`, `name`: as sent, `None` if absent. `arguments`: text, an
        object, or `None`. `bare`: of an entry without index, id and name, its number among such entries of this list,
        after `bare_entries` has said how many there are; else `None`.
        """
        raise NotImplementedError

    def bare_entries(self, choice: int, count: int) -> None:
        """Before a list with several entries that have no index, id and name: how many (rule 3)."""
        raise NotImplementedError

    # ------------------------------------------------------------ identity announced

    def open(
        self,
        key: Hashable,
        *,
        id: object = None,
        name: object = None,
        kind: str = "function",
        index: object = None,
        choice: int = 0,
        free_text: bool = False,
    ) -> ToolCall:
        """The protocol announces a call. `key` is what later events name it by (`None`: nothing does); a key taken before
        is taken over, with `index_reused`. `id`, `name`: as sent, absent where missing, null, empty or the text `null`.
        `free_text`: the input is text, not JSON (custom tools, code). `LimitExceededError` beyond `max_calls`."""
        raise NotImplementedError

    def alias(self, call: ToolCall, key: Hashable) -> None:
        """Let `find` know the call by one more key."""
        raise NotImplementedError

    def find(self, key: Hashable) -> ToolCall | None:
        """The call under that key, if it has not ended."""
        raise NotImplementedError

    def known(self, key: Hashable) -> ToolCall | None:
        """The call under that key, ended or not."""
        raise NotImplementedError

    def header(self, call: ToolCall, id: object = None, name: object = None) -> None:
        """Id and name as a later event of the call has them: late, repeated or changed ones are handled by rule 4."""
        raise NotImplementedError

    def append(self, call: ToolCall, text: str) -> None:
        """A fragment of the arguments, by rule 5; on a call that has ended it is an `orphan_delta`."""
        raise NotImplementedError

    def replace(self, call: ToolCall, text: str) -> None:
        """The whole text so far, written anew (no defect): an extension adds, anything else restarts the text."""
        raise NotImplementedError

    def whole(self, call: ToolCall, value: object, *, normal: bool = True) -> None:
        """Arguments as an object instead of text. `normal`: it is this protocol's form, so `args_object` is not reported."""
        raise NotImplementedError

    def final_text(self, call: ToolCall, text: object, *, done: bool = True) -> None:
        """The whole text, repeated at the end; it wins (`done_mismatch`, `done_extends_deltas`).

        `done`: from a `done` event, where an empty text after deltas is `done_empty`; else from an item or snapshot, where
        an empty one is absent. Anything but text is absent. On a call that has ended it changes nothing."""
        raise NotImplementedError

    def end(self, call: ToolCall, *, regular: bool = True) -> None:
        """The protocol ended this call: the verdict. `regular`: false if it called the call incomplete. Ending twice is
        ending once."""
        raise NotImplementedError

    def extras(self, call: ToolCall, fields: Mapping[str, object]) -> None:
        """Vendor fields that the next request must carry: the last value that is not null stays, per key."""
        raise NotImplementedError

    # ------------------------------------------------------------ the message

    def text(self, text: object, choice: int = 0) -> None:
        """Text for people (anything but a non-empty `str` is ignored)."""
        raise NotImplementedError

    def reasoning(self, text: object, choice: int = 0) -> None:
        """Reasoning text (anything but a non-empty `str` is ignored)."""
        raise NotImplementedError

    def finish(self, word: object, meaning: Meaning | None, choice: int = 0) -> None:
        """A finish word as sent (an empty one is none), and what it means (`None`: an end, nothing more is known)."""
        raise NotImplementedError

    def usage(self, usage: object) -> None:
        """Counts; later values win, key by key. Anything but a dict is ignored."""
        raise NotImplementedError

    def error(self, error: object) -> None:
        """The provider's error event (`stream_error`): a dict, or a text, which becomes `{"message": text}`."""
        raise NotImplementedError

    def end_mark(self, *, closes_blocks: bool = False) -> None:
        """The protocol's own end of the stream or message. `closes_blocks`: blocks have ends of their own in this protocol,
        so every call opened and not ended is `block_unclosed`."""
        raise NotImplementedError

    def defect(self, code: str, call: ToolCall | None = None, *, offset: int | None = None, detail: str = "") -> None:
        """Report a code of `defects.DEFECTS`, once for each call (or once for the stream); repeats are only counted.
        `detail` is put after the sentence; never argument text."""
        raise NotImplementedError

    # ------------------------------------------------------------ for the stream

    def take(self) -> list[Event]:
        """The events since the last `take`."""
        raise NotImplementedError

    def close(self) -> list[Event]:
        """The input has ended: all verdicts, and `StreamEnd`. Closing twice gives nothing more."""
        raise NotImplementedError
