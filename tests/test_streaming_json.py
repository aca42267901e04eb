"""The behaviour of `StreamingJsonParser`, rule by rule, with exact values."""

import copy

import pytest
from cutting import feed_all, pieces_of, same, ways

from toolstream import MISSING, apply_changes

GRIN = "\U0001f600"

# ---------------------------------------------------------------- final values: (text, value)

TOKENS = [
    (' \t\r\n{ "a" :\t1 }\n', {"a": 1}),
    ("[true,false,null]", [True, False, None]),
    ("[0,-0,7,-12,1234567890123456789012]", [0, 0, 7, -12, 1234567890123456789012]),
    ("[0.5,-0.0,1e2,1E+2,1.5e-3,-1.25E1]", [0.5, -0.0, 100.0, 100.0, 0.0015, -12.5]),
    ("[1e400,-1e400,1e-400]", [float("inf"), float("-inf"), 0.0]),
    ("[NaN,Infinity,-Infinity,nan,inf]", []),
    ("[01,-01,+1,.5,1.,1.e2,1e,1e+,-,--1,0x1F,1_0,1a]", []),
    ("[truely,tr,True,TRUE,nul,none,None,undefined]", []),
    ("[\u0661,1\u0661,\uff11]", []),
    ("[1/* c */]", []),
    ("[1 /* c */]", [1]),
    ("[1 /* c */2]", [1]),
    ("[1 /* c */ 2]", [1, 2]),
    ('{"a":/* c */1}', {}),
    ('{"a":1 // c\n,"b":2}', {"a": 1, "b": 2}),
    ("[1\v,2\f,3\u00a0,4\ufeff,5\x00]", []),
    ("[ \u00a0 1, \u2028 2]", [1, 2]),
    ("['a','b c']", []),
    ("[a\\b]", []),
    ('[1"x"2]', [1, "x", 2]),
    ("[1[2]3{}4]", [1, [2], 3, {}, 4]),
]

ROOTS = [
    ("", MISSING),
    (" \n", MISSING),
    ("hello", MISSING),
    ("NaN ", MISSING),
    ("null ", None),
    ("true,", True),
    ("12 ", 12),
    ('"x"', "x"),
    ("[]", []),
    ("{}", {}),
    ('Here you go: {"a":1}', {"a": 1}),
    ('```json\n{"a":1}\n```', {"a": 1}),
    ('\ufeff{"a":1}', {"a": 1}),
    (']},:,{"a":1}', {"a": 1}),
    ('Here are 2 values: {"a":1}', 2),
    ('He said "hi" {"a":1}', "hi"),
    ('that is true {"a":1}', True),
    ('{"a":1}{"b":2}', {"a": 1}),
    ("[1]]", [1]),
    ("[1] x", [1]),
    ('"a" "b"', "a"),
    ("1 2", 1),
]

OBJECTS = [
    ('{"a" 1}', {"a": 1}),
    ('{"a"::1}', {"a": 1}),
    ('{:"a":1:}', {"a": 1}),
    ('{"a":1 "b":2}', {"a": 1, "b": 2}),
    ('{,"a":1,,"b":2,}', {"a": 1, "b": 2}),
    ('{"a","b":1}', {"b": 1}),
    ('{"a":,"b":1}', {"b": 1}),
    ('{"a"}', {}),
    ('{"a":}', {}),
    ('{"a":oops "b":1}', {"b": 1}),
    ('{"a" "b"}', {"a": "b"}),
    ('{"a":"b":"c":1}', {"a": "b", "c": 1}),
    ('{1:2,"a":3}', {"a": 3}),
    ('{true:1,null 2,"a":3}', {"a": 3}),
    ('{[1,{"x":2}] "a":3}', {"a": 3}),
    ('{{"b":{"c":1}}:4,"a":3}', {"a": 3}),
    ('{name: "bob", age: 7}', {}),
    ('{a:"x" 5}', {"x": 5}),
    ('{# the "best"\n"a":1}', {"best": "a"}),
    ('{"a":\u00a0"x" 1}', {"x": 1}),
    ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
    ('{"a":{"x":1},"a":{"y":2}}', {"a": {"y": 2}}),
    ('{"a":[1],"a":"s"}', {"a": "s"}),
    ('{"a":1,"a":NaN}', {"a": 1}),
    ('{"a":1,"a":}', {"a": 1}),
    ('{"__proto__":{"a":1},"constructor":2,"":3}', {"__proto__": {"a": 1}, "constructor": 2, "": 3}),
]

