"""`ToolCallArgumentsStream`, `parse_tool_call_arguments` and `tool_call_arguments_absent`."""

import copy
import json
import pickle
import sys
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType, SimpleNamespace

import pytest
from chat import call, delta, entry, finish, read
from cutting import cuts, same

from toolstream import (
    FinishedArguments,
    Limits,
    ParsedArguments,
    Replacement,
    StreamingJsonParser,
    ToolCallArgumentsStream,
    ToolCallStream,
    UnparseableArguments,
    UnsupportedType,
    parse_tool_call_arguments,
    tool_call_arguments_absent,
)

BLANK = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
NOT_BLANK = "\x00\x1c\x1d\x1e\x1f\x85\u180e\u200b\u200c\u2060a0{"
GRIN = "\U0001f600"


def finished(*deltas):
    stream = ToolCallArgumentsStream()
    for text in deltas:
        stream.append(text)
    return stream.finish()


# ---------------------------------------------------------------- the live view


def test_arguments_grow():
    stream = ToolCallArgumentsStream()
    assert stream.append('{"city": "Os') == {"city": "Os"}
    assert stream.append('lo", "days": 3') == {"city": "Oslo", "days": 3}
    assert stream.append("}") == {"city": "Oslo", "days": 3}
    assert stream.text == '{"city": "Oslo", "days": 3}'


def test_the_same_object_while_nothing_changed():
    stream = ToolCallArgumentsStream()
    nothing = stream.append("")
    assert nothing == {}
    for blank in (" ", "\n", "", "x", " "):
        assert stream.append(blank) is nothing
    first = stream.append('{"a":"')
    assert first == {"a": ""}
    for held in ("", "\\", "u", "00"):
        assert stream.append(held) is first
    assert stream.append("e9") == {"a": "é"}
    assert first == {"a": ""}


@pytest.mark.parametrize("text", ["[1, 2", '"abc', "12", "true", "nul", "hello"])
def test_no_object_shows_as_no_arguments(text):
    stream = ToolCallArgumentsStream()
    assert [stream.append(char) for char in text] == [{}] * len(text)


def test_a_growing_array_gives_new_empty_arguments_and_an_equal_scalar_does_not():
    stream = ToolCallArgumentsStream()
    before, opened, element = stream.append(""), stream.append("["), stream.append("1,")
    assert before == opened == element == {}
    assert before is not opened
    assert opened is not element
    assert stream.append(" ") is element
    stream = ToolCallArgumentsStream()
    shown = stream.append("1")
    assert stream.append("2") is not shown
    shown = stream.append("")
    assert stream.append(".0") is shown
    assert stream.append(" ") is shown
    stream = ToolCallArgumentsStream()
    assert stream.append("1") is not stream.replace("true").arguments


def test_answers_stay_as_they_are():
    stream, answers = ToolCallArgumentsStream(), []
    for char in '{"a":["x",{"b":[1,2]}],"c":"de"} x':
        arguments = stream.append(char)
        answers.append((arguments, copy.deepcopy(arguments)))
    assert all(arguments == before for arguments, before in answers)


@pytest.mark.parametrize("wrong", [None, b"{}", 1, ["{}"], {"a": 1}])
def test_wrong_types_are_named(wrong):
    stream = ToolCallArgumentsStream()
    stream.append('{"a"')
    for method in (stream.append, stream.replace):
        with pytest.raises(TypeError, match=type(wrong).__name__):
            method(wrong)
    assert stream.text == '{"a"'
    assert stream.append(":1}") == {"a": 1}


# ---------------------------------------------------------------- the raw text


def test_text_is_kept_exactly():
    for _way, pieces in cuts(' {"a" :\t"x\\u00e9\\d\x00é' + GRIN + '" } rest '):
        stream = ToolCallArgumentsStream()
        for piece in pieces:
            stream.append(piece)
        assert stream.text == "".join(pieces)


