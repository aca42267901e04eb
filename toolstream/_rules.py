"""The rulebook: everything about reading that is cold, kept once for both engines and the layers above.

Here are the numbers of the states, the codes of the repairs, the words of the errors, the constants of the
credit rule, how a finished number becomes a value, and the two helpers that every layer shares.

The grammar state says what may come next in the innermost open container. A tolerant reader needs less (an object
wants a key or has one, an array takes anything), a strict one needs exactly this; so one number serves both views.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolstream._json_types import MISSING, JsonDeviation, JsonValue
from toolstream.errors import LimitExceededError

# ---------------------------------------------------------------- constants

BLANK: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What counts as blank in argument text: ECMAScript's white space and line ends (`String.prototype.trim`)."""

REPORT_DEPTH: Final = 32  # steps of the longest path in changes
APPEND_CREDIT: Final = 256  # what a piece earns towards fresh snapshots,
CHARACTER_CREDIT: Final = 8  # and each character of it
STRING_DIVISOR: Final = 16  # characters of an open string copied for one unit of credit
PENDING_LIMIT: Final = 64  # characters of the longest pending scalar that shows
MAX_DIGITS: Final = 4300  # of an exact integer: the limit that CPython has by default
INFINITY: Final = float("inf")
MAX_REPAIRS: Final = 100  # entries of `repairs`; the first one of each code is kept beyond that

# ---------------------------------------------------------------- grammar states: what is expected next

ROOT: Final = 0
OBJECT_FIRST: Final = 1
OBJECT_KEY: Final = 2
OBJECT_COLON: Final = 3
OBJECT_VALUE: Final = 4
OBJECT_COMMA: Final = 5
ARRAY_FIRST: Final = 6
ARRAY_VALUE: Final = 7
ARRAY_COMMA: Final = 8
END: Final = 9

# further things that can be expected, numbered on from the states
NO_CONTROL: Final = 10
ESCAPED: Final = 11
HEX_DIGITS: Final = 12
DIGIT: Final = 13
NUMBER_END: Final = 14
LITERAL: Final = 15
NO_MARK: Final = 16

EXPECTED: Final = (
    "expected a value",
    "expected a member's name in double quotes, or '}'",
    "expected a member's name in double quotes",
    "expected ':' after the member's name",
    "expected the member's value",
    "expected ',' or '}' after the member's value",
    "expected an element or ']'",
    "expected an element",
    "expected ',' or ']' after the element",
    "expected nothing after the end of the value",
    "expected control characters in a string to be escaped",
    'expected one of " \\ / b f n r t u after a backslash',
    "expected four hexadecimal digits after \\u",
    "expected a digit",
    "expected the number to end",
    "expected true, false or null",
    "expected no byte order mark",
)

# ---------------------------------------------------------------- repairs: what was read over

CONTROL_CHARACTER: Final = 0
INVALID_ESCAPE: Final = 1
ESCAPED_APOSTROPHE: Final = 2
LONE_SURROGATE: Final = 3
SPACE_ESCAPE: Final = 4
TRAILING_COMMA: Final = 5
SINGLE_QUOTES: Final = 6
PYTHON_LITERAL: Final = 7
COMMENT: Final = 8
FENCE: Final = 9
TAG: Final = 10
BYTE_ORDER_MARK: Final = 11
DROPPED_WORD: Final = 12
DROPPED_NUMBER: Final = 13
DROPPED_VALUE: Final = 14
NONFINITE: Final = 15
MISSING_COMMA: Final = 16
MISSING_COLON: Final = 17
MISSING_VALUE: Final = 18
EXTRA_COMMA: Final = 19
EXTRA_COLON: Final = 20
MISMATCHED_CLOSER: Final = 21
STRAY_CLOSER: Final = 22
TRAILING: Final = 23

REPAIRS: Final = (
    "control_character",  # a raw control character in a string, kept
    "invalid_escape",  # the backslash is kept as text
    "escaped_apostrophe",  # \' read as ' (lenient)
    "lone_surrogate",  # half a surrogate pair became U+FFFD; an escaped one is valid JSON
    "space_escape",  # \n, \r or \t between tokens read as white space (lenient)
    "trailing_comma",  # a comma in front of a closing bracket
    "single_quotes",  # a string in single quotes (lenient)
    "python_literal",  # True, False or None (lenient)
    "comment",  # // and # to the end of the line, /* ... */ (lenient)
    "fence",  # a Markdown fence around the value (lenient)
    "tag",  # a tag around the value (lenient)
    "byte_order_mark",  # in front of the text
    "dropped_word",  # a bare word that is no value
    "dropped_number",  # a malformed number
    "dropped_value",  # a value where a member's name was expected
    "nonfinite",  # NaN, Infinity or -Infinity, dropped
    "missing_comma",
    "missing_colon",
    "missing_value",  # a member's name without a value, dropped
    "extra_comma",
    "extra_colon",
    "mismatched_closer",  # it closes the innermost container whatever its kind
    "stray_closer",  # nothing was open
    "trailing",  # anything else after the end of the value
)
"""The code of each repair; `repairs` of a parser holds `(offset, code)` pairs."""

