"""What is fuzzed: four functions from bytes to nothing, that fail on anything the documents do not promise.

    tracker    JsonTracker and scan_bytes, compiled against plain
    parser     StreamingJsonParser, compiled against plain, every option, text and bytes, any cut; json.loads as judge;
               of the same text read_object, and write_object of what json.loads makes of it
    stream     ToolCallStream with the provider drawn from the input; any cut of the bytes gives the same calls
    decoders   the four framings; any cut of the bytes gives the same messages

The first bytes of an input choose options and cuts, the rest is the text, so that a corpus entry stays readable.
`fuzz.py` drives them with coverage guidance, `tests/test_fuzz_corpus.py` replays the corpus in the ordinary suite.
"""

from __future__ import annotations

import array
import itertools
import json
import marshal
import random
import re
import struct
from collections.abc import Callable, Iterator
from zlib import crc32

from toolstream import (
    MISSING,
    AwsEventStreamDecoder,
    JsonArrayDecoder,
    LimitExceededError,
    Limits,
    NdjsonDecoder,
    SseDecoder,
    ToolCallStream,
    UnknownProviderError,
    _engine_py,
    apply_changes,
)

try:
    from toolstream import _engine_c
except ImportError:  # pure installs fuzz the plain engine against itself
    _engine_c = _engine_py  # type: ignore[misc]

PROVIDERS = (
    None,
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-interactions",
    "bedrock-converse",
    "ollama",
    "mistral",
    "cohere",
)
DECODERS = (SseDecoder, NdjsonDecoder, JsonArrayDecoder, AwsEventStreamDecoder)


def cut(data: bytes | str, how: int) -> Iterator[bytes | str]:
    """The pieces of `data`: whole, one by one, or at places that `how` seeds."""
    if how % 4 == 0:
        yield data
        return
    dice, start = random.Random(how), 0
    while start < len(data):
        size = 1 if how % 4 == 1 else dice.choice((0, 1, 1, 2, 3, 5, 8, 21, 64))
        yield data[start : start + size]
        start += size


def framed(data: bytes) -> bytes:
    """Lines as frames of AWS with right checksums, which no mutation would find: `headers TAB payload` in each line."""
    frames = b""
    for line in data.split(b"\n"):
        headers, _, payload = line.partition(b"\t")
        if headers[:1] == b":":  # readable, in the kept corpus: `:event-type=chunk`
            name, _, value = headers.partition(b"=")
            headers = bytes([len(name) & 255]) + name + b"\x07" + struct.pack(">H", len(value) & 0xFFFF) + value
        prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
        body = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
        frames += body + struct.pack(">I", crc32(body))
    return frames


def fingerprint(value: object) -> object:
    """Equal for equal values only, also where `==` would not tell 1 from True or NaN from itself."""
    try:
        return marshal.dumps(value, 2)
    except ValueError:  # deeper than marshal goes
        return "deep"


