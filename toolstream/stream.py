"""The whole way in one object: bytes, text, decoded events or an SDK's objects in, events and a `Completion` out.

`ToolCallStream` waits for nothing and opens nothing. Around it stand four helpers that iterate over a source.
Everything is read as soon as it comes; what is kept is only the message under way, and, where no provider is named,
the first pieces until the protocol is recognised.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from toolstream import _sources
from toolstream._engine import StreamingJsonParser
from toolstream.assembler import UNNAMED_ERROR, Assembler
from toolstream.completion import Completion
from toolstream.errors import LimitExceededError, ToolStreamError, UnknownProviderError
from toolstream.providers import (
    RECOGNITION_BYTES,
    Provider,
    frame_event,
    plain,
    provider_class,
    recognise,
    recognise_beginning,
    recognise_last,
    unwrap,
)
from toolstream.transport import (
    AwsEventStreamDecoder,
    AwsMessage,
    Decoder,
    Framing,
    NdjsonDecoder,
    SseDecoder,
    SseEvent,
    decoder_for,
    recognise_framing,
)
from toolstream.transport._text import NO_ENVELOPE, SHORT
from toolstream.transport.aws_event_stream import event_type
from toolstream.transport.json_text import JsonSource, exact_loads, exact_value, loads, strict_loads
from toolstream.types import Event, Limits

__all__ = ["ToolCallStream", "aassemble", "aiter_events", "assemble", "iter_events"]

_KEPT_EVENTS = 1024  # decoded events that are kept while their protocol is not recognised
_DONE = "[DONE]"
_ENDS = (b"data: [DONE]\n\n", b"data: [DONE]\r\n\r\n")  # how the end mark mostly comes
_LINES = "(no line end has come: give the pieces as the network brings them, not lines)"
_DELTA = "contentBlockDelta"  # any other member that stands alone may be one of those that `unwrap` is for


class ToolCallStream:
    """Reads one provider's stream. One instance a stream; not for several threads at once.

    `provider`: a protocol's name; `None` recognises it from the first messages. `strict`: a call whose arguments were
    repaired, or that text follows, is `invalid`. `changes`: deltas carry the path changes. `limits`: see `Limits`.
    `new_id`: makes an id for a call that has none. Raises `UnknownProviderError` for a name that is not known.

    >>> stream = ToolCallStream("ollama")
    >>> call = {"id": "call_1", "function": {"name": "add", "arguments": {"x": 1}}}
    >>> for piece in [{"message": {"tool_calls": [call]}}, {"message": {}, "done": True}]:
    ...     for event in stream.feed(piece):
    ...         print(event.type)
    tool_call.start
    tool_call.delta
    tool_call.end
    >>> [event.type for event in stream.close()]
    ['stream.end']
    >>> for call in stream.completion.executable_calls:
    ...     print(call.name, call.arguments)
    add {'x': 1}
    """

    __slots__ = (
        "_assembler",
        "_closed",
        "_completion",
        "_decoder",
        "_error",
        "_feed",
        "_frames",
        "_framing",
        "_head",
        "_loads",
        "_max_pieces",
        "_objects",
        "_pending",
        "_provider",
        "_ready",
        "_size",
        "_source",
        "_strict_loads",
        "_take_fragment",
        "_texts",
        "unread",
    )

    def __init__(
        self,
        provider: str | None = None,
        *,
        strict: bool = False,
        changes: bool = False,
        limits: Limits | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        _check_options(strict, changes, limits, new_id)
        assembler = self._assembler = Assembler(strict, changes, limits, new_id)
        self._completion = assembler.completion
        self._max_pieces = None if limits is None else limits.max_pieces
        self._closed = False
        self._error: ToolStreamError | None = None
        self._framing: Framing | None = None
        self._decoder: Decoder | None = None
        self._texts: SseDecoder | NdjsonDecoder | None = None  # the decoder, of text
        self._frames: AwsEventStreamDecoder | None = None  # the decoder, of frames
        self._head = b""  # until the framing is recognised
        self._loads: Callable[[str], Any] = exact_loads
        self._strict_loads = strict_loads()  # may refuse what `_loads` reads
        self._source = JsonSource()
        self._provider: Provider | None = None
        self._pending: list[dict[str, Any] | None] = []  # events until the protocol is recognised; `None`: the end mark
        self._feed: Callable[[dict[str, Any]], None]
        self._take_fragment: Callable[[Any], bool] | None
        self._ready = False  # the protocol is known, pieces are welcome and not counted
        self._objects = False  # dicts come with objects inside
        self._size = 0
        self.unread: list[Any] = []
        """The pieces fed while the protocol was not recognised, as they were given; empty once it is."""
        if provider is not None:
            self._use(provider_class(provider))
            self._ready = False  # the first piece tells what pieces are like

    @property
    def completion(self) -> Completion:
        """The message so far: one live object, final after `close`."""
        return self._completion

    @property
    def provider(self) -> str | None:
        """The protocol's name, `None` while it is not recognised."""
        return None if self._provider is None else self._provider.name

    @property
    def framing(self) -> Framing | None:
        """How the bytes are framed, `None` while that is not recognised or no bytes came."""
        return self._framing

    def feed(self, piece: Any) -> list[Event]:
        """Read one piece, and return the events that it makes.

        A piece is bytes as they come from the network, text of the same framing, a decoded event (`dict`) or an SDK's
        object. Lines without their ends, as `iter_lines()` gives them, are no pieces: where an event ends is lost. Bad
        content never raises. Raises `LimitExceededError` when a limit is passed and `UnknownProviderError` when 64 KB
        have come and no protocol fits; all that was read stays readable, later pieces are refused with the same error,
        and `close` still ends every call.
        """
        assembler = self._assembler
        try:
            kind = type(piece)
            if not self._ready:
                self._take(piece)
            elif kind is bytes:
                assembler.piece += 1
                decoder = self._texts
                if decoder is None:
                    frames = self._frames
                    found = None if frames is None else frames.event(piece)
                    if found is None or not self._frame_json(found[0], found[1]):  # `*found` takes longer
                        self._bytes(piece)
                else:
                    size, front, start, end, back = decoder.envelope
                    payload = piece[start:end]
                    if (piece[:size] != front or piece[end:] != back) or (
                        10 in payload or 13 in payload or len(piece) > SHORT
                    ):
                        payload = decoder.payload(piece)
                    if payload is None:
                        self._bytes(piece)
                    else:  # as `_json` has it
                        loads = self._strict_loads
                        try:
                            event = loads(payload)
                        except ValueError:
                            self._bytes(piece)
                        else:
                            source = self._source
                            source.text, source.value = payload, event
                            if len(event) > 1 or "choices" in event:
                                feed = self._feed
                                feed(event)
                            else:
                                self._event(event)
            elif kind is dict and (len(piece) > 1 or "choices" in piece or _DELTA in piece):
                assembler.piece += 1
                feed = self._feed
                feed(piece)
                if not assembler.events:
                    self._look_inside(piece, True)
            else:
                self._take(piece)
        except (LimitExceededError, UnknownProviderError) as error:
            self._error = error
            self._ready = False
            raise
        events = assembler.events  # as `take` has it, once for each piece
        assembler.events = []
        return events

    def close(self) -> list[Event]:
        """The source has ended, or is given up: every call gets its verdict, `StreamEnd` is the last event.

        Closing twice gives nothing more, and feeding is a `ToolStreamError` from now on. Raises `UnknownProviderError`
        if the protocol was not recognised.
        """
        if self._closed:
            return []
        self._closed = True
        self._ready = False
        assembler = self._assembler
        assembler.piece += 1
        if self._error is None:
            self._flush()
        if self._provider is not None:
            self._provider.close()
        events = assembler.close()
        assembler.release()
        self._source.clear()
        return events

    # ------------------------------------------------------------ pieces to messages

    def _take(self, piece: Any) -> None:
        if self._error is not None:
            raise self._error
        if self._closed:
            raise ToolStreamError("the stream is closed")
        number = self._assembler.piece + 1
        if self._max_pieces is not None and number >= self._max_pieces:
            raise LimitExceededError(f"more than max_pieces={self._max_pieces} pieces")
        self._assembler.piece = number
        self._ready = self._provider is not None and self._max_pieces is None and not self._objects
        if type(piece) is bytes:
            self._bytes(piece, True)
        elif isinstance(piece, dict):
            self._ready = self._ready and any(isinstance(value, (dict, list)) for value in piece.values())
            if not self._look_inside(piece):
                self._event(piece)
        elif isinstance(piece, (bytes, bytearray, memoryview)):
            self._bytes(bytes(piece), True)
        elif isinstance(piece, str):
            self._bytes(piece.encode("utf-8", "surrogatepass"), True)
        elif isinstance(piece, SseEvent):
            self._sse(piece)
        elif isinstance(piece, AwsMessage):
            self._frame(piece)
        else:
            event = plain(piece)
            if not isinstance(event, dict) or not (event or _may_be_empty(piece)):
                what = type(piece).__name__
                if isinstance(piece, int):
                    what += " (the body of a response in one: give [body], since a loop over bytes gives numbers)"
                elif event == {}:
                    what += " (it has no attribute that can be read)"
                raise TypeError(f"a piece must be bytes, str, a dict or an SDK's object, not {what}")
            self._event(event)

    def _look_inside(self, piece: dict[str, Any], was_read: bool = False) -> bool:
        """Read a dict if it has objects inside. Who gives such a dict gives more: so this is asked of the first ones,
        up to one with anything inside, and of those that nothing came of; of all others only after one that had. What
        was read as it is is not read again if that made no difference (words of an enumeration), or if it is only not
        shown yet."""
        event = plain(piece)
        if event is piece:
            return False
        self._objects = True
        self._ready = False
        if not was_read or (event != piece and self._assembler.kept != self._assembler.piece):
            self._event(event)
        return True

    def _bytes(self, data: bytes, short: bool = False) -> None:
        """`short`: the decoder's short way has not been tried."""
        if self._provider is None:
            self.unread.append(data)
            self._size += len(data)
        decoder = self._decoder
        if decoder is None:
            data = self._head + data
            framing = recognise_framing(data)
            if framing is None:
                self._head = data
                return
            decoder = self._set_framing(framing)
        if not (short and self._short_way(data)):
            texts = self._texts
            if texts is not None and texts.envelope is not NO_ENVELOPE and data in _ENDS and self._framing == "sse":
                self._end_mark()
            else:
                self._messages(decoder, decoder.feed(data))
        if self._provider is None and self._size > RECOGNITION_BYTES:
            found = recognise_beginning(_members(decoder.under_way()))
            self._use(found or recognise_last(self._events(), self._framing, self._size, self._lines()))

    def _short_way(self, data: bytes) -> bool:
        """The decoder's short way: whether `data` was one whole message, and could be read."""
        texts, frames = self._texts, self._frames
        if texts is not None:
            payload = texts.payload(data)
            return payload is not None and self._json(payload, None)
        found = None if frames is None else frames.event(data)
        return found is not None and self._frame_json(found[0], found[1])

    def _set_framing(self, framing: Framing) -> Decoder:
        self._head = b""
        self._framing = framing
        decoder = self._decoder = decoder_for(framing)
        if isinstance(decoder, (SseDecoder, NdjsonDecoder)):
            self._texts = decoder
        elif isinstance(decoder, AwsEventStreamDecoder):
            self._frames = decoder
        return decoder

    def _messages(self, decoder: Decoder, messages: list[Any]) -> None:
        if decoder.torn or decoder.gaps:
            read = 0
            losses = [(place, False) for place in decoder.torn] + [(place, True) for place in decoder.gaps]
            for place, whole in sorted(losses):  # each loss in its place: what comes after may depend on it
                self._read(messages[read:place])
                if whole:
                    self._assembler.defect("sse_bad_json")
                else:
                    self._assembler.lose()
                read = place
            decoder.torn.clear()
            messages = messages[read:]
        self._read(messages)
        if decoder.utf8_invalid:
            decoder.utf8_invalid = False
            self._assembler.defect("utf8_invalid")

    def _read(self, messages: list[Any]) -> None:
        framing = self._framing
        if framing == "sse":
            self._read_sse(messages)
        elif framing == "aws-event-stream":
            for message in messages:
                self._frame(message)
        elif framing == "ndjson":
            for message in messages:
                if not self._json(message, None):
                    self._text(message, None)
        else:
            for message in messages:
                if isinstance(message, dict):
                    self._event(message)

    def _read_sse(self, messages: list[SseEvent]) -> None:
        for message in messages:
            if message[1][0] != "{" or not self._json(message[1], message[0]):
                self._sse(message)

    def _json(self, text: str | bytes, name: str | None) -> bool:
        """The short way of a message that is the JSON of an event, as nearly all are: whether it was that."""
        try:
            event = self._strict_loads(text)
        except ValueError:  # the end mark, among others
            return False
        source = self._source
        source.text, source.value = text, event
        if self._ready and type(event) is dict and name != "error" and (len(event) > 1 or "choices" in event):
            self._feed(event)
        elif self._provider is None:  # which may want exact numbers, and be known only when another text was read
            self._value(source.exact(event), name)
        else:
            self._value(event, name)
        return True

    def _sse(self, message: SseEvent) -> None:
        data = message.data
        if data.startswith(_DONE):
            self._end_mark()
        else:
            self._text(data, message.event)

    def _end_mark(self) -> None:
        if self._provider is None:
            self._pending.append(None)
        elif getattr(self._provider, "has_done", True):
            self._assembler.end_mark()

    def _text(self, text: str, name: str | None) -> None:
        """A message's JSON."""
        try:
            value = self._loads(text)
        except ValueError:
            last = text.rpartition("\n")[2]  # of an event that another one cut off, this is the other one
            cut = len(last) < len(text)
            if cut or name != "error":  # an error may be any text
                self._assembler.defect("sse_bad_json")
            try:
                value = self._loads(last) if cut else text
            except ValueError:
                value = text
            text = last
        self._source.text, self._source.value = text, value
        self._value(value, name)

    def _value(self, value: Any, name: str | None) -> None:
        if name == "error":
            self._error_event(value)
        elif isinstance(value, dict):
            self._event(value)

    def _error_event(self, value: Any) -> None:
        """The payload of an event named `error`: an error, whatever it looks like and whatever the protocol."""
        completion = self.completion
        before = completion.error
        if isinstance(value, dict) and (self._provider or value.get("error") or value.get("type") == "error"):
            self._event(value)
        elif self._provider is None:
            self._event({"error": value or UNNAMED_ERROR})
        if self._provider is not None and completion.error is before:  # the protocol knows no such payload
            self._assembler.error(value or UNNAMED_ERROR)

    def _frame(self, message: AwsMessage) -> None:
        kind = event_type(message.headers)
        if kind is not None and self._frame_json(kind, message.payload):
            return
        try:
            event = frame_event(message)
        except ValueError as error:
            self._damaged(error, frame_event, message)
            return
        if self._ready:
            self._feed(event)
        else:
            self._event(event)

    def _frame_json(self, kind: str, payload: bytes) -> bool:
        """The short way of a frame with an event, as `frame_event` would have it: whether it was that."""
        loads = self._strict_loads
        try:
            event = loads(payload)
            if kind == "chunk":
                payload = a2b_base64(event["bytes"])
                event = loads(payload)
                if type(event) is not dict:
                    return False
        except (ValueError, TypeError, KeyError):
            return False
        if self._ready and kind == _DELTA:
            take = self._take_fragment
            if take is not None and take(event):
                return True
        source = self._source
        source.text, source.value = payload, event
        if self._provider is None:  # as `_json` has it
            event = source.exact(event)
        if kind != "chunk":
            event = {kind: event}
        if self._ready:
            feed = self._feed
            feed(event)
        else:
            self._event(event)
        return True

    def _damaged(self, error: ValueError, read: Callable[..., dict[str, Any]], message: Any) -> None:
        """A message of AWS could not be read: for bytes that are no UTF-8, which can be replaced, or as no JSON."""
        if isinstance(error, UnicodeDecodeError):
            self._assembler.defect("utf8_invalid")
            try:
                event = read(message, "replace")
            except ValueError:
                pass
            else:
                self._event(event)
                return
        self._assembler.defect("sse_bad_json")

    def _flush(self) -> None:
        """The end of the input: what the framing kept, and the last chance to recognise the protocol."""
        if self._decoder is None and self._head:
            head = self._head
            decoder = self._set_framing(recognise_framing(head, True) or "sse")
            self._messages(decoder, decoder.feed(head))
        decoder_now = self._decoder
        lines = self._lines()
        if decoder_now is not None:
            messages = decoder_now.close()
            if decoder_now.unterminated or lines:
                self._unterminated(messages, lines)
            if messages or decoder_now.gaps or decoder_now.utf8_invalid:
                self._messages(decoder_now, messages)
        if self._provider is None:
            self._use(recognise_last(self._events(), self._framing, self._size, lines))

    def _lines(self) -> str:
        """What to say of it if lines were fed without their ends: then all of them are one line, in which something
        begins where the first object ends."""
        line = "" if self._texts is None else self._texts.one_line()
        start = line.find("{")
        if start < 0:
            return ""
        try:
            end = exact_value(line, start)[1]
        except (ValueError, RecursionError):
            return ""
        return _LINES if line[end:].lstrip().startswith(("{", "data:", "event:", "id:", ":")) else ""

    def _unterminated(self, messages: list[Any], detail: str) -> None:
        """The input ended inside a message: it is used if it is whole JSON, else it is lost."""
        if self._framing == "ndjson" and messages and self._is_json(messages[-1]):
            return  # the last line needs no line end
        self._assembler.defect("sse_unterminated_event", detail=detail)
        last = messages[-1] if messages else None
        text = last.data if isinstance(last, SseEvent) else last
        is_error = isinstance(last, SseEvent) and last.event == "error"  # any text is one
        if isinstance(text, str) and not text.startswith(_DONE) and not is_error and not self._is_json(text):
            messages.pop()
            self._assembler.lose()
        elif last is None:
            self._assembler.lose()

    def _is_json(self, text: str) -> bool:
        try:
            self._loads(text)
        except ValueError:
            return False
        return True

    # ------------------------------------------------------------ messages to the protocol

    def _event(self, event: dict[str, Any]) -> None:
        if len(event) == 1:
            try:
                event = unwrap(event)
            except ValueError as error:
                self._damaged(error, unwrap, event)
                return
        if self._provider is not None:
            self._provider.feed(event)
            return
        self._pending.append(event)
        found = recognise(event)
        if found is not None:
            self._use(found)
        elif self._framing is None:
            self.unread.append(event)
            if len(self._pending) > _KEPT_EVENTS:
                self._use(recognise_last(self._events(), None, 0))

    def _events(self) -> list[dict[str, Any]]:
        return [event for event in self._pending if event is not None]

    def _use(self, protocol: type[Provider]) -> None:
        provider = self._provider = protocol(self._assembler)
        self._completion._provider = provider.message
        if provider.exact_numbers:
            self._strict_loads = exact_loads
        else:
            self._loads = loads
            self._assembler.exact = self._source.exact
        self.unread.clear()
        if self._pending:
            pending, self._pending = self._pending, []
            for event in pending:
                if event is None:
                    self._end_mark()
                else:
                    provider.feed(event)
        self._feed = provider.feed
        self._take_fragment = getattr(provider, "take_fragment", None)
        self._ready = self._max_pieces is None and not self._objects


