"""Bytes to messages: the four framings in which providers stream, and how to tell them apart.

Every decoder has `feed(data: bytes) -> list` and `close() -> list`, and gives the same messages however the bytes are
cut. They know no provider. What they notice on the way is left in attributes, to be read after a `feed` or `close`:

    utf8_invalid   bytes that are no UTF-8 were replaced by U+FFFD in a message that was given (text framings)
    torn           some of these stood outside of the values of a message, so that a field's name is another now: for
                   each, the place of that message in the list (to be cleared by who has read it)
    unterminated   `close()` found an end of input where the framing has none: the last message of the list that it
                   returned lacked its end mark (SSE: the blank line), or was cut off and not returned
    damaged        number of messages that were skipped because they could not be read (JSON array, AWS event stream)
    gaps           where the last call skipped some: for each, the place in its list of the message that comes after

`under_way()` is the JSON that has come of a message that is not whole, for who has to know what it may become.

Memory is bounded: one message may have `max_size` bytes (64 MiB unless said otherwise). A longer one raises
`LimitExceededError`, at the latest in the next call: messages found before it are returned first, and every call after
it raises again.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from toolstream.transport.aws_event_stream import AwsEventStreamDecoder, AwsMessage
from toolstream.transport.json_array import JsonArrayDecoder
from toolstream.transport.ndjson import NdjsonDecoder
from toolstream.transport.sse import SseDecoder, SseEvent

__all__ = [
    "AwsEventStreamDecoder",
    "AwsMessage",
    "Decoder",
    "Framing",
    "JsonArrayDecoder",
    "NdjsonDecoder",
    "SseDecoder",
    "SseEvent",
    "decoder_for",
    "recognise_framing",
]

Framing: TypeAlias = Literal["sse", "ndjson", "json-array", "aws-event-stream"]
Decoder: TypeAlias = SseDecoder | NdjsonDecoder | JsonArrayDecoder | AwsEventStreamDecoder

_BOM = b"\xef\xbb\xbf"
_BLANKS = 4096


def recognise_framing(head: bytes, final: bool = False) -> Framing | None:
    """The framing of a stream that begins with `head`; `None` while more bytes are needed (never when `final`).

    A frame of AWS begins with a length below 32 MiB, so with a byte 0 or 1, which no text begins with. A JSON array
    begins with `[`, a JSON object with `{`; one that goes on with a line end is printed over many lines, so that
    lines do not frame it, and the decoder of arrays reads it. All else can only be server-sent events, and so are
    4 KB of blanks.
    """
    if head[:1].isalpha():
        return "sse"
    final = final or len(head) >= _BLANKS
    if head[:1] in (b"\0", b"\1"):
        return "aws-event-stream"
    if len(head) < 3 and not final and _BOM.startswith(head):
        return None
    text = head.removeprefix(_BOM).lstrip(b" \t\r\n")
    if text.startswith(b"["):
        return "json-array"
    if text.startswith(b"{"):
        inside = text[1:].lstrip(b" \t")
        if inside or final:
            return "json-array" if inside[:1] in (b"\r", b"\n") else "ndjson"
        return None
    return "sse" if text or final else None


def decoder_for(framing: Framing) -> Decoder:
    """A new decoder with the default limits."""
    if framing == "sse":
        return SseDecoder()
    if framing == "ndjson":
        return NdjsonDecoder()
    return JsonArrayDecoder() if framing == "json-array" else AwsEventStreamDecoder()
