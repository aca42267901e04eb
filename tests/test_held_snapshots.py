"""A snapshot never changes for whoever holds it, or a part of it, however the engine comes by the next ones.

Copies that nobody holds any more may be used again. Here that is forced, for small values too, where an engine does it
only from some size on; some snapshots, and containers in them, are kept, and all of them must stay as they were.
"""

import random

import pytest
from cutting import pieces_of
from random_texts import text_of

from toolstream import _engine_py

SHAPES = {
    "wide": "{" + ", ".join(f'"key{i}": {i}.5, "name{i}": "a name"' for i in range(25)) + "}",
    "numbers": "[" + ", ".join(f"{i}.25e1" for i in range(50)) + "]",
    "records": "[" + ", ".join(f'{{"id": {i}, "tags": ["a", "b{i}"], "on": true}}' for i in range(12)) + "]",
    "deep": '[1, {"a": ' * 12 + '"x"' + ', "n": 2}, "after"]' * 12,
    "names again": '{"a": [1, 2], "b": "x", "a": 12, "b": "longer", "a": {"c": 1}, "a": tru, "c": 1, "d": 1}' * 2,
    "dropped": '{"a": 1.x, "b": 12, "c": nul, "c": "d", {"e": 1}: 2, [3, 4] "f": [1.5.5, 2], "g": -}',
}


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    monkeypatch.setattr(_engine_py, "_MANY_MEMBERS", 0)


def containers_in(value):
    """The containers of a snapshot that may be open: the root, its last member, the last member of that."""
    while isinstance(value, (dict, list)):
        yield value
        value = [*value.values()][-1] if isinstance(value, dict) and value else value[-1] if value else None


def check(engine, text, size, rng, options):
    parser = engine.StreamingJsonParser(**options)
    held = []
    read = ""
    for piece in pieces_of(text, size):
        parser.append(piece)
        read += piece
        if rng.random() < 0.8:
            snapshot = parser.snapshot()
            anew = engine.StreamingJsonParser(**options)
            anew.feed(read)
            assert repr(snapshot) == repr(anew.snapshot()), read
            if rng.random() < 0.3:
                held += [(part, repr(part)) for part in containers_in(snapshot) if rng.random() < 0.3]
            del snapshot
        if held and rng.random() < 0.3:
            held.pop(rng.randrange(len(held)))
        for part, as_it_was in held:
            assert repr(part) == as_it_was, read
        part = None


@pytest.mark.parametrize("options", [{}, {"pending_scalars": "withhold"}, {"lenient": True}])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_held_stays(engine, shape, options):
    rng = random.Random(shape)
    for size in (1, 2, 3, 5, 9):
        check(engine, SHAPES[shape], size, rng, options)


@pytest.mark.parametrize("block", range(5))
def test_what_is_held_stays_on_any_text(engine, block):
    for seed in range(block * 25, block * 25 + 25):
        rng = random.Random(seed)
        check(engine, text_of(rng)[:200], rng.randrange(1, 9), rng, {"lenient": rng.random() < 0.5})


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"x": 1, "a": 12', "x", ', "c": "d', "e"],  # it showed, and is dropped
        ['{"x": 1, "a": 5, "x": 7', ".", "x", " ", ', "b": 1'],  # it hid a member, which comes back
        ['{"x": 1, "a": 5, "x": "7', "8", '", "b": 1', "2"],  # it replaces a member, and grows
        ['{"a": 1', ".", "5", ', "b": 2', "3"],
        ["[1", ".", "x", " ", "2", "3"],
        ["[[", "[1", "2]", ", {", '"a', '": 1', "}", "]", "]"],
    ],
)
def test_a_scalar_that_comes_and_goes(engine, pieces):
    parser = engine.StreamingJsonParser()
    for end, piece in enumerate(pieces, 1):
        parser.feed(piece)
        anew = engine.StreamingJsonParser()
        anew.feed("".join(pieces[:end]))
        assert repr(parser.snapshot()) == repr(anew.snapshot())


@pytest.mark.skipif(_engine_py._references is None, reason="references are not counted here")
@pytest.mark.parametrize("opened", ['{"a": 1, "b": "', "[[[1, [", '{"a": [{"b": [', "[1, 2, "])
def test_copies_that_nobody_holds_are_used_again(opened):
    parser = _engine_py.StreamingJsonParser()
    parser.feed(opened)
    piece = "x" if parser.in_string else "7, "
    seen = []
    for _ in range(20):
        parser.feed(piece)
        seen.append(id(parser.snapshot()))
    assert len(set(seen)) == 2
    held = parser.snapshot()
    for _ in range(20):
        parser.feed(piece)
        assert parser.snapshot() is not held
        assert parser.snapshot() is parser.snapshot()