ARRAYS = [
    ("[1 2]", [1, 2]),
    ("[1,,2]", [1, 2]),
    ("[,1,]", [1]),
    ('["a":1]', ["a", 1]),
    ("[NaN,1]", [1]),
    ("[[],[[]],{}]", [[], [[]], {}]),
]

CLOSERS = [
    ("[1}", [1]),
    ('{"a":1]', {"a": 1}),
    ('{"a":[1,2},"b":3]', {"a": [1, 2], "b": 3}),
    ('{"a":[{"b":1],"c":2},"d":3}', {"a": [{"b": 1}, "c", 2], "d": 3}),
    ("[1]]}", [1]),
]

STRINGS = [
    (r'["\"\\\/\b\f\n\r\t"]', ['"\\/\b\f\n\r\t']),
    (r'["\u00e9\u00E9\u0000\u20ac"]', ["éé\x00€"]),
    ('["a\nb\tc\x00\x1f\x7f"]', ["a\nb\tc\x00\x1f\x7f"]),
    ('["\u00e9\u20ac\U0001f600"]', ["é€" + GRIN]),
    (r'["\d+\w"]', [r"\d+\w"]),
    (r'["C:\Users\x"]', [r"C:\Users\x"]),
    (r'["\u12"]', [r"\u12"]),
    (r'["\uZZZZ"]', [r"\uZZZZ"]),
    (r'["\u12\n"]', ["\\u12\n"]),
    (r'["\u12\u0041"]', ["\\u12A"]),
    (r'["\u\"]', [r'\u"]']),
    (r'["\u00e"]', [r"\u00e"]),
    ('["\\\n"]', ["\\\n"]),
    (r'["\'"]', [r"\'"]),
    (r'["\\d"]', [r"\d"]),
    (r'{"\u0061\n":1}', {"a\n": 1}),
    (r'{"\d":1}', {r"\d": 1}),
]

SURROGATES = [
    (r'["\ud83d\ude00"]', [GRIN]),
    (r'["\uD83D\uDE00"]', [GRIN]),
    (r'["\ud83d"]', ["\ufffd"]),
    (r'["\ude00"]', ["\ufffd"]),
    (r'["\ud83dx"]', ["\ufffdx"]),
    (r'["\ud83d\n"]', ["\ufffd\n"]),
    (r'["\ud83d\q"]', ["\ufffd\\q"]),
    (r'["\ud83d\u12"]', ["\ufffd\\u12"]),
    (r'["\ud83d\ud83d\ude00"]', ["\ufffd" + GRIN]),
    (r'["\ude00\ud83d"]', ["\ufffd\ufffd"]),
    (r'["\ud83d\u0041"]', ["\ufffdA"]),
    (r'{"\ud83d\ude00":"\ud83d"}', {GRIN: "\ufffd"}),
    ('["\ud83d\ude00"]', [GRIN]),
    ('["\ud83d"]', ["\ufffd"]),
    ('["\ude00x"]', ["\ufffdx"]),
    ('["\ud83dx"]', ["\ufffdx"]),
    ('["\\ud83d\ude00"]', [GRIN]),
    ('["\ud83d\\ude00"]', [GRIN]),
    ('{"\ud83d\ude00":1}', {GRIN: 1}),
]

# ---------------------------------------------------------------- and of texts that are cut

OPEN = [
    ("{", {}),
    ('{"a', {}),
    ('{"a"', {}),
    ('{"a":', {}),
    ('{"a":"', {"a": ""}),
    ('{"a":"x  ', {"a": "x  "}),
    ('{"a":[{"b":[1,', {"a": [{"b": [1]}]}),
    ('["a\\', ["a"]),
    ('["a\\u', ["a"]),
    ('["a\\u00e', ["a"]),
    (r'["a\ud83d', ["a"]),
    (r'["a\ud83d\ude0', ["a"]),
    (r'["a\ud83d\q', ["a\ufffd\\q"]),
    ('["a\ud83d', ["a"]),
    ('{"a":1,"a":', {"a": 1}),
    ('{"a":1,"a":"', {"a": ""}),
    ('{"a":1,"a":{', {"a": {}}),
    ('{{"b":1', {}),
    ('{"a":1,"a":tx', {"a": 1}),
]