def test_halves_of_a_character_meet_and_a_lone_one_stays():
    stream = ToolCallArgumentsStream()
    for piece in ('{"a":"\ud83d', "\ude00", "\ude00\ud83d", '"}'):
        stream.append(piece)
    assert stream.text == '{"a":"' + GRIN + '\ude00\ud83d"}'
    assert stream.finish() == ({"a": GRIN + "\ufffd\ufffd"}, None)


# ---------------------------------------------------------------- replace


def test_replace_that_continues():
    stream = ToolCallArgumentsStream()
    assert stream.replace('{"a":"x') == Replacement('{"a":"x', {"a": "x"})
    assert stream.replace('{"a":"xy\\') == Replacement("y\\", {"a": "xy"})
    assert stream.append('n"') == {"a": "xy\n"}
    assert stream.replace('{"a":"xy\\n"}') == ("}", {"a": "xy\n"})
    assert stream.text == '{"a":"xy\\n"}'
    assert stream.finish().arguments == {"a": "xy\n"}


def test_replace_with_the_same_text_does_nothing():
    stream = ToolCallArgumentsStream()
    assert stream.replace("") == ("", {})
    shown = stream.append('{"a":1')
    delta, arguments = stream.replace('{"a":1')
    assert delta == ""
    assert arguments is shown


def test_a_text_that_completes_half_a_character_goes_on():
    stream = ToolCallArgumentsStream()
    stream.append('{"a":"\ud83d')
    assert stream.replace('{"a":"\U0001f600"}') == ('\ude00"}', {"a": "\U0001f600"})
    assert stream.text == '{"a":"\U0001f600"}'
    assert stream.finish() == ({"a": "\U0001f600"}, None)


@pytest.mark.parametrize("other", ['{"a":"\U0001f900"}', '{"b":"\U0001f600"}', '{"a":"x"}', '{"a":"'])
def test_a_text_with_another_character_starts_over(other):
    stream = ToolCallArgumentsStream()
    stream.append('{"a":"\ud83d')
    assert stream.replace(other).delta is None
    assert stream.text == other


@pytest.mark.parametrize("text", ['{"a":1}\ud83d', '\ud83d{"a":1}', '{"a":1,\ud83d'])
def test_half_a_character_outside_of_strings_is_refused(text):
    stream = ToolCallArgumentsStream()
    stream.append(text)
    assert stream.finish().arguments == {}
    assert stream.finish().error is not None
    call = {"type": "function", "function": {"name": "f", "arguments": text}}
    assert parse_tool_call_arguments(call).kind == "unparseable"


def test_a_text_that_could_not_be_read_does_not_pass_for_none(monkeypatch):
    class Failing(StreamingJsonParser):
        def feed(self, piece, /):
            raise MemoryError

    monkeypatch.setattr("toolstream.arguments.StreamingJsonParser", Failing)
    stream = ToolCallArgumentsStream()
    with pytest.raises(MemoryError):
        stream.append('{"path":')
    assert stream.finish().error is not None


def test_replace_that_starts_over():
    stream = ToolCallArgumentsStream()
    first = stream.append('{"a":1}')
    assert stream.replace('{"b":') == (None, {})
    assert stream.text == '{"b":'
    assert stream.append("2}") == {"b": 2}
    assert stream.finish() == ({"b": 2}, None)
    assert first == {"a": 1}
    assert stream.replace("") == (None, {})
    assert stream.text == ""
    assert stream.finish() == ({}, None)


def test_a_shorter_text_starts_over_and_an_equal_value_is_a_new_object():
    stream = ToolCallArgumentsStream()
    first = stream.append('{"a":1} ')
    delta, arguments = stream.replace('{"a":1}')
    assert (delta, arguments) == (None, {"a": 1})
    assert arguments is not first


