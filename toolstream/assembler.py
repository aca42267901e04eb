"""Deltas of any protocol to calls, events, defects and verdicts.

Providers call methods; nothing is built per piece but its event. Two ways in:

- *identity inferred* (Chat Completions and its kin): `delta` with whatever the entry carries; rules 1 to 4 find the
  call;
- *identity announced* (all other protocols): `open` when the protocol announces a call, then `append`, `replace`,
  `whole`, `final_text` with the call that `open` or `find` gave, and `end` where the protocol ends it.

Calls that were not ended are ended by `close`, when the stream ends.

How it reads. Every call has one parser, which reads each fragment once and gives the live value and, at the end, the
verdict. While its text is a prefix of valid JSON there is nothing to decide (`append`): repeated text is legal
content. Only a fragment that makes the text malformed, or goes on after the end of the value, is looked at
(`_deviate`): whether it carries the whole text so far (then it replaces it), follows an empty placeholder, or is the
finished value again (`Tail`). Replacing restarts the text with a new parser, which reads what was received then: so
no character is read more than a fixed number of times, and a fragment costs the same however many calls there are and
however long their texts.

Invariants: the texts of a call's deltas since its last restart, joined, are its `arguments_text`; every start event
has one end; a verdict is given once, and what was refused is never executable.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias
from weakref import proxy

from toolstream._engine import StreamingJsonParser, read_object, write_object
from toolstream._rules import BLANK, is_blank
from toolstream._tail import Tail, begins_value
from toolstream._text import TextBuffer, join_halves
from toolstream._values import begins, dump, extends, same_value
from toolstream._verdict import is_lossy, judge, judge_object, new_parser, suspicions
from toolstream.completion import CLIENT_KINDS, Completion, Status, ToolCall, WholeCall
from toolstream.defects import DEFECTS, LOST
from toolstream.errors import LimitExceededError
from toolstream.identity import ABSENT, Again, AssemblerIdentity, assembler_index, sent_word
from toolstream.types import (
    MISSING,
    Defect,
    DefectFound,
    Event,
    JsonChange,
    JsonValue,
    Limits,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

__all__ = ["UNNAMED_ERROR", "Assembler", "Meaning"]

Meaning: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]
"""What a provider's finish word means."""

UNNAMED_ERROR: Final = "the provider sent an error event"
"""What there is to say of an error event without any particulars."""

_NO_LIMITS: Final = Limits()
_CUTS: Final = ("length", "content_filter", "error")
_CALL_WORDS: Final = frozenset(("tool_calls", *_CUTS))  # they fit a message with calls

_new = object.__new__  # and setting the fields takes two thirds of the time that calling the class takes
_new_tuple = tuple.__new__  # a third of it
_placeholder = re.compile(r"[ \t\n\r]*\{[ \t\n\r]*\}[ \t\n\r]*").fullmatch
_more_placeholders = re.compile(r"(?:\{[ \t\n\r]*\}[ \t\n\r]*)+(?=\{)").match


def _as_it_is(part: Any) -> Any:
    return part


class _Home:
    """The state of one choice."""

    __slots__ = ("cut", "finished", "ids", "legacy", "length")

    def __init__(self) -> None:
        self.legacy: AssemblerIdentity | None = None  # of `function_call`, which has neither index nor id
        self.ids: set[str | None] = set()  # of the calls that have started
        self.finished = False  # a finish word has come
        self.cut = False  # one that means a cut
        self.length = False  # by length


class _Odd:
    """What is out of the ordinary about the text of a call."""

    __slots__ = (
        "cumulative",
        "from_objects",
        "header",
        "merged",
        "placeholder",
        "refused",
        "restart",
        "same_id",
        "tail",
        "too_deep",
        "value_text",
    )

    def __init__(self) -> None:
        self.cumulative = False  # a fragment that starts with the whole text replaces it
        self.from_objects = False  # the arguments came as objects
        self.header: tuple[int | None, object, object] | None = None  # repeated; the next value may be another call
        self.merged: dict[str, JsonValue] | None = None  # objects put together, not yet written as text
        self.placeholder = False  # an empty object was replaced; what for, is not known yet
        self.refused: str | None = None  # by this code
        self.restart = False  # the next text shown replaces what came before
        self.same_id = False  # the delta that began the value after the end repeats the id
        self.tail: Tail | None = None
        self.too_deep = False
        self.value_text: str | None = None  # of the finished value, once somebody asked


