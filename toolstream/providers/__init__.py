"""The registry of protocols: names to classes, recognition, and the interface that a protocol's class follows.

Every protocol is one module with one class, imported when it is first needed:

    class Provider:
        name = "anthropic"            the public name
        exact_numbers = False         True: the JSON of every event is read with `exact_loads` (integers beyond 64 bits
                                      stay exact); False: with `loads`, which is faster (transport/json_text.py), and
                                      the class asks `assembler.exact` for the parts whose integers matter

        has_done = True               False: `[DONE]` is no end of this protocol; a proxy that ends every stream so
                                      says nothing about this one. Without the attribute it is one

        def __init__(self, assembler: Assembler) -> None: ...

        def feed(self, event: dict) -> None
            One decoded event; calls the assembler's methods. Always a plain `dict`, as `json` would give it: an SDK's
            object has gone through `plain` before, a frame of AWS through `frame_event`, a chunk of InvokeModel or an
            exception of boto3 through `unwrap`. Its contents may be anything: an unknown type, a missing field or a
            value of a wrong type is ignored, never an exception.

        def close(self) -> None
            The input has ended. Settles what the protocol leaves open; `Assembler.close` comes after it.

        def message(self, choice: int = 0) -> dict | list[dict]
            The assistant message for the next request, in the provider's own shape; where that is a list of items or
            steps, the list.

        @classmethod
        def recognises(cls, event: dict) -> bool
            Is this event surely of this protocol? Asked of registered classes only; `recognise` below tells the
            built-in protocols apart.

        blocks: list[Block | ToolCall]
            What `message` is made of, in order of appearance, where the protocol has content blocks: a call stands
            for itself, everything else (text, thinking with its signature, results of server tools) is a `Block`.

        def take_fragment(self, payload: Any) -> bool
            The short way of `{"contentBlockDelta": payload}`, just read from JSON, where the protocol has such events
            in frames of AWS: whether it was a fragment of a call or of text, which is taken. Else nothing is done, and
            `feed` is given the event.

The end marker `[DONE]` is no JSON: the stream handles it (`end_mark()` of the assembler, where the protocol has it),
providers do not see it. The payload of an event named `error` reaches `feed` if it is an object; what `feed` does not
take for an error the stream itself reports as one.

Other distributions register a class under the entry point group `toolstream.providers`; the entry's name is the
protocol's. Built-in names cannot be taken over.
"""

from __future__ import annotations

import sys
import warnings
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import lru_cache
from importlib import import_module
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol

from toolstream._text import whole_text
from toolstream.errors import UnknownProviderError
from toolstream.transport import AwsMessage, Framing
from toolstream.transport.json_text import exact_loads

if TYPE_CHECKING:
    from toolstream.assembler import Assembler

__all__ = [
    "RECOGNITION_BYTES",
    "Block",
    "Provider",
    "frame_event",
    "known_providers",
    "plain",
    "provider_class",
    "recognise",
    "recognise_beginning",
    "recognise_last",
    "unwrap",
]

RECOGNITION_BYTES = 65536
"""A stream whose protocol is not recognised within so many bytes is an `UnknownProviderError`."""

_BUILT_IN = {  # public name -> module and class
    "openai-chat": ("openai_chat", "OpenAIChat"),
    "openai-responses": ("openai_responses", "OpenAIResponses"),
    "anthropic": ("anthropic", "Anthropic"),
    "gemini": ("gemini", "Gemini"),
    "gemini-interactions": ("gemini_interactions", "GeminiInteractions"),
    "bedrock-converse": ("bedrock_converse", "BedrockConverse"),
    "ollama": ("ollama", "Ollama"),
    "mistral": ("mistral", "Mistral"),
    "cohere": ("cohere", "Cohere"),
}

_ENTRY_POINTS = "toolstream.providers"


class Provider(Protocol):
    """What `ToolCallStream` needs of a protocol's class; the module's docstring explains each member."""

    name: str
    exact_numbers: bool

    def __init__(self, assembler: Assembler) -> None: ...
    def feed(self, event: dict[str, Any]) -> None: ...
    def close(self) -> None: ...
    def message(self, choice: int = 0) -> dict[str, Any] | list[dict[str, Any]]: ...