def iter_events(pieces: Iterable[Any], provider: str | None = None, **options: Any) -> Generator[Event, None, None]:
    """The events of a source of pieces; the last one is `StreamEnd`. `options` are those of `ToolCallStream`.

    An exception of the source comes through after the calls so far were ended, so that `StreamEnd` brings what there
    is. When the iteration is given up early the source is closed (`close()`, if it has one).

    >>> with open("examples/weather.sse", "rb") as response:
    ...     for event in iter_events(response, "openai-chat"):
    ...         match event:
    ...             case ToolCallEnd(call) if call.executable:
    ...                 print(call.name)
    get_weather
    find_trains
    """
    stream = ToolCallStream(provider, **options)
    ended = False
    try:
        try:
            for piece in pieces:
                yield from stream.feed(piece)
        except GeneratorExit:
            raise
        except BaseException as error:
            yield from _last_events(stream, error)
            raise
        ended = True
        yield from stream.close()
    finally:
        if not ended:
            _sources.close(pieces)


async def aiter_events(
    pieces: AsyncIterable[Any], provider: str | None = None, **options: Any
) -> AsyncGenerator[Event, None]:
    """`iter_events` for an asynchronous source (`aclose()` or `close()`, if it has one).

    >>> async def names(pieces):
    ...     return [event.call.name async for event in aiter_events(pieces, "ollama") if type(event) is ToolCallEnd]
    >>> async def response():
    ...     yield b'{"message":{"tool_calls":[{"function":{"name":"now","arguments":{}}}]},"done":true}'
    >>> asyncio.run(names(response()))
    ['now']
    """
    stream = ToolCallStream(provider, **options)
    ended = False
    try:
        try:
            async for piece in pieces:
                for event in stream.feed(piece):
                    yield event
        except GeneratorExit:
            raise
        except BaseException as error:
            for event in _last_events(stream, error):
                yield event
            raise
        ended = True
        for event in stream.close():
            yield event
    finally:
        if not ended:
            await _sources.aclose(pieces)


