"""Amazon Bedrock ConverseStream: `{event type: payload}`, as boto3 yields it and as `frame_event` makes it of the wire.

    messageStart, (contentBlockStart?, contentBlockDelta*, contentBlockStop)*, messageStop, metadata

Blocks are keyed by `contentBlockIndex`. Only calls and results have a start; text and reasoning begin with a
fragment, so that counting starts would shift every index. `p` is padding. A call of type `server_tool_use` is run by
Bedrock.

`blocks` holds flat dicts with a `type` of their own: `text` (text, citations), `reasoning` (text, signature,
redactedContent), `toolResult` (`start`, its start's fields, and content), `image` (`start`, and sources). Source:
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, Any, Final

from toolstream._rules import is_blank
from toolstream.providers import Block
from toolstream.providers._blocks import BlockProvider, object_arguments

if TYPE_CHECKING:
    from toolstream.assembler import Meaning

__all__ = ["BedrockConverse"]

_MEANINGS: Final[dict[Any, Meaning]] = {
    "tool_use": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}

_NOT_EXTRA: Final = frozenset(("toolUseId", "name", "input", "type"))


class BedrockConverse(BlockProvider):
    """One ConverseStream."""

    name = "bedrock-converse"

    def feed(self, event: dict[str, Any]) -> None:
        """One event, a dict with a single key."""
        for kind, payload in event.items():
            if not isinstance(payload, dict):
                if kind == "error" and payload:
                    self.assembler.error(payload)
                continue
            if kind == "contentBlockDelta":
                delta = payload.get("delta")
                if isinstance(delta, dict):
                    use = delta.get("toolUse")
                    if len(delta) == 1 and isinstance(use, dict):  # as `_delta` would, the short way
                        index, text = payload.get("contentBlockIndex"), use.get("input")
                        call = self._direct.get(index) if type(index) is int else None
                        if call is not None and type(text) is str:
                            self.assembler.append(call, text)
                        else:
                            self.fragment(index, text)
                    else:
                        self._delta(payload.get("contentBlockIndex"), delta)
            elif kind == "contentBlockStart":
                start = payload.get("start")
                if isinstance(start, dict):
                    self._start(payload.get("contentBlockIndex"), start)
            elif kind == "contentBlockStop":
                self.close_at(payload.get("contentBlockIndex"))
            elif kind == "messageStop":
                word = payload.get("stopReason")
                self.close()
                self.assembler.finish(word, _MEANINGS.get(word) if isinstance(word, str) else None)
                self.assembler.end_mark(closes_blocks=True)
            elif kind == "metadata":
                self.assembler.usage(payload.get("usage"))
            elif kind == "error":
                self.assembler.error(payload)
            elif kind.endswith("Exception"):
                self.assembler.error({"type": kind, **payload})

    def take_fragment(self, payload: Any) -> bool:
        """`Provider.take_fragment`."""
        call = None
        try:
            delta, index = payload["delta"], payload["contentBlockIndex"]
            if len(delta) != 1 or type(index) is not int:
                return False
            if "toolUse" in delta:
                call, text = self._direct[index], delta["toolUse"]["input"]
            else:
                block, text = self._open[index], delta.get("text")
        except (AttributeError, KeyError, TypeError):
            return False
        if type(text) is not str:
            return False
        if call is not None:
            self.assembler.append(call, text)
        elif isinstance(block, Block):
            block.append("text", text)
            self.assembler.text(text)
        else:
            return False
        return True

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The assistant's message, block by block as sent. What no request may hold is left out: blank text, and of a
        broken stream reasoning without its signature, and calls of the server whose input was cut."""
        content = []
        for block in self.sent():
            if isinstance(block, Block):
                value = _request_block(block.value())
                if value is not None:
                    content.append(value)
            elif block.kind == "function" or block.status == "complete":
                call = {"toolUseId": block.id, "name": block.name, "input": object_arguments(block), **block.extras}
                if block.kind == "server":
                    call["type"] = "server_tool_use"
                content.append({"toolUse": call})
        return {"role": "assistant", "content": content}

    def _start(self, index: Any, start: dict[str, Any]) -> None:
        call = start.get("toolUse")
        if isinstance(call, dict):
            self.open_call(
                index,
                id=call.get("toolUseId"),
                name=call.get("name"),
                kind="server" if call.get("type") == "server_tool_use" else "function",
                arguments=call.get("input"),
                extras={field: value for field, value in call.items() if field not in _NOT_EXTRA and value is not None},
            )
            return
        for kind, fields in start.items():
            if isinstance(fields, dict):
                self.open_block(index, {"type": kind, "start": self.assembler.exact(fields)})

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        for kind, value in delta.items():
            if value is None:
                continue  # a member that was not sent
            if kind == "toolUse":
                if isinstance(value, dict):
                    self.fragment(index, value.get("input", ""))
                else:
                    self.assembler.defect("orphan_delta")  # nothing says what was meant
            elif kind == "text":
                if isinstance(value, str):
                    self.block_for(index, "text").append("text", value)
                    self.assembler.text(value)
            elif kind == "reasoningContent":
                if isinstance(value, dict):
                    self._reasoning(index, value)
            elif kind == "toolResult":
                value = self.assembler.exact(value)
                self.block_for(index, "toolResult").append("content", value if isinstance(value, list) else [value])
            elif kind == "citation":
                self.block_for(index, "text").append("citations", [self.assembler.exact(value)])
            elif kind == "image" and isinstance(value, dict) and isinstance(value.get("source"), dict):
                self.block_for(index, "image").append("sources", [value["source"]])

    def _reasoning(self, index: Any, fields: dict[str, Any]) -> None:
        block = self.block_for(index, "reasoning")
        for field, value in fields.items():
            if field == "text":
                if isinstance(value, str):
                    block.append("text", value)
                    self.assembler.reasoning(value)
            elif field == "signature" and isinstance(value, str):
                block.append("signature", value)
            elif field == "redactedContent" and value is not None:
                block.append("redactedContent", [value])


def _request_block(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block of the stream as a request has it, where text with citations and reasoning look different."""
    kind, text = block.get("type"), block.get("text")
    if kind == "text":
        if not text or is_blank(text):
            return None
        if block.get("citations"):
            return {"citationsContent": {"content": [{"text": text}], "citations": block["citations"]}}
        return {"text": text}
    if kind == "reasoning":
        if "redactedContent" in block:
            pieces = block["redactedContent"]
            data = pieces[0] if len(pieces) == 1 else _joined(pieces)
            return None if data is None else {"reasoningContent": {"redactedContent": data}}
        if not block.get("signature"):
            return None
        return {"reasoningContent": {"reasoningText": {"text": text or "", "signature": block["signature"]}}}
    start = block.get("start")
    if not start:
        return None  # nothing says what the pieces are of
    if kind == "image":
        sources = block.get("sources")
        if not sources:
            return None
        data = _joined([source.get("bytes") for source in sources])
        source = sources[-1] if data is None else {"bytes": data}  # without data, a place where the image is
        return {"image": {**start, "source": source}}
    return {str(kind): {**start, "content": block.get("content", [])}}


def _joined(data: list[Any]) -> bytes | str | None:
    """Pieces of data as one: bytes of boto3, or the base64 text of the wire, of which each piece is whole."""
    if all(isinstance(piece, bytes) for piece in data):
        return b"".join(data)
    try:
        return b2a_base64(b"".join(map(a2b_base64, data)), newline=False).decode()
    except (TypeError, ValueError):
        return None