DIGITS_64, DIGITS_65 = "1" * 64, "1" * 65

# (token, what it shows while pending); MISSING: nothing
PENDING = [
    *[("true"[:n], True) for n in (1, 2, 3, 4)],
    *[("false"[:n], False) for n in (1, 2, 3, 4, 5)],
    *[("null"[:n], None) for n in (1, 2, 3, 4)],
    ("1", 1),
    ("-1", -1),
    ("-0", 0),
    ("12.5", 12.5),
    ("1e5", 100000.0),
    ("1e", 1),
    ("1E", 1),
    ("1e+", 1),
    ("1E-", 1),
    ("-2.5e", -2.5),
    (DIGITS_64, int(DIGITS_64)),
    *[
        (token, MISSING)
        for token in ("-", "1.", "1.e", "01", "+1", ".5", "na", "tx", "trux", "truee", "T", "N", "1e+e", "-e", "1x")
    ],
    (DIGITS_65, MISSING),
]


@pytest.mark.parametrize(
    ("text", "value"),
    [*TOKENS, *ROOTS, *OBJECTS, *ARRAYS, *CLOSERS, *STRINGS, *SURROGATES, *OPEN],
)
def test_value(engine, text, value):
    for way, pieces in ways(text):
        parser = feed_all(engine.StreamingJsonParser(), pieces)
        assert same(parser.snapshot(), value), way
        parser = engine.StreamingJsonParser()
        for piece in pieces:
            parser.append(piece)
            parser.snapshot()
        assert same(parser.snapshot(), value), f"{way}, with snapshots"


@pytest.mark.parametrize(("token", "shown"), PENDING)
def test_pending_token(engine, token, shown):
    """It shows in an array, as a member, as the root, and for a duplicate key; and nowhere that takes no value."""
    for way, pieces in ways(token):

        def read(before, pieces=pieces, **options):
            return feed_all(engine.StreamingJsonParser(**options), [before, *pieces]).snapshot()

        nothing = shown is MISSING
        assert read("[") == ([] if nothing else [shown]), way
        assert read('{"k":') == ({} if nothing else {"k": shown}), way
        assert read('{"k":"old","k":') == ({"k": "old"} if nothing else {"k": shown}), way
        assert read("") == shown, way
        assert type(read("")) is type(shown) or token[-1] in "eE+-", way
        assert read("{") == {}, way
        assert read("{[") == {}, way
        assert read("[", pending_scalars="withhold") == [], way
        assert read('{"k":"old","k":', pending_scalars="withhold") == {"k": "old"}, way
        assert read("", pending_scalars="withhold") is MISSING, way


def test_a_hidden_number_shows_when_it_has_ended(engine):
    parser = engine.StreamingJsonParser()
    parser.feed("[" + DIGITS_65)
    assert parser.snapshot() == []
    parser.feed(",")
    assert parser.snapshot() == [int(DIGITS_65)]


def test_a_dropped_token_shows_no_longer(engine):
    parser = engine.StreamingJsonParser()
    parser.feed('{"a":t')
    assert parser.snapshot() == {"a": True}
    parser.feed(",")
    assert parser.snapshot() == {}
    parser = engine.StreamingJsonParser()
    parser.feed("fals")
    assert parser.snapshot() is False
    parser.feed(" ")
    assert parser.snapshot() is MISSING