# ---------------------------------------------------------------- finish: accepted


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        ' {"a" : 1}\r\n\t',
        '{"a":1,"a":2}',
        '{"":{"":[]}}',
        '{"a":[1,-2.5e3,true,false,null,"x\\n\\u00e9"]}',
        '{"a":"\\ud83d\\ude00","\\u0062":"/\\/"}',
        '{"a":12345678901234567890123}',
        '{"a":1e400}',
        '{"a":"é' + GRIN + '"}',
        '{"a":"\\frac"}',
        '{"a":"x\x7f\x85y"}',
    ],
)
def test_strict_json_objects(text):
    for way, pieces in cuts(text):
        arguments, error = finished(*pieces)
        assert error is None, way
        assert same(arguments, json.loads(text)), way


@pytest.mark.parametrize("text", ["", " ", "\r\n\t", BLANK, *BLANK])
def test_a_blank_text_is_no_arguments(text):
    assert finished(text) == FinishedArguments({}, None)
    assert finished(*text) == ({}, None)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a":"x\ny"}', {"a": "x\ny"}),
        ('{"a":"x\ty\rz\x00\x1f"}', {"a": "x\ty\rz\x00\x1f"}),
        (r'{"a":"\d+\w"}', {"a": r"\d+\w"}),
        (r'{"a":"C:\Users\x"}', {"a": r"C:\Users\x"}),
        (r'{"a":"\uZZZZ\u12"}', {"a": r"\uZZZZ\u12"}),
        (r'{"a":"\u12\n\q"}', {"a": "\\u12\n\\q"}),
        ('{"a\nb\\q":1}', {"a\nb\\q": 1}),
        ('{"a":"\\\n"}', {"a": "\\\n"}),
        (r'{"a":"\'"}', {"a": r"\'"}),
        ('{"a":["\t",{"b":"\\d \\" \\\\"}],"c":"\\\\d"}', {"a": ["\t", {"b": '\\d " \\'}], "c": "\\d"}),
        ('{"a":"\\ud83d\n","b":"\\d"}', {"a": "\ufffd\n", "b": "\\d"}),
    ],
)
def test_repairs_inside_strings(text, arguments):
    for way, pieces in cuts(text):
        assert finished(*pieces) == (arguments, None), way


def test_more_repairs_than_are_listed():
    text = '{"a":"' + "\\d\n" * 5000 + '"}'
    assert finished(text) == ({"a": "\\d\n" * 5000}, None)


# ---------------------------------------------------------------- finish: refused

REFUSED = [
    '{"a":1', '{"a":"x', '{"a":"x\\', '{"a":', '{"a"', "{", "}", '{"a":}', "{'a':1}", '{a:1}', '{"a":1,}', '{"a":1}}',
    '{"a":1}{"b":2}', '{"a":1} x', '{"a":1} // note', '{"a":NaN}', '{"a":-Infinity}', '{"a":01}', '{"a":+1}',
    '{"a":.5}', '{"a":1.}', '{"a":1e}', '{"a":True}', '{"a":1_000}', '{"a":\u0661}', '{"a":1\u00a0}', '{"a":1}\u00a0',
    '\ufeff{"a":1}', '{"a":1 "b":2}', '{"a" 1}', '```json\n{"a":1}\n```', "hello", "tru", "1.", "-", "\x85", "\u200b",
    "[", "[1,", '"x', '{"a":"x\ny",}', '{"a":"\\d"', '{"a":"\n"} x', '["\\d",]', '{"a":[1}', '{"a":"\\"}',
    '{"a":1,"b":tru}',
]  # fmt: skip
REFUSED += [
    '{\\"a":1}',
    '{"a":1\x00}',
    '\x00{"a":1}',
    '{"a":\\n1}',
    "{'a':'\n'}",
]  # outside of strings nothing is repaired


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    for way, pieces in cuts(text):
        arguments, error = finished(*pieces)
        assert arguments == {}, way
        assert error.endswith(f"\n\nReceived arguments:\n{text}"), way
        reason = error[: -len(f"\n\nReceived arguments:\n{text}")]
        assert reason.startswith("Tool arguments are not valid JSON: "), way
        assert "\n" not in reason, way