class Block:
    """A content block under way, kept for the next request: its start as sent, and the pieces streamed into it.

    Pieces are joined when the block is read, once: joining them one by one would cost the square of the length.
    """

    __slots__ = ("_pieces", "_start")

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: dict[str, list[Any]] = {}

    @property
    def type(self) -> Any:
        """The block's `type` as sent, `None` where the protocol has none."""
        return self._start.get("type")

    def append(self, field: str, piece: str | list[Any]) -> None:
        """Add text to the string `field`, or elements to the list `field`."""
        pieces = self._pieces.get(field)
        if pieces is None:
            pieces = self._pieces[field] = []
        pieces.append(piece)

    def set(self, field: str, value: Any) -> None:
        """Give `field` a value, in place of what came before."""
        self._start = {**self._start, field: value}
        self._pieces.pop(field, None)

    def value(self) -> dict[str, Any]:
        """The block as it stands: the start's fields, with all pieces in place."""
        out = dict(self._start)
        for field, pieces in self._pieces.items():
            before = out.get(field)
            if isinstance(pieces[0], str):
                out[field] = whole_text((before if isinstance(before, str) else "") + "".join(pieces))
            else:
                out[field] = (before if isinstance(before, list) else []) + [one for piece in pieces for one in piece]
        return out


# Names and classes


def known_providers() -> list[str]:
    """The names of all protocols, built-in ones first, then registered ones."""
    return [*_BUILT_IN, *(name for name in _registered() if name not in _BUILT_IN)]


_imported: dict[str, type[Provider]] = {}


def provider_class(name: str) -> type[Provider]:
    """The class of the protocol `name`. Raises `UnknownProviderError`, which lists the known names."""
    found = _imported.get(name)
    if found is not None:
        return found
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name]
        built_in: type[Provider] = getattr(import_module("." + module, __name__), attribute)
        _imported[name] = built_in
        return built_in
    entry = _registered().get(name)
    if entry is None:
        raise UnknownProviderError(f"unknown provider {name!r}; known are {', '.join(known_providers())}")
    loaded: type[Provider] = entry.load()
    return loaded


def _registered() -> dict[str, Any]:
    from importlib.metadata import entry_points  # slow to import, and needed by few

    return {entry.name: entry for entry in entry_points(group=_ENTRY_POINTS)}


# Recognition


def recognise(event: dict[str, Any]) -> type[Provider] | None:
    """The class of the protocol that `event` is surely of; `None` if it may be of several (`ping`, error) or of none.

    Ask for every event until one is recognised, keep the events before it and feed them first. Registered protocols
    are asked about what no built-in one knows.
    """
    name = _built_in_name(event)
    if name:
        return provider_class(name)
    return None if _is_of_many(event) else _registered_class([event])


def recognise_beginning(event: dict[str, Any]) -> type[Provider] | None:
    """`recognise` for an event that is still coming: its members so far, of which the last may be an object or a list
    that is not whole either. What decides there decides whatever comes after it."""
    if "model" in event and isinstance(event.get("message"), dict) and _built_in_name(event) is None:
        return provider_class("ollama")  # which writes `done` after the message; no other has these two side by side
    return recognise(event)


def _is_of_many(event: dict[str, Any]) -> bool:
    """Whether an event is one that many protocols have: to ask who is registered takes long the first time."""
    return not event or event.get("type") in ("ping", "error") or "error" in event or event.get("object") == "error"


def _registered_class(events: list[dict[str, Any]]) -> type[Provider] | None:
    for name, candidate in _candidates(tuple(sys.path)):
        try:
            if any(candidate.recognises(event) for event in events):
                found: type[Provider] = candidate
                return found
        except Exception as error:
            _warn(name, error)
    return None


