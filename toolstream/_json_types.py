"""What the JSON engine needs of `types.py`: apart, so that importing the engine makes no other types."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

__all__ = ["MISSING", "JsonChange", "JsonDeviation", "JsonPath", "JsonValue", "MissingType"]

JsonValue: TypeAlias = Any
"""`None`, `bool`, `int`, `float`, `str`, `list` or `dict`. Values that are handed out are to be read, not changed."""

JsonPath: TypeAlias = tuple[str | int, ...]
"""Steps from the root: a member's key or an element's position."""

JsonChange: TypeAlias = tuple[Literal["set", "append", "end"], JsonPath, JsonValue]
"""`(kind, path, value)`: `"set"` a value at the path, `"append"` text to the string there, or `"end"` either."""


class MissingType:
    """The type of `MISSING`: there is no value. `None` would be the value of `null`. Falsy, one object."""

    __slots__ = ()
    _only: MissingType | None = None

    def __new__(cls) -> MissingType:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"  # pickles and copies are the same object


MISSING: Final = MissingType()
"""There is no value: `None` would be the value of `null`. Falsy, one object, its own type."""


class JsonDeviation(NamedTuple):
    """Where a text first deviates from JSON (RFC 8259), and what was expected there."""

    offset: int
    """In code points from the beginning of the text."""
    message: str