def assemble(pieces: Iterable[Any], provider: str | None = None, **options: Any) -> Completion:
    """Read a source of pieces to its end. `options` are those of `ToolCallStream`; a source's own exception comes
    through.

    >>> with open("examples/weather.sse", "rb") as response:
    ...     [call.name for call in assemble(response).executable_calls]
    ['get_weather', 'find_trains']
    """
    stream = ToolCallStream(provider, **options)
    ended = False
    try:
        for piece in pieces:
            stream.feed(piece)
        ended = True
    finally:
        if not ended:
            _sources.close(pieces)
    stream.close()
    return stream.completion


async def aassemble(pieces: AsyncIterable[Any], provider: str | None = None, **options: Any) -> Completion:
    """`assemble` for an asynchronous source.

    >>> async def response():
    ...     yield b'{"message":{"content":"Hello"},"done":true}'
    >>> asyncio.run(aassemble(response(), "ollama")).text
    'Hello'
    """
    stream = ToolCallStream(provider, **options)
    ended = False
    try:
        async for piece in pieces:
            stream.feed(piece)
        ended = True
    finally:
        if not ended:
            await _sources.aclose(pieces)
    stream.close()
    return stream.completion


def _may_be_empty(piece: object) -> bool:
    """Whether an object without a field is an event without members: by its kind, and not because its fields are
    where nobody finds them."""
    return isinstance(piece, (Mapping, SimpleNamespace)) or any(
        hasattr(piece, mark) for mark in ("__pydantic_fields_set__", "__dataclass_fields__")
    )