@pytest.mark.parametrize(
    "text", ["[]", '[{"a":1}]', '"text"', '""', "12", "-0.5", "1e5", "0", "true", "false", " null\n", '["\\d"]', '"\n"']
)
def test_json_that_is_no_object(text):
    for way, pieces in cuts(text):
        assert finished(*pieces) == ({}, f"Tool arguments must be a JSON object\n\nReceived arguments:\n{text}"), way


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a":1 "b":2}', '(line 1, column 8, offset 7), after `{"a":1 `, before `"b":2}`'),
        ('{\n  "a": 1,\n}', "(line 3, column 1, offset 12), after `{<U+000A>  \"a\": 1,<U+000A>`, before `}`"),
        ('{"é' + GRIN + '": x}', '(line 1, column 8, offset 7), after `{"é' + GRIN + '": `, before `x}`'),
        ("x", "(line 1, column 1, offset 0), at the start, before `x`"),
        ('{"a":1', '(line 1, column 7, offset 6), after `{"a":1`, at the end of the text'),
        # a mended string moves nothing
        ('{"a":"\n\\d",}', '(line 2, column 5, offset 11), after `{"a":"<U+000A>\\d",`, before `}`'),
    ],
)  # fmt: skip
def test_the_reason_says_where(text, place):
    error = finished(text).error.partition("\n\nReceived")[0]
    assert error.endswith(place)


def test_the_excerpt_is_short():
    text = '{"a":"' + "x" * 10_000 + '" "b":"' + "y" * 10_000 + '"}'
    reason = finished(text).error.partition("\n\nReceived")[0]
    assert len(reason) < 300
    assert "offset 10008" in reason
    assert "after `..." + "x" * 38 + '" `' in reason
    assert 'before `"b":"' + "y" * 35 + "...`" in reason


def test_the_reason_says_what_a_cut_text_was_in():
    assert "the text ends inside a string at `a.b[1]` (line 1" in finished('{"a":{"b":[1,"x').error
    assert "the text ends too early" in finished('{"a":{"b":[1,').error
    assert "500 levels deep" in finished("[" * 500).error


def test_finish_changes_nothing_and_can_come_in_the_middle():
    stream = ToolCallArgumentsStream()
    shown = stream.append('{"a":1,"b":')
    assert stream.finish().error is not None
    assert stream.append(" ") is shown
    assert stream.append('"\\d"}') == {"a": 1, "b": "\\d"}
    assert stream.finish() == stream.finish() == ({"a": 1, "b": "\\d"}, None)
    assert stream.append(" x") == {"a": 1, "b": "\\d"}
    assert stream.finish().error is not None
    assert stream.finish().arguments == {}


def test_finish_does_not_read_a_valid_text_again(monkeypatch):
    stream = ToolCallArgumentsStream()
    for piece in ('{"a":', "1", "}"):
        stream.append(piece)
    monkeypatch.setattr("toolstream.arguments.StreamingJsonParser", None)
    assert stream.finish() == ({"a": 1}, None)
    for text in ("[1]", "12", "null", '"x"'):
        monkeypatch.undo()
        stream = ToolCallArgumentsStream()
        stream.append(text)
        monkeypatch.setattr("toolstream.arguments.StreamingJsonParser", None)
        assert stream.finish().error.startswith("Tool arguments must be a JSON object\n")


def test_deep_and_long_values_are_results():
    depth = 20 * sys.getrecursionlimit()
    value, error = finished('{"a":' * depth + "1" + "}" * depth)
    assert error is None
    for _ in range(depth):
        value = value["a"]
    assert value == 1
    assert finished('{"a":' * depth).error is not None
    assert finished('{"a":' + "9" * 5000 + "}") == ({"a": float("inf")}, None)
    assert finished('{"a":"' + "x" * 1_000_000 + '"}').arguments == {"a": "x" * 1_000_000}