LOSSLESS: Final = frozenset(REPAIRS[:BYTE_ORDER_MARK])
"""The codes of repairs that lose nothing: the meaning is certain, and every character of every value is there."""

# ---------------------------------------------------------------- tokens: numbers and bare words

DEAD: Final = 0
MINUS: Final = 1
ZERO: Final = 2
INTEGER: Final = 3
POINT: Final = 4
FRACTION: Final = 5
EXPONENT: Final = 6
EXPONENT_SIGN: Final = 7
EXPONENT_DIGIT: Final = 8
WORD: Final = 16  # a prefix of WORDS[w] of k characters is the state WORD * (w + 1) + k

WORDS: Final = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity", "-Infinity")
VALUES: Final = (True, False, None, True, False, None)  # of the words; the first three are JSON
JSON_WORDS: Final = 3

_digits = "0123456789"
_ends = {"e": EXPONENT, "E": EXPONENT}


def _steps() -> dict[int, dict[str, int]]:
    fraction = {**dict.fromkeys(_digits, FRACTION), **_ends}
    exponent = dict.fromkeys(_digits, EXPONENT_DIGIT)
    steps: dict[int, dict[str, int]] = {
        DEAD: {"-": MINUS, "0": ZERO, **dict.fromkeys("123456789", INTEGER)},  # the first character
        MINUS: {"0": ZERO, **dict.fromkeys("123456789", INTEGER)},
        ZERO: {".": POINT, **_ends},
        INTEGER: {".": POINT, **dict.fromkeys(_digits, INTEGER), **_ends},
        POINT: dict.fromkeys(_digits, FRACTION),
        FRACTION: fraction,
        EXPONENT: {"+": EXPONENT_SIGN, "-": EXPONENT_SIGN, **exponent},
        EXPONENT_SIGN: exponent,
        EXPONENT_DIGIT: exponent,
    }
    for number, word in enumerate(WORDS):
        state = DEAD
        for length, character in enumerate(word, 1):
            state = steps.setdefault(state, {}).setdefault(character, WORD * (number + 1) + length)
        steps.setdefault(state, {})
    return steps


STEPS: Final = _steps()
"""The next state of a token for each of its states and characters; none: the token is dead, it can be no value."""


def is_json_token(state: int) -> bool:
    """Whether a token in this state is a beginning of a number or literal of JSON."""
    return state < WORD * (JSON_WORDS + 1)


def expected_in_token(state: int) -> int:
    """What was expected (a number of `EXPECTED`) where a token in this state went on or ended in a wrong way."""
    if state >= WORD:
        return LITERAL
    return DIGIT if state in (MINUS, POINT, EXPONENT, EXPONENT_SIGN) else NUMBER_END


def token_value(text: str, state: int, lenient: bool) -> JsonValue:
    """The value of the whole token `text`, whose last state is `state`; MISSING if it is dropped."""
    if state >= WORD:
        word, length = state // WORD - 1, state % WORD
        known = word < JSON_WORDS or (lenient and word < len(VALUES))
        return VALUES[word] if known and length == len(WORDS[word]) else MISSING
    if state in (ZERO, INTEGER):
        return parse_integer(text)
    return float(text) if state in (FRACTION, EXPONENT_DIGIT) else MISSING


def pending_value(text: str, state: int, lenient: bool) -> JsonValue:
    """What shows of the beginning `text` of a token: a literal it may become, or the number so far; else MISSING."""
    if state >= WORD:
        word = state // WORD - 1
        return VALUES[word] if word < JSON_WORDS or (lenient and word < len(VALUES)) else MISSING
    if state in (EXPONENT, EXPONENT_SIGN):
        text = text.rstrip("+-").rstrip("eE")
        state = FRACTION if "." in text else INTEGER
    return token_value(text, state, lenient)


