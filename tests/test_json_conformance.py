"""The verdict on the kinds of text that JSON conformance corpora have, compared with `json.loads`.

For a string, array or object root, `complete and valid` is exactly what `json.loads` accepts with NaN and infinities
refused, and `snapshot()` is its value. A bare number or literal has ended only at a delimiter, so a blank follows it
here. Three things are Python's own, and left aside in the comparison: integers of more than 4,300 digits, nesting
beyond the recursion limit, and lone surrogates, which `json.loads` lets through and the parser replaces by U+FFFD.

Bytes stand for the text that `decode("utf-8", "replace")` makes of them, and the verdict is one on that text.
"""

import codecs
import json

import pytest
from cutting import cuts, feed_all, same

# ---------------------------------------------------------------- the cases: name -> texts (str is encoded)

NUMBERS = [
    "0", "-0", "1", "-1", "10", "123456789", "-123", "20e1", "0e1", "0e+1", "0E-1", "1e1", "1E22", "1e-2", "1E+2",
    "1.0", "123.456", "-123.456e-78", "0.1", "-0.1", "1.000000000000000005", "123.456789", "1e0001", "-0e10",
    "0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999", "1e400",
    "-1e400", "1.5e999", "1e-400", "2e308", "1.7976931348623157e308", "4.9e-324", "5e-324", "1e-7",
    "100000000000000000000", "-9223372036854775809", "18446744073709551616", "9007199254740993",
    "123123123123123123123123123123", "00", "01", "-00", "-01", "012", "-012", "0123.5", "-", "--1", "-+1", "+1",
    "++1", "+0", "- 1", "-a", "-.1", "-.", ".", ".1", ".e1", "1.", "1.e1", "1.e", "1..2", "1.2.3", "1.2.", "0.",
    "0.e1", "-0.", "-1.", "2.e3", "2.e-3", "9.e+", "1e", "1E", "1e+", "1e-", "1e1.5", "1e1e1", "1ee1", "0e", "0e+",
    "0.3e", "0.3e+", "1.0e", "1.0e-", "1eE2", "1 000", "1_000", "1,000", "0x1", "0x42", "0b1", "0o7", "1f", "1L",
    "1n", "1a", "a1", "1-1", "1+2", "1/2", "1*", "NaN", "-NaN", "+NaN", "nan", "Infinity", "-Infinity", "+Infinity",
    "Inf", "-Inf", "inf", "\uff11", "1\uff11", "\u0661", "\u00bd", "1e\u0661", "1\u00b2", "1\x00", "\x001", "1\u00a0",
    "-1x", "1true", "0 1",
]  # fmt: skip

LITERALS = [
    "true", "false", "null", "True", "False", "None", "TRUE", "NULL", "nul", "nulll", "tru", "truth", "fals",
    "falsee", "n", "t", "f", "undefined", "nil", "yes", "truefalse", "true false", "nu ll", "tr\x00ue", "tr\u200bue",
    "\ufefftrue",
]  # fmt: skip

STRINGS = [
    r'""', r'"a"', r'" "', r'"\""', r'"\\"', r'"\/"', r'"/"', r'"\b\f\n\r\t"', r'"\u0041"', r'"\u00e9"', r'"\u0000"',
    r'"\uFFFF"', r'"\ufffe"', r'"\u2028\u2029"', r'"\ud834\udd1e"', r'"\uD834\uDD1E"', r'"\udbff\udfff"', r'"\uFDD0"',
    r'"\u12Ab"', r'"\\u0041"', r'"\\a"', r'"\"\\\/\b"', r'"/* comment */"', r'"//"', r'"a\\\"b"', r'"\u0022"',
    r'"\u005C"', '"\x7f"', '"\u0085"', '"\u00a0"', '"\u2028\u2029"', '"\u200b\u2060"', '"\ufeff"', '"\uffff"',
    '"\U0010ffff"', '"\U0001d11e"', '"\u0446\u4e2d\u6587"', '"a\u0301"', '"[{,:}]"', '"' + "x" * 5000 + '"',
    '"' + r"\u00e9" * 700 + '"', '"', '"a', '"\\"', '"\\', r'"\\\"', r'"\u', r'"\u0', r'"\u00', r'"\u004', r'"\u0041',
    r'"\u"', r'"\u0"', r'"\u00"', r'"\u00A"', r'"\u00G0"', r'"\uqqqq"', r'"\u 041"', r'"\U0041"', r'"\u-041"',
    r'"\u+041"', '"\\u\uff10\uff10\uff14\uff11"', r'"\a"', r'"\x41"', r'"\x00"', r'"\v"', r'"\0"', r'"\012"', r'"\'"',
    r'"\e"', r'"\N"', r'"\T"', '"\\\n"', '"\\ "', '"\\\u00e9"', '"\\\U0001f600"', '"\\\x00"', r'"\{"', '"\x00"',
    '"\x01"', '"\x1f"', '"\n"', '"\r\n"', '"\t"', '"a\nb"', "'a'", "a", "`a`", "\u201ca\u201d", '"a""b"', '"a" "b"',
    '"a"b', 'a"b"', r'\u0022a\u0022', r'"\u0041', '"a\\"',
]  # fmt: skip