class Assembler:
    """One stream's calls. A provider is made with it and calls it; `ToolCallStream` owns it and takes the events.

    `strict`: a repaired call, or one with trailing text, is invalid. `changes`: deltas carry the parser's changes.
    `new_id`: makes ids for calls that have none.
    """

    __slots__ = (
        "_bytes",
        "_changes",
        "_closed",
        "_end_mark",
        "_guarded",
        "_halves",
        "_homes",
        "_host_id",
        "_id_stem",
        "_keys",
        "_lanes",
        "_limits",
        "_reported",
        "_strict",
        "_unlimited",
        "_words",
        "call_word",
        "completion",
        "default_id",
        "events",
        "exact",
        "kept",
        "pending_scalars",
        "piece",
        "slots",
    )

    call_word: bool
    """Does the protocol have a finish word for calls? A provider without one sets it to false (no
    `finish_mismatch`)."""

    pending_scalars: Literal["show", "withhold"]
    """When a number or literal shows (rule 12); a provider whose numbers are never cut sets it to `show`."""

    default_id: Callable[[], str] | None
    """Makes ids where the host gave no `new_id`; a provider whose ids have a form of their own sets it."""

    exact: Callable[[Any], Any]
    """An object or list of the event being read, with integers of more than 64 bits exact, however the event was read.
    Whoever keeps one that has arguments in it asks for it; arguments that are given to this class need not be asked
    for."""

    completion: Completion

    piece: int
    """The number of the piece being fed: defects carry it. -1 before the first."""

    kept: int
    """The number of the last piece with text that no event has carried yet."""

    def __init__(
        self,
        strict: bool = False,
        changes: bool = False,
        limits: Limits | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        if limits is None:
            limits = _NO_LIMITS
        guarded = changes or limits.max_argument_bytes is not None
        self.completion = Completion()
        self.piece = self.kept = -1
        self.call_word = True
        self.pending_scalars = "withhold"
        self.default_id = None
        self.exact = _as_it_is
        self._strict = strict
        self._changes = changes
        self._limits = limits
        self._host_id = new_id
        self._id_stem = ""  # of the ids that are made here, once one is
        self._bytes = 0  # of arguments, counted only if they are limited
        self._guarded = guarded
        self._unlimited = not guarded and limits.max_calls is None
        self.events: list[Event] = []
        """Those since the last `take`."""
        self._homes: dict[int, _Home] = {}
        self._lanes: dict[int, AssemblerIdentity] = {}
        """Choice -> the calls whose identity is inferred."""
        self.slots: dict[int, dict[int, ToolCall]] = {}
        """Choice -> index -> the call that it means: an entry without id and name is for it (rule 2)."""
        self._keys: dict[Hashable, ToolCall] = {}
        self._halves: dict[Any, str] = {}  # call, or kind of text and choice -> half a character
        self._reported: set[tuple[int | None, str]] = set()
        self._words: set[Meaning | None] = set()  # of all finish words
        self._end_mark = False
        self._closed = False

    # ------------------------------------------------------------ identity inferred

    def delta(
        self,
        choice: int,
        index: object,
        id: object,
        name: object,
        arguments: object,
        kind: str = "function",
        bare: int | None = None,
    ) -> ToolCall | None:
        """One entry of a delta, by rules 1 to 5; the call it went to, `None` for an orphan or an entry of nothing.

        `index`: as sent, `MISSING` if there is no such key. `id`, `name`: as sent, `None` if absent. `arguments`:
        text, an object, or `None`. `kind`: of the call if this opens one; `legacy_function` calls have neither index
        nor id, and are kept apart from the others. `bare`: of an entry without index, id and name, its number among
        such entries of this list, after `bare_entries` has said how many there are; else `None`.
        """
        if (id is None or id == "") and (name is None or name == "") and type(arguments) is str:
            slots = self.slots.get(choice)
            call = slots.get(index) if slots is not None and type(index) is int else None
            if call is not None:  # as `_delta` would have it, the short way
                self._empty_header(call, id, name)
                self.append(call, arguments)
                return call
        elif type(arguments) is str and arguments[-1:] == "}" and kind == "function" and type(index) is int:
            lane = self._lanes.get(choice) or self._lane(choice)
            if index not in lane.slots and index not in lane.waiting:
                whole = self.whole_call(arguments, id, name, index, choice)
                if whole is not None:
                    lane.opened(whole, index, whole._sent_id)
                    return whole
        return self._delta(choice, index, id, name, arguments, kind, bare)

    def bare_entries(self, choice: int, count: int) -> None:
        """Before a list with several entries that have no index, id and name: how many (rule 3)."""
        self._lane(choice).list_bare(count)

    def _delta(
        self,
        choice: int,
        index: object,
        id: object,
        name: object,
        arguments: object,
        kind: str,
        bare: int | None,
    ) -> ToolCall | None:
        home = self._home(choice)
        if kind == "legacy_function":
            lane = home.legacy = home.legacy or AssemblerIdentity()
            number, index_code = None, None
        else:
            lane = self._lane(choice)
            number, index_code = assembler_index(index)
        sent_id, sent_name = sent_word(id), sent_word(name)
        if not (arguments is None or isinstance(arguments, str)):
            arguments = self.exact(arguments)
        text = arguments if isinstance(arguments, str) else "" if arguments is None else dump(arguments)
        call: ToolCall | None
        if sent_id is None and sent_name is None and not text:
            call = None if number is None else lane.slots.get(number)
            if call is not None:
                self._empty_header(call, id, name)
            return call
        action, call, code = lane.route(number, sent_id, sent_name, text, bare, self._again)
        if action == "orphan":
            self.defect("orphan_delta")
            return None
        if action == "wait":
            assert number is not None
            lane.waiting.setdefault(number, []).append(arguments)
            self.kept = self.piece
            return None
        if isinstance(call, WholeCall):
            self._unfold(call)
        repeats_id = call is not None and sent_id is not None and sent_id == call._sent_id
        if call is None:
            waited = lane.waiting.pop(number, ()) if number is not None else ()
            sent = None if waited else sent_name
            call = self._open(lane, home, choice, number, id, sent_id, sent, kind, kind == "custom")
            if code is not None:
                self.defect(code, call)
            if waited:
                for fragment in waited:
                    self._take_fragment(call, fragment, False)
                if sent_name is not None:
                    self._header(call, None, name)
                else:
                    self.defect("id_late", call)
        else:
            if code is not None:
                self.defect(code, call)
            self._header(call, None if code == "id_changed" else id, name)
            if lane.header:
                self._odd(call).header = (number, id, name)
        if index_code is not None:
            self.defect(index_code, call)
        self._take_fragment(call, arguments, repeats_id)
        return call

    def _take_fragment(self, call: ToolCall, arguments: object, same_id: bool) -> None:
        """Arguments as an entry has them: text, an object in its place, or nothing."""
        if isinstance(arguments, str):
            if same_id:
                self._append(call, arguments, True)
            else:
                self.append(call, arguments)
        elif arguments is not None:
            self.whole(call, arguments, normal=False)

    def _again(self, call: ToolCall, text: str) -> Again:
        """Whether the text is the finished value of the call again (rule 2)."""
        if isinstance(call, WholeCall):
            self._unfold(call)
        start = text.lstrip(BLANK)
        if not start:
            return "open"
        if not begins_value(start):
            return "no"
        parser = self._new_parser()
        try:
            parser.feed(start)
        except LimitExceededError:
            return "other"
        if parser.root_end is not None and not is_lossy(parser):
            return "same" if same_value(parser.snapshot(), self._value(call)) else "other"
        return "open" if self._value_text(call, self._odd(call)).startswith(start) else "other"

    def _value(self, call: ToolCall) -> JsonValue:
        odd: _Odd | None = call._odd
        if odd is not None and odd.merged is not None:
            return odd.merged
        return MISSING if call._parser is None else call._parser.snapshot()

    def _value_text(self, call: ToolCall, odd: _Odd) -> str:
        """The text of the finished value, without what is blank before it."""
        if odd.value_text is None:
            end = None if call._parser is None else call._parser.root_end
            odd.value_text = call.arguments_text[:end].lstrip(BLANK)
        return odd.value_text

    # ------------------------------------------------------------ identity announced

    def open(
        self,
        key: Hashable,
        *,
        id: object = None,
        name: object = None,
        kind: str = "function",
        index: object = None,
        choice: int = 0,
        free_text: bool = False,
    ) -> ToolCall:
        """The protocol announces a call. `key` is what later events name it by (`None`: nothing does); a key taken
        before is taken over, with `index_reused`. `id`, `name`: as sent, absent where missing, null, empty or the
        text `null`. `index`: as sent (`index_type` if it is no integer). `free_text`: the input is text, not JSON
        (custom tools, code). `LimitExceededError` beyond `max_calls`."""
        number, code = (index, None) if type(index) is int else assembler_index(index)
        home = self._homes.get(choice) or self._home(choice)
        call = self._open(None, home, choice, number, id, sent_word(id), sent_word(name), kind, free_text)
        if code == "index_type":
            self.defect(code, call)
        if key is not None:
            if key in self._keys:
                self.defect("index_reused", call)
            self._keys[key] = call
        return call

    def alias(self, call: ToolCall, key: Hashable) -> None:
        """Let `find` know the call by one more key."""
        self._keys[key] = call

    def find(self, key: Hashable) -> ToolCall | None:
        """The call under that key, if it has not ended."""
        call = self._keys.get(key)
        return call if call is not None and call.status == "streaming" else None

    def known(self, key: Hashable) -> ToolCall | None:
        """The call under that key, ended or not."""
        return self._keys.get(key)

    def header(self, call: ToolCall, id: object = None, name: object = None) -> None:
        """Id and name as a later event of the call has them: late, repeated or changed ones are handled by rule 4."""
        sent_id = sent_word(id)
        if sent_id is not None and call._sent_id not in (None, sent_id):
            self.defect("id_changed", call)
            id = None
        self._header(call, id, name)

    def append(self, call: ToolCall, text: str) -> None:
        """A fragment of the arguments, by rule 5; on a call that has ended it is an `orphan_delta`."""
        parser = call._fast
        if parser is None or not text or text[-1] >= "\ud800" or call._home.finished:
            self._append(call, text, False)
            return
        try:
            parser.feed(text)
        except LimitExceededError:
            self._too_deep(call, text)
            return
        if parser.valid:
            write = call._buffer.append
            write(text)
            delta: ToolCallDelta = _new(ToolCallDelta)
            delta.call = call
            delta.text = text
            delta.restart = False
            delta.changes = None
            self.events.append(delta)
            if parser.complete:
                self._finish_value(call)
        else:
            if call._odd is not None:
                call._odd.same_id = False
            self._deviate(call, parser, text, None)

    def replace(self, call: ToolCall, text: str) -> None:
        """The whole text so far, written anew (no defect): an extension adds, anything else restarts the text."""
        if call.status == "streaming":
            self._halves.pop(call, None)
            before = call.arguments_text
            if text.startswith(before):
                self._append(call, text[len(before) :], False)
            else:
                self._late(call)
                self._count(text, before)
                self._restart(call, text)

    def whole(self, call: ToolCall, value: object, *, normal: bool = True) -> None:
        """Arguments as an object instead of text; another one for the same call adds its keys (rule 5).

        `normal`: it is this protocol's form, so `args_object` is not reported. The text is the object's JSON.
        """
        if isinstance(call, WholeCall) and call.status == "streaming":
            self._unfold(call)
        if not normal and call.status == "streaming":
            self.defect("args_object", call)
        if call.status != "streaming" or call._free_text:
            self._append(call, dump(self.exact(value)), False)
            return
        odd: _Odd | None = call._odd
        if odd is None and normal and not call._buffer.length and self._whole_object(call, value):
            return
        value = self.exact(value)
        if call._object is not None:
            self._read_object(call)
        odd = self._odd(call)
        if odd.from_objects and isinstance(value, dict):
            self._merge(call, odd, value)
            return
        text = dump(value)
        if call._finished or not call._buffer.length or is_blank(call.arguments_text):
            empty = odd.tail is None and self._value(call) == {} if call._finished else True
            self._append(call, text, False)
            odd.from_objects = empty and odd.tail is None
            return
        self._late(call)
        self._count(text, call.arguments_text)
        if odd.refused is None and isinstance(value, dict) and begins(call.arguments_text, text):
            self.defect("args_cumulative", call)
            self._restart(call, text)
            odd.from_objects = True
        else:
            self._refuse(call, odd, "args_conflict", [value])

    def _whole_object(self, call: ToolCall, value: object) -> bool:
        """The short way for an object that no text will tell more about: whether it could be taken."""
        ordinary = call.name is not None and call._lane is None and not call._home.finished
        if not ordinary or self._guarded or self._halves:
            return False
        plain = write_object(value, self._limits.max_depth)
        if plain is None:
            return False
        if not call._started:
            self._start(call)
        text, call._live = plain
        call._object = call._live
        call._buffer.append(text)
        self.events.append(ToolCallDelta(call, text))
        self._finish_value(call)
        return True

    def whole_call(self, value: Any, id: Any, name: Any, index: Any = None, choice: int = 0) -> WholeCall | None:
        """The short way for a call that comes whole in one event, as an object or a text, and that there is nothing to
        report about but an id that was not sent: what `open` and `whole`, or `append`, would do, without the steps
        between. `append`, `whole` and `extras` may follow, and `end` has to. `None`: nothing was done, take them."""
        if type(name) is not str or name in ABSENT or not (index is None or type(index) is int):
            return None
        home = self._homes.get(choice) or self._home(choice)
        ids = home.ids
        if id is not None and (type(id) is not str or id in ids or id in ABSENT):
            return None
        if home.finished or not self._unlimited:
            return None
        known = None
        if type(value) is str:
            text = value
            live = read_object(text, self._limits.max_depth)
            if live is None:
                return None
        else:
            plain = write_object(value, self._limits.max_depth)
            if plain is None:
                return None
            text, live = plain
            known = live
        if "\\" in text and suspicions(live, text):
            return None
        call: WholeCall = WholeCall()
        call._sent_id = id
        if id is None:
            id = self._made_id(ids)
        ids.add(id)
        call.id = id
        call.provider_id = None
        call.name = name
        call.kind = "function"
        call.index = index
        call.choice = choice
        call.status = "streaming"
        call.executable = False
        call.arguments = None
        call.recovered = []
        call.extras = {}
        call._text = text
        call._live = live
        call._object = known
        call._fast = None
        call._finished = True
        completion = self.completion
        completion._must_answer = True
        calls = completion.calls
        call.position = len(calls)
        calls.append(call)
        start: ToolCallStart = _new(ToolCallStart)
        delta: ToolCallDelta = _new(ToolCallDelta)
        start.call = delta.call = call
        delta.text = text
        delta.restart = False
        delta.changes = None
        self.events += (start, delta)
        return call

    def _unfold(self, call: WholeCall) -> None:
        """More comes for a call that came whole: from now on it is like any other."""
        id, extras, text, known = call.id, call.extras, call._text, call._object
        home = self._homes[call.choice]
        lane = self._lanes.get(call.choice) if known is None else None
        call.__class__ = ToolCall  # type: ignore[assignment]
        start = (call.position, call.choice, call.index, call.kind, False, call._sent_id, call.name, home, lane)
        ToolCall.__init__(call, *start)
        call.id, call.extras = id, extras
        call._buffer.append(text)
        call._started = call._finished = True
        if known is None:
            call._parser = self._new_parser()
            call._parser.feed(text)
        else:
            call._object = call._live = known

    def _read_object(self, call: ToolCall) -> None:
        """More comes for a call whose arguments came whole: now its text has to be read."""
        self._odd(call).from_objects = True
        call._object = call._live = None
        parser = call._parser = self._new_parser()
        parser.feed(call.arguments_text)

    def final_text(self, call: ToolCall, text: object, *, done: bool = True) -> None:
        """The whole text, repeated at the end; it wins (`done_mismatch`, `done_extends_deltas`).

        `done`: from a `done` event, where an empty text after deltas is `done_empty`; else from an item or snapshot,
        where an empty one is absent. A value instead of text is compared as a value, and counts as its JSON
        (`args_object`). On a call that has ended it changes nothing."""
        if not isinstance(text, str):
            if text is not None:
                self._final_value(call, text, done)
            return
        before = call.arguments_text
        odd: _Odd | None = call._odd
        if text:
            self._halves.pop(call, None)
        if text == before:
            if odd is not None and odd.tail is not None:
                odd.tail.drop()  # what was held back is not in the text
            return
        if not text:
            if done:
                self.defect("done_empty", call)
        elif call.status != "streaming":
            self.defect("done_mismatch", call)
        elif not before:
            if (call.position, "snapshot_only") not in self._reported:
                self.defect("snapshot_only", call)
            self._append(call, text, False)
        elif text.startswith(before):
            self.defect("done_extends_deltas", call)
            self._append(call, text[len(before) :], False)
        else:
            self._count(text, before)
            self.defect("done_mismatch", call)
            self._restart(call, text)

    def _final_value(self, call: ToolCall, value: object, done: bool) -> None:
        value = self.exact(value)
        known: JsonValue = call.arguments
        if call.status == "streaming":
            self.defect("args_object", call)
            if call._object is not None:
                self._read_object(call)
            odd: _Odd | None = call._odd
            sure = call._finished and (odd is None or (odd.tail is None and odd.refused is None))
            known = self._value(call) if sure else MISSING
        if not same_value(known, value):  # an empty object is like an empty text: it erases nothing
            self.final_text(call, "" if value == {} and call.arguments_text else dump(value), done=done)

    def extras(self, call: ToolCall, fields: Mapping[str, object]) -> None:
        """Vendor fields that the next request must carry: the last value that is not null stays, per key."""
        for key, value in fields.items():
            if value is not None:
                call.extras[key] = self.exact(value)

    # ------------------------------------------------------------ headers (rule 4)

    def _home(self, choice: int) -> _Home:
        home = self._homes.get(choice)
        if home is None:
            home = self._homes[choice] = _Home()
        return home

    def _lane(self, choice: int) -> AssemblerIdentity:
        lane = self._lanes.get(choice)
        if lane is None:
            lane = self._lanes[choice] = AssemblerIdentity()
            self.slots[choice] = lane.slots
        return lane

    def _open(
        self,
        lane: AssemblerIdentity | None,
        home: _Home,
        choice: int,
        index: int | None,
        id: object,
        sent_id: str | None,
        sent_name: str | None,
        kind: str,
        free_text: bool,
    ) -> ToolCall:
        calls = self.completion.calls
        limit = self._limits.max_calls
        if limit is not None and len(calls) >= limit and not self._closed:
            raise LimitExceededError(f"more than max_calls={limit} calls")
        call = ToolCall(len(calls), choice, index, kind, free_text, sent_id, sent_name, home, lane)
        calls.append(call)
        if lane is not None:
            lane.opened(call, index, sent_id)
        if kind in CLIENT_KINDS or kind == "mcp_approval":
            self.completion._must_answer = True
        if id == "null":
            self.defect("id_placeholder", call)
        if home.finished:
            self._late(call)
        if sent_id is not None and sent_name is not None:
            self._start(call)
        return call

    def _header(self, call: ToolCall, id: object, name: object) -> None:
        """Id and name of a continuation; the id is absent, new to the call, or the same again."""
        sent_id, sent_name = sent_word(id), sent_word(name)
        if sent_id is None or sent_name is None:
            self._empty_header(call, id, name)
        if sent_id is not None and sent_id != call._sent_id:
            if call._sent_id is None:
                self.defect("id_late", call)
                call._sent_id = sent_id
                if call._lane is not None:
                    call._lane.named(call, sent_id)
                if not call._started:
                    call.id = sent_id
                elif sent_id != call.id:
                    call.provider_id = sent_id
        elif sent_id is not None:
            self.defect("id_repeated", call)
        if sent_name is not None:
            if call.name is None:
                self.defect("name_late", call)
                call.name = sent_name
            elif sent_name == call.name:
                self.defect("name_repeated", call)
            elif call._buffer.length:
                self.defect("name_changed", call)
            else:
                self.defect("name_split", call)
                call.name += sent_name
        if not call._started and call.name is not None and call.id is not None:
            self._start(call)

    def _empty_header(self, call: ToolCall, id: object, name: object) -> None:
        if id == "":
            self.defect("id_empty", call)
        elif id == "null":
            self.defect("id_placeholder", call)
        if name == "":
            self.defect("name_empty", call)

    def _start(self, call: ToolCall) -> None:
        """Fix the id, and let the start event come, with the text that has waited for it."""
        ids = call._home.ids
        sent = call.id
        if sent is None or sent in ids:
            if sent is not None:
                self.defect("id_duplicate", call)
                call.provider_id = sent
            call.id = self._made_id(ids)
        ids.add(call.id)
        call._started = True
        start: ToolCallStart = _new(ToolCallStart)
        start.call = call
        self.events.append(start)
        if call._parser is None and not call._free_text:  # then there is no text either
            call._parser = self._new_parser()
        else:
            if call._buffer.length:
                self.events.append(ToolCallDelta(call, call._buffer.read(), False, call._held))
            call._held = None
        self._resume(call)

    def _made_id(self, ids: set[str | None]) -> str:
        """An id that none of the others is."""
        make = self._host_id or self.default_id
        if make is not None:
            made = make()
        else:
            if not self._id_stem:  # once for the stream: random numbers of the system take time
                self._id_stem = f"call_{os.urandom(10).hex()}_"
            made = f"{self._id_stem}{len(ids)}"
        if made not in ids:
            return made
        number = len(ids) + 1
        while f"{made}-{number}" in ids:
            number += 1
        return f"{made}-{number}"

    def _resume(self, call: ToolCall) -> None:
        """Let fragments take the short way, if nothing about the call is out of the ordinary."""
        if self._guarded or call._finished or not call._started or (self._halves and call in self._halves):
            return
        odd: _Odd | None = call._odd
        if odd is None or not (odd.cumulative or odd.too_deep):
            call._fast = call._parser

    # ------------------------------------------------------------ text (rule 5)

    def _new_parser(self) -> StreamingJsonParser:
        return new_parser(self._limits.max_depth, self.pending_scalars)

    def _odd(self, call: ToolCall) -> _Odd:
        odd: _Odd | None = call._odd
        if odd is None:
            odd = call._odd = _Odd()
        return odd

    def _append(self, call: ToolCall, text: str, same_id: bool) -> None:
        """A fragment, the careful way."""
        if not text:
            return
        if call.status != "streaming":
            self.defect("orphan_delta")
            return
        if isinstance(call, WholeCall):
            self._unfold(call)
        if call._home.finished:
            self._late(call)
        if call in self._halves or text[-1:] >= "\ud800":
            text = self._join_half(call, text)
            call._fast = None
            self._resume(call)
            if not text:
                return
        if self._guarded:
            self._count(text)
        self._accept(call, text, same_id)

    def _late(self, call: ToolCall) -> None:
        if call._home.finished and not self._closed:  # at the close only what came before is settled
            self.defect("delta_after_finish", call)

    def _count(self, text: str, before: str = "") -> None:
        """Count a text of arguments, so far as it is longer than the one it replaces. `LimitExceededError` beyond
        `max_argument_bytes`."""
        limit = self._limits.max_argument_bytes
        if limit is not None and not self._closed:
            self._bytes += max(0, _size(text) - _size(before))
            if self._bytes > limit:
                raise LimitExceededError(f"more than max_argument_bytes={limit} bytes of arguments")

    def _accept(self, call: ToolCall, text: str, same_id: bool) -> None:
        """A fragment of a call that is under way."""
        if not call._started and call.name is not None:
            self._start(call)
        if call._object is not None:
            self._read_object(call)
        parser = call._parser
        if parser is None and not call._free_text:
            parser = call._parser = self._new_parser()
            self._resume(call)
        odd: _Odd | None = call._odd
        if odd is not None:
            if odd.too_deep:
                self._show(call, text, ())
                return
            if odd.merged is not None and odd.refused is None and not is_blank(text):
                self._restart(call, dump(odd.merged))  # text follows the object that was put together
                parser = call._parser
                odd.from_objects = False
            if odd.cumulative:
                before = call.arguments_text
                if text.startswith(before):
                    text = text[len(before) :]
                    if not text:
                        return
            if odd.tail is not None:
                self._read_tail(call, odd, odd.tail, text, same_id)
                return
            odd.same_id = same_id
        elif same_id:
            self._odd(call).same_id = True
        if parser is None:
            self._show(call, text, ())
        else:
            self._read(call, parser, text)

    def _join_half(self, key: object, text: str) -> str:
        """Half a character at the end is held back until the other half comes, so that no event carries it alone."""
        text = join_halves(self._halves.pop(key, "") + text)
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[key] = text[-1]
            self.kept = self.piece
            text = text[:-1]
        return text

    def _read(self, call: ToolCall, parser: StreamingJsonParser, text: str) -> None:
        changes: Sequence[JsonChange] | None = None
        try:
            if self._changes:
                changes = parser.append(text)
            else:
                parser.feed(text)
        except LimitExceededError:
            self._too_deep(call, text)
            return
        if not parser.valid:
            self._deviate(call, parser, text, changes)
            return
        self._show(call, text, changes)
        if parser.complete and not call._finished:
            self._finish_value(call)

    def _show(self, call: ToolCall, text: str, changes: Sequence[JsonChange] | None) -> None:
        """Add to the text of the call, and let the delta come, or wait for the start event."""
        call._buffer.append(text)
        if not self._changes:
            changes = None
        restart = False
        odd: _Odd | None = call._odd
        if odd is not None and odd.restart:
            restart, odd.restart = True, False
        if call._started:
            self.events.append(ToolCallDelta(call, text, restart, changes))
            return
        self.kept = self.piece
        if changes is not None:
            if restart or call._held is None:
                call._held = []
            call._held += changes

    def _finish_value(self, call: ToolCall) -> None:
        """The value has ended; the call waits for its end."""
        call._finished = True
        call._fast = None
        if call._lane is not None:
            call._lane.close(call)
        odd: _Odd | None = call._odd
        if odd is not None and odd.placeholder:
            odd.placeholder = False
            self.defect("args_placeholder" if self._value(call) else "args_resend", call)

    def _too_deep(self, call: ToolCall, text: str) -> None:
        """The parser refuses to go deeper: the text is kept, the value stays as it is."""
        self._odd(call).too_deep = True
        call._fast = None
        self.defect("depth_exceeded", call)
        self._show(call, text, ())

    def _deviate(
        self, call: ToolCall, parser: StreamingJsonParser, text: str, changes: Sequence[JsonChange] | None
    ) -> None:
        """The parser has read the fragment, and the text is no valid JSON, or no longer: what does the fragment
        mean?"""
        odd = self._odd(call)
        length = call._buffer.length
        if not call._finished and len(text) > length > 0:
            before = call.arguments_text
            if text.startswith(before) and before.lstrip(BLANK)[:1] in ("{", "["):
                odd.cumulative = True
                self.defect("args_cumulative", call)
                self._restart(call, text)
                return
        if parser.root_end is None:
            self._show(call, text, changes)
            return
        trailing = next((offset for offset, code in parser.repairs if code == "trailing"), None)
        if trailing is None:  # only what a repair covers: a comment, the end of a fence
            self._show(call, text, changes)
            if not call._finished:
                self._finish_value(call)
            return
        at = max(0, len(text) - (parser.position - trailing))
        rest = text[at:]
        if at:
            self._show(call, text[:at], changes)
        if not call._finished:
            self._finish_value(call)
        if odd.header is None and rest[:1] == "{" and _placeholder(call.arguments_text):
            more = _more_placeholders(rest)
            odd.placeholder = True
            self._restart(call, rest[more.end() :] if more else rest)
            return
        odd.tail = Tail(parser.snapshot(), self._limits.max_depth)
        self._read_tail(call, odd, odd.tail, rest, odd.same_id)

    def _read_tail(self, call: ToolCall, odd: _Odd, tail: Tail, text: str, same_id: bool) -> None:
        """Text after the end of the value."""
        if odd.header is not None and tail.idle:
            tail.repeats = self._value_text(call, odd)
        if tail.idle:
            odd.same_id = same_id
        shown = tail.feed(text)
        self._weigh_tail(call, odd, tail, shown)

    def _weigh_tail(self, call: ToolCall, odd: _Odd, tail: Tail, shown: str) -> None:
        if shown:
            self._show(call, shown, ())
        if tail.resent:
            tail.resent = False
            odd.header = None
            self.defect("args_resend", call)
        if tail.values and odd.refused is None:
            self._refuse(call, odd, "args_conflict" if odd.same_id else "args_concatenated", tail.values)
        if tail.repeats is None:
            odd.header = None
        if tail.other is not None and odd.header is not None:
            index, id, name = odd.header
            odd.header = None
            sent_id, sent_name = sent_word(id), sent_word(name)
            if sent_id is not None and call._sent_id == sent_id:  # it was the other call's
                call._sent_id = call.provider_id = None
            other = self._open(call._lane, call._home, call.choice, index, id, sent_id, sent_name, call.kind, False)
            self.defect("index_reused", other)
            self._append(other, tail.take_other(), False)

    def _refuse(self, call: ToolCall, odd: _Odd, code: str, values: list[JsonValue]) -> None:
        """Several values: nothing says which one is meant. `values` may grow."""
        odd.refused = code
        self.defect(code, call)
        call.recovered = values

    def _restart(self, call: ToolCall, text: str) -> None:
        """The text replaces what came before."""
        odd = self._odd(call)
        odd.restart = True
        self._halves.pop(call, None)
        odd.tail = odd.header = odd.merged = odd.refused = odd.value_text = None
        odd.too_deep = False
        call.recovered = []
        if call._finished:
            call._finished = False
            if call._lane is not None:
                call._lane.reopen(call)
        call._buffer = TextBuffer()
        call._fast = None
        if call._free_text:
            self._show(call, text, ())
            return
        call._live = call._object = None
        parser = call._parser = self._new_parser()
        self._read(call, parser, text)
        self._resume(call)

    def _merge(self, call: ToolCall, odd: _Odd, value: dict[str, JsonValue]) -> None:
        """Another object for a call that has one. Its text is written once, at the end: so merging many stays
        linear."""
        self._late(call)
        if self._limits.max_argument_bytes is not None:
            self._count(dump(value))
        parser = call._parser
        if odd.merged is None and parser is not None and (is_lossy(parser) or parser.overflow_count):
            return  # refused at its end, whatever else comes: not all of it was read
        old = self._value(call)
        if odd.refused is not None:
            call.recovered.append(value)
            self._refuse(call, odd, odd.refused, call.recovered)
            return
        if not isinstance(old, dict):
            self._refuse(call, odd, "args_conflict", [value])
            return
        merged = old if odd.merged is not None else dict(old)
        added = grown = False
        for key, new in value.items():
            if key not in old:
                added = True
            elif not extends(old[key], new):
                self._refuse(call, odd, "args_conflict", [value])
                return
            else:
                grown = grown or not extends(new, old[key])
        if grown:
            self.defect("args_cumulative", call)
        if added and old:
            self.defect("args_merged", call)
        if not added and not grown:
            if value or not old:  # else nothing was sent, by a server that sends an object with every delta
                self.defect("args_resend", call)
            return
        merged.update(value)
        odd.merged = call._live = merged

    # ------------------------------------------------------------ ends and verdicts (rules 8 to 11)

    def end(self, call: ToolCall, *, regular: bool = True) -> None:
        """The protocol ended this call: the verdict. `regular`: false if it called the call incomplete. Ending twice is
        ending once."""
        if call.status != "streaming":
            return
        if type(call) is WholeCall:
            self._complete(call, call._live)
            return
        odd: _Odd | None = call._odd
        if call._finished and odd is None and call._started and not self._halves and self._end_plain(call):
            return
        half = self._halves.pop(call, None) if self._halves else None
        if half is not None:
            self._accept(call, half, False)
            odd = call._odd
        if odd is not None:
            self._settle(call, odd)
        if call._sent_id is None:
            self.defect("id_missing", call)
        if not call._started:
            self._start(call)
        regular = regular and not self.completion._lost
        status: Status
        if call._free_text:
            status = "complete" if regular else "incomplete"
            if not regular:
                self.defect("args_truncated", call, offset=call._buffer.length)
        else:
            status = self._verdict(call, regular)
        if call.name is None:
            self.defect("name_missing", call)
            if status == "complete":
                status = "incomplete"
                call._live = call.arguments
                call.arguments = None
        self._freeze(call, status)
        self.events.append(ToolCallEnd(call))

    def _end_plain(self, call: ToolCall) -> bool:
        """The short way for a call whose text is an object with nothing to report: whether it was one."""
        value: dict[str, JsonValue] | None = call._object
        if value is None:
            value = None if call._parser is None else call._parser._plain_object()
            if value is None:
                return False
        text = call._buffer.read()
        if "\\" in text and suspicions(value, text):
            return False
        call._parser = call._object = call._lane = call._home = None
        self._complete(call, value)
        return True

    def _complete(self, call: ToolCall, value: dict[str, JsonValue] | None) -> None:
        """The verdict on an object with nothing to report but that no id came."""
        if call._sent_id is None:
            self.defect("id_missing", call)
        call.arguments = call._live = value
        call.status = "complete"
        call.executable = call.kind in CLIENT_KINDS
        end: ToolCallEnd = _new(ToolCallEnd)
        end.call = call
        self.events.append(end)

    def _settle(self, call: ToolCall, odd: _Odd) -> None:
        """Decide what was still open about the text."""
        if odd.tail is not None:
            self._weigh_tail(call, odd, odd.tail, odd.tail.finish())
            if odd.tail.cut and odd.refused is None:
                self._refuse(call, odd, "args_concatenated", [])
        if odd.merged is not None and odd.refused is None:
            self._restart(call, dump(odd.merged))
        if odd.placeholder:
            self.defect("args_placeholder", call)
        if odd.restart:
            self._show(call, "", ())

    def _freeze(self, call: ToolCall, status: Status) -> None:
        """The verdict is given: keep the last live value, and let the parser go."""
        if call._live is None and call._parser is not None:
            parser = call._parser
            if not parser.complete and not (call._odd and call._odd.too_deep):
                for _ in range(call._buffer.length // 256 + 1):
                    parser.feed("")  # pays for a view that is not behind
            call._live = call.partial_arguments
        call._parser = call._fast = call._odd = call._object = None
        call.status = status
        call.executable = status == "complete" and call.name is not None and call.kind in CLIENT_KINDS
        if call._lane is not None:
            if not call._finished:
                call._lane.close(call)
            call._lane = None
        call._home = None  # which knows the call, as the lane does: nothing shall wait for the garbage collector

    def _verdict(self, call: ToolCall, regular: bool) -> Status:
        """What the text of the call is worth; the call gets its arguments, or what was found instead."""
        odd: _Odd | None = call._odd
        followed = None
        if odd is not None:
            if odd.refused is not None:
                later = call.recovered
                if odd.tail is not None and odd.tail.values is not later:
                    later = [*later, *odd.tail.values]  # objects had come before them
                if odd.tail is not None or odd.from_objects:
                    later = [*self._first_value(call, odd), *later]
                call.recovered = later
                return "invalid"
            if odd.too_deep:
                return "invalid"
            if odd.tail is not None:
                followed = odd.tail.noise
        text = call._buffer.read()
        if call._object is not None:
            verdict = judge_object(call._object, text)
        else:
            parser = call._parser or self._new_parser()
            verdict = judge(parser, text, self._limits.max_depth, regular, followed, self._strict)
        for code, offset, detail in verdict.defects:
            self.defect(code, call, offset=offset, detail=detail)
        call.arguments = verdict.arguments
        call.recovered = verdict.recovered
        if verdict.arguments is not None:
            call._live = verdict.arguments
        return verdict.status

    def _first_value(self, call: ToolCall, odd: _Odd) -> list[JsonValue]:
        """The value that a refused text begins with."""
        if odd.merged is not None:
            return [odd.merged]
        parser = call._parser or self._new_parser()
        if parser.root_end is None and parser.depth == 0 and not parser.in_string:
            parser.feed("\n")  # ends a bare number or word
        return [] if parser.root_end is None else [parser.snapshot()]

    # ------------------------------------------------------------ the message

    def text(self, text: object, choice: int = 0) -> None:
        """Text for people (anything but a non-empty `str` is ignored)."""
        if isinstance(text, str) and text:
            self._say("text", self.completion._text, TextDelta, text, choice)

    def reasoning(self, text: object, choice: int = 0) -> None:
        """Reasoning text (anything but a non-empty `str` is ignored)."""
        if isinstance(text, str) and text:
            self._say("reasoning", self.completion._reasoning, ReasoningDelta, text, choice)

    def _say(
        self, kind: str, texts: dict[int, TextBuffer], event: type[TextDelta | ReasoningDelta], text: str, choice: int
    ) -> None:
        if self._halves or text[-1] >= "\ud800":
            text = self._join_half((kind, choice), text)
            if not text:
                return
        texts[choice].append(text)
        delta = _new(event)
        delta.text = text
        delta.choice = choice
        self.events.append(delta)

    def finish(self, word: object, meaning: Meaning | None, choice: int = 0) -> None:
        """A finish word as sent (an empty one is none), and what it means (`None`: an end, nothing more is known)."""
        if not isinstance(word, str) or not word:
            return
        home = self._home(choice)
        if home.finished:
            self.defect("finish_repeated")
        home.finished = True
        completion = self.completion
        completion._words[choice] = word
        completion._ended = True
        if meaning in _CUTS:
            self.cut(meaning, choice)
        else:
            self._words.add(meaning)

    def cut(self, meaning: Meaning, choice: int = 0) -> None:
        """Something beside the finish word says that the message was cut: by which of the words for that."""
        home = self._home(choice)
        home.cut = True
        self._words.add(meaning)
        if meaning == "error":
            self._fail()
        elif meaning == "content_filter" or (meaning == "length" and self.completion._cut is None):
            self.completion._cut = meaning
        home.length = home.length or meaning == "length"

    def usage(self, usage: object) -> None:
        """Counts; later values win, key by key. Anything but a dict is ignored."""
        if isinstance(usage, dict):
            if not all(usage.values()) and None in usage.values():  # the first is asked in half the time
                usage = {key: value for key, value in usage.items() if value is not None}
            known = self.completion.usage
            self.completion.usage = usage.copy() if known is None else known | usage

    def error(self, error: object) -> None:
        """The provider's error event (`stream_error`): a dict, or a text, which becomes `{"message": text}`.

        The first error stays; what a later one has more is added."""
        error = error or UNNAMED_ERROR
        given = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else str(error)}
        self.completion.error = {**given, **(self.completion.error or {})}
        self._fail()

    def _fail(self) -> None:
        self.completion._failed = True
        self.defect("stream_error")

    def end_mark(self, *, closes_blocks: bool = False) -> None:
        """The protocol's own end of the stream or message. `closes_blocks`: blocks have ends of their own in this
        protocol, so every call opened and not ended is `block_unclosed`."""
        if closes_blocks and not self._end_mark:
            for call in self.completion.calls:
                if call.status == "streaming":
                    self.defect("block_unclosed", call)
        self._end_mark = True
        self.completion._ended = True

    def defect(self, code: str, call: ToolCall | None = None, *, offset: int | None = None, detail: str = "") -> None:
        """Report a code of `defects.DEFECTS`, once for each call (or once for the stream); repeats are only counted.
        `detail` is put after the sentence; never argument text."""
        completion = self.completion
        completion.defect_count += 1
        position = None if call is None else call.position
        key = (position, code)
        if key in self._reported:
            return
        self._reported.add(key)
        if code in LOST:
            completion._lost = True
        kept = self._limits.max_defects
        if kept is None or len(completion.defects) < kept:
            severity, message = DEFECTS[code]
            if call is not None:
                message = f"call {position} ({call.name or 'no name yet'}): {message}"
            if detail:
                message += f" {detail}"
            defect = _new_tuple(Defect, (code, severity, position, offset, self.piece, message))
            completion.defects.append(defect)
            found: DefectFound = _new(DefectFound)
            found.defect = defect
            self.events.append(found)

    def lose(self) -> None:
        """Something of the stream was lost, beyond what a defect says: a call without text is not whole for certain."""
        self.completion._lost = True

    # ------------------------------------------------------------ for the stream

    def take(self) -> list[Event]:
        """The events since the last `take`."""
        events = self.events
        self.events = []
        return events

    def close(self) -> list[Event]:
        """The input has ended: all verdicts, and `StreamEnd`. Closing twice gives nothing more."""
        if self._closed:
            return []
        self._closed = True
        completion = self.completion
        for lane in self._lanes.values():
            for _ in lane.waiting:
                self.defect("orphan_delta")
        if not completion._ended and not completion._failed:
            self.defect("stream_ended_early")
        for call in completion.calls:  # grows while a call is settled that another one follows
            if call.status == "streaming":
                home = self._homes[call.choice]
                ended = home.finished or self._end_mark
                self.end(call, regular=ended and not home.cut and not completion._failed)
        for key, half in self._halves.items():  # nothing has come after it
            kind, choice = key
            if kind == "text":
                completion._text[choice].append(half)
                self.events.append(TextDelta(half, choice))
            else:
                completion._reasoning[choice].append(half)
                self.events.append(ReasoningDelta(half, choice))
        if self.slots:
            self._report_numbers()
        if self._words:
            self._report_finish()
        self.events.append(StreamEnd(completion))
        return self.take()

    def release(self) -> None:
        """After `close`: whoever wants the completion holds it now. It holds the provider, and that holds this: so a
        stream that has ended is freed at once, and does not wait for the garbage collector."""
        self.completion = proxy(self.completion)

    def _report_numbers(self) -> None:
        first: dict[int, ToolCall] = {}  # of each choice, once one is asked for
        for choice in self._homes:
            slots = self.slots.get(choice)
            if slots and not (len(slots) == 1 and 0 in slots):
                lowest, sparse = min(slots), max(slots) - min(slots) + 1 != len(slots)
                if (lowest != 0 or sparse) and not first:
                    first = {call.choice: call for call in reversed(self.completion.calls)}
                if lowest != 0:
                    self.defect("index_not_zero_based", first[choice])
                if sparse:
                    self.defect("index_sparse", first[choice])

    def _report_finish(self) -> None:
        completion = self.completion
        if self.call_word:
            fits = completion._failed or not _CALL_WORDS.isdisjoint(self._words)
            promised = "tool_calls" in self._words
            if (completion._must_answer and not fits) or (promised and not completion.calls):
                self.defect("finish_mismatch")
        if "length" in self._words:
            cut = {choice for choice, home in self._homes.items() if home.length}
            closed = {call.choice for call in completion.calls if call.choice in cut}
            closed -= {call.choice for call in completion.calls if call.status != "complete"}
            if closed:
                self.defect("finish_length")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