def test_withheld_scalars_show_when_they_have_ended(engine):
    parser = engine.StreamingJsonParser(pending_scalars="withhold")
    shown = []
    for char in '[1,true ,"ab"]':
        parser.feed(char)
        shown.append(copy.copy(parser.snapshot()))
    assert shown == [
        [], [], [1], [1], [1], [1], [1], [1, True], [1, True], [1, True, ""], [1, True, "a"], [1, True, "ab"],
        [1, True, "ab"], [1, True, "ab"],
    ]  # fmt: skip


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("digits", [4300, 4301, 5000])
def test_long_integers_are_exact_up_to_the_limit_and_floats_beyond(engine, digits):
    for sign in ("", "-"):
        text = sign + "7" * digits
        parser = feed_all(engine.StreamingJsonParser(), ["[", *pieces_of(text, 1000), "]"])
        [value] = parser.snapshot()
        if digits <= 4300:
            assert type(value) is int
            assert value == (-1 if sign else 1) * (7 * (10**digits - 1) // 9)
        else:
            assert value == float(sign + "inf")
        assert parser.complete
        assert parser.valid
        assert parser.overflow_count == (digits > 4300)


def test_a_long_integer_of_small_value_is_a_float(engine):
    """More than 4,300 digits, but in a range of floats: impossible, since it cannot begin with zeros."""
    parser = feed_all(engine.StreamingJsonParser(), ["[0." + "0" * 5000 + "1, 1" + "0" * 300 + ".5]"])
    assert parser.snapshot() == [0.0, 1e300]
    assert parser.overflow_count == 0


# ---------------------------------------------------------------- changes


def changes_of(engine, pieces, **options):
    parser = engine.StreamingJsonParser(**options)
    return [list(parser.append(piece)) for piece in pieces]


@pytest.mark.parametrize(
    ("pieces", "changes"),
    [
        (
            ['{"a":"he', 'llo","b":[1,tr', "ue]}"],
            [
                [("set", (), {}), ("set", ("a",), "he")],
                [("append", ("a",), "llo"), ("set", ("b",), []), ("set", ("b", 0), 1)],
                [("set", ("b", 1), True)],
            ],
        ),
        (["", " ", "["], [[], [], [("set", (), [])]]),
        (['["', "", "a", "\\", "n", '"]'], [[("set", (), []), ("set", (0,), "")], [], [("append", (0,), "a")], [],
            [("append", (0,), "\n")], []]),
        (['["x', "\\u00", "e9y", '"'], [[("set", (), []), ("set", (0,), "x")], [], [("append", (0,), "éy")], []]),
        (['["x\\', "q"], [[("set", (), []), ("set", (0,), "x")], [("append", (0,), "\\q")]]),
        ([r'["\ud83d', r"\ude00", '"'], [[("set", (), []), ("set", (0,), "")], [("append", (0,), GRIN)], []]),
        ([r'["\ud83d', '"'], [[("set", (), []), ("set", (0,), "")], [("append", (0,), "\ufffd")]]),
        (["12", "3", " "], [[], [], [("set", (), 123)]]),
        (['"a', 'b"'], [[("set", (), "a")], [("append", (), "b")]]),
        (['{"k', '":', "1", "}"], [[("set", (), {})], [], [], [("set", ("k",), 1)]]),
        (['{"k":NaN,"l":', "{}}"], [[("set", (), {})], [("set", ("l",), {})]]),
        (["{[1,2] 3", ":[{"], [[("set", (), {})], []]),
        (['{"a":1,"a":', '"x"}'], [[("set", (), {}), ("set", ("a",), 1)], [("set", ("a",), "x")]]),
        (['["a","b', 'c","d"]'], [[("set", (), []), ("set", (0,), "a"), ("set", (1,), "b")],
            [("append", (1,), "c"), ("set", (2,), "d")]]),
        (["[1]", "[2]", '"x'], [[("set", (), []), ("set", (0,), 1)], [], []]),
    ],
)  # fmt: skip
def test_changes(engine, pieces, changes):
    got = changes_of(engine, pieces)
    assert same(got, changes) or got == changes
    assert all(type(change) is tuple and type(change[1]) is tuple for part in got for change in part)
    # withheld scalars change nothing here: a scalar is set where it ends
    assert changes_of(engine, pieces, pending_scalars="withhold") == changes
    # and as bytes
    assert changes_of(engine, [piece.encode() for piece in pieces]) == changes


def test_ends_are_reported_on_demand(engine):
    pieces = ['{"a":"x', '","b":[1,"y"', '],"c":{}', "}", " "]
    assert changes_of(engine, pieces, report_ends=True) == [
        [("set", (), {}), ("set", ("a",), "x")],
        [
            ("end", ("a",), None),
            ("set", ("b",), []),
            ("set", ("b", 0), 1),
            ("set", ("b", 1), "y"),
            ("end", ("b", 1), None),
        ],
        [("end", ("b",), None), ("set", ("c",), {}), ("end", ("c",), None)],
        [("end", (), None)],
        [],
    ]


def test_no_ends_of_keys_scalars_and_dropped_values(engine):
    assert changes_of(engine, ['{"k":1,[{"x":"y"}]:2,"l":true}'], report_ends=True) == [
        [("set", (), {}), ("set", ("k",), 1), ("set", ("l",), True), ("end", (), None)]
    ]


def test_text_before_an_end_comes_before_it(engine):
    assert changes_of(engine, ['["a', 'b"', "]"], report_ends=True)[1] == [("append", (0,), "b"), ("end", (0,), None)]


def test_depth_limit_of_changes(engine):
    """A container of 32 steps is set empty and, when it closes, whole; nothing inside is reported."""
    text = "[" * 33 + '1,{"k":["x"]}' + "]" * 33
    opened = [("set", (0,) * steps, []) for steps in range(33)]
    closed = ("set", (0,) * 32, [1, {"k": ["x"]}])
    assert changes_of(engine, [text]) == [[*opened, closed]]
    changes = [change for part in changes_of(engine, list(text)) for change in part]
    assert changes == [*opened, closed]
    parser = feed_all(engine.StreamingJsonParser(), [text])
    assert apply_changes(MISSING, changes) == parser.snapshot()


def test_depth_limit_when_the_text_ends_before(engine):
    text = "[" * 33 + "1,"
    [changes] = changes_of(engine, [text])
    parser = feed_all(engine.StreamingJsonParser(), [text])
    written = apply_changes(MISSING, changes)
    assert written != parser.snapshot()
    assert str(parser.snapshot()) == "[" * 33 + "1" + "]" * 33
    assert str(written) == "[" * 33 + "]" * 33


def test_scalars_and_strings_of_32_steps_are_reported(engine):
    text = "[" * 32 + '1,"x"'
    assert changes_of(engine, [text])[0][-2:] == [("set", (0,) * 32, 1), ("set", (0,) * 31 + (1,), "x")]


def test_lists_of_changes_stay_as_they_are(engine):
    parser, returned = engine.StreamingJsonParser(), []
    for char in '{"a":["x",{"b":[1,2,"yz"]}],"c":"d"}':
        changes = parser.append(char)
        returned.append((changes, copy.deepcopy(list(changes))))
        parser.snapshot()
    assert all(list(changes) == before for changes, before in returned)


def test_feed_reports_nothing_later(engine):
    """After `feed` an `append` reports its own text only, and a string that started before has an append."""
    parser = engine.StreamingJsonParser()
    parser.feed('{"a":1,"b":"x')
    assert list(parser.append('y","c":2}')) == [("append", ("b",), "y"), ("set", ("c",), 2)]


# ---------------------------------------------------------------- snapshots


def test_the_same_object_when_nothing_changed(engine):
    parser = engine.StreamingJsonParser()
    assert parser.snapshot() is MISSING
    parser.feed('{"a":[1,')
    first = parser.snapshot()
    for nothing in ("", " ", "\n", ","):
        parser.feed(nothing)
        assert parser.snapshot() is first
    parser.feed('"')
    assert parser.snapshot() is not first
    assert parser.snapshot() == {"a": [1, ""]}


def test_the_value_of_a_closed_document_is_one_object(engine):
    parser = engine.StreamingJsonParser()
    parser.feed('{"a":[1]}')
    first = parser.snapshot()
    parser.feed(' {"b":2}')
    assert parser.snapshot() is first


def test_closed_containers_are_shared_and_open_ones_are_not(engine):
    parser = engine.StreamingJsonParser()
    parser.feed('{"closed":{"x":[1]},"open":[2')
    first = parser.snapshot()
    parser.feed(",3")
    second = parser.snapshot()
    assert first["closed"] is second["closed"]
    assert first["open"] is not second["open"]
    assert (first["open"], second["open"]) == ([2], [2, 3])


@pytest.mark.parametrize("size", [1, 2, 5])
def test_snapshots_stay_as_they_are(engine, size):
    parser, taken = engine.StreamingJsonParser(), []
    for piece in pieces_of('{"a":["x",{"b":[1,2,"yz\\n"],"a":null}],"c":"de","c":{"f":[[],[3]]}} [1]', size):
        parser.append(piece)
        value = parser.snapshot()
        taken.append((value, copy.deepcopy(value)))
    assert all(same(value, before) for value, before in taken)


# Credit: 256 an append and 8 a character; a snapshot costs the members of the open containers and 1 for each, 1 for a
# pending scalar that shows, and 1 for 16 characters of an open string that has grown.


def sizes_by_rule(pieces, cost_and_size):
    """The sizes that snapshots after every piece have; `cost_and_size` gives both for the pieces so far."""
    credit, shown, sizes = 0, 0, []
    for count, piece in enumerate(pieces, 1):
        credit += 256 + 8 * len(piece)
        cost, size = cost_and_size(count)
        if cost <= credit:
            credit -= cost
            shown = size
        sizes.append(shown)
    return sizes


def sizes_of(engine, pieces, measure, before=""):
    parser, sizes = engine.StreamingJsonParser(), []
    for number, piece in enumerate(pieces):
        parser.append(before + piece if number == 0 else piece)
        sizes.append(len(measure(parser.snapshot())))
    return sizes


def test_credit_of_a_wide_array(engine):
    pieces = ["[0,", *[f"{i % 10}," for i in range(1, 3000)]]
    expected = sizes_by_rule(pieces, lambda count: (count + 1, count))
    assert expected != list(range(1, 3001))  # it does lag
    assert sizes_of(engine, pieces, lambda value: value) == expected


def test_credit_of_a_wide_object_in_an_array(engine):
    pieces = ["[{", *[f'"{i}":{i},' for i in range(1000, 3500)]]
    expected = sizes_by_rule(pieces, lambda count: (count + 2, count - 1))
    assert expected != list(range(2501))
    assert sizes_of(engine, pieces, lambda value: value[0]) == expected


def test_credit_of_a_pending_scalar(engine):
    pieces = ["[0", *[f",{i % 10}" for i in range(1, 2000)]]
    expected = sizes_by_rule(pieces, lambda count: (count - 1 + 1 + 1, count))  # the last one is pending
    assert expected != list(range(1, 2001))
    assert sizes_of(engine, pieces, lambda value: value) == expected


def test_credit_of_a_long_string(engine):
    pieces = ['["', *["xyz"] * 6000]
    expected = sizes_by_rule(pieces, lambda count: (2 + 3 * (count - 1) // 16, 3 * (count - 1)))
    assert expected != list(range(0, 18001, 3))
    assert sizes_of(engine, pieces, lambda value: value[0]) == expected
    assert 18000 - expected[-1] < 18000 // 100


def test_an_empty_append_lets_a_stale_view_catch_up(engine):
    parser = engine.StreamingJsonParser()
    parser.append("[")
    for _ in range(3000):
        parser.append("1,")
        parser.snapshot()
    while len(parser.snapshot()) < 3000:
        parser.append("")
    parser.append("]")
    assert parser.snapshot() == [1] * 3000


def test_the_last_snapshot_of_a_closed_document_is_fresh(engine):
    parser = engine.StreamingJsonParser()
    parser.append('{"a":["')
    for _ in range(4000):
        parser.append("x")
        parser.snapshot()
    parser.append('"]}')
    assert parser.snapshot() == {"a": ["x" * 4000]}


def test_one_append_is_always_fresh(engine):
    text = '{"a":[' + ",".join(map(str, range(5000)))
    parser = engine.StreamingJsonParser()
    parser.append(text)
    assert parser.snapshot() == {"a": list(range(5000))}


# ---------------------------------------------------------------- facts


@pytest.mark.parametrize(
    ("text", "complete", "valid"),
    [
        ("", False, True),
        (" ", False, True),
        ("{", False, True),
        ("{}", True, True),
        ("{} \n", True, True),
        ("{} x", True, False),
        ("{}}", True, False),
        ("{}{}", True, False),
        ("1", False, True),
        ("1 ", True, True),
        ("1,", True, False),
        ("-", False, True),
        ("- ", False, False),
        ("tru", False, True),
        ("trux", False, False),
        ("true", False, True),
        ("true ", True, True),
        ('"x', False, True),
        ('"x"', True, True),
        ("x", False, False),
        ("[1,]", True, False),
        ("[,", False, False),
        ("[1 ", False, True),
        ("[1 2", False, False),
        ('{"a" ', False, True),
        ('{"a" 1', False, False),
        ('{"a":', False, True),
        ('{"a":,', False, False),
        ('{"a":1,', False, True),
        ('{"a":1,}', True, False),
        ("{1", False, False),
        ("[}", True, False),
        ("[0", False, True),
        ("[01", False, False),
        ("[1.", False, True),
        ("[1.]", True, False),
        ("[1.e", False, False),
        ("[1e400]", True, True),
        ("[NaN]", True, False),
        ("[N", False, False),
        ('["\\', False, True),
        ('["\\x', False, False),
        ('["\\u12', False, True),
        ('["\\u12x', False, False),
        ('["\t', False, False),
        (r'["\ud83d"]', True, True),
        (r'{"a":1,"a":2}', True, True),
        ("\ufeff{}", True, False),
        ("\u00a0{}", True, False),
        ("{}\u00a0", True, False),
    ],
)
def test_complete_and_valid(engine, text, complete, valid):
    for way, pieces in ways(text):
        for options in ({}, {"pending_scalars": "withhold"}, {"report_ends": True}):
            parser = feed_all(engine.StreamingJsonParser(**options), pieces)
            assert (parser.complete, parser.valid) == (complete, valid), way
            assert (parser.error is None) == valid, way


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("[1,]", 3),
        ('{"a" 1', 5),
        ("[1 2", 3),
        ("{1", 1),
        ("[}", 1),
        ("{} x", 3),
        ("x", 0),
        ('["é' + GRIN + '", }', 7),
        ("\ufeff{}", 0),
    ],
)
def test_the_first_error_says_where(engine, text, offset):
    for way, pieces in ways(text):
        parser = feed_all(engine.StreamingJsonParser(), [*pieces, ' ["', "\t"])  # later ones do not matter
        assert parser.error[0] == offset, way
        assert isinstance(parser.error[1], str), way
        assert parser.error[1], way


def test_position_counts_code_points(engine):
    text = '{"é€' + GRIN + '": "x"} '
    for way, pieces in ways(text):
        assert feed_all(engine.StreamingJsonParser(), pieces).position == len(text), way


@pytest.mark.parametrize(
    ("text", "depth", "in_string", "escape"),
    [
        ("", 0, False, False),
        ("[", 1, False, False),
        ('[{"a":[', 3, False, False),
        ('[{"a', 2, True, False),
        ('["a\\', 1, True, True),
        ('["a\\n', 1, True, False),
        ('["a\\\\', 1, True, False),
        ('["[{', 1, True, False),
        ('["a"', 1, False, False),
        ('["a"]', 0, False, False),
        ("[[]}", 0, False, False),
        ('"', 0, True, False),
    ],
)
def test_depth_and_string_state(engine, text, depth, in_string, escape):
    for way, pieces in ways(text):
        parser = feed_all(engine.StreamingJsonParser(), pieces)
        assert (parser.depth, parser.in_string, parser.escape) == (depth, in_string, escape), way


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ()),
        ("[", ()),
        ('["x', (0,)),
        ('{"a":[1,{"b":"x', ("a", 1, "b")),
        ('{"a":{"b":{', ("a", "b")),
        ('{"a":[1,2],"b":{"c":[[', ("b", "c", 0)),
        ('{"a":1}', ()),
    ],
)
def test_open_path(engine, text, path):
    for way, pieces in ways(text):
        assert feed_all(engine.StreamingJsonParser(), pieces).open_path == path, way


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("", None), ("[1", None), ("[1]", 3), ("[1] x", 3), ('  "é"', 5), ("12", None), ("12 ", 2), ("12,", 2),
        ('x {"a":"' + GRIN + '"}}', 11),
    ],
)  # fmt: skip
def test_root_end(engine, text, end):
    for way, pieces in ways(text):
        assert feed_all(engine.StreamingJsonParser(), pieces).root_end == end, way


