"""`lenient=True`: what models write by habit of other languages is read live, and each use is a repair."""

import pytest
from cutting import feed_all, same, ways

from toolstream import MISSING, parse_partial_json

GRIN = "\U0001f600"

# (text, value, repairs)
READ = [
    # single quotes
    ("{'a':'b'}", {"a": "b"}, [(1, "single_quotes"), (5, "single_quotes")]),
    ("""['say "hi"']""", ['say "hi"'], [(1, "single_quotes")]),
    (r"['it\'s']", ["it's"], [(1, "single_quotes"), (4, "escaped_apostrophe")]),
    (r"['a\"b\\\n\u00e9']", ['a"b\\\né'], [(1, "single_quotes")]),
    ("['']", [""], [(1, "single_quotes")]),
    ("['é" + GRIN + "']", ["é" + GRIN], [(1, "single_quotes")]),
    ("['a\nb']", ["a\nb"], [(1, "single_quotes"), (3, "control_character")]),
    (r"['\ud83d\ude00\d']", [GRIN + r"\d"], [(1, "single_quotes"), (14, "invalid_escape")]),
    ("[\"it's\"]", ["it's"], []),
    ("'x' ", "x", [(0, "single_quotes")]),
    (r"""["it\'s"]""", ["it's"], [(4, "escaped_apostrophe")]),
    # Python's literals
    ("[True,False,None]", [True, False, None], [(1, "python_literal"), (6, "python_literal"), (12, "python_literal")]),
    ('{"a":None}', {"a": None}, [(5, "python_literal")]),
    ("True ", True, [(0, "python_literal")]),
    # comments
    ('{"a":1// one\n,"b":2}', {"a": 1, "b": 2}, [(6, "comment")]),
    ('{"a":1 # one\n,"b":2}', {"a": 1, "b": 2}, [(7, "comment")]),
    ('{"a":/* c */1}', {"a": 1}, [(5, "comment")]),
    ("[1/* , 2 */,3]", [1, 3], [(2, "comment")]),
    ('[/* "}]{ \n** / */1]', [1], [(1, "comment")]),
    ("[1,//]\r2]", [1, 2], [(3, "comment")]),
    ("// c\n{}", {}, [(0, "comment")]),
    ("{} // c\n", {}, [(3, "comment")]),
    ("{} /* c */ # d", {}, [(3, "comment"), (11, "comment")]),
    ("[/**/]", [], [(1, "comment")]),
    ('["// no", "# no", "/* no */"]', ["// no", "# no", "/* no */"], []),
    # escapes of white space between tokens
    (r'{\n"a":\t1\r\n}', {"a": 1}, [(at, "space_escape") for at in (1, 7, 10, 12)]),
    (r"\n[1,\n2]\n", [1, 2], [(0, "space_escape"), (5, "space_escape"), (9, "space_escape")]),
    # trailing commas
    ("[1,]", [1], [(3, "trailing_comma")]),
    ('{"a":1 , }', {"a": 1}, [(9, "trailing_comma")]),
    # fences and tags
    ("```json\n[1]\n```", [1], [(0, "fence"), (12, "fence")]),
    ("```\n[1]```\n", [1], [(0, "fence"), (7, "fence")]),
    ("```{}```", {}, [(0, "fence"), (5, "fence")]),
    ("```json\n[1]", [1], [(0, "fence")]),
    ("<args>[1]</args>", [1], [(0, "tag"), (9, "tag")]),
    ("<tool_call>\n{}\n</tool_call>\n", {}, [(0, "tag"), (15, "tag")]),
    ("<a><b>{}</b></a>", {}, [(0, "tag"), (3, "tag"), (8, "tag"), (12, "tag")]),
    ("<json>\n```json\n{}\n```\n</json>", {}, [(0, "tag"), (7, "fence"), (18, "fence"), (22, "tag")]),
    ('["```", "<a>"]', ["```", "<a>"], []),
    # together
    (
        "```json\n{'a': True, # yes\n \"b\": [None,],}\n```",
        {"a": True, "b": [None]},
        [
            (0, "fence"), (9, "single_quotes"), (14, "python_literal"), (20, "comment"), (33, "python_literal"),
            (38, "trailing_comma"), (40, "trailing_comma"), (42, "fence"),
        ],
    ),
]  # fmt: skip

# what stays as strict reading has it: (text, value)
NOT_READ = [
    ("[NaN,Infinity,-Infinity]", []),
    ("[TRUE,true1,Tru,Nonee,undefined]", []),
    ("{a:1}", {}),
    ("[`x`]", []),
    ("[01,+1,0x1]", []),
    ('{"a":1}{"b":2}', {"a": 1}),
    ("[1/2]", []),
    ("[a/b,a\\b]", []),
    ("[1 2]", [1, 2]),
]


def read(engine, pieces, **options):
    return feed_all(engine.StreamingJsonParser(lenient=True, **options), pieces)


@pytest.mark.parametrize(("text", "value", "repairs"), READ, ids=[text[:30] for text, *_ in READ])
def test_what_is_read(engine, text, value, repairs):
    from toolstream._rules import LOSSLESS

    for way, pieces in ways(text):
        parser = read(engine, pieces)
        assert same(parser.snapshot(), value), way
        assert list(parser.repairs) == repairs, way
        assert parser.complete, way
        if repairs and repairs[0][1] != "lone_surrogate":
            assert not parser.valid, way
            assert parser.error[0] <= repairs[0][0] + 1, way
        else:
            assert parser.valid, way
    assert {code for _, code in repairs} <= LOSSLESS
    assert same(parse_partial_json(text), value)


