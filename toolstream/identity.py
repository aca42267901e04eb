"""Which call does this delta belong to? The one home of that question, with its three answers.

A delta may carry an index, an id and a name, each of them missing, repeated or wrong. Three policies are offered, and
they differ on purpose:

- the **accumulator's** (`ToolCallAccumulator`): the index, and nothing else. It is the protocol as it is written: said
  in one sentence, never guessing, and so merging whatever a provider sends under one index. It is for hosts that know
  their provider.
- the **parser's** (`StreamingToolCallParser`): the id where there is one, else the index, corrected by what the text at
  that index looks like: a call that is whole cannot be meant, so what comes next at its index belongs elsewhere. It
  decides at once and for good, because each of its answers names the slot of the chunk.
- the **assembler's** (`ToolCallStream`): all identifiers together, weighed against what each call still lacks. It may
  hold a delta back until a header explains it, and reports every disagreement as a defect. It is what to take when
  calls are to be run.

They share no table: a rule that is right for one (a new id at an index whose call is unfinished joins it, in the
parser) is wrong for another (the assembler opens a call if a name comes with it), and a common table would have to
carry every exception of all three. What they share is the vocabulary: `index`, `id` and `name` are `None` when absent,
and an empty id or name is absent.

Each decision costs O(1), but for the parser's search for unfinished slots, which is a heap: O(log n) a delta, whatever
the number of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeGuard

from toolstream._rules import is_blank
from toolstream.types import MISSING

__all__ = [
    "ABSENT",
    "AssemblerIdentity",
    "ParserIdentity",
    "absent",
    "accumulator_index",
    "assembler_index",
    "sent_index",
    "sent_word",
]


# ---------------------------------------------------------------- the accumulator's policy


def accumulator_index(index: Any) -> int | None:
    """The slot for a delta with that index; `None` if it has none because the index is no integer from 0 up.

    A missing index (`None`) is 0: a provider that describes a single call may leave it out. A float is accepted where
    its value is an integer, as JSON does not tell them apart; a bool is not a number.
    """
    if index is None:
        return 0
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        return None
    return index


# ---------------------------------------------------------------- the parser's policy


class ParserSlot(Protocol):
    """What the policy has to know about a slot. A slot that is reset is another object under the same number."""

    number: int
    id: str | None
    name: str | None
    blank: bool  # no text but white space has come
    whole: bool  # the text is one whole JSON value


def _unfinished(slot: ParserSlot) -> bool:
    """Whether stray text may belong to the call. A call with a name and no text is taken for one without arguments."""
    if slot.blank:
        return slot.id is not None and slot.name is None
    return not slot.whole


class ParserIdentity:
    """Chooses the slot of each chunk, from slots that the parser keeps.

    A call is *moved* when its chunks come at one index and are kept in another slot. The move is remembered, so that
    its later chunks, which often have no id, find it. Three things differ from the implementation that these rules were
    measured on: a new id with text leaves a call without id alone when that call is whole, whether it was moved (1) or
    stands at the index itself (2), and opens a slot of its own; and a moved call is still found after `reset_index` of
    the index that its chunks come at (3).
    """

    __slots__ = ("_counter", "_forgotten", "_heap", "_ids", "_lowest", "_moves", "_queued", "_slots", "conflict")

    def __init__(self, slots: Mapping[int, ParserSlot]) -> None:
        self._slots = slots
        self._ids: dict[str, int] = {}
        self._moves: dict[int, ParserSlot] = {}  # index -> where its call is kept; void once that slot was reset
        self._forgotten: dict[int, ParserSlot] = {}  # the same, for an index that was reset after the move
        self._lowest = 0  # no number below it is free: slots never go away
        self._counter = 0  # where the search for an available slot goes on; every slot before it is whole and named
        self._heap: list[int] = []  # numbers of unfinished slots, negative, and of some that are finished by now
        self._queued: set[int] = set()  # those in the heap
        self.conflict = False
        """Whether identifiers have contradicted each other."""

    def knows(self, id: str | None) -> bool:
        """Whether a call with that id has been seen."""
        return id in self._ids

    def slot_number(self, index: int, text: str, id: str | None, name: str | None) -> int:
        """The slot for a chunk; it may not exist yet."""
        if id is not None:
            number = self._ids.get(id)
            if number is None:
                number = self._ids[id] = self._number_of_new_id(index, text)
            return number
        here = self._slots.get(index)
        if name is not None and not text and (here is None or here.name is None or here.name == name):
            return index
        slot = self._valid(self._moves, index)
        if slot is None:
            slot = self._forgotten_move(index, text, name) or here
        if slot is None:
            return index
        return self._most_recent_unfinished() if slot.whole else slot.number

    def _number_of_new_id(self, index: int, text: str) -> int:
        begins = not is_blank(text)  # a chunk with text is the beginning of a call, not a late id for one
        slot = self._valid(self._moves, index)
        if slot is None or slot.id is not None:
            slot = self._slots.get(index)
            if slot is None:
                return index
        if slot.id is None:
            finished = begins and slot.whole
        else:
            finished = slot.blank or slot.whole
            self.conflict = self.conflict or not finished
        if not finished:
            return slot.number
        self.conflict = self.conflict or slot.name is None
        while self._lowest in self._slots:
            self._lowest += 1
        return self._lowest

    def _most_recent_unfinished(self) -> int:
        """The highest number of an unfinished slot; if there is none, of the next available one."""
        while self._heap:
            number = -self._heap[0]
            if _unfinished(self._slots[number]):
                return number
            heappop(self._heap)
            self._queued.remove(number)
        slot = self._slots.get(self._counter)
        while slot is not None:
            if slot.id is None or slot.name is None:  # unfinished slots are out of the question here
                return self._counter
            self._counter += 1
            slot = self._slots.get(self._counter)
        self._counter += 1
        return self._counter - 1

    def _valid(self, moves: dict[int, ParserSlot], index: int) -> ParserSlot | None:
        slot = moves.get(index)
        return slot if slot is not None and self._slots[slot.number] is slot else None

    def _forgotten_move(self, index: int, text: str, name: str | None) -> ParserSlot | None:
        """The call that moved from `index` before a reset, if the text can only be meant for it."""
        slot = self._valid(self._forgotten, index)
        if slot is None or slot.whole or name is not None or is_blank(text):
            return None
        here = self._slots[index]
        return slot if here.blank and here.id is None and here.name is None else None

    def remember(self, index: int, slot: ParserSlot) -> None:
        """A chunk that came at `index` was put into `slot`."""
        if slot.number != index:
            self._moves[index] = slot
            self._forgotten.pop(index, None)

    def changed(self, slot: ParserSlot) -> None:
        """The slot has changed, or is new."""
        if slot.number not in self._queued and _unfinished(slot):
            self._queued.add(slot.number)
            heappush(self._heap, -slot.number)

    def reset_index(self, index: int) -> None:
        """The slot at `index` has been replaced by an empty one. Ids stay with the number that they had."""
        slot = self._valid(self._moves, index)
        self._moves.pop(index, None)
        if slot is not None:
            self._forgotten[index] = slot


# ---------------------------------------------------------------- the assembler's policy


class AssemblerCall(Protocol):
    """What the policy has to know about a call."""

    _sent_id: str | None  # as the provider sent it, absent ones as `None`
    name: str | None
    position: int  # among all calls
    _finished: bool  # its value has ended


Again: TypeAlias = Literal["same", "other", "open", "no"]
"""Is this text the finished value of a call again? `"open"`: so far, and it has not ended; `"no"`: it begins no
value."""

Route: TypeAlias = "tuple[Literal['call', 'open', 'wait', 'orphan'], Any, str | None]"
"""Where a delta goes: to the call, into a new one, among those that wait for a header, or nowhere; and a defect."""


ABSENT: Final = ("", "null")  # words that say nothing


def absent(word: object) -> bool:
    """Whether an id, a name or an index says nothing: missing, null, empty, or the text `null`."""
    return word is None or word in ABSENT


def sent_word(word: object) -> str | None:
    """An id or a name as sent; `None` if it is absent or no text. Numbers are taken for ids by some servers."""
    if isinstance(word, str):
        return None if word in ABSENT else word
    return str(word) if type(word) is int else None


def sent_index(index: object) -> int | None:
    """An index as sent, as an int: decimal digits and a float without a fraction are one; anything else is none."""
    if type(index) is int:
        return index
    if isinstance(index, str):
        return int(index) if len(index) <= _MOST_DIGITS and index.isascii() and index.isdecimal() else None
    if isinstance(index, float):
        return int(index) if index.is_integer() else None
    return int(index) if _is_number(index) else None


def _is_number(index: object) -> TypeGuard[int]:
    return isinstance(index, int) and not isinstance(index, bool)


_MOST_DIGITS = 640  # so many are read everywhere: Python's limit for the digits of an integer cannot be set below


def assembler_index(index: object) -> tuple[int | None, str | None]:
    """The index as an int, `None` if it is absent or no number, and the defect in how it was sent."""
    if type(index) is int:
        return index, None
    if index is MISSING:
        return None, "index_missing"
    if absent(index):
        return None, "index_null"
    return sent_index(index), None if _is_number(index) else "index_type"


def _position(call: AssemblerCall) -> int:
    return call.position


class AssemblerIdentity:
    """Finds the call of each delta: rules 1 to 3 of docs/rules.md, for the calls of one choice. A call is *open* until
    its value is finished; `close` and `reopen` say so."""

    __slots__ = ("_by_id", "_last", "_listed", "_open", "header", "slots", "waiting")

    def __init__(self) -> None:
        self.slots: dict[int, Any] = {}
        """index -> the call that it means now."""
        self._by_id: dict[str, Any] = {}
        self._last: Any = None  # opened last
        self._open: dict[Any, None] = {}
        self._listed: list[Any] = []  # the calls that bare entries of this delta belong to, by position
        self.waiting: dict[int, list[Any]] = {}
        """index -> the arguments that came before any header, while no call was open, each as sent."""
        self.header = False
        """The last delta that `route` sent to a finished call has its name again: a value that follows is another
        call."""

    def list_bare(self, count: int) -> None:
        """Before a delta with so many entries that have neither index nor id nor name."""
        self._listed = sorted(self._open_calls(), key=_position) if len(self._open) == count > 1 else []

    def _open_calls(self) -> dict[Any, None]:
        """The open calls, at the cost of those that were closed since the last time: a dict that is not made anew
        costs all that were ever removed, every time it is walked through."""
        self._open = dict.fromkeys(self._open)
        return self._open

    def opened(self, call: Any, index: int | None, id: str | None) -> None:
        """A new call, which `index` and `id` mean from now on; its value may have ended already."""
        if index is not None:
            self.slots[index] = call
        if not call._finished:
            self._open[call] = None
        self._last = call
        if id is not None:
            self._by_id[id] = call

    def named(self, call: Any, id: str) -> None:
        """The id of a call has come late."""
        self._by_id[id] = call

    def close(self, call: Any) -> None:
        """The value of the call has ended."""
        self._open.pop(call, None)

    def reopen(self, call: Any) -> None:
        """The text of the call was restarted, or it was ended by mistake."""
        self._open[call] = None

    def route(
        self,
        index: int | None,
        id: str | None,
        name: str | None,
        text: str,
        bare: int | None,
        again: Callable[[Any, str], Again],
    ) -> Route:
        """Where a delta goes. Absent identifiers are `None`; `bare`: its number among the bare entries that were
        listed. `again(call, text)` tells whether a text is the finished value of that call again."""
        self.header = False
        known = None if id is None else self._by_id.get(id)
        if index is None:
            return self._without_index(id, known, name, bare)
        call = self.slots.get(index)
        if call is None:
            return self._empty_slot(index, id, known, name)
        if id is not None and id == call._sent_id:
            return "call", call, None
        if known is not None:
            return "call", known, "index_conflict"
        if id is not None and call._sent_id is not None:
            return ("open", None, "index_reused") if name is not None else ("call", call, "id_changed")
        if name is not None and call.name is not None and call._finished:
            if name != call.name:
                return "open", None, "index_reused"
            found = again(call, text)
            if found == "other":
                return "open", None, "index_reused"
            self.header = found == "open"
        return "call", call, None

    def _empty_slot(self, index: int, id: str | None, known: Any, name: str | None) -> Route:
        if name is not None or (id is not None and known is None):
            return "open", None, None
        if known is not None:
            return "call", known, "index_drift"
        if len(self._open) == 1 and index not in self.waiting:
            return "call", next(iter(self._open_calls())), "index_drift"
        if not self._open or index in self.waiting:
            return "wait", None, None
        return "orphan", None, None

    def _without_index(self, id: str | None, known: Any, name: str | None, bare: int | None) -> Route:
        last = self._last
        if known is not None:
            return "call", known, None
        if id is not None:
            return "open", None, None
        if name is not None:
            if last is None or (last.name is not None and (name != last.name or last._finished)):
                return "open", None, None
            return "call", last, None
        if bare is not None:
            return ("call", self._listed[bare], None) if self._listed else ("orphan", None, None)
        return ("call", last, None) if last is not None else ("orphan", None, None)
