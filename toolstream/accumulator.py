"""ToolCallAccumulator: the deltas of Chat Completions, put together by the letter of the protocol.

Deltas go by index (`identity.accumulator_index`), names and arguments are joined in order of arrival, nothing is parsed
and nothing is limited. Cost: a delta costs its text, `assembled` costs the calls and the text that has grown since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from toolstream._rules import NO_FIELDS, get_field
from toolstream._text import TextBuffer
from toolstream.identity import accumulator_index

__all__ = ["ToolCallAccumulator"]


def _fields(obj: Any) -> Callable[[str], Any] | None:
    """A reader for the fields of a delta, if it has any: what it is is asked once."""
    if isinstance(obj, dict):
        return obj.get
    return None if isinstance(obj, NO_FIELDS) else partial(get_field, obj)


class _Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name = TextBuffer()
        self.arguments = TextBuffer()


class ToolCallAccumulator:
    """Collects `delta.tool_calls` of one choice of one completion. Use a new one for each.

        >>> accumulator = ToolCallAccumulator()
        >>> accumulator.observe([{"index": 0, "id": "call_1", "function": {"name": "add", "arguments": '{"a": '}}])
        >>> accumulator.observe([{"index": 0, "function": {"arguments": "1}"}}])
        >>> accumulator.assembled()
        [{'id': 'call_1', 'type': 'function', 'function': {'name': 'add', 'arguments': '{"a": 1}'}}]

    It goes by the letter: whatever comes under one index is one call, all deltas without an index are one call, a name
    that is sent twice is there twice, and the last id wins. `StreamingToolCallParser` keeps the first name instead;
    `ToolCallStream` also handles providers that do not keep to the protocol.
    """

    __slots__ = ("_calls", "_dropped")

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}
        self._dropped = 0

    def observe(self, deltas: Iterable[Any] | None) -> None:
        """Take in the entries of one delta's `tool_calls`: dicts or SDK objects, `None` or an empty list for none.

        Every field is optional: `index`, `id`, `function.name`, `function.arguments`; `type` is not read. A field that
        should be text and is not, or is empty, adds nothing. A delta whose index is no integer from 0 up is dropped,
        and so is what has no fields at all.
        """
        for delta in deltas or ():
            field = _fields(delta)
            if field is None or (index := accumulator_index(field("index"))) is None:
                self._dropped += 1
                continue
            call = self._calls.get(index)
            if call is None:
                call = self._calls[index] = _Call()
            id = field("id")
            if id and isinstance(id, str):
                call.id = id
            field = _fields(field("function"))
            if field is not None:
                name = field("name")
                if isinstance(name, str):
                    call.name.append(name)
                arguments = field("arguments")
                if isinstance(arguments, str):
                    call.arguments.append(arguments)

    def assembled(self) -> list[dict[str, Any]]:
        """The calls so far, in the order of their indexes, in the shape of a finished message.

        What was not received is an empty string. Every answer is new, and ends nothing: ask in mid-stream as well.
        """
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name.read(), "arguments": call.arguments.read()},
            }
            for _, call in sorted(self._calls.items())
        ]

    @property
    def is_empty(self) -> bool:
        """Whether `assembled` has nothing to give: no delta has come, or only ones that were dropped."""
        return not self._calls

    @property
    def dropped_deltas(self) -> int:
        """How many deltas had no fields, or an index that is no integer from 0 up.

        Above 0, a call was meant that is not there.
        """
        return self._dropped
