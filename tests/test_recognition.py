"""The registry of protocols, recognition, and the one form that events of every origin are brought into."""

import collections
import dataclasses
import enum
import functools
import itertools
import json
import struct
import subprocess
import sys
from base64 import b64encode
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from toolstream import ToolCallStream
from toolstream.errors import UnknownProviderError
from toolstream.providers import (
    RECOGNITION_BYTES,
    Block,
    frame_event,
    known_providers,
    plain,
    provider_class,
    recognise,
    recognise_beginning,
    recognise_last,
    unwrap,
)
from toolstream.transport import AwsEventStreamDecoder, AwsMessage

NAMES = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-interactions",
    "bedrock-converse",
    "ollama",
    "mistral",
    "cohere",
]

SURE = {
    "anthropic": [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "message_stop"},
    ],
    "openai-responses": [
        {"type": "response.created", "response": {"output": []}},
        {"type": "response.function_call_arguments.delta", "delta": "{"},
    ],
    "openai-chat": [
        {"choices": [], "object": "", "prompt_filter_results": []},
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}}]},
        {"choices": [], "usage": {"total_tokens": 3}},
        {"type": "chunk", "chunk": {"choices": []}},
    ],
    "mistral": [{"data": {"id": "a", "choices": []}}],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"usageMetadata": {"totalTokenCount": 3}},
        {"prompt_feedback": {"block_reason": "SAFETY"}},
        {"usage_metadata": {"total_token_count": 3}},
    ],
    "gemini-interactions": [
        {"event_type": "interaction.created", "interaction": {}},
        {"event_type": "step.delta", "index": 0, "delta": {}},
        {"event_type": "content.start", "index": 0},
    ],
    "bedrock-converse": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}},
        {"messageStop": {"stopReason": "end_turn"}},
    ],
    "ollama": [{"model": "m", "message": {"role": "assistant", "content": "a"}, "done": False}],
    "cohere": [
        {"type": "message-start", "id": "c"},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "a"}}},
        {"type": "tool-call-start", "index": 0},
    ],
}

AMBIGUOUS = [
    {"type": "ping"},
    {"type": "error", "error": {"type": "overloaded_error"}},
    {"error": {"message": "busy"}},
    {"type": "debug"},
    {},
    {"type": 3},
    {"type": ["message_start"]},
    {"data": 3},
    {"event_type": "text-generation"},
]


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_has_a_class_with_its_name(name):
    assert provider_class(name).name == name


@pytest.mark.parametrize(("name", "event"), [(name, event) for name in SURE for event in SURE[name]])
def test_an_event_of_one_protocol_is_recognised(name, event):
    assert recognise(event) is provider_class(name)


@pytest.mark.parametrize("event", AMBIGUOUS, ids=str)
def test_an_event_of_no_certain_protocol_is_not(event):
    assert recognise(event) is None


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownProviderError) as caught:
        provider_class("openai")
    assert "'openai'" in str(caught.value)
    assert all(name in str(caught.value) for name in NAMES)
    assert known_providers()[: len(NAMES)] == NAMES


@pytest.mark.parametrize(
    ("events", "framing", "name"),
    [
        ([{"error": {"message": "busy"}}], "sse", "openai-chat"),
        ([{"error": "busy"}], "ndjson", "ollama"),
        ([{"error": {"code": 503}}], "json-array", "gemini"),
        ([{"type": "error", "error": {}}], "sse", "anthropic"),
        ([{"type": "ping"}, {"error": {}}], "sse", "anthropic"),
        ([{"throttlingException": {"message": "slow"}}], "aws-event-stream", "bedrock-converse"),
        ([{"error": {"type": "throttlingException"}}], None, "openai-chat"),
        ([{"error": {"type": "throttlingException"}}], "aws-event-stream", "bedrock-converse"),
        ([{"object": "error", "message": "busy"}], "sse", "openai-chat"),
        ([{"object": "error", "message": "busy"}], "ndjson", "openai-chat"),
        ([{"object": "error", "message": "busy"}], "json-array", "openai-chat"),
        ([{"type": "error", "code": "busy", "message": "later"}], "sse", "openai-responses"),
    ],
)
def test_a_stream_of_nothing_but_an_error_is_read_all_the_same(events, framing, name):
    assert recognise_last(events, framing, 100) is provider_class(name)