def test_duplicate_keys_are_counted(engine):
    for way, pieces in ways('{"a":1,"b":{"a":2,"a":3},"a":4,"a":5,"c":[{"b":1}]}'):
        assert feed_all(engine.StreamingJsonParser(), pieces).duplicate_keys == 3, way


def test_repairs_name_their_places(engine):
    text = '{"a":"x\ny\\q",}'
    for way, pieces in ways(text):
        parser = feed_all(engine.StreamingJsonParser(), pieces)
        assert parser.snapshot() == {"a": "x\ny\\q"}, way
        assert parser.repair_count == len(parser.repairs) == 3, way
        assert [offset for offset, code in parser.repairs] == [7, 9, 13], way


def test_the_list_of_repairs_is_bounded_and_their_number_is_not(engine):
    parser = engine.StreamingJsonParser()
    for _ in range(100):
        parser.feed('["\n", ' * 1000)
    assert parser.repair_count == 100_000
    assert len(parser.repairs) <= 1000
    assert parser.repairs[0][0] == 2


def test_a_valid_text_needs_no_repair(engine):
    parser = feed_all(engine.StreamingJsonParser(), ['{"a": ["\\u00e9\\n", -1.5e3, true, null, {}]} \n'])
    assert (parser.repair_count, list(parser.repairs), parser.error) == (0, [], None)