def _members(text: str) -> dict[str, Any]:
    """The members of an object that is still coming, without a scalar that is not whole. Text that is no beginning of
    just one object has none."""
    parser = StreamingJsonParser(pending_scalars="withhold")
    parser.feed(text)
    members = parser.snapshot()
    if not isinstance(members, dict) or not parser.valid:
        return {}
    if parser.in_string and len(parser.open_path) == 1:
        del members[parser.open_path[0]]
    return members


def _check_options(strict: object, changes: object, limits: object, new_id: object) -> None:
    """Refuse options of a stream that are of another type."""
    if type(strict) is not bool:
        raise TypeError(f"strict must be True or False, not {type(strict).__name__}")
    if type(changes) is not bool:
        raise TypeError(f"changes must be True or False, not {type(changes).__name__}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits must be Limits or None, not {type(limits).__name__}")
    if new_id is not None and not callable(new_id):
        raise TypeError(f"new_id must be callable or None, not {type(new_id).__name__}")


def _last_events(stream: ToolCallStream, error: BaseException) -> list[Event]:
    """What is left to say when the source, or reading it, has failed; the error comes after it."""
    if not isinstance(error, Exception):
        return []  # the program is being stopped: nothing else may come
    try:
        return stream.close()
    except UnknownProviderError:
        return []