@pytest.mark.parametrize("events", [[], [{"type": "ping"}], [{"hello": "world"}]])
def test_what_fits_nothing_is_an_error_that_says_how_much_was_seen(events):
    with pytest.raises(UnknownProviderError, match="first 1234 bytes") as caught:
        recognise_last(events, "sse", 1234)
    assert all(name in str(caught.value) for name in NAMES)


def test_an_empty_stream_is_told_as_that():
    with pytest.raises(UnknownProviderError, match="a stream that is empty"):
        recognise_last([], None, 0)


REGISTERED = """
import sys
from pathlib import Path

class Registered:
    name = "acme"
    exact_numbers = False
    def __init__(self, assembler): pass
    @classmethod
    def recognises(cls, event): return event.get("acme") is True

class Moody:
    @classmethod
    def recognises(cls, event): raise LookupError("not today")

class Impostor:
    @classmethod
    def recognises(cls, event): raise AssertionError("never asked")
"""


def test_an_entry_point_adds_a_protocol_and_replaces_none(tmp_path, monkeypatch):
    (tmp_path / "acme_stream.py").write_text(REGISTERED, encoding="utf-8")
    info = tmp_path / "acme_stream-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-stream\nVersion: 1.0\n", encoding="utf-8")
    points = "[toolstream.providers]\nacme = acme_stream:Registered\nanthropic = acme_stream:Impostor\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = provider_class("acme")
    assert found.name == "acme"
    assert "acme" in known_providers()
    assert provider_class("anthropic").__module__ == "toolstream.providers.anthropic"
    assert recognise({"acme": True}) is found
    assert recognise({"acme": True, "error": 1}) is None
    assert recognise_last([{"type": "ping"}, {"acme": True}], "sse", 10) is found


@pytest.mark.parametrize("broken", ["no_such_module:X", "broken_stream:NoSuchClass", "broken_stream:Moody"])
def test_a_registered_protocol_that_is_broken_is_left_out_and_named(tmp_path, monkeypatch, broken):
    (tmp_path / "broken_stream.py").write_text(REGISTERED, encoding="utf-8")
    info = tmp_path / "broken_stream-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-stream\nVersion: 1.0\n", encoding="utf-8")
    points = f"[toolstream.providers]\nbad = {broken}\nzeal = broken_stream:Registered\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    for ask in (recognise, lambda event: recognise_last([event], "sse", 10)):
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.warns(RuntimeWarning, match="'bad'"):
            assert ask({"acme": True}).name == "acme"