# ---------------------------------------------------------------- absent


@pytest.mark.parametrize(
    "raw", [None, "", *BLANK, BLANK, b"", b" \n", "\u3000\ufeff".encode(), bytearray(b"\t"), memoryview(b" ")]
)
def test_absent(raw):
    assert tool_call_arguments_absent(raw) is True
    assert parse_tool_call_arguments({"function": {"arguments": raw}}) == ParsedArguments({})


@pytest.mark.parametrize(
    "raw", [*NOT_BLANK, "{}", " {} ", "null", "[]", "0", '""', b"{}", b"\xff", {}, [], 0, False, object()]
)
def test_not_absent(raw):
    assert tool_call_arguments_absent(raw) is False


# ---------------------------------------------------------------- parse_tool_call_arguments


def as_namespace(value):
    return (
        SimpleNamespace(**{key: as_namespace(inner) for key, inner in value.items()})
        if isinstance(value, dict)
        else value
    )


@dataclass
class Function:
    name: str
    arguments: object


@dataclass
class Call:
    function: object
    id: str = "call_1"
    type: object = "function"


def parse(arguments, **fields):
    """The same answer for a dict, another mapping, a namespace, and a dataclass."""
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}, **fields}
    answers = [parse_tool_call_arguments(call), parse_tool_call_arguments(Call(Function("f", arguments), **fields))]
    function = MappingProxyType({"name": "f", "arguments": arguments})
    answers.append(parse_tool_call_arguments(MappingProxyType({**call, "function": function})))
    if not isinstance(arguments, dict):
        answers.append(parse_tool_call_arguments(as_namespace(call)))
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def test_parsed():
    result = parse('{"a": [1, {"b": "\\u00e9"}]}')
    assert result == ParsedArguments({"a": [1, {"b": "é"}]})
    assert result.kind == "parsed"
    assert result.arguments == {"a": [1, {"b": "é"}]}
    assert parse('{"a":1,"a":2}').arguments == {"a": 2}
    assert parse(b'{"a": "\xc3\xa9"}').arguments == {"a": "é"}
    assert parse(bytearray(b"{}")) == ParsedArguments({})


def test_no_type_is_a_function_call():
    assert parse_tool_call_arguments({"function": {"arguments": '{"a":1}'}}) == ParsedArguments({"a": 1})
    assert parse('{"a":1}', type=None) == ParsedArguments({"a": 1})


@pytest.mark.parametrize("kind", ["custom", "", "Function", "function ", "mcp", "0", 0, False, ["function"]])
@pytest.mark.parametrize("arguments", ["{}", "", "{", None])
def test_another_type_comes_before_everything(kind, arguments):
    result = parse(arguments, type=kind)
    assert result == UnsupportedType(kind)
    assert (result.kind, result.type) == ("unsupported_type", kind)


def test_a_custom_call_without_function():
    assert parse_tool_call_arguments({"type": "custom", "custom": {"name": "f", "input": "x"}}) == UnsupportedType(
        "custom"
    )


def test_the_type_of_a_string_enumeration():
    class Kind(str, Enum):
        FUNCTION = "function"

    assert parse("{}", type=Kind.FUNCTION) == ParsedArguments({})


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"type": "function"},
        {"function": None},
        {"function": {}},
        {"function": {"name": "f"}},
        {"function": {"arguments": None}},
    ],
)
def test_no_arguments_anywhere(call):
    assert parse_tool_call_arguments(call) == ParsedArguments({})
    assert parse_tool_call_arguments(as_namespace(call)) == ParsedArguments({})


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("null", "null"),
        ("[]", "array"),
        ("42", "number"),
        ("-1.5", "number"),
        (" 0 ", "number"),
        ('""', "string"),
        ('"{}"', "string"),
        ("true", "boolean"),
        ("false\n", "boolean"),
        ('[{"a":1}]', "array"),
        ([], "array"),
        ((1,), "array"),
    ],
)
def test_what_is_no_object_is_named(arguments, word):
    result = parse(arguments)
    assert result.kind == "unparseable"
    assert result.detail.startswith("Tool arguments must be a JSON object")
    assert word in result.detail


