"""StreamingToolCallParser: chunks of tool calls by index, routed by what is known of the calls.

`identity.ParserIdentity` chooses the slot of a chunk; here is what a slot holds and what an answer says of it.

Two readers follow the text of a slot. The tracker counts brackets and quotes as they come, for better or worse: its
depth 0 is when an answer can be given. The JSON parser knows at every character whether the text is JSON, so no text is
parsed again, and it has the value. It leaves two cases in which text that may still grow is taken for whole:

- a bare number or literal (`12`, `true`), which only a delimiter would complete;
- an open string as root, whose missing quote is added (`repaired`).

Their values would cost the whole text at every chunk. So they are made when somebody reads `value`, from the text as it
was. Everything else costs the chunk, and O(log n) for the choice of a slot among n.
"""

from __future__ import annotations

from collections.abc import Callable

from toolstream._engine import JsonTracker, StreamingJsonParser
from toolstream._rules import BLANK, is_blank
from toolstream._text import TextBuffer
from toolstream.identity import ParserIdentity
from toolstream.streaming_json import parse_partial_json
from toolstream.types import MISSING, CompletedToolCall, JsonState, JsonValue, ToolCallMeta

__all__ = ["StreamingToolCallParser", "ToolCallParseResult"]

MAX_INDEX = 2**53 - 1  # the largest integer that every JSON reader gets right


def _is_index(index: object) -> bool:
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index <= MAX_INDEX