def test_the_list_of_distributions_is_read_only_where_it_is_needed():
    code = (
        "import sys, toolstream.providers as p\n"
        "p.provider_class('anthropic'); p.recognise({'type': 'ping'}); p.recognise({'type': 'message_stop'})\n"
        "assert 'importlib.metadata' not in sys.modules\n"
        "assert 'toolstream.providers.cohere' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# A first event of more than is kept

LONG = "é \\" * 30_000
CHAT = {"id": "c", "choices": [{"index": 0, "delta": {"content": LONG}}]}
LONG_ONES = [
    ("openai-responses", "sse", {"type": "response.created", "response": {"instructions": LONG, "output": []}}),
    ("openai-responses", "named", {"type": "response.created", "response": {"instructions": LONG, "output": []}}),
    ("anthropic", "sse", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": LONG}}),
    ("openai-chat", "sse", CHAT),
    ("openai-chat", "ndjson", CHAT),
    ("openai-chat", "array", CHAT),
    ("mistral", "sse", {"data": CHAT}),
    ("gemini", "array", {"candidates": [{"content": {"parts": [{"text": LONG}]}}]}),
    ("gemini", "sse", {"candidates": [{"content": {"parts": [{"text": LONG}]}}]}),
    ("gemini-interactions", "sse", {"event_type": "step.delta", "delta": {"text": LONG}}),
    ("ollama", "ndjson", {"model": "m", "message": {"role": "assistant", "content": LONG}, "done": True}),
    ("ollama", "ndjson", {"done": True, "model": "m", "message": {"role": "assistant", "content": LONG}}),
    ("cohere", "sse", {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": LONG}}}),
]


def framed(framing, text):
    if framing == "array":
        return f"[{text}\n]".encode()
    if framing == "ndjson":
        return f"\ufeff{text}\n".encode()
    return (("event: message\n" if framing == "named" else "") + f"data: {text}\n\n").encode()


def fed(pieces):
    stream = ToolCallStream()
    events = [event for piece in pieces for event in stream.feed(piece)]
    assert stream.unread == []
    events += stream.close()
    return stream.provider, [event.type for event in events], stream.completion.text


@pytest.mark.parametrize(("name", "framing", "event"), LONG_ONES)
@pytest.mark.parametrize("size", [1000, 65_537])
def test_a_long_first_event_is_recognised_however_it_is_cut(name, framing, event, size):
    data = framed(framing, json.dumps(event, ensure_ascii=False))
    found = fed([data[at : at + size] for at in range(0, len(data), size)])
    assert found[0] == name
    assert found == fed([data])


def test_the_limit_may_fall_anywhere_near_the_end_of_an_event():
    for room in range(-12, 4):
        text = json.dumps({"type": "response.created", "response": {"instructions": ""}})
        text = text.replace('""', '"' + "x" * (RECOGNITION_BYTES - len(text) + room) + '"')
        data = framed("sse", text)
        assert fed([data[:-30], *(bytes([byte]) for byte in data[-30:])])[0] == "openai-responses"


@pytest.mark.parametrize(
    "beginning",
    [
        '{"model": "m", "created_at": "',
        '{"model": "m", "message": "',
        '{"response": {"object": "response", "instructions": "',
        '{"error": {"message": "',
        '{"x": "", "type": "response.',
        '{"choices',
        '["choices", "',
        '{"a": 1} "choices": [], "b": "',
        "{choices: [], b: '",
    ],
)
@pytest.mark.parametrize("framing", ["sse", "ndjson", "array"])
def test_a_beginning_that_does_not_decide_is_an_error_as_before(beginning, framing):
    stream = ToolCallStream()
    stream.feed(framed(framing, beginning)[: -3 if framing == "ndjson" else -2].rstrip(b"\n"))
    with pytest.raises(UnknownProviderError, match="no protocol fits the first"):
        stream.feed(b"x" * RECOGNITION_BYTES)
    assert b"".join(stream.unread).endswith(b"x" * RECOGNITION_BYTES)


def test_the_data_of_an_event_named_error_decides_nothing():
    stream = ToolCallStream()
    with pytest.raises(UnknownProviderError):
        stream.feed(b'event: error\ndata: {"choices": [], "x": "' + b"x" * RECOGNITION_BYTES)


@pytest.mark.parametrize(
    "event",
    [event for name in SURE for event in SURE[name]] + AMBIGUOUS + [event for _, _, event in LONG_ONES],
    ids=lambda event: str(event)[:60],
)
def test_no_beginning_of_an_event_is_taken_for_another_protocol(event):
    """Its members in any order."""
    wanted = recognise(event)
    for members in itertools.permutations(event.items()):
        for count in range(len(members) + 1):
            assert recognise_beginning(dict(members[:count])) in (None, wanted)


# Objects


class Word(str, enum.Enum):
    STOP = "STOP"


@dataclasses.dataclass
class Part:
    text: str
    data: bytes
    _private: int = 3


class Slotted:
    __slots__ = ("index", "missing")

    def __init__(self, index):
        self.index = index


def test_a_dict_of_plain_values_is_taken_as_it_is():
    event = {"a": [{"b": None}, 1.5, True], "bytes": b"x"}
    event["me"] = event
    assert plain(event) is event


def test_objects_inside_a_dict_become_plain_and_the_dict_stays_as_it_was():
    inner = SimpleNamespace(args={"x": SimpleNamespace(y=1)})
    event = {"a": [{"b": inner}], "kept": {"c": 1}}
    assert plain(event) == {"a": [{"b": {"args": {"x": {"y": 1}}}}], "kept": {"c": 1}}
    assert event == {"a": [{"b": inner}], "kept": {"c": 1}}
    assert inner.args["x"] == SimpleNamespace(y=1)


class Base:
    __slots__ = ("first",)

    def __init__(self, first, second):
        self.first, self.second = first, second


class Derived(Base):
    __slots__ = ("_private", "second")


class OneSlot:
    __slots__ = "only"

    def __init__(self):
        self.only = 1


@dataclasses.dataclass(slots=True)
class SlottedBase:
    first: int


@dataclasses.dataclass(slots=True)
class SlottedDerived(SlottedBase):
    second: int


class Computed:
    def __init__(self):
        self._raw = {"first": 1, "second": [b"a"]}

    first = property(lambda self: self._raw["first"])
    second = property(lambda self: self._raw["second"])
    broken = property(lambda self: self._raw["third"])
    snapshot = property(lambda self: self._raw)


class Constant:
    index = 1
    first, second, _third = 1, [SimpleNamespace(b=1)], 3
    Inner = SimpleNamespace
    by_class = classmethod(lambda cls: 1)
    static = staticmethod(lambda: 1)
    cached = functools.cached_property(lambda self: 1)

    def method(self):
        return 1


class ConstantDerived(Constant):
    first = 2
    snapshot = 3


class ConstantAndOwn(Constant):
    def __init__(self):
        self.own = 1


class Pair(NamedTuple):
    first: int
    second: Any


class Plain(enum.Enum):
    STOP = 1
    WORD = "word"


class Number(enum.IntEnum):
    STOP = 1


class Rows(collections.UserList):
    pass


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Derived(1, 2), {"first": 1, "second": 2}),
        (OneSlot(), {"only": 1}),
        (SlottedDerived(1, 2), {"first": 1, "second": 2}),
        (Constant(), {"index": 1, "first": 1, "second": [{"b": 1}]}),
        (ConstantDerived(), {"index": 1, "first": 2, "second": [{"b": 1}]}),
        (ConstantAndOwn(), {"own": 1}),
        (Computed(), {"first": 1, "second": ["YQ=="]}),
        (Pair(1, Pair(2, 3)), {"first": 1, "second": {"first": 2, "second": 3}}),
        (collections.UserDict({"a": SimpleNamespace(b=1)}), {"a": {"b": 1}}),
        (collections.OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        (Rows([SimpleNamespace(b=1)]), [{"b": 1}]),
        (Plain.STOP, "STOP"),
        (Plain.WORD, "word"),
        (Number.STOP, "STOP"),
        (bytearray(b"a"), "YQ=="),
        (Fraction(1, 2), Fraction(1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_of_every_make_have_their_fields_read(value, wanted):
    assert plain(value) == wanted
    assert plain(SimpleNamespace(inner=[value])) == {"inner": [wanted]}
    assert plain({"inner": [value]}) == {"inner": [wanted]}


def test_numbers_of_a_derived_type_are_plain_numbers():
    class Index(int):
        pass

    class Share(float):
        pass

    assert [type(value) for value in plain([Index(1), {"a": Share(0.5)}["a"], True])] == [int, float, bool]


def test_the_fields_of_a_derived_struct_are_all_read():
    msgspec = pytest.importorskip("msgspec")
    base = msgspec.defstruct("base", [("first", int)])
    derived = msgspec.defstruct("derived", [("second", Any)], bases=(base,))
    assert plain(derived(1, derived(2, 3))) == {"first": 1, "second": {"first": 2, "second": 3}}


def test_values_that_are_made_when_asked_for_are_not_taken_for_one_another():
    class Maker:
        a = property(lambda self: SimpleNamespace(name="a"))
        b = property(lambda self: SimpleNamespace(name="b"))
        c = property(lambda self: SimpleNamespace(name="c"))

    assert plain([Maker() for _ in range(50)]) == [{name: {"name": name} for name in "abc"}] * 50


def test_objects_become_dicts_and_lists():
    event = SimpleNamespace(
        parts=[Part("a", b"\xfb\xff"), {"kept": 1}],
        both=(SimpleNamespace(x=None), 2.5, True),
        word=Word.STOP,
        slotted=Slotted(3),
        empty=SimpleNamespace(),
        snapshot=SimpleNamespace(grows=True),
    )
    assert plain(event) == {
        "parts": [{"text": "a", "data": "+/8="}, {"kept": 1}],
        "both": [{"x": None}, 2.5, True],
        "word": "STOP",
        "slotted": {"index": 3},
        "empty": {},
    }
    assert type(plain(event)["word"]) is str


def test_what_has_no_fields_stays():
    for value in (None, 3, "a", object):
        assert plain(value) is value or plain(value) == {}
    bare = object()
    assert plain(bare) is bare


def test_an_object_that_holds_itself_ends():
    event = SimpleNamespace(a=1)
    event.me = event
    event.list = [event]
    copy = plain(event)
    assert copy["a"] == 1
    assert copy["me"]["me"]["list"][0]["a"] == 1


def test_deep_objects_cost_no_stack():
    event = SimpleNamespace(depth=0)
    for depth in range(20_000):
        event = SimpleNamespace(inner=event, depth=depth)
    copy = plain(event)
    for _ in range(20_000):
        copy = copy["inner"]
    assert copy == {"depth": 0}
    while hasattr(event, "inner"):  # freeing such a chain at once would cost the stack
        event = event.inner


SDK_EVENTS = {
    "openai chunk": (
        "openai.types.chat:ChatCompletionChunk",
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [{"index": 0, "id": "x", "type": "function", "function": {"name": "f"}}],
                        "reasoning_content": "not in the schema",
                    },
                    "finish_reason": None,
                }
            ],
            "not_in_the_schema": {"a": [1]},
        },
    ),
    "openai response event": (
        "openai.types.responses:ResponseFunctionCallArgumentsDeltaEvent",
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "i",
            "output_index": 0,
            "delta": "a",
            "sequence_number": 3,
        },
    ),
    "anthropic start": (
        "anthropic.types:RawContentBlockStartEvent",
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {
                "type": "tool_use",
                "id": "t",
                "name": "n",
                "input": {"a": 1},
                "caller": {"type": "direct"},
                "not_in_the_schema": 5,
            },
        },
    ),
    "anthropic delta": (
        "anthropic.types:RawContentBlockDeltaEvent",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{"}},
    ),
    "gemini response": (
        "google.genai.types:GenerateContentResponse",
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"functionCall": {"name": "f", "args": {"snake_key": 1}}, "thoughtSignature": "aGk="}
                        ],
                        "role": "model",
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {"totalTokenCount": 9},
        },
    ),
    "ollama line": (
        "ollama:ChatResponse",
        {
            "model": "q",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
            },
            "done": True,
            "done_reason": "stop",
        },
    ),
    "cohere event": (
        "cohere.v2.types.v2chat_stream_response:ToolCallStartV2ChatStreamResponse",
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {
                "message": {"tool_calls": {"id": "i", "type": "function", "function": {"name": "n", "arguments": ""}}}
            },
        },
    ),
    "mistral event": (
        "mistralai.client.models:CompletionEvent",
        {
            "data": {
                "id": "a",
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "delta": {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}, "type": "function"}]},
                        "finish_reason": "tool_calls",
                    }
                ],
            }
        },
    ),
}