def test_a_lone_surrogate_escape_is_a_repair_of_a_valid_text(engine):
    for way, pieces in ways(r'["\ud83d", "\ude00"]'):
        parser = feed_all(engine.StreamingJsonParser(), pieces)
        assert (parser.complete, parser.valid, parser.repair_count) == (True, True, 2), way


# ---------------------------------------------------------------- a part of a character

BEFORE = [
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    "[",
    "[1",
    "[-",
    "[1.5e",
    "[tr",
    "[true",
    "[[]",
    "[]",
    "{} ",
    '"a"',
    "12",
    "nul",
]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(
    ("part", "rest"), [("\ud83d", "\ude00"), (b"\xe2\x82", b"\xac"), (b"\xf0", b"["), (b"\xc3", b"\xa9")]
)
def test_a_part_of_a_character_outside_of_strings_is_no_beginning_of_json(engine, before, part, rest, lenient):
    parser = engine.StreamingJsonParser(lenient=lenient)
    parser.feed(before if isinstance(part, str) else before.encode())
    assert (parser.valid, parser.error) == (True, None)
    parser.feed(part)
    error = parser.error
    assert (parser.valid, error.offset) == (False, len(before))
    parser.feed(rest)
    assert (parser.valid, parser.error) == (False, error)


@pytest.mark.parametrize("before", ['"', '{"k', '["a', '{"a":"b'])
@pytest.mark.parametrize("part", ["\ud83d", b"\xe2\x82"])
def test_a_part_of_a_character_in_a_string_may_become_one(engine, before, part):
    parser = engine.StreamingJsonParser()
    parser.feed(before if isinstance(part, str) else before.encode())
    parser.feed(part)
    assert (parser.valid, parser.error) == (True, None)