@pytest.mark.parametrize("text", [*REFUSED, '{"a":"x\ny"}', '{"a":"\\d"}', '{"a":"\\u12"}', '{"a":"\t"}'])
def test_strict_without_repairs(text):
    if text.strip(BLANK):
        result = parse(text)
        assert isinstance(result, UnparseableArguments)
        assert result.detail.startswith("Tool arguments are not valid JSON: ")
        assert "offset" in result.detail


@pytest.mark.parametrize(
    "text", [b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b"\xff", b'\xef\xbb\xbf{"a":1}', '{"a":1}'.encode("utf-16")]
)
def test_bytes_that_are_no_json(text):
    assert isinstance(parse(text), UnparseableArguments)


def test_arguments_that_are_an_object_already():
    arguments = {"a": 1}
    result = parse(arguments)
    assert result == ParsedArguments({"a": 1})
    assert result.arguments is arguments
    assert parse({}) == ParsedArguments({})


@pytest.mark.parametrize("arguments", [0, 1.5, True, object(), {1}, print, SimpleNamespace(a=1)])
def test_arguments_of_another_type_are_named(arguments):
    result = parse(arguments)
    assert isinstance(result, UnparseableArguments)
    assert type(arguments).__name__ in result.detail


@pytest.mark.parametrize("call", [None, "", "{}", b"{}", 0, 1.5, True, [], [{}]])
def test_what_is_no_call(call):
    assert isinstance(parse_tool_call_arguments(call), UnparseableArguments)
    if call is not None:
        result = parse_tool_call_arguments({"type": "function", "function": call})
        assert isinstance(result, UnparseableArguments)
        assert type(call).__name__ in result.detail


class Hostile:
    """Everything about it raises."""

    def __getattribute__(self, name):
        raise RuntimeError("no")


class HostileText(str):
    __slots__ = ()

    def strip(self, *_):
        raise KeyError("no")

    def __ne__(self, other):
        raise OSError("no")

    __hash__ = str.__hash__


HOSTILE = [
    lambda: Hostile(),
    lambda: {"type": Hostile()},
    lambda: {"function": Hostile()},
    lambda: {"function": {"arguments": Hostile()}},
    lambda: {"type": HostileText("function")},
    lambda: {"function": {"arguments": HostileText("{")}},
    lambda: {"function": {"arguments": memoryview(b"{ } ")[::2]}},
    lambda: {"function": {"arguments": "[" * 200_000}},
    lambda: {"function": {"arguments": '{"a":' * 200_000}},
    lambda: {"function": {"arguments": '{"a":"\ud83d'}},
    lambda: {"function": {"arguments": "\ud83d"}},
    lambda: {"function": {"arguments": "9" * 5000}},
    lambda: {"function": {"arguments": "{" + "9" * 5000}},
    lambda: {"function": {"arguments": '"' * 9999}},
]


@pytest.mark.parametrize("make", HOSTILE, ids=range(len(HOSTILE)))
def test_never_raises(make):
    result = parse_tool_call_arguments(make())
    assert result.kind in ("unparseable", "unsupported_type", "parsed")
    if result.kind == "unparseable":
        assert result.detail
        assert len(result.detail) < 400


def test_deep_arguments_and_long_numbers_are_parsed():
    depth = 20 * sys.getrecursionlimit()
    text = '{"a":' * depth + "1" + "}" * depth
    assert parse_tool_call_arguments({"function": {"arguments": text}}).kind == "parsed"
    assert parse('{"a":' + "9" * 5000 + "}") == ParsedArguments({"a": float("inf")})
    assert parse('{"a":' + "9" * 4300 + "}").arguments["a"] == 10**4300 - 1
    assert parse('{"a":"\\ud83d"}') == ParsedArguments({"a": "\ufffd"})


