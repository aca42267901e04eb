"""Gemini Interactions: a stream of steps.

    interaction.created, (step.start, step.delta*, step.stop)*, interaction.completed, [DONE]

Steps are keyed by `index`; the step `function_call` is the client's to answer, every other `*_call` is run by Google.
Arguments are text in `arguments_delta`, objects in the deltas of server calls and in the builds of 2025, which named
the events `content.start`, `content.delta`, `content.stop` and `interaction.complete`.

An interaction that reaches the limit of one request ends with `requires_continuation`. Google's client asks for the
rest by itself, and hands on the events of the next interaction as if they were of the same stream.

`blocks` holds the steps as sent, with a `type`: what a `model_output` says in `content`, one part a delta, thought
summaries in `summary` likewise, `signature` and whatever else came. A call's `extras` are its step's other fields
(`signature`, `server_name`).

Source: https://ai.google.dev/gemini-api/docs/interactions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolstream._text import whole_text
from toolstream.completion import ToolCall
from toolstream.providers import Block
from toolstream.providers._blocks import BlockProvider, object_arguments

if TYPE_CHECKING:
    from toolstream.assembler import Assembler, Meaning

__all__ = ["GeminiInteractions"]

_MEANINGS: Final[dict[Any, Meaning]] = {
    "requires_action": "tool_calls",
    "completed": "stop",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
    "failed": "error",
    "cancelled": "error",
}

_NOT_EXTRA: Final = frozenset(("type", "id", "name", "arguments"))
_WORDS: Final = ("text", "thought_summary", "thought")  # deltas that no call has, whatever their index
_BARE: Final = ("processing_call", "file_search_call")  # calls that have no arguments
_ASKED: Final = ("user_input", "function_result")  # steps of the request


class GeminiInteractions(BlockProvider):
    """One interaction."""

    name = "gemini-interactions"
    exact_numbers = True
    object_start = True

    def __init__(self, assembler: Assembler) -> None:
        BlockProvider.__init__(self, assembler)
        self._waits = False  # the last interaction ended at the limit of its request, and no other one has begun

    def feed(self, event: dict[str, Any]) -> None:
        """One event."""
        kind = event.get("event_type")
        if kind in ("step.delta", "content.delta"):
            delta, index = event.get("delta"), event.get("index")
            if isinstance(delta, dict):
                call = self._direct.get(index) if type(index) is int and len(delta) == 2 else None
                text = delta.get("arguments")
                if call is not None and type(text) is str and delta.get("type") == "arguments_delta":
                    self.assembler.append(call, text)  # as `_delta` would have it, the short way
                else:
                    self._delta(index, delta)
        elif kind in ("step.start", "content.start"):
            step = event.get("step", event.get("content"))
            if isinstance(step, dict):
                self._start(event.get("index"), step)
        elif kind in ("step.stop", "content.stop"):
            self.close_at(event.get("index"))
        elif kind in ("interaction.completed", "interaction.complete"):
            interaction = event.get("interaction")
            self._completed(interaction if isinstance(interaction, dict) else {})
        elif kind == "interaction.created":
            self._waits = False
        elif kind == "error" or "error" in event:
            self.assembler.error(
                event.get("error") or {k: v for k, v in event.items() if k not in ("event_type", "error")}
            )

    def close(self) -> None:
        """Nothing more: an interaction that waits for another one has ended after all."""
        super().close()
        if self._waits:
            self._waits = False
            self._finish("requires_continuation")

    def message(self, choice: int = 0) -> list[dict[str, Any]]:
        """The steps of the answer, to be put into the next request's `input` before the results of the calls. Of a
        broken stream, steps without content and calls of the server whose arguments were cut are left out."""
        steps: list[dict[str, Any]] = []
        for block in self.sent():
            if isinstance(block, Block):
                step = _request_step(block.value())
                if step is not None:
                    steps.append(step)
            elif block.kind == "function":
                call = {
                    "type": "function_call",
                    "id": block.id,
                    "name": block.name,
                    "arguments": object_arguments(block),
                }
                steps.append({**call, **block.extras})
            elif block.status == "complete":
                step = {"type": block.name, "id": block.id, "arguments": object_arguments(block), **block.extras}
                if block.kind == "mcp":
                    step.update(type="mcp_server_tool_call", name=block.name)
                elif block.name in _BARE and not step["arguments"]:
                    del step["arguments"]
                steps.append(step)
        return steps

    def _start(self, index: Any, step: dict[str, Any]) -> None:
        kind = step.get("type")
        if not isinstance(kind, str) or not kind.endswith("_call"):
            self.open_block(index, step)
            if kind in ("text", "model_output"):
                self.assembler.text(_text(step))
            elif kind == "thought":
                self.assembler.reasoning(_text(step))
            return
        call_kind = {"function_call": "function", "mcp_server_tool_call": "mcp"}.get(kind, "server")
        name = step.get("name")
        self.open_call(
            index,
            id=step.get("id"),
            name=name if call_kind == "function" else name or kind,
            kind=call_kind,
            arguments=step.get("arguments"),
            extras=_extras(step),
        )

    def _completed(self, interaction: dict[str, Any]) -> None:
        steps = interaction.get("steps")
        if isinstance(steps, list) and not self.blocks:  # none was streamed
            for step in steps:
                if isinstance(step, dict) and step.get("type") not in _ASKED:
                    self._start(None, step)
                    opened = self.open_at(None)
                    if isinstance(opened, ToolCall):
                        self.assembler.defect("snapshot_only", opened)
                    self.close_at(None)
        self.assembler.usage(interaction.get("usage"))
        word = interaction.get("status")
        self._waits = word == "requires_continuation"
        if not self._waits:
            self._finish(word)

    def _finish(self, word: Any) -> None:
        super().close()
        self.assembler.finish(word, _MEANINGS.get(word) if isinstance(word, str) else None)
        self.assembler.end_mark(closes_blocks=True)

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        step = self.open_at(index)
        kind = delta.get("type")
        if isinstance(step, ToolCall) and kind not in _WORDS:
            arguments = delta.get("arguments", "")
            alone = len(delta) == 2 and kind is not None and "arguments" in delta
            if not alone:
                if delta.get("id") or delta.get("name"):
                    self.assembler.header(step, delta.get("id"), delta.get("name"))
                self.assembler.extras(step, _extras(delta))
            self.fragment(index, arguments, normal=isinstance(arguments, dict))
        elif kind == "arguments_delta":
            self.fragment(index, delta.get("arguments", ""))
        elif kind == "text":
            text = _text(delta)
            self.block_for(index, "model_output").append("content", [{"type": "text", "text": text}])
            self.assembler.text(text)
        elif kind in ("thought_summary", "thought"):
            self.block_for(index, "thought").append("summary", _summary(delta))
            self.assembler.reasoning(_text(delta))
        elif isinstance(step, Block) and str(step.type).endswith("_result"):
            for field, value in delta.items():
                if field != "type" and value is not None:
                    step.set(field, value)
        else:
            block = self.block_for(index, "thought" if "signature" in delta else "model_output")
            if "signature" in delta:
                block.set("signature", delta["signature"])
            else:
                block.append("content", [delta])


def _extras(step: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in step.items() if field not in _NOT_EXTRA and value not in (None, "")}


def _text(part: dict[str, Any]) -> str:
    """The text of a part, wherever the builds of the protocol have put it."""
    for field in ("text", "thought", "content", "summary"):
        value = part.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            value = [value]
        if isinstance(value, list):
            texts = [one.get("text") for one in value if isinstance(one, dict)]
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def _summary(delta: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a thought's summary that a delta brings: text, or images."""
    content = delta.get("content")
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        return [{"type": "text", **part} for part in content if isinstance(part, dict)]
    return [{"type": "text", "text": _text(delta)}]


