"""Other parsers as judges: what is `complete` and `valid` is what they read, and partial texts where the rules agree.

The differences of the partial modes are listed in docs/robustness.md; `test_listed_differences` holds the list.
"""

import json
import math
import random

import pytest
from cutting import feed_all, random_pieces, same
from random_texts import document, text_of

from toolstream import MISSING, StreamingJsonParser, parse_partial_json

COUNT = 1500


def refuse(word):
    raise ValueError(word)


def reading(engine, text, seed):
    parser = feed_all(engine.StreamingJsonParser(), random_pieces(text, random.Random(seed)))
    return parser.complete and parser.valid, parser.snapshot()


def judged(load, text):
    try:
        return True, load(text)
    except (ValueError, RecursionError):
        return False, None


def texts():
    """Documents, damaged ones and heaps of tokens, with a root that says where it ends."""
    rng = random.Random(11)
    while True:
        text = text_of(rng)
        if not any("\ud800" <= char <= "\udfff" for char in text) and text.lstrip(" \t\r\n")[:1] in ('"', "[", "{"):
            yield text


def judge(name):
    module = pytest.importorskip(name)
    if name == "orjson":
        return module.loads
    return lambda text: module.from_json(text.encode(), allow_inf_nan=False)


def is_beyond(value):
    """Numbers that parsers treat in their own way: beyond 64 bits or the range of a float."""
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not math.isfinite(value) or abs(value) >= 2**63:
                return True
        elif isinstance(value, (list, dict)):
            todo += value.values() if isinstance(value, dict) else value
    return False


def test_json_loads_is_the_judge(engine):
    accepted = 0
    for seed, text in zip(range(COUNT), texts(), strict=False):
        good, value = judged(lambda text: json.loads(text, parse_constant=refuse), text)
        ours, snapshot = reading(engine, text, seed)
        assert ours == good, text
        if good and "\\ud" not in text.lower():
            assert same(snapshot, value), text
            accepted += 1
    assert accepted > COUNT / 5


@pytest.mark.parametrize("name", ["orjson", "jiter", "pydantic_core"])
def test_other_parsers_agree(engine, name):
    """Escaped lone halves aside (both refuse them, RFC 8259 does not), and numbers beyond their range."""
    load, accepted = judge(name), 0
    for seed, text in zip(range(COUNT), texts(), strict=False):
        if "\\ud" in text.lower():
            continue
        good, value = judged(load, text)
        ours, snapshot = reading(engine, text, seed)
        if ours and is_beyond(snapshot):
            continue
        assert ours == good, text
        if good:
            assert same(snapshot, value), text
            accepted += 1
    assert accepted > COUNT / 6


@pytest.mark.parametrize("name", ["jiter", "pydantic_core"])
def test_partial_modes_agree_on_beginnings_of_valid_texts(name):
    """Every beginning, with unfinished strings shown, up to the listed differences: bare scalars and names."""
    module = pytest.importorskip(name)
    mode = {"partial_mode": "trailing-strings"} if name == "jiter" else {"allow_partial": "trailing-strings"}
    rng, compared = random.Random(3), 0
    for _ in range(150):
        text = json.dumps({"a": document(rng), "b": [document(rng)]}, ensure_ascii=False)
        for end in range(1, len(text) + 1):
            part = text[:end]
            if part[-1] not in '"]},:[{ ' or part.endswith('\\"') or not ends_a_token(part):
                continue
            ours = parse_partial_json(part, lenient=False)
            if is_beyond(ours):
                continue
            theirs = module.from_json(part.encode(), **mode)
            assert same(ours, theirs), part
            compared += 1
    assert compared > 1000


def ends_a_token(part):
    """Whether the last character stands outside of strings."""
    parser = StreamingJsonParser()
    parser.feed(part)
    return not parser.in_string and not parser.escape


DIFFERENCES = [
    # text, ours, theirs (`None`: an error)
    ('{"a":tru', {"a": True}, {}),  # the beginning of a literal shows what it can only become
    ('{"a":1e', {"a": 1}, {}),  # a number cut in its exponent shows the number before
    ("tru", True, None),
    ("", MISSING, None),
    ('{"a":1 "b":2}', {"a": 1, "b": 2}, {"a": 1}),  # what is malformed is read over; there it is the end
    ("[1,]", [1], None),  # or an error
    ("[NaN]", [], "nan"),
]


@pytest.mark.parametrize(("text", "ours", "theirs"), DIFFERENCES)
def test_listed_differences(text, ours, theirs):
    jiter = pytest.importorskip("jiter")
    assert same(parse_partial_json(text, lenient=False), ours)
    good, value = judged(lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings"), text)
    if theirs is None:
        assert not good
    elif theirs == "nan":
        assert good
        assert math.isnan(value[0])
    else:
        assert same(value, theirs)