LONE_SURROGATES = [
    r'"\ud800"', r'"\udfff"', r'"\ud800a"', r'"\ud800\n"', r'"\ud800\ud800"', r'"\ud800\ud800\n"', r'"\udc00\ud800"',
    r'"\uDFAA"', r'"\uD888\u1234"', r'"\u0041\ud800"', r'"\ud83d\ud83d\ude00"', r'"x\udd1e\ud834x"',
]  # fmt: skip

STRUCTURE = [
    "[]", "{}", "[ ]", "{ }", " [] ", "\t\n\r {}\t\n\r ", "[[]]", "[{}]", '{"a":{}}', '{"a":[]}', "[[],[[]],{}]",
    "[1,2]", "[ 1 , 2 ]", '{"a":1,"b":2}', '{ "a" : 1 , "b" : 2 }', '{"":0}', '{"a":1,"a":2}', '{"a":1,"a":1}',
    '{"\\u0061":1,"a":2}', '{"a\\u0000":1}', '{"\\ud834\\udd1e":1}', '[null,1,"1",{}]', '["a",[true]]',
    '{"a":{"b":{"c":[1,{"d":null}]}}}', '{"min":-1.0e+28,"max":1.0e+28}', "[1\n]", "[\n1]", "[1,null,null,null,2]",
    "", " ", "\n", "[", "]", "{", "}", "[[", "]]", "{}}", "[]]", "[}", "{]", "[1", "[1,", "[,", "[,]", "[,1]", "[1,]",
    "[1,,]", "[1,,2]", "[1 2]", "[1:2]", "[1;2]", "[1]]", "[1}", "[1][2]", "[][]", "[] {}", "[],[]", "[]1", "[]x",
    "[]\x00", "[]#", "1[]", "x[]", "[x", "[x]", "[x,1]", "[-", '["a"', '["a",', '["a"]]', '["a" 1]', '["a":1]',
    "['a']", "[\"", "[*]", "[1,\n2", "[a\u00e9]", "[\u00e9]", "[\u2060]", "[\x0c]", "[\x0b1]", "[\u00a01]",
    "[1\u00a0]", "[\ufeff1]", "\ufeff[]", "[]\ufeff", "\u00a0[]", "[]\u00a0", "[\u20281]", "[<null>]", "<.>", "[\\n]",
    "[\\u000A1]", "\\u000A[]", "abc", "[1//c\n]", "[1/*c*/]", "/**/[]", "[]/**/", "//\n[]", "[]//", "[]/", "# c\n[]",
    "[] # c", "{1:1}", "{null:1}", "{[]:1}", "{{}:1}", "{a:1}", "{'a':1}", '{"a"}', '{"a":}', '{"a" 1}', '{"a"::1}',
    '{"a":1:2}', '{:1}', '{"a":1,}', '{"a":1,,"b":2}', '{,"a":1}', '{"a":1 "b":2}', '{"a":1;"b":2}', '{"a","b"}',
    '{"a":"b":"c"}', '{"a":1', '{"a":1,', '{"a":', '{"a"', '{"a', '{"', '{"a":1,"b"', '{"a":1,"b":', '{"a":1]',
    '["a"}', '{"a":[1}', '[{"a":1]', '{"a":1}}', '{"a":1}{"b":2}', '{"a":1} {"b":2}', '{"a":1}#', '{"a":1}//',
    '{"a":1}/**/', '{"a":1},', '{"a":1}x', '{"a":1}"x"', '{"a":1}\x00', '{"a":tru}', '{"a":true x}', '{"a" b}',
    "{\u00e9:1}", '{"a":\u00a01}', '{\u00a0"a":1}', "```json\n{}\n```", "```\n[]\n```", "<json>{}</json>", "data: {}",
    "Result: {}", "({})", "{};", "var a = {}", "{}\n{}", "{...}", "[...]", '{"a": ...}', '{"a":<1>}', "{**}",
    "[1,2,3", '[{"a":1},{"b":2', "[[[[", "{{{{", '{"a":{"a":{"a":{',
]  # fmt: skip

NESTED = ["[" * 500 + "]" * 500, '{"a":' * 300 + "1" + "}" * 300, "[" * 200 + "1" + "]" * 199, "[" * 200 + "]" * 201]

