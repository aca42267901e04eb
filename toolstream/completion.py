"""What a stream has given: `Completion`, the message, and `ToolCall`, one call of it.

Both are live: the assembler fills them while the stream is read, and anyone may read them at any time. Reading costs
O(1), but for the texts, which cost their length when they are read after they have grown. Attributes with an
underscore belong to the assembler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from toolstream._text import TextBuffer
from toolstream.types import Defect, JsonValue

if TYPE_CHECKING:
    from toolstream._engine import StreamingJsonParser

__all__ = ["CLIENT_KINDS", "Completion", "FinishReason", "Status", "ToolCall"]

Status: TypeAlias = Literal["streaming", "complete", "incomplete", "invalid"]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]

CLIENT_KINDS: Final = frozenset(("function", "legacy_function", "custom", "client_builtin"))
"""The kinds of calls that the client runs. The provider runs `server` and `mcp` calls; `mcp_approval` waits for a
yes."""


class ToolCall:
    """One call of a tool. Live until its `ToolCallEnd`, then final.

    - `id`: what the tool's result has to name. Generated where none was sent, made distinct where two calls of a
      choice have the same; fixed once `ToolCallStart` has come, `None` before that if none was sent.
    - `provider_id`: the id as sent, where ours differs; else `None`.
    - `name`: `None` as long as none has come.
    - `kind`: `function`, `legacy_function`, `custom`, `client_builtin` (the client runs these), `server`, `mcp` (the
      provider runs these) or `mcp_approval` (it waits for a yes).
    - `index`: the protocol's number of the call or its block, `None` if none was sent; `choice`: the answer it
      belongs to.
    - `position`: its place in `Completion.calls`.
    - `status`: `streaming`, then `complete`, `incomplete` (cut, or without a name) or `invalid` (malformed, no object).
    - `executable`: complete, named, and of a kind that the client runs. False until the call has ended.
    - `arguments`: the parsed arguments of a call that is complete, else `None`. `None` for free text (`input`) too.
    - `recovered`: the values found in a text that is refused.
    - `extras`: vendor fields that the next request must carry.
    """

    __slots__ = (
        "_buffer",
        "_fast",
        "_finished",
        "_free_text",
        "_held",
        "_home",
        "_lane",
        "_live",
        "_object",
        "_odd",
        "_parser",
        "_sent_id",
        "_started",
        "_text",
        "arguments",
        "choice",
        "executable",
        "extras",
        "id",
        "index",
        "kind",
        "name",
        "position",
        "provider_id",
        "recovered",
        "status",
    )

    id: str | None
    provider_id: str | None
    name: str | None
    kind: str
    index: int | None
    choice: int
    position: int
    status: Status
    executable: bool
    arguments: dict[str, JsonValue] | None
    recovered: list[JsonValue]
    extras: dict[str, Any]
    _sent_id: str | None

    def __init__(
        self,
        position: int,
        choice: int,
        index: int | None,
        kind: str,
        free_text: bool,
        id: str | None,
        name: str | None,
        home: Any,
        lane: Any,
    ) -> None:
        self.id = self._sent_id = id
        self.provider_id = None
        self.name = name
        self.kind = kind
        self.index = index
        self.choice = choice
        self.position = position
        self.status = "streaming"
        self.executable = False
        self.arguments = None
        self.recovered = []
        self.extras = {}
        self._buffer = TextBuffer()
        self._parser: StreamingJsonParser | None = None  # until the verdict
        self._fast: StreamingJsonParser | None = None  # the same, while nothing about the call is out of the ordinary
        self._live: dict[str, JsonValue] | None = None  # the live value, where it is not the parser's
        self._object: dict[str, JsonValue] | None = None  # which came whole, and whose text no parser has read
        self._free_text = free_text
        self._started = False
        self._finished = False  # the value has ended
        self._held: list[Any] | None = None  # changes that wait for the start event
        self._home = home  # the choice's state in the assembler
        self._lane = lane  # its identity, where that is inferred
        self._odd: Any = None  # what is out of the ordinary about the text

    @property
    def arguments_text(self) -> str:
        """The raw text of the arguments, character by character what the model sent (of arguments that came as objects:
        their JSON). Costs its length when read after it has grown."""
        return self._buffer.read()

    @property
    def input(self) -> str | None:
        """The text of a custom tool's call, or other free text, so far; `None` where the arguments are JSON."""
        return self._buffer.read() if self._free_text else None

    @property
    def partial_arguments(self) -> dict[str, JsonValue]:
        """The arguments as far as they can be known: `{}` before anything shows. To be read, not changed."""
        live = self._live
        if live is not None:
            return live
        parser = self._parser
        if parser is None:
            return {}
        value = parser.snapshot()
        return value if type(value) is dict else {}

    def __repr__(self) -> str:
        return f"<ToolCall {self.position} {self.name!r} {self.id!r}: {self.status}>"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: everything public but the live value."""
        return {
            "id": self.id,
            "provider_id": self.provider_id,
            "name": self.name,
            "kind": self.kind,
            "index": self.index,
            "choice": self.choice,
            "status": self.status,
            "executable": self.executable,
            "arguments_text": self.arguments_text,
            "arguments": self.arguments,
            "recovered": self.recovered,
            "input": self.input,
            "extras": self.extras,
        }


class WholeCall(ToolCall):
    """A call that came whole: it has nothing of what is only needed while text comes, and the assembler sets what it
    has, which is faster. Where more does come it becomes a `ToolCall`."""

    __slots__ = ()
    __init__ = object.__init__

    _text: str
    input = None

    @property
    def arguments_text(self) -> str:
        return self._text


class Completion:
    """The message that a stream gives. Live until `StreamEnd`, then final.

    - `calls`: in order of first appearance, all choices together;
    - `usage`: the provider's counts under its own names, `None` if none came; `error`: what the provider said went
      wrong, the fields as it sent them, else `None`;
    - `defects`: what was noticed on the way, at most `Limits.max_defects`; `defect_count`: of all, repeats included.
    """

    __slots__ = (
        "__weakref__",
        "_cut",
        "_ended",
        "_failed",
        "_lost",
        "_must_answer",
        "_provider",
        "_reasoning",
        "_text",
        "_words",
        "calls",
        "defect_count",
        "defects",
        "error",
        "usage",
    )

    calls: list[ToolCall]
    usage: dict[str, Any] | None
    error: dict[str, Any] | None
    defects: list[Defect]
    defect_count: int

    def __init__(self) -> None:
        self.calls = []
        self.usage = None
        self.error = None
        self.defects = []
        self.defect_count = 0
        self._text = _ByChoice()
        self._reasoning = _ByChoice()
        self._words: dict[int, str] = {}  # choice -> the last finish word
        self._ended = False  # a finish word or an end mark has come
        self._failed = False
        self._lost = False  # a fragment or an event was lost
        self._cut: Literal["length", "content_filter"] | None = None  # what a finish word said
        self._must_answer = False  # a call came that the client must answer
        self._provider: Callable[[int], dict[str, Any] | list[dict[str, Any]]] | None = None  # writes `message`

    @property
    def executable_calls(self) -> list[ToolCall]:
        """The calls that may be run, in order. Costs the number of calls."""
        return [call for call in self.calls if call.executable]

    @property
    def text(self) -> str:
        """The text for people, of the lowest choice that has any. Costs its length when read after it has grown."""
        return self._text.read()

    @property
    def reasoning(self) -> str:
        """The reasoning, of the lowest choice that has any. Costs its length when read after it has grown."""
        return self._reasoning.read()

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the stream ended, of all choices together; `None` while nothing says so.

        Decided from what was streamed where the provider's word is unreliable: `error` if the stream failed,
        `content_filter` or `length` if a word says so, `tool_calls` if there is a call that the client must answer,
        else `stop`.
        """
        if self._failed:
            return "error"
        if self._cut is not None:
            return self._cut
        if not self._ended:
            return None
        return "tool_calls" if self._must_answer else "stop"

    @property
    def raw_finish_reason(self) -> str | None:
        """The provider's last finish word, of the lowest choice that has any."""
        return self._words[min(self._words)] if self._words else None

    def message(self, choice: int = 0) -> dict[str, Any] | list[dict[str, Any]]:
        """The assistant message to put into the next request, in the provider's own shape (items: a list).

        Refused calls are included as they were sent: each of them needs a result too, which tells the model what was
        wrong. Raises `ValueError` while the protocol is not known.
        """
        if self._provider is None:
            raise ValueError("the protocol of the stream is not known yet")
        return self._provider(choice)

    def __repr__(self) -> str:
        return f"<Completion: {len(self.calls)} calls, finish_reason={self.finish_reason!r}>"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: everything public but `message`."""
        return {
            "calls": [call.to_dict() for call in self.calls],
            "text": self.text,
            "reasoning": self.reasoning,
            "finish_reason": self.finish_reason,
            "raw_finish_reason": self.raw_finish_reason,
            "usage": self.usage,
            "error": self.error,
            "defects": [defect.to_dict() for defect in self.defects],
            "defect_count": self.defect_count,
        }


class _ByChoice(dict[int, TextBuffer]):
    """A text for each choice, made when it is first asked for in brackets."""

    __slots__ = ("_lowest",)

    _lowest: int  # once there is any

    def __missing__(self, choice: int) -> TextBuffer:
        if not self or choice < self._lowest:
            self._lowest = choice
        buffer = self[choice] = TextBuffer()
        return buffer

    def length(self, choice: int) -> int:
        """So many characters of that choice have come."""
        buffer = self.get(choice)
        return 0 if buffer is None else buffer.length

    def read(self, choice: int | None = None) -> str:
        """Of that choice, or of the lowest one that has any."""
        if choice is None and self:
            choice = self._lowest
        buffer = None if choice is None else self.get(choice)
        return "" if buffer is None else buffer.read()