@pytest.mark.parametrize("escape", ["\\", "\\u", "\\u00", "\\ud83d\\", "\\ud83d\\ud8"])
@pytest.mark.parametrize("part", ["\ud83d", b"\xe2\x82"])
def test_a_part_of_a_character_in_an_escape_is_no_beginning_of_json(engine, escape, part):
    parser = engine.StreamingJsonParser()
    parser.feed('["' + escape if isinstance(part, str) else b'["' + escape.encode())
    assert (parser.valid, parser.error) == (True, None)
    parser.feed(part)
    assert (parser.valid, parser.error.offset) == (False, 2 + len(escape))
    error = parser.error
    parser.feed("\ude00" if isinstance(part, str) else b"\xac")
    assert (parser.valid, parser.error) == (False, error)


@pytest.mark.parametrize(
    ("waiting", "shown"),
    [("\ud83d", "\ufffd"), ("\\ud83d", "\ufffd"), ("\\", "\\"), ("\\u00", "\\u00"), ("\\ud83d\\", "\ufffd\\")],
)
@pytest.mark.parametrize("together", [False, True])
def test_a_raw_high_half_shows_what_waited_for_another_character(engine, waiting, shown, together):
    """The half is the next character, and waits itself."""
    parser = engine.StreamingJsonParser()
    for piece in ['["' + waiting + "\ud83d"] if together else ['["', *waiting, "\ud83d"]:
        parser.feed(piece)
    assert parser.snapshot() == [shown]
    parser.feed('\ude00"')
    assert parser.snapshot() == [shown + "\U0001f600"]