# What is no UTF-8 inside a string; `%` is its place.
BAD_UTF8 = [
    b"\x80", b"\xbf", b"\xff", b"\xfe", b"\xc3", b"\xc3\x28", b"\xc0\x80", b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\x80",
    b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xe2\x28\xa1", b"\xe2\x82\x28", b"\xed\xa0\x80", b"\xed\xbf\xbf",
    b"\xed\xa0\xbd\xed\xb8\x80", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf0",
    b"\xf0\x28\x8c\xbc", b"\xf0\x90\x28\xbc", b"\xf0\x28\x8c\x28", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xc3\xa9\xa9", b"a\xe9z", b"\xe9\x22",
]  # fmt: skip
BAD_PLACES = [b'["%"]', b'{"%":1}', b'["a%', b'"%" ']
# and outside of strings
BAD_OUTSIDE = [
    b"\xff[]",
    b"[]\xff",
    b"[\xff]",
    b"[1\xe9]",
    b"{\x80}",
    b"\xe5",
    b"[\xe5",
    b"\xef\xbb[]",
    b"\xef\xbb\xbf{}",
]


def refuse(name):
    raise ValueError(f"{name} is not JSON")


def expected(text):
    """(whether `json.loads` takes the text, the value)."""
    try:
        return True, json.loads(text, parse_constant=refuse)
    except ValueError:
        return False, None


def check(engine, data):
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data)  # an unfinished character waits
    accepted, value = expected(text)
    for way, pieces in [*cuts(data), *cuts(text)]:
        parser = feed_all(engine.StreamingJsonParser(), pieces)
        assert (parser.complete and parser.valid) == accepted, way
        assert parser.position == len(text), way
        if accepted:
            assert same(parser.snapshot(), value), way
            assert parser.repair_count == 0, way
        else:
            assert parser.error is not None or not parser.complete, way


@pytest.mark.parametrize("number", NUMBERS)
def test_number(engine, number):
    for text in (f"[{number}]", f'{{"a":{number}}}', f"[1,{number} ,2]", f"{number} "):
        check(engine, text.encode())


@pytest.mark.parametrize("literal", LITERALS)
def test_literal(engine, literal):
    for text in (f"[{literal}]", f'{{"a":{literal},"b":{literal} }}', f"{literal}\n"):
        check(engine, text.encode())


@pytest.mark.parametrize("string", STRINGS)
def test_string(engine, string):
    for text in (f"[{string}]", f"{{{string}:{string}}}", string, f"{string} "):
        check(engine, text.encode())


@pytest.mark.parametrize("string", LONE_SURROGATES)
def test_lone_surrogate(engine, string):
    for text in (f"[{string}]", f"{{{string}:1}}", string):
        for way, pieces in cuts(text.encode()):
            parser = feed_all(engine.StreamingJsonParser(), pieces)
            assert parser.complete, way
            assert parser.valid, way
            assert parser.repair_count >= 1, way
            dumped = json.dumps(json.loads(text), ensure_ascii=False)
            lone = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in dumped)
            assert json.dumps(parser.snapshot(), ensure_ascii=False) == lone, way


@pytest.mark.parametrize("text", [*STRUCTURE, *NESTED], ids=lambda text: text[:40])
def test_structure(engine, text):
    check(engine, text.encode())


@pytest.mark.parametrize("place", BAD_PLACES)
@pytest.mark.parametrize("bad", BAD_UTF8)
def test_bad_utf8_in_strings(engine, bad, place):
    check(engine, place.replace(b"%", bad))


@pytest.mark.parametrize("data", BAD_OUTSIDE)
def test_bad_utf8_outside_strings(engine, data):
    for piece in (data, data + b" "):
        check(engine, piece)


@pytest.mark.parametrize(
    ("opener", "closer", "size"), [("[", "]", 1), ("[", "]", 4096), ('{"a":', "}", 4096), ('[{"a":', "}]", 4096)]
)
def test_nesting_of_100_000(engine, opener, closer, size):
    levels = 100_000 // len(closer)
    for inner, closers, accepted in (
        ("1", levels, True),
        ("", levels, opener == "["),
        ("1", levels - 1, False),
        ("1,", levels, False),
    ):
        text = opener * levels + inner + closer * closers
        parser = engine.StreamingJsonParser()
        for i in range(0, len(text), size):
            parser.feed(text[i : i + size])
        assert (parser.complete and parser.valid) == accepted
        assert parser.depth == (0 if closers == levels else len(closer))
        value, depth = parser.snapshot(), 0
        while isinstance(value, (dict, list)) and value:
            value = value["a"] if isinstance(value, dict) else value[0]
            depth += 1
        assert depth >= 100_000 - 1