class ToolCallParseResult:
    """What `add_chunk` says of the call that the chunk went to.

    `complete`: the text is one whole JSON value, and `value` is it; else `value` is `MISSING`. `error`: why the text,
    whose brackets are balanced, is none. `repaired`: an open string was closed to read it. `actual_index`: the slot of
    the chunk, `None` where it was ignored or refused.
    """

    __slots__ = ("_late", "_value", "actual_index", "complete", "error", "repaired")
    __match_args__ = ("complete", "value", "error", "repaired", "actual_index")

    def __init__(
        self,
        complete: bool,
        value: JsonValue = MISSING,
        error: str | None = None,
        repaired: bool = False,
        actual_index: int | None = None,
    ) -> None:
        self.complete = complete
        self.error = error
        self.repaired = repaired
        self.actual_index = actual_index
        self._value = value
        self._late: tuple[TextBuffer, int, str] | None = None

    @property
    def value(self) -> JsonValue:
        """The value if the call is `complete`, to be read and not changed; else `MISSING`."""
        if self._late is not None:
            text, length, closing = self._late
            self._value = parse_partial_json(text.read_until(length) + closing, lenient=False)
            self._late = None
        return self._value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCallParseResult):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ToolCallParseResult({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"


class _Slot:
    """One call: `identity.ParserSlot`, and the text with its two readers."""

    __slots__ = ("blank", "id", "json", "name", "number", "text", "tracker", "whole")

    def __init__(self, number: int) -> None:
        self.number = number
        self.id: str | None = None
        self.name: str | None = None
        self.text = TextBuffer()
        self.tracker = JsonTracker()
        self.json = StreamingJsonParser()
        self.blank = True
        self.whole = False

    def append(self, chunk: str) -> None:
        if not chunk:
            return
        self.blank = self.blank and is_blank(chunk)
        self.text.append(chunk)
        self.tracker.feed(chunk)
        json = self.json
        if json.valid:  # else nothing that follows makes it JSON
            json.feed(chunk)
        self.whole = json.depth == 0 and json.valid and (json.complete or self._is_bare_scalar(chunk[-1]))

    def _is_bare_scalar(self, last: str) -> bool:
        """Whether the text, valid and outside containers, is a number or literal that may go on; `last` is its last
        character.
        """
        if self.blank or self.json.in_string:
            return False
        if last in "el":  # of a literal, or of a number for the only time
            return self.text.read().strip(BLANK) in ("true", "false", "null")
        return last in "0123456789"

    @property
    def open(self) -> bool:
        return self.tracker.depth != 0 or self.tracker.in_string

    @property
    def incomplete(self) -> bool:
        """Whether the text ends inside a container or string."""
        return self.tracker.depth > 0 or self.tracker.in_string

    @property
    def lacks_a_quote(self) -> bool:
        """Whether the text and a quote are a whole string."""
        json = self.json
        return json.valid and json.in_string and json.depth == 0 and not json.escape

    @property
    def arguments(self) -> dict[str, JsonValue] | None:
        """The arguments if the text is a whole object."""
        value = self.json.snapshot() if self.whole and self.json.complete else None
        return value if type(value) is dict else None

    def result(self) -> ToolCallParseResult:
        number = self.number
        if self.tracker.depth != 0 or self.blank:
            return ToolCallParseResult(False, actual_index=number)
        if self.whole and self.json.complete:
            return ToolCallParseResult(True, self.json.snapshot(), actual_index=number)
        if self.whole or self.lacks_a_quote:
            result = ToolCallParseResult(True, repaired=not self.whole, actual_index=number)
            result._late = (self.text, self.text.length, " " if self.whole else '"')
            return result
        offset, why = self.json.error or (self.text.length, "the text ends too early")
        return ToolCallParseResult(False, error=f"not valid JSON at offset {offset}: {why}", actual_index=number)


class StreamingToolCallParser:
    """Tool calls from the chunks of Chat Completions and its kin, whatever index and id they come with. One a stream.

        >>> parser = StreamingToolCallParser()
        >>> parser.add_chunk(0, '{"city": ', id="call_1", name="weather").complete
        False
        >>> parser.add_chunk(0, '"Oslo"}').value
        {'city': 'Oslo'}
        >>> parser.add_chunk(0, '{"city": "Rome"}', id="call_2", name="weather").actual_index
        1
        >>> parser.get_completed_tool_calls()[1]
        CompletedToolCall(id='call_2', name='weather', args={'city': 'Rome'}, index=1)

    `fallback` reads a text that is no JSON for `get_completed_tool_calls`: a callable that takes the text and returns a
    value; anything but a dict counts as `{}`. Without one, it is what `StreamingJsonParser` shows of the text.

    The rules are those of the class of the same name in Qwen Code 0.24.4, but for three faults that lost calls
    (`identity.ParserIdentity` has them). A name that comes in pieces is not joined: the first piece stays
    (`ToolCallAccumulator` joins them).
    """

    __slots__ = ("_fallback", "_identity", "_incomplete", "_invalid", "_invalid_index", "_nameless", "_slots")

    def __init__(self, *, fallback: Callable[[str], object] | None = None) -> None:
        if fallback is not None and not callable(fallback):
            raise TypeError(f"fallback must be callable or None, not {type(fallback).__name__}")
        self._fallback = fallback
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._slots: dict[int, _Slot] = {}
        self._identity = ParserIdentity(self._slots)
        self._invalid_index = False
        self._nameless: set[int] = set()
        self._incomplete: set[int] = set()
        self._invalid: set[int] = set()

    def reset_index(self, index: int) -> None:
        """Empty the slot `index`. Its place in the list stays, and so do the ids that lead to it."""
        if not _is_index(index):
            return
        slot = self._slots[index] = _Slot(index)
        self._identity.reset_index(index)
        self._settle(slot)

    def add_chunk(self, index: int, chunk: str, id: str | None = None, name: str | None = None) -> ToolCallParseResult:
        """Add a chunk of arguments, and say what is known of the call that it went to.

        An empty `id` or `name` is absent; a name is trimmed. An `index` that is no integer from 0 to 2^53-1 is refused,
        with an `error` and a mark. A blank chunk without id and name does nothing where no text is open at its index.
        A chunk of a known id whose text is whole is a replay and is ignored.
        """
        if not isinstance(chunk, str):
            raise TypeError(f"a chunk must be str, not {type(chunk).__name__}")
        if id and not isinstance(id, str):
            raise TypeError(f"an id must be str or None, not {type(id).__name__}")
        id = id or None
        if name:
            if not isinstance(name, str):
                raise TypeError(f"a name must be str or None, not {type(name).__name__}")
            name = name.strip(BLANK)
        name = name or None
        if not _is_index(index):
            self._invalid_index = True
            return ToolCallParseResult(False, error=f"the index of a call must be an integer from 0 up, not {index!r}")
        here = self._slots.get(index)
        if id is None and name is None and (here is None or not here.open) and is_blank(chunk):
            return ToolCallParseResult(False)

        known = id is not None and self._identity.knows(id)
        number = self._identity.slot_number(index, chunk, id, name)
        slot = self._slots.get(number)
        if slot is None:
            slot = self._slots[number] = _Slot(number)
        header_only = not chunk and (id is not None or name is not None)
        if known and slot.whole and not header_only:
            return ToolCallParseResult(False, actual_index=number)

        goes_on = slot.incomplete and id is None and name is None
        other_call = id is not None and slot.id is not None and id != slot.id
        if id is not None:
            slot.id = id
        if name is not None:
            if slot.name is None or (other_call and not header_only):
                slot.name = name
            elif name != slot.name and not header_only:
                self._identity.conflict = True
        self._identity.remember(index, slot)
        if not header_only:
            slot.append(chunk)
        if not (goes_on and slot.incomplete):  # else it is what it was
            self._settle(slot)
        return ToolCallParseResult(False, actual_index=number) if header_only else slot.result()

    def _settle(self, slot: _Slot) -> None:
        """Bring what is known of all slots up to date with one that has changed."""
        self._identity.changed(slot)
        named = slot.name is not None
        for holds, numbers in (
            (not named and (slot.id is not None or not slot.blank), self._nameless),
            (named and slot.incomplete, self._incomplete),
            (named and slot.text.length > 0 and slot.arguments is None, self._invalid),
        ):
            if holds:
                numbers.add(slot.number)
            else:
                numbers.discard(slot.number)

    def get_completed_tool_calls(self, include_empty: bool = False) -> list[CompletedToolCall]:
        """The calls that have a name, in the order in which their slots were first used; one for each id.

        Sort by `index` for that order. Ask when the stream has ended; asking in between ends nothing. A text that is no
        JSON is read by the fallback, as far as it goes: look at `has_incomplete_tool_calls` and
        `has_invalid_tool_call_arguments` before running anything. `args` is `{}` where there is no object;
        `get_buffer(call.index)` is the text. Calls without text are listed with `include_empty`.
        """
        calls = []
        seen = set()
        for slot in self._slots.values():
            if slot.name is None or slot.id in seen or (slot.blank and not include_empty):
                continue
            if slot.id is not None:
                seen.add(slot.id)
            calls.append(CompletedToolCall(slot.id, slot.name, self._args(slot), slot.number))
        return calls

    def _args(self, slot: _Slot) -> dict[str, JsonValue]:
        if slot.blank or slot.whole or slot.lacks_a_quote:
            return slot.arguments or {}
        text = slot.text.read()
        value = self._fallback(text) if self._fallback is not None else parse_partial_json(text, lenient=False)
        return value if isinstance(value, dict) else {}

    def get_buffer(self, index: int) -> str:
        """The text in the slot `index` as sent; `""` if there is none."""
        slot = self._slots.get(index)
        return "" if slot is None else slot.text.read()

    def get_state(self, index: int) -> JsonState:
        """Where the text in the slot `index` stands. Brackets count outside strings, whatever their kind."""
        slot = self._slots.get(index)
        if slot is None:
            return JsonState(0, False, False)
        return JsonState(slot.tracker.depth, slot.tracker.in_string, slot.tracker.escape)

    def get_tool_call_meta(self, index: int) -> ToolCallMeta:
        """Id and name of the call in the slot `index`."""
        slot = self._slots.get(index)
        return ToolCallMeta(None, None) if slot is None else ToolCallMeta(slot.id, slot.name)

    def has_incomplete_tool_calls(self) -> bool:
        """Whether the text of a call with a name ends inside a container or string."""
        return bool(self._incomplete)

    def has_nameless_tool_call(self) -> bool:
        """Whether a call has an id or text, and no name."""
        return bool(self._nameless)

    def has_conflicting_tool_call_identity(self) -> bool:
        """Whether a chunk contradicted what was known of its call: another name, a second id, an invalid index."""
        return self._identity.conflict or self._invalid_index

    def has_invalid_tool_call_index(self) -> bool:
        """Whether a chunk was refused for its index."""
        return self._invalid_index

    def has_invalid_tool_call_arguments(self) -> bool:
        """Whether the text of a call with a name is not one JSON object. White space alone counts; no text does not."""
        return bool(self._invalid)
