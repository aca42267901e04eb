"""Ways to hand one text to a parser: cut differently, as `str` and as UTF-8."""

import random


def pieces_of(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def random_pieces(text, rng, longest=7):
    """Pieces of 0 to `longest` characters (or bytes)."""
    pieces, at = [], 0
    while at < len(text):
        end = at + rng.randint(0, longest)
        pieces.append(text[at:end])
        at = end
    return pieces


def cuts(text):
    """(name, pieces) of some ways to cut a text, or bytes."""
    yield "whole", [text]
    yield "one by one", pieces_of(text, 1)
    yield "by three", pieces_of(text, 3)
    yield "random", random_pieces(text, random.Random(repr(text)))


def ways(text):
    """(name, pieces) of some ways to hand over a text; without UTF-8 where it has a lone half of a surrogate pair."""
    for name, pieces in cuts(text):
        yield f"str, {name}", pieces
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    for name, pieces in cuts(data):
        yield f"bytes, {name}", pieces


def feed_all(parser, pieces):
    for piece in pieces:
        parser.feed(piece)
    return parser


def same(a, b):
    """Equality that tells 1 from 1.0 and True, -0.0 from 0.0, and one order of members from another; not recursive."""
    todo = [(a, b)]
    while todo:
        a, b = todo.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, dict):
            if list(a) != list(b):
                return False
            todo += zip(a.values(), b.values(), strict=True)
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif isinstance(a, float):
            if repr(a) != repr(b):
                return False
        elif a != b:
            return False
    return True