def test_pydantic_models():
    pydantic = pytest.importorskip("pydantic")

    class ModelFunction(pydantic.BaseModel):
        name: str
        arguments: str | None = None

    class ModelCall(pydantic.BaseModel):
        id: str
        type: str | None = None
        function: ModelFunction | None = None

    assert parse_tool_call_arguments(
        ModelCall(id="1", function=ModelFunction(name="f", arguments='{"a":1}'))
    ).arguments == {"a": 1}
    assert parse_tool_call_arguments(ModelCall(id="1", function=ModelFunction(name="f"))) == ParsedArguments({})
    assert parse_tool_call_arguments(ModelCall(id="1", type="custom")) == UnsupportedType("custom")
    assert parse_tool_call_arguments(ModelCall(id="1", type="function")) == ParsedArguments({})


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([call(0, "a", "f", '{"x": 1}'), finish()], {"x": 1}),
        ([call(0, "a", "f", "{'x': 1,}"), finish()], {"x": 1}),
        ([call(0, "a", "f"), finish()], {}),
        ([call(0, "a", "f"), finish("length")], "The tool call was cut off before its arguments came"),
        ([call(0, "a", "f", '{"x": "se'), finish("length")], "the text ends inside a string at `x`"),
        ([call(0, "a", "f", '{"x": 1, oops}'), finish()], "before `oops}`"),
        ([call(0, "a", "f", "[1]"), finish()], "Tool arguments must be a JSON object, and this is an array"),
        ([call(0, "a", "f", '{"x": 1}{"y": 2}'), finish()], "expected nothing after the end of the value"),
        ([call(0, "a", None, '{"x": 1}'), finish()], "The tool call has no name"),
        ([call(0, "a", "f", '{"x": 1}')], {"x": 1}),
    ],
)
def test_calls_of_a_stream_keep_their_verdict(chunks, expected):
    """Above all: nothing that was refused is `{}`, because it has no `function`."""
    completion, _ = read(chunks)
    [made] = completion.calls
    assert (made.status == "complete") == isinstance(expected, dict)
    for given in (made, made.to_dict()):
        result = parse_tool_call_arguments(given)
        if isinstance(expected, dict):
            assert result == ParsedArguments(expected)
        else:
            assert isinstance(result, UnparseableArguments)
            assert expected in result.detail


def test_calls_of_a_stream_that_has_not_ended_or_that_are_no_functions():
    stream = ToolCallStream("openai-chat")
    stream.feed(call(0, "a", "f", "{}"))
    assert parse_tool_call_arguments(stream.completion.calls[0]) == UnparseableArguments("The tool call has not ended")
    custom = entry(0, "a", type="custom", custom={"name": "shell", "input": "ls"})
    completion, _ = read([delta(custom), finish()])
    assert parse_tool_call_arguments(completion.calls[0]) == UnsupportedType("custom")
    deep = '{"x": ' + "[" * 9 + "]" * 9 + "}"
    completion, _ = read([call(0, "a", "f", deep), finish()], limits=Limits(max_depth=5))
    assert parse_tool_call_arguments(completion.calls[0]) == UnparseableArguments("The tool call is invalid")


def test_results_match_compare_and_pickle():
    for result in (
        ParsedArguments({"a": 1}),
        UnsupportedType("custom"),
        UnparseableArguments("why"),
        FinishedArguments({}, None),
        Replacement(None, {}),
    ):
        assert pickle.loads(pickle.dumps(result)) == result
    match parse_tool_call_arguments({"function": {"arguments": '{"a": 1}'}}):
        case ParsedArguments(arguments={"a": value}):
            assert value == 1
        case _:
            pytest.fail("no match")
    assert ParsedArguments({}) != UnparseableArguments({})