def tracker(data: bytes) -> None:
    if not data:
        return
    how, text = data[0], data[1:]
    states = []
    for engine in (_engine_c, _engine_py):
        one = engine.JsonTracker()
        for piece in cut(text, how):
            one.feed(piece)
        states.append((one.depth, one.in_string, one.escape))
        offsets = array.array("q", sorted({0, len(text) // 3, len(text) // 2, len(text)}))
        depth = array.array("i", bytes(4 * (len(offsets) - 1)))
        flags = bytearray(len(offsets) - 1)
        engine.scan_bytes(text, offsets, depth, flags)
        states.append((depth.tolist(), bytes(flags)))
    assert states[0] == states[2], states
    assert states[1] == states[3], states


def facts(parser: _engine_py.StreamingJsonParser) -> tuple[object, ...]:
    return (
        parser.complete,
        parser.valid,
        parser.error,
        tuple(parser.repairs),
        parser.repair_count,
        parser.duplicate_keys,
        parser.position,
        parser.depth,
        parser.in_string,
        parser.escape,
        parser.open_path,
        parser.root_end,
        parser.overflow_count,
    )


def parser(data: bytes) -> None:
    if len(data) < 3:
        return
    options = {
        "pending_scalars": "withhold" if data[0] & 1 else "show",
        "lenient": bool(data[0] & 2),
        "report_ends": bool(data[0] & 4),
        "max_depth": 5 if data[0] & 8 else None,
    }
    text: bytes | str = data[2:]
    if data[0] & 16:
        text = data[2:].decode("utf-8", "surrogatepass" if data[0] & 32 else "replace") if _decodes(data) else data[2:]
    objects(text, options["max_depth"])
    readings = []
    for engine, how in ((_engine_c, data[1]), (_engine_py, data[1]), (_engine_c, 0)):
        reader = engine.StreamingJsonParser(**options)
        changes, steps, refused = [], [], False
        for piece in cut(text, how):
            try:
                changes.extend(reader.append(piece))
            except LimitExceededError:
                refused = True
                break
            steps.append((len(changes), reader.depth, reader.in_string, reader.escape, reader.valid))
            if len(steps) < 50:
                steps.append(fingerprint(reader.snapshot()))
        readings.append((reader, changes, steps, refused))
    (one, changes, steps, refused), (other, others, other_steps, _), (whole, whole_changes, _, _) = readings
    assert facts(one) == facts(other), (facts(one), facts(other))
    assert fingerprint(changes) == fingerprint(others)
    assert steps == other_steps
    assert fingerprint(one.snapshot()) == fingerprint(other.snapshot())
    if refused:
        return
    assert facts(one) == facts(whole), (facts(one), facts(whole))
    if one.complete:
        value = one.snapshot()
        assert fingerprint(value) == fingerprint(whole.snapshot())
        written = apply_changes(MISSING, changes)
        assert fingerprint(written) == fingerprint(value)
        assert fingerprint(apply_changes(MISSING, whole_changes)) == fingerprint(value)
        judge(text, one)


def objects(text: bytes | str, max_depth: int | None) -> None:
    """`read_object` gives what a parser that has nothing to say gives; `write_object` writes what `json` does."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    one, other = (engine.read_object(text, max_depth) for engine in (_engine_c, _engine_py))
    assert fingerprint(one) == fingerprint(other), text
    assert fingerprint(one) == fingerprint(_without_a_word(text, max_depth)), text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if one is not None:
        assert fingerprint(one) == fingerprint(value), text
    for whole in (value, {"": value}, {text: [value, value]}):
        one, other = (engine.write_object(whole, max_depth) for engine in (_engine_c, _engine_py))
        assert fingerprint(one) == fingerprint(other), text
        if one is not None:
            assert fingerprint(one) == fingerprint((_dumps(whole), whole)), text
        elif type(whole) is dict and max_depth is None and not _hard(_dumps(whole)):
            raise AssertionError(text)


def _without_a_word(text: str, max_depth: int | None) -> object:
    reader = _engine_c.StreamingJsonParser(lenient=True, max_depth=max_depth)
    try:
        reader.feed(text)
    except LimitExceededError:
        return None
    said = reader.repair_count or reader.duplicate_keys or reader.overflow_count
    value = reader.snapshot() if reader.complete and reader.valid and not said else None
    return value if type(value) is dict else None


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_hard = re.compile(r"[\ud800-\udfff]|[0-9]{19}|[0-9][eE]|NaN|Infinity|[0-9]{15}\.|([{\[][^{\[]*){500}").search
"""Whether a text may have what `write_object` refuses: half of a character, a number with many digits, many levels."""


def _decodes(data: bytes) -> bool:
    try:
        data[2:].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def judge(text: bytes | str, reader: _engine_py.StreamingJsonParser) -> None:
    """`complete and valid` is what json.loads accepts, for a root that closes."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not text.lstrip(" \t\n\r").startswith(('"', "[", "{")):
        return
    try:
        json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return
    except ValueError as error:
        accepted = "4300 digits" in str(error)  # JSON all the same: the parser makes a float of it
    else:
        accepted = True
    assert accepted or not reader.valid, text
    assert reader.valid or not accepted or len(text) > 4300, text


def _refuse(word: str) -> None:
    raise ValueError(word)


def stream(data: bytes) -> None:
    if len(data) < 3:
        return
    provider, how, body = PROVIDERS[(data[0] & 63) % len(PROVIDERS)], data[1], data[2:]
    if data[0] & 64:
        body = framed(body)
    outcomes = []
    for cuts in (how, 0):
        ids = (f"id_{number}" for number in itertools.count())
        stream = ToolCallStream(
            provider=provider, changes=bool(data[0] & 128), limits=Limits(max_calls=1000), new_id=ids.__next__
        )
        texts: dict[int, str] = {}
        started, ended = set(), set()
        events, unknown = [], False
        try:
            for piece in cut(body, cuts):
                events += stream.feed(piece)
            events += stream.close()
        except UnknownProviderError:
            assert provider is None
            unknown = True
        except LimitExceededError:
            return
        for event in events:
            if event.type == "tool_call.start":
                assert id(event.call) not in started
                started.add(id(event.call))
            elif event.type == "tool_call.delta":
                assert id(event.call) in started
                texts[id(event.call)] = ("" if event.restart else texts.get(id(event.call), "")) + event.text
            elif event.type == "tool_call.end":
                assert id(event.call) in started
                assert id(event.call) not in ended
                ended.add(id(event.call))
            event.to_dict()
        assert unknown or started == ended
        done = stream.completion
        for call in done.calls:
            if id(call) in started and not unknown:
                assert texts.get(id(call), "") == call.arguments_text
            if call.executable and call.kind != "custom" and call.input is None:
                assert type(call.arguments) is dict, call.to_dict()
            assert call.status != "streaming" or unknown
        assert len(done.defects) <= done.defect_count
        outcomes.append(
            (
                unknown,
                [
                    (
                        c.name,
                        c.kind,
                        c.index,
                        c.choice,
                        c.status,
                        c.executable,
                        fingerprint(c.arguments),
                        c.arguments_text,
                    )
                    for c in done.calls
                ],
                done.text,
                done.reasoning,
                done.finish_reason,
                sorted((d.code, -1 if d.call is None else d.call) for d in done.defects),
            )
        )
    assert outcomes[0] == outcomes[1], outcomes


def decoders(data: bytes) -> None:
    if len(data) < 3:
        return
    make, how, body = DECODERS[data[0] % len(DECODERS)], data[1], data[2:]
    if data[0] & 64:
        body = framed(body)
    outcomes = []
    for cuts in (how, 0):
        decoder, messages = make(), []
        try:
            for piece in cut(body, cuts):
                messages += decoder.feed(piece)
            messages += decoder.close()
        except LimitExceededError:
            messages.append("limit")
        outcomes.append([repr(message) for message in messages])
    assert outcomes[0] == outcomes[1], outcomes


TARGETS: dict[str, Callable[[bytes], None]] = {
    "tracker": tracker,
    "parser": parser,
    "stream": stream,
    "decoders": decoders,
}