@lru_cache(maxsize=1)
def _candidates(path: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The registered protocols that can be loaded from where Python looks now."""
    found = []
    for name, entry in _registered().items():
        if name not in _BUILT_IN:
            try:
                found.append((name, entry.load()))
            except Exception as error:
                _warn(name, error)
    return found


def _warn(name: str, error: Exception) -> None:
    warnings.warn(f"the registered protocol {name!r} is left out: {error!r}", RuntimeWarning, stacklevel=2)


_ANTHROPIC = frozenset(f"{what}_{when}" for what in ("message", "content_block") for when in ("start", "delta", "stop"))
_COHERE = frozenset(
    f"{what}-{when}" for what in ("message", "content", "tool-call", "citation") for when in ("start", "delta", "end")
) | {"tool-plan-delta"}
_GEMINI = frozenset(  # also Python's names
    ("candidates", "promptFeedback", "usageMetadata", "prompt_feedback", "usage_metadata")
)
_BEDROCK = frozenset(("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"))


def _built_in_name(event: dict[str, Any]) -> str | None:
    kind = event.get("type")
    if isinstance(kind, str):
        if kind in _ANTHROPIC:
            return "anthropic"
        if kind.startswith("response."):
            return "openai-responses"
        if kind in _COHERE:
            return "cohere"
    if isinstance(event.get("data"), dict) and "choices" in event["data"]:
        return "mistral"  # the SDK wraps each chunk in an event
    if "choices" in event or event.get("object") == "chat.completion.chunk":
        return "openai-chat"
    if isinstance(event.get("chunk"), dict) and "choices" in event["chunk"]:
        return "openai-chat"  # the SDK's stream helper
    kind = event.get("event_type")
    if isinstance(kind, str) and kind.startswith(("interaction.", "step.", "content.")):
        return "gemini-interactions"
    if not _GEMINI.isdisjoint(event):
        return "gemini"
    if "done" in event and "message" in event:
        return "ollama"
    if not _BEDROCK.isdisjoint(event):
        return "bedrock-converse"
    return None


_ERROR_OF = {"ndjson": "ollama", "json-array": "gemini", "aws-event-stream": "bedrock-converse"}


def recognise_last(
    events: Iterable[dict[str, Any]], framing: Framing | None, size: int, detail: str = ""
) -> type[Provider]:
    """The class for a stream of which `recognise` knew no event, when `size` bytes have come and no more shall be kept.

    Registered protocols are asked about all of them now. A stream of nothing but an error is read as the protocol that
    its framing is most often used by, so that the error comes through. Else raises `UnknownProviderError`, which tells
    `detail` too.
    """
    events = list(events)
    found = _registered_class(events)
    if found is not None:
        return found
    if any(event.get("type") == "error" and "error" not in event for event in events):
        return provider_class("openai-responses")  # the one protocol whose errors are flat
    if any(event.get("object") == "error" and "error" not in event for event in events):
        return provider_class("openai-chat")  # the other one, as some of its servers have them
    if any("error" in event or event.get("object") == "error" for event in events):
        if any(event.get("type") in ("error", "ping") for event in events):
            return provider_class("anthropic")
        return provider_class(_ERROR_OF.get(framing or "", "openai-chat"))
    if framing == "aws-event-stream" and events:
        return provider_class("bedrock-converse")
    seen = f"the first {size} bytes ({len(events)} messages)" if size or events else "a stream that is empty"
    seen += detail and f" {detail}"
    raise UnknownProviderError(f"no protocol fits {seen}; known are {', '.join(known_providers())}")


# Events in one form


def plain(event: Any) -> Any:
    """An SDK's object as the plain dicts and lists that the wire would have given; a `dict` of nothing but such values
    is returned as it is.

    Works on pydantic models, dataclasses, mappings, sequences and anything with attributes, without knowing an SDK's
    class. Of a pydantic model only the fields that were sent are taken (defaults that an SDK fills in would lie), under
    their names on the wire; bytes become base64 text again, and members of an enumeration their word. `snapshot`, which
    stream helpers grow with every event, is left out: reading it each time would cost the square of its length.
    """
    if type(event) is dict and not _has_objects(event):
        return event
    root = [event]
    copies: dict[int, tuple[Any, Any]] = {}  # id -> object and copy: one that is met again is the same again
    work: list[Any] = [root]
    while work:
        holder = work.pop()
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if type(value) in _PLAIN:
                continue
            known = copies.get(id(value))
            if known is None:
                copy = _copy(value)
                if copy is value:
                    continue
                if isinstance(copy, (dict, list)):
                    copies[id(value)] = (value, copy)
                    work.append(copy)
            else:
                copy = known[1]
            holder[key] = copy
    return root[0]


def _has_objects(event: dict[str, Any]) -> bool:
    """Whether anything in a dict is not as `json` would give it, or bytes."""
    seen: set[int] = set()
    work: list[Any] = [event]
    while work:
        value = work.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for inner in value.values() if type(value) is dict else value:
            kind = type(inner)
            if kind is dict or kind is list:
                work.append(inner)
            elif kind not in _PLAIN and kind is not bytes:
                return True
    return False


_PLAIN = frozenset((str, int, float, bool, type(None)))
_CONSTANTS = ("type", "event_type")  # what tells models apart is sent, also where an SDK declares it as a default


def _copy(value: Any) -> Any:
    """One level of an object as a dict or list; text and bytes in the form of the wire; anything else as it is."""
    if type(value) is list:
        return list(value)
    sent = getattr(value, "__pydantic_fields_set__", None)
    if sent is None:
        return _copy_other(value)
    names = value.__dict__
    if names.get("is_unknown") is True and isinstance(names.get("raw"), dict):
        return dict(names["raw"])  # an SDK's stand-in for what it does not know
    aliases = _aliases(type(value))
    copy = {aliases.get(name, name): v for name, v in names.items() if name in sent and name != "snapshot"}
    for name in _CONSTANTS:
        if names.get(name) is not None and name not in sent:
            copy[name] = names[name]
    extra = getattr(value, "__pydantic_extra__", None)
    if extra:
        copy.update(extra)
    return copy


def _copy_other(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, (bytes, bytearray)):
        return b2a_base64(value, newline=False).decode()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else _attributes(value)


def _attributes(value: Any) -> Any:
    """The public attributes of an object: those that it holds, else those that it computes, else those that its class
    holds for it; without any, itself."""
    slots = [name for kind in reversed(type(value).__mro__) for name in _slots(kind)]
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    held |= getattr(value, "__dict__", {})
    names = {name: v for name, v in held.items() if _is_public(name)}
    if names or isinstance(value, (Number, type)):
        return names or value
    for kind in reversed(type(value).__mro__):
        for name, member in vars(kind).items():
            if isinstance(member, property) and _is_public(name):
                with suppress(Exception):  # an attribute of a foreign object can raise anything
                    names[name] = getattr(value, name)
    if names or not hasattr(value, "__dict__"):
        return names or value
    return {
        name: member
        for kind in reversed(type(value).__mro__)
        for name, member in vars(kind).items()
        if _is_public(name) and not callable(member) and not hasattr(type(member), "__get__")
    }


def _slots(kind: type) -> Sequence[str]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_public(name: str) -> bool:
    return name[:1] != "_" and name != "snapshot"


_alias_cache: dict[type, dict[str, str]] = {}


def _aliases(model: type) -> dict[str, str]:
    found = _alias_cache.get(model)
    if found is None:
        fields: dict[str, Any] = getattr(model, "model_fields", {})
        found = {name: field.alias for name, field in fields.items() if isinstance(field.alias, str)}
        _alias_cache[model] = found
    return found


def frame_event(frame: AwsMessage, errors: str = "strict") -> dict[str, Any]:
    """A frame of AWS as the event of its protocol: `{event type: payload}`, as boto3 gives it, unwrapped (`unwrap`).

    An exception, or an error frame, becomes `{"error": {"type": ..., "message": ...}}`. `errors`: what to do about
    bytes that are no UTF-8. Raises `ValueError` where the payload is no JSON.
    """
    headers, payload = frame
    kind = headers.get(":message-type")
    if kind == "error":
        return {"error": {"type": headers.get(":error-code"), "message": headers.get(":error-message")}}
    text = payload.decode("utf-8", errors)
    if kind == "exception" or ":exception-type" in headers:
        try:
            value = exact_loads(text)
        except ValueError:
            value = text
        return _exception(str(headers.get(":exception-type") or "exception"), value)
    kind = headers.get(":event-type")
    event = {str(kind): exact_loads(text) if text else {}}
    return unwrap(event, errors) if kind == "chunk" else event


def unwrap(event: dict[str, Any], errors: str = "strict") -> dict[str, Any]:
    """The event that AWS has wrapped in one with a single member; any other event as it is.

    In a `chunk` of Bedrock's InvokeModelWithResponseStream is the model's own event: base64 text on the wire, plain
    bytes from boto3. A member named `...Exception` is the end of any stream: `{"error": {"type": ..., ...}}`. Raises
    `ValueError` where the bytes are no JSON object.
    """
    if len(event) != 1:
        return event
    ((kind, inner),) = event.items()
    if kind != "chunk":
        return _exception(str(kind), inner) if str(kind).endswith("Exception") else event
    data = inner.get("bytes") if isinstance(inner, dict) else None
    if isinstance(data, str):
        data = a2b_base64(data)
    if not isinstance(data, (bytes, bytearray)):
        return event
    value = exact_loads(data.decode("utf-8", errors))
    if not isinstance(value, dict):
        raise ValueError("a chunk holds no JSON object")
    return value


def _exception(kind: str, particulars: Any) -> dict[str, Any]:
    fields = particulars if isinstance(particulars, dict) else {"message": particulars}
    return {"error": {"type": kind, **fields}}