def dropped_token(state: int, is_number: bool) -> int:
    """The repair for a token that ends in this state without a value; `is_number`: it begins like one."""
    if state >= WORD and (word := state // WORD - 1) >= len(VALUES) and state % WORD == len(WORDS[word]):
        return NONFINITE
    return DROPPED_NUMBER if is_number else DROPPED_WORD


def parse_integer(text: str) -> int | float:
    """The value of sign and digits: exact up to `MAX_DIGITS` digits, else the nearest float.

    Exact as well where the interpreter's own limit was set lower (`sys.set_int_max_str_digits`, never below 640).
    """
    digits = len(text) - (text[0] == "-")
    if digits > MAX_DIGITS:
        return float(text)
    try:
        return int(text)
    except ValueError:
        value, start = 0, len(text) - digits
        for i in range(start, len(text), 600):
            part = text[i : min(i + 600, len(text))]
            value = value * 10 ** len(part) + int(part)
        return -value if start else value


# ---------------------------------------------------------------- words for people


def deviation(offset: int, expected: int) -> JsonDeviation:
    """The first deviation from JSON, in words."""
    return JsonDeviation(offset, EXPECTED[expected])


def limit_error(max_depth: int, offset: int) -> LimitExceededError:
    """The error for a bracket at `offset` that would nest deeper than `max_depth`."""
    return LimitExceededError(f"nested deeper than max_depth={max_depth} at offset {offset}")


def _name_of_buffer(buffer: object, view: memoryview) -> str:
    """What a buffer is, for an error: whatever may be wrong with it."""
    layout = "" if view.c_contiguous else "non-contiguous "
    shape = "" if view.ndim == 1 else f" in {view.ndim} dimensions"
    return f"{layout}{type(buffer).__name__} of format {view.format!r}{shape}"


def wrong_piece(piece: object) -> TypeError:
    """The error for a piece that is no text."""
    try:
        given = _name_of_buffer(piece, memoryview(piece))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        given = type(piece).__name__
    return TypeError(f"a piece must be str, bytes or a C-contiguous buffer of bytes, not {given}")


def typed_view(name: str, buffer: Any, kind: str) -> memoryview:
    """The one-dimensional buffer of items of the type `kind` that `scan_bytes` was given as `name`."""
    try:
        view = memoryview(buffer)
    except (TypeError, ValueError, BufferError):
        raise TypeError(f"{name} must be a buffer, not {type(buffer).__name__}") from None
    size = {"B": 1, "i": 4, "q": 8}[kind]
    kinds = ("B", "b", "c") if kind == "B" else (kind, "l")
    if not view.c_contiguous or view.ndim != 1 or view.itemsize != size or view.format not in kinds:
        raise ValueError(
            f"{name} must be a C-contiguous buffer of {8 * size}-bit integers in one dimension, "
            f"not {_name_of_buffer(buffer, view)}"
        )
    return view if view.format == kind else view.cast("B").cast(kind)  # type: ignore[call-overload]


def copy_error(reader: object) -> TypeError:
    """What copying or pickling a reader raises: it stands in the middle of a text that it does not keep."""
    return TypeError(f"a {type(reader).__name__} cannot be copied or pickled; copy what it has read")


def check_options(pending_scalars: object, lenient: object, report_ends: object, max_depth: object) -> None:
    """Refuse values of a parser's options that make no sense."""
    if not isinstance(pending_scalars, str):
        raise TypeError(f"pending_scalars must be 'show' or 'withhold', not {type(pending_scalars).__name__}")
    if pending_scalars not in ("show", "withhold"):
        raise ValueError(f"pending_scalars must be 'show' or 'withhold', not {pending_scalars!r}")
    for name, flag in (("lenient", lenient), ("report_ends", report_ends)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False, not {type(flag).__name__}")
    if max_depth is None:
        return
    if not isinstance(max_depth, int) or isinstance(max_depth, bool):
        raise TypeError(f"max_depth must be an int or None, not {type(max_depth).__name__}")
    if max_depth < 1:
        raise ValueError(f"max_depth must be at least 1, not {max_depth}")


# ---------------------------------------------------------------- helpers of the layers above


def is_blank(text: str) -> bool:
    """Whether `text` is empty or white space only (`BLANK`)."""
    return not text.strip(BLANK)


NO_FIELDS: Final = (type(None), str, bytes, bytearray, int, float, list)  # what is surely no call, no part of one


def get_field(obj: Any, name: str, default: Any = None) -> Any:
    """The field `name` of a dict, another mapping or an SDK object, else `default`."""
    if isinstance(obj, (dict, Mapping)):
        return obj.get(name, default)
    return getattr(obj, name, default)