def _request_step(step: dict[str, Any]) -> dict[str, Any] | None:
    """A step of the stream as a request has it, where text is a part of a list."""
    kind = step.get("type")
    if kind == "thought":
        summary = step.pop("summary", None)
        if isinstance(summary, str):
            summary = [{"type": "text", "text": summary}]
        parts = _joined(summary) if isinstance(summary, list) else []
        if parts:
            step["summary"] = parts
        return step if len(step) > 1 else None
    if kind in ("model_output", "text"):
        content = step.get("content")
        begun = {"type": "text", "text": step.get("text"), "annotations": step.get("annotations")}
        parts = _joined([begun, *(content if isinstance(content, list) else [])])
        out = {"type": "model_output", **({"content": parts} if parts else {})}
        if step.get("error"):
            out["error"] = step["error"]
        return out if len(out) > 1 else None
    return step


def _joined(pieces: list[Any]) -> list[dict[str, Any]]:
    """The parts of a step's content: pieces of text put together, with the annotations that came for them."""
    parts: list[dict[str, Any]] = []
    texts: list[str] = []  # of the last part, if that is text
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        kind, text = piece.get("type"), piece.get("text")
        annotations = piece.get("annotations") if kind in ("text", "text_annotation_delta") else None
        if kind == "text" and isinstance(text, str) and text:
            if not texts:
                parts.append({**piece, "annotations": []})
            texts.append(text)
            parts[-1]["text"] = texts
        elif kind not in ("text", "text_annotation_delta", None):
            parts.append(piece)
            texts = []
        if isinstance(annotations, list) and texts:
            parts[-1]["annotations"] += annotations
    for number, part in enumerate(parts):
        if part.get("type") == "text":
            parts[number] = {**part, "text": whole_text("".join(part["text"]))}
            if not part["annotations"]:
                del parts[number]["annotations"]
    return parts