@pytest.mark.parametrize(("text", "value"), NOT_READ)
def test_what_is_not_read(engine, text, value):
    from toolstream._rules import LOSSLESS

    for way, pieces in ways(text):
        parser = read(engine, pieces)
        assert same(parser.snapshot(), value), way
        assert not parser.valid, way
        if text != "[1 2]":
            assert {code for _, code in parser.repairs} - LOSSLESS, way


@pytest.mark.parametrize(("text", "value", "repairs"), READ, ids=[text[:30] for text, *_ in READ])
def test_nothing_of_it_is_read_without_being_asked(engine, text, value, repairs):
    parser = feed_all(engine.StreamingJsonParser(), [text])
    lenient_only = {"single_quotes", "python_literal", "comment", "space_escape", "fence", "tag", "escaped_apostrophe"}
    assert not lenient_only & {code for _, code in parser.repairs}
    assert parse_partial_json(text, lenient=False) == parser.snapshot()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a':'b", {"a": "b"}),
        ("{'a", {}),
        (r"['it\'", ["it'"]),
        (r"['it\ ".rstrip(), ["it"]),
        ("[T", [True]),
        ("[Fals", [False]),
        ("[No", [None]),
        ("[Nx", []),
        ("[1/", [1]),
        ("[1//", [1]),
        ("[1/* 2", [1]),
        ("[1/* 2 *", [1]),
        ("``", MISSING),
        ("```js", MISSING),
        ("```json\n", MISSING),
        ("```json\n[1", [1]),
        ("<ar", MISSING),
        ("<args>", MISSING),
        ("<args>[1,", [1]),
        ("[1]\n``", [1]),
        (r"{\n", {}),
        ("{\\", {}),
    ],
)
def test_the_live_view_of_a_cut_text(engine, text, value):
    for way, pieces in ways(text):
        assert same(read(engine, pieces).snapshot(), value), way


def test_a_pending_python_literal_is_withheld_on_demand(engine):
    parser = read(engine, ["[Tru"], pending_scalars="withhold")
    assert parser.snapshot() == []
    parser.feed("e,")
    assert parser.snapshot() == [True]


def test_changes(engine):
    parser = engine.StreamingJsonParser(lenient=True, report_ends=True)
    pieces = ["```json\n{'a", "':'x\\", "'y', 'b':[Tr", "ue # c", "\n],}", "\n```"]
    assert [list(parser.append(piece)) for piece in pieces] == [
        [("set", (), {})],
        [("set", ("a",), "x")],
        [("append", ("a",), "'y"), ("end", ("a",), None), ("set", ("b",), [])],
        [("set", ("b", 0), True)],
        [("end", ("b",), None), ("end", (), None)],
        [],
    ]


@pytest.mark.parametrize(
    "before",
    [
        "Sure, here it is:\n",
        "Here's the call: ",
        "It's 'quoted' text: ",
        "a // b # c\n",
        "```\n",
        "<think>\nhm\n</think>\n",
        "Answer: ",
    ],
)
def test_prose_before_a_value(engine, before):
    """Words before the value are dropped, and an apostrophe there opens no string."""
    for text in ('{"a": [1]}', "{'a': [True,], 'b': None} // done"):
        for way, pieces in ways(before + text):
            parser = read(engine, pieces)
            value = {"a": [1]} if '"' in text else {"a": [True], "b": None}
            assert same(parser.snapshot(), value), way
            assert parser.complete, way
            assert not parser.valid, way


def test_after_the_value_only_what_was_opened_is_closed(engine):
    for text in ("{}```", "{}</a>", "```\n{}\n```\n```", "<a>{}</a></b>", "{} x", "{}'a'", "{},", "{}}"):
        for way, pieces in ways(text):
            parser = read(engine, pieces)
            assert parser.repairs[-1][1] == "trailing", (text, way)
            assert parser.snapshot() == {}, (text, way)
            assert not parser.valid, (text, way)


# ---------------------------------------------------------------- parse_partial_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", MISSING),
        (b"", MISSING),
        ("hm", MISSING),
        ('{"a": [1, {"b": "tex', {"a": [1, {"b": "tex"}]}),
        (b'{"a": "\xc3\xa9\xf0\x9f', {"a": "é"}),
        (bytearray(b"[1, 2"), [1, 2]),
        (memoryview(b"[tru"), [True]),
        ("12", 12),
        ("nul", None),
        ('"a', "a"),
        ("{'a': True", {"a": True}),
        ("[" * 5 + "1", [[[[[1]]]]]),
        ('{"a": 1} and more', {"a": 1}),
    ],
)
def test_parse_partial_json(text, value):
    assert same(parse_partial_json(text), value) or parse_partial_json(text) is value


def test_parse_partial_json_without_a_value():
    assert parse_partial_json("") is MISSING
    assert parse_partial_json("", default=None) is None
    assert parse_partial_json("hm", default={"a": 1}) == {"a": 1}
    assert parse_partial_json("null", default=1) is None
    with pytest.raises(TypeError, match="NoneType"):
        parse_partial_json(None)
    with pytest.raises(TypeError):
        parse_partial_json("{}", True)


def test_parse_partial_json_of_a_long_text_is_fresh():
    assert parse_partial_json("[" + "0," * 100_000) == [0] * 100_000
    assert parse_partial_json('{"a":"' + "x" * 1_000_000) == {"a": "x" * 1_000_000}
    assert parse_partial_json("[" * 100_000)[0][0][0] is not None