@pytest.mark.parametrize("name", SDK_EVENTS)
def test_an_sdk_object_is_what_the_wire_had(name):
    path, raw = SDK_EVENTS[name]
    module, _, attribute = path.partition(":")
    try:
        found = getattr(pytest.importorskip(module), attribute)
    except Exception as error:  # an SDK that does not import here is no fault of this package
        pytest.skip(f"{module}: {error}")
    event = plain(found.model_validate(raw))
    assert event == raw
    assert recognise(event) is recognise(raw) is not None


# Frames and chunks


def test_a_frame_is_the_event_that_boto3_gives():
    frame = AwsMessage({":message-type": "event", ":event-type": "contentBlockStop"}, b'{"contentBlockIndex":3}')
    assert frame_event(frame) == {"contentBlockStop": {"contentBlockIndex": 3}}
    assert frame_event(AwsMessage({":event-type": "messageStart"}, b"")) == {"messageStart": {}}


def test_exceptions_and_errors_keep_their_type_and_message():
    frame = AwsMessage({":message-type": "exception", ":exception-type": "throttlingException"}, b'{"message":"slow"}')
    error = {"error": {"type": "throttlingException", "message": "slow"}}
    assert frame_event(frame) == unwrap({"throttlingException": {"message": "slow"}}) == error
    frame = AwsMessage({":message-type": "exception", ":exception-type": "throttlingException"}, b"slow")
    assert frame_event(frame) == unwrap({"throttlingException": "slow"}) == error
    frame = AwsMessage({":message-type": "error", ":error-code": "500", ":error-message": "broken"}, b"")
    assert frame_event(frame) == {"error": {"type": "500", "message": "broken"}}


