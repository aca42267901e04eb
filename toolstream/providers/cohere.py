"""Cohere v2 chat.

    message-start, (tool-plan-delta | content-start, content-delta*, content-end)*,
    (tool-call-start, tool-call-delta*, tool-call-end)*, message-end

Calls are keyed by `index`, counted apart from the content blocks: the first of both is 0. `tool_calls` in the events
is an object, not a list. A call without arguments has no delta at all. The tool plan is what the model means to do
with the tools: it goes to `reasoning`, like thinking.

`blocks` holds dicts with a `type`: `tool_plan` (tool_plan), `text` (text), `thinking` (thinking), `citation`
(citation). The older v1 protocol (`event_type`) is another one.

Source: https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolstream.providers import Block
from toolstream.providers._blocks import BlockProvider, text_arguments

if TYPE_CHECKING:
    from toolstream.assembler import Assembler, Meaning

__all__ = ["Cohere"]

_MEANINGS: Final[dict[Any, Meaning]] = {
    "TOOL_CALL": "tool_calls",
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "ERROR": "error",
    "TIMEOUT": "error",
}

_NOT_EXTRA: Final = frozenset(("id", "type", "function"))


class Cohere(BlockProvider):
    """One v2 chat stream."""

    name = "cohere"

    def __init__(self, assembler: Assembler) -> None:
        BlockProvider.__init__(self, assembler)
        self._content: Block | None = None  # the block that text goes to

    def feed(self, event: dict[str, Any]) -> None:
        """One event."""
        kind = event.get("type")
        if kind == "tool-call-delta" and self._continues(event):
            return
        delta = event.get("delta")
        if not isinstance(delta, dict):
            delta = {}
        message = delta.get("message")
        if not isinstance(message, dict):
            message = {}
        if kind == "tool-call-delta":
            self.fragment(event.get("index"), _function(_tool_call(message)).get("arguments", ""))
        elif kind in ("content-delta", "content-start"):
            if kind == "content-start":
                self._content = None
            content = message.get("content")
            if isinstance(content, dict):
                self._words("text", content.get("text"))
                self._words("thinking", content.get("thinking"))
        elif kind == "tool-plan-delta":
            self._words("tool_plan", message.get("tool_plan"))
        elif kind == "tool-call-start":
            call = _tool_call(message)
            function = _function(call)
            self.open_call(
                event.get("index"),
                id=call.get("id"),
                name=function.get("name"),
                kind="function",
                arguments=function.get("arguments"),
                extras={field: value for field, value in call.items() if field not in _NOT_EXTRA and value is not None},
            )
        elif kind == "tool-call-end":
            self.close_at(event.get("index"))
        elif kind == "citation-start":
            self.blocks.append(Block({"type": "citation", "citation": self.assembler.exact(message.get("citations"))}))
        elif kind == "message-end":
            self._end(delta)
        elif kind == "error" or "error" in event:
            self.assembler.error(event.get("error") or {k: v for k, v in event.items() if k != "type"})

    def _continues(self, event: dict[str, Any]) -> bool:
        """The short way of nearly all fragments: text for an open call. Whether it is one."""
        try:
            text = event["delta"]["message"]["tool_calls"]["function"]["arguments"]
            index = event["index"]
            call = self._direct[index]
        except (KeyError, TypeError):
            return False
        if type(text) is not str or type(index) is not int:
            return False
        self.assembler.append(call, text)
        return True

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The assistant's message: calls, the plan that led to them, text and thinking, citations."""
        out: dict[str, Any] = {"role": "assistant"}
        plan: list[str] = []
        content: list[dict[str, Any]] = []
        citations: list[Any] = []
        calls: list[dict[str, Any]] = []
        for block in self.sent():
            if not isinstance(block, Block):
                function = {"name": block.name, "arguments": text_arguments(block)}
                calls.append({"id": block.id, "type": "function", "function": function, **block.extras})
                continue
            value = block.value()
            if block.type == "tool_plan":
                plan.append(value["tool_plan"])
            elif block.type == "citation":
                citation = value.get("citation")
                citations += citation if isinstance(citation, list) else [citation] if citation else []
            else:
                content.append(value)
        if calls:
            out["tool_calls"] = calls
        if plan:
            out["tool_plan"] = "".join(plan)
        if content:
            out["content"] = content
        if citations:
            out["citations"] = citations
        return out

    def _words(self, kind: str, text: Any) -> None:
        if not text or not isinstance(text, str):
            return
        if self._content is None or self._content.type != kind:
            self._content = Block({"type": kind})
            self.blocks.append(self._content)
        self._content.append(kind, text)
        if kind == "text":
            self.assembler.text(text)
        else:
            self.assembler.reasoning(text)

    def _end(self, delta: dict[str, Any]) -> None:
        if delta.get("error"):
            self.assembler.error(delta["error"])
        word = delta.get("finish_reason")
        self.close()
        self.assembler.finish(word, _MEANINGS.get(word) if isinstance(word, str) else None)
        self.assembler.usage(delta.get("usage"))
        self.assembler.end_mark(closes_blocks=True)


def _tool_call(message: dict[str, Any]) -> dict[str, Any]:
    call = message.get("tool_calls")
    if isinstance(call, list) and call:
        call = call[0]
    return call if isinstance(call, dict) else {}


def _function(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}
