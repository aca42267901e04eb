"""Ollama's own `/api/chat`: one JSON object a line, the last one with `"done": true`.

A call is whole in its entry, its arguments an object, so every entry is a call of its own, whether it has an id and
an index (newer servers) or not. There is no finish word for calls: `done_reason` is `stop` with and without them. A
call that the budget cut is never sent.

Source: https://docs.ollama.com/api/chat
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolstream._text import whole_text
from toolstream.providers import plain
from toolstream.providers._blocks import object_arguments

if TYPE_CHECKING:
    from toolstream.assembler import Assembler, Meaning
    from toolstream.completion import ToolCall

__all__ = ["Ollama"]

_MEANINGS: Final[dict[Any, Meaning]] = {"stop": "stop", "length": "length"}
_NOT_EXTRA: Final = frozenset(("id", "type", "function", "index"))


class Ollama:
    """One chat stream."""

    name = "ollama"
    exact_numbers = False
    has_done = False

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        assembler.call_word = False

    def feed(self, event: dict[str, Any]) -> None:
        """One line."""
        if "error" in event:
            error = event["error"]
            if error:
                self.assembler.error(error)
        message = event.get("message")
        entries = None
        if isinstance(message, dict):
            if "thinking" in message:
                self.assembler.reasoning(message["thinking"])
            content = message.get("content")
            if content:
                self.assembler.text(content)
            entries = message.get("tool_calls")
        if isinstance(entries, list):
            for entry in entries:
                function = entry.get("function") if type(entry) is dict else None
                if type(function) is not dict:
                    entry = plain(entry)  # an SDK's objects may stand inside of a dict
                    function = entry.get("function") if isinstance(entry, dict) else None
                    if not isinstance(function, dict):
                        continue
                try:
                    id, name, arguments = entry["id"], function["name"], function["arguments"]
                except KeyError:
                    id, name, arguments = entry.get("id"), function.get("name"), function.get("arguments")
                index = function["index"] if "index" in function else entry.get("index")
                call = self.assembler.whole_call(arguments, id, name, index) or self._call(arguments, id, name, index)
                self.assembler.end(call)
                if id is not None and len(entry) == 2:
                    continue  # that and the function
                if not _NOT_EXTRA.issuperset(entry):
                    fields = self.assembler.exact(plain(entry)).items()
                    self.assembler.extras(call, {field: value for field, value in fields if field not in _NOT_EXTRA})
        if event.get("done") is True:
            word = event.get("done_reason")
            self.assembler.finish(word, _MEANINGS.get(word) if isinstance(word, str) else None)
            self.assembler.usage({k: v for k, v in event.items() if k.endswith(("_count", "_duration"))})
            self.assembler.end_mark()

    def _call(self, arguments: Any, id: Any, name: Any, index: Any) -> ToolCall:
        """What there is to report about a call is found step by step."""
        call = self.assembler.open(None, id=id, name=name, index=index)
        if isinstance(arguments, str):
            self.assembler.append(call, arguments)
        elif arguments is not None:
            self.assembler.whole(call, plain(arguments))
        return call

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The assistant's message. Calls have ids also where none was sent: a tool's answer may name them."""
        done = self.assembler.completion
        out: dict[str, Any] = {"role": "assistant", "content": whole_text(done.text)}
        if done.reasoning:
            out["thinking"] = whole_text(done.reasoning)
        calls = [_request_call(call) for call in done.calls if call.name is not None]  # no request may hold others
        if calls:
            out["tool_calls"] = calls
        return out

    def close(self) -> None:
        """Nothing is open between lines."""


def _request_call(call: ToolCall) -> dict[str, Any]:
    function: dict[str, Any] = {"name": call.name, "arguments": object_arguments(call)}
    if call.index is not None:
        function["index"] = call.index
    return {"id": call.id, "function": function, **call.extras}