def test_an_exception_without_its_type_is_one_all_the_same():
    frame = AwsMessage({":message-type": "exception"}, b'{"message": "x"}')
    assert frame_event(frame) == {"error": {"type": "exception", "message": "x"}}


def test_chunks_are_unwrapped_from_the_wire_and_from_boto3():
    inner = {"type": "message_stop", "n": 123456789012345678901}
    data = json.dumps(inner).encode()
    wire = AwsMessage({":event-type": "chunk"}, json.dumps({"bytes": b64encode(data).decode(), "p": "ab"}).encode())
    assert frame_event(wire) == inner
    assert unwrap({"chunk": {"bytes": data}}) == inner


@pytest.mark.parametrize(
    "event", [{"chunk": {}}, {"chunk": {"bytes": 3}}, {"chunk": []}, {"chunk": {"bytes": b""}, "x": 1}, {}]
)
def test_other_events_are_not_unwrapped(event):
    assert unwrap(event) is event


@pytest.mark.parametrize("data", ["%%%", b"{", b"[1]", b"\xff", "e30"])
def test_a_chunk_that_holds_no_event_is_an_error(data):
    with pytest.raises(ValueError, match=r"."):
        unwrap({"chunk": {"bytes": data}})


def test_a_payload_that_is_no_json_is_an_error():
    with pytest.raises(ValueError, match=r"."):
        frame_event(AwsMessage({":event-type": "messageStart"}, b"{"))


def test_frames_of_the_wire_reach_their_event():
    payload = b'{"role":"assistant"}'
    header = b"\x0b:event-type\x07\x00\x0cmessageStart"
    prelude = struct.pack(">II", 16 + len(header) + len(payload), len(header))
    body = prelude + struct.pack(">I", crc32(prelude)) + header + payload
    (frame,) = AwsEventStreamDecoder().feed(body + struct.pack(">I", crc32(body)))
    assert frame_event(frame) == {"messageStart": {"role": "assistant"}}


# Blocks


def test_a_block_joins_its_pieces_when_it_is_read():
    block = Block({"type": "text", "text": "a"})
    block.append("text", "b")
    block.append("text", "c")
    block.append("citations", [1])
    block.append("citations", [2, 3])
    assert block.type == "text"
    assert block.value() == {"type": "text", "text": "abc", "citations": [1, 2, 3]}
    block.set("text", "d")
    block.append("text", "e")
    assert block.value() == {"type": "text", "text": "de", "citations": [1, 2, 3]}
    start = {"type": "x", "text": 3}
    block = Block(start)
    block.append("text", "a")
    assert block.value() == {"type": "x", "text": "a"}
    assert start == {"type": "x", "text": 3}
