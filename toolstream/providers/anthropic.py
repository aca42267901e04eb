"""Anthropic Messages: also through Vertex, inside Bedrock's InvokeModel, and from the many servers that imitate it.

    message_start, (content_block_start, content_block_delta*, content_block_stop)*, message_delta, message_stop

Blocks are keyed by `index` and share the numbering with text and thinking. A call's `input` in its start event is
`{}`, a placeholder that counts only where it is not empty and no fragment follows (programmatic calls, bridges). A
call without arguments has one empty fragment. When the budget runs out inside a block its stop never comes.
`message_start` may carry whole blocks already (resumed runs), and gateways that retry splice a second one into the
stream: with the same id it is a repeat, with another the first message is dead: that is an error, and the end of what
is read. What SDK helpers derive from these events and yield beside them (`text`, `input_json`, ...) is of unknown
type here and ignored, like every unknown event, block and delta.

`blocks` holds the content blocks as sent, text, thinking, signatures and citations put together. A call's `extras`
are the fields of its block beside `type`, `id`, `name` and `input` (`caller`, `cache_control`, `server_name`, ...).

Source: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolstream._rules import is_blank
from toolstream.providers import Block
from toolstream.providers._blocks import BlockProvider, object_arguments

if TYPE_CHECKING:
    from toolstream.assembler import Assembler, Meaning

__all__ = ["Anthropic"]

_MEANINGS: Final[dict[Any, Meaning]] = {
    "tool_use": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}

_KINDS: Final = {"tool_use": "function", "mcp_tool_use": "mcp"}  # every other `*tool_use` is run by the server
_TYPES: Final = {"function": "tool_use", "mcp": "mcp_tool_use", "server": "server_tool_use"}
_NOT_EXTRA: Final = frozenset(("type", "id", "name", "input"))
_THOUGHTS: Final = ("thinking", "redacted_thinking", "connector_text")  # of one model, for no other one


class Anthropic(BlockProvider):
    """One Messages stream."""

    name = "anthropic"
    object_start = True

    def __init__(self, assembler: Assembler) -> None:
        BlockProvider.__init__(self, assembler)
        self._message_id: Any = None
        self._started = False
        self._abandoned = False

    def feed(self, event: dict[str, Any]) -> None:
        """One event."""
        kind = event.get("type")
        if kind == "content_block_delta":
            delta = event.get("delta")
            if isinstance(delta, dict):
                text = delta.get("partial_json")
                if isinstance(text, str):
                    index = event.get("index")
                    call = self._direct.get(index) if type(index) is int else None
                    if call is not None:
                        self.assembler.append(call, text)  # as `fragment` would, the short way
                    elif not self._abandoned:
                        self.fragment(index, text)
                elif not self._abandoned:
                    self._delta(event.get("index"), delta)
        elif self._abandoned:
            return
        elif kind == "content_block_start":
            block = event.get("content_block")
            if isinstance(block, dict):
                self._start(event.get("index"), block)
        elif kind == "content_block_stop":
            self.close_at(event.get("index"))
        elif kind == "message_delta":
            delta = event.get("delta")
            if isinstance(delta, dict):
                self._finish(delta)
            self.assembler.usage(event.get("usage"))
        elif kind == "message_start":
            message = event.get("message")
            self._message(message if isinstance(message, dict) else {})
        elif kind == "message_stop":
            self.close()
            self.assembler.end_mark(closes_blocks=True)
        elif kind == "error" or "error" in event:
            self.assembler.error(event.get("error") or {k: v for k, v in event.items() if k != "type"})

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The assistant's message, block by block as sent. What no request may hold is left out: blank text, of a
        broken stream thinking without its signature and calls of the server whose input was cut, and of a model that
        declined, where another one went on, its thinking and the calls without a result, which get none any more."""
        content: list[dict[str, Any]] = []
        declined = 0  # so many blocks are of models that declined
        for block in self.sent():
            if isinstance(block, Block):
                value = block.value()
                if value.get("type") == "text" and is_blank(str(value.get("text") or "")):
                    continue
                if value.get("type") == "thinking" and not value.get("signature"):
                    continue
                if value.get("type") == "fallback":
                    declined = len(content)
                content.append(value)
            elif block.kind == "function" or block.status == "complete":
                call = {
                    "type": _TYPES[block.kind],
                    "id": block.id,
                    "name": block.name,
                    "input": object_arguments(block),
                }
                content.append({**call, **block.extras})
        if declined:
            content[:declined] = _of_declined(content[:declined])
        return {"role": "assistant", "content": content}

    def _start(self, index: Any, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if isinstance(kind, str) and kind.endswith("tool_use"):
            self.open_call(
                index,
                id=block.get("id"),
                name=block.get("name"),
                kind=_KINDS.get(kind, "server"),
                arguments=block.get("input"),
                extras=_extras(kind, block),
            )
            return
        self.open_block(index, block)
        if kind == "text":
            self.assembler.text(block.get("text"))
        elif kind == "thinking":
            self.assembler.reasoning(block.get("thinking"))

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        if "partial_json" in delta:
            self.fragment(index, delta["partial_json"])
        elif kind == "text_delta":
            text = delta.get("text")
            if isinstance(text, str):
                self.block_for(index, "text").append("text", text)
                self.assembler.text(text)
        elif kind == "thinking_delta":
            text = delta.get("thinking")
            if isinstance(text, str):
                self.block_for(index, "thinking").append("thinking", text)
                self.assembler.reasoning(text)
        elif kind == "signature_delta":
            self.block_for(index, "thinking").set("signature", delta.get("signature"))
        elif kind == "citations_delta":
            self.block_for(index, "text").append("citations", [delta.get("citation")])
        elif kind == "compaction_delta":
            block = self.block_for(index, "compaction")
            for field, value in delta.items():
                if field != "type" and value is not None:
                    block.set(field, value)

    def _finish(self, message: dict[str, Any]) -> None:
        word = message.get("stop_reason")
        if word:
            self.close()
            self.assembler.finish(word, _MEANINGS.get(word) if isinstance(word, str) else None)

    def _message(self, message: dict[str, Any]) -> None:
        identity = message.get("id")
        if self._started:
            if identity and self._message_id and identity != self._message_id:
                self._abandon()
            return
        self._started = True
        self._message_id = identity
        self.assembler.usage(message.get("usage"))
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                self._start(None, block)
                self.close_at(None)
        self._finish(message)

    def _abandon(self) -> None:
        """Another message has begun: nothing of the one before it will be finished, and reading on would give every
        call of a retried answer twice."""
        for block in self._open.values():
            if not isinstance(block, Block):
                self.assembler.end(block, regular=False)
        self._open.clear()
        self._whole.clear()
        self._direct.clear()
        self._abandoned = True
        self.assembler.error(
            {"type": "message_restarted", "message": "another message began before this one was whole"}
        )


def _of_declined(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What goes back of the blocks before a `fallback`.
    https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback#continuing-the-conversation"""
    results = {block["tool_use_id"] for block in blocks if isinstance(block.get("tool_use_id"), str)}
    return [
        block
        for block in blocks
        if block.get("type") not in _THOUGHTS
        and (not str(block.get("type")).endswith("tool_use") or block.get("id") in results)
    ]


def _extras(kind: str, block: dict[str, Any]) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    if not _NOT_EXTRA.issuperset(block):
        extras = {field: value for field, value in block.items() if field not in _NOT_EXTRA and value is not None}
    if kind not in ("tool_use", "server_tool_use", "mcp_tool_use"):
        extras["type"] = kind
    return extras
