"""What the compiled engine alone has to promise: that it is memory-safe, and honest where it was broken off."""

import contextlib
import copy
import gc
import json
import random
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

import pytest
from cutting import pieces_of

from toolstream import LimitExceededError, _engine_c, _engine_py, _rules
from toolstream.types import MISSING


def test_allocations_that_fail():
    pytest.importorskip("_testcapi", reason="the allocator that fails is among the tests of CPython")
    command = [sys.executable, Path(__file__).with_name("failing_allocations.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 5000


def test_a_parser_that_is_used_while_it_reads():
    """The collector can run code of anybody in the middle of a piece: it is told no, and nothing is lost.

    From CPython 3.12 on it runs between the instructions of the interpreter alone, so never there.
    """
    text = '[{"a":[1,{"b":"c"}]},' * 50
    parser, told = _engine_c.StreamingJsonParser(), []

    def intrude(*_):
        for use in (lambda: parser.append(""), lambda: parser.feed(b""), parser.snapshot):
            try:
                told.append(repr(use()))
            except RuntimeError as error:
                told.append(str(error))
        told.append((parser.complete, parser.open_path))

    before = gc.get_threshold()
    gc.callbacks.append(intrude)
    gc.set_threshold(1)
    try:
        changes = [change for piece in pieces_of(text, 300) for change in parser.append(piece)]
        parser.snapshot()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(intrude)
    whole = _engine_c.StreamingJsonParser()
    assert changes == whole.append(text)
    assert (parser.snapshot(), parser.position) == (whole.snapshot(), len(text))
    if sys.version_info < (3, 12):
        assert {"MISSING", (False, ())} < set(told)
        assert sum("the parser is reading" in str(answer) for answer in told) > 100


@pytest.mark.skipif(sys.platform != "linux", reason="how much stack a thread needs is another matter elsewhere")
def test_deep_objects_in_a_thread_with_little_stack():
    code = """
import threading
from toolstream import _engine_c
deepest = value = {}
for levels in range(2, 600):
    value = {"a": value}
    if levels == 100:
        deepest = value
def write():
    assert _engine_c.write_object(value, None) is None
    print(len(_engine_c.write_object(deepest, None)[0]))
threading.stack_size(64 * 1024)
thread = threading.Thread(target=write)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, f"{99 * 6 + 2}\n"), done.stderr


@pytest.mark.parametrize("empty", ["clear", "pop"])
def test_copies_that_are_changed_while_they_are_made(empty):
    """The collector can run code of anybody here too, and that can find them: then they are not right, and safe."""
    value = {f"name {n}": [n, {"inner": []}, {}, [], {"a": [1.5]}] for n in range(50)}
    own = {id(one) for one in parts_of(value)}
    changed, dice = [], random.Random(7)

    def intrude(phase, _):
        for one in gc.get_objects() if phase == "stop" else ():
            of_a_copy = type(one) is list and len(one) > 1 and id(one) not in own and one[1:3] == [{"inner": []}, {}]
            if of_a_copy or (type(one) is dict and "name 1" in one and one is not value and dice.random() < 0.1):
                getattr(one, empty)(*([next(iter(one))] if type(one) is dict and empty == "pop" else []))
                changed.append(one)

    before = gc.get_threshold()
    gc.freeze()  # what there is already need not be looked through
    gc.callbacks.append(intrude)
    gc.set_threshold(1)
    try:
        for _ in range(3):
            _engine_c.write_object(value, None)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(intrude)
        gc.unfreeze()
    assert changed or sys.version_info >= (3, 12)
    assert _engine_c.write_object(value, None)[1] == value


def test_an_exception_in_the_middle_of_a_piece(monkeypatch):
    """Such as a KeyboardInterrupt, which comes out wherever Python code runs."""

    def interrupted(_):
        raise KeyboardInterrupt

    parser = _engine_c.StreamingJsonParser()
    parser.append('{"a":1,')
    shown = parser.snapshot()
    monkeypatch.setattr(_rules, "parse_integer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parser.append('"b":' + "2" * 30 + ",")
    monkeypatch.undo()
    for take in (parser.append, parser.feed):
        with pytest.raises(RuntimeError, match="broke off an earlier piece"):
            take('"c":3}')
    assert parser.snapshot() is shown
    assert shown == {"a": 1}
    assert (parser.complete, parser.root_end, parser.open_path) == (False, None, ())


def test_a_new_parser_knows_nothing_of_one_that_was_dropped():
    """Their memory is used again."""
    texts = [
        '{"a":["x\\u00',
        "[1,[2,[3,[4,[5,[6,[7,[8,[9",
        "{'a':1 /*",
        b"[\xe2\x82",
        "\ud83d",
        "[1e400,1 2]x",
        '{"a":1,"a":2}',
    ]
    facts = [name for name in dir(_engine_c.StreamingJsonParser) if not name.startswith("_")]

    def seen(parser):
        return [getattr(parser, name) for name in facts if not callable(getattr(parser, name))]

    new = seen(_engine_c.StreamingJsonParser())
    for text in texts:
        for options in ({"lenient": True, "report_ends": True, "max_depth": 3}, {"pending_scalars": "withhold"}):
            many = [_engine_c.StreamingJsonParser(**options) for _ in range(20)]
            for parser in many:
                for method in (parser.append, parser.feed):
                    with contextlib.suppress(LimitExceededError):
                        method(text)
                parser.snapshot()
            del many, parser, method
            for _ in range(20):
                parser = _engine_c.StreamingJsonParser()
                assert (seen(parser), parser.snapshot()) == (new, MISSING)
                assert parser.append("[" * 9 + '"x') == [
                    *(("set", (0,) * depth, []) for depth in range(9)),
                    ("set", (0,) * 9, "x"),
                ]
                assert parser.append("y") == [("append", (0,) * 9, "y")]


def test_parsers_of_a_subclass():
    """They have attributes and finalizers, and go the way of all objects."""
    gone = []

    class Parser(_engine_c.StreamingJsonParser):
        def __del__(self):
            gone.append((self.note, self.append('"]}'), self.snapshot()))

    for number in range(30):
        parser = Parser(lenient=True)
        parser.note = number
        parser.append('{"a":["x')
        del parser
    plain = [_engine_c.StreamingJsonParser() for _ in range(30)]
    assert not any(hasattr(parser, "note") for parser in plain)
    assert [note for note, _, _ in gone] == list(range(30))
    assert all(value == {"a": ["x"]} for _, _, value in gone)


def parts_of(value):
    """The value, and everything open or closed in it."""
    found, todo = {}, [value]
    while todo:
        value = todo.pop()
        if id(value) not in found:
            found[id(value)] = value
            todo += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return list(found.values())


TEXT = (
    '{"a":[1,{"b":"long text \\\\n","c":[[],{"d":null,"d":"e","f":{}}]},"\u00e9t\u00e9",true,[12,"x"]],'
    '"open":{"one":[{"two":["'
    + "grows and grows " * 20
    + '",tru,12345,"\\\\u00e9"],"n":1e5,"n":[2],"last":"'
    + "abcdefgh" * 40
    + '"}]},"tail":[0,1,2,3,4,5,6,7,8,9]}'
).replace("\\\\", "\\")
"""Every kind of place in which something can be open."""


@pytest.mark.parametrize("size", [1, 2, 5, 13])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_held_of_a_snapshot_never_changes(size, seed):
    """The parser writes into snapshots that nobody holds: whoever has any part of one in any way must not see it."""
    rng = random.Random(seed)
    options = {"pending_scalars": rng.choice(["show", "withhold"]), "report_ends": rng.random() < 0.5}
    parser, plain = _engine_c.StreamingJsonParser(**options), _engine_py.StreamingJsonParser(**options)
    held = []

    def hold(value):
        way = rng.randrange(9)
        part = rng.choice(parts_of(value))
        if way == 0:
            held.append((lambda kept=value: kept, repr(value)))
        elif way <= 2:
            held.append((lambda kept=part: kept, repr(part)))
        elif way == 3:
            shallow = copy.copy(value)
            held.append((lambda kept=shallow: kept, repr(value)))
        elif way == 4 and isinstance(part, (dict, list)):
            items = iter(part.items() if isinstance(part, dict) else part)
            held.append((lambda kept=list(items): kept, repr(list(part.items() if isinstance(part, dict) else part))))
        elif way == 5 and isinstance(part, dict):
            view = part.values()
            held.append((lambda kept=view: kept, repr(view)))
        elif way == 6 and isinstance(part, str):
            known = {part: hash(part)}
            held.append(
                (
                    lambda kept=known: [(text, kept[text], hash(text)) for text in kept],
                    repr([(part, hash(part), hash(part))]),
                )
            )
        elif way == 7:
            frozen = tuple(part) if isinstance(part, (dict, list)) else (part,)
            held.append((lambda kept=frozen: kept, repr(frozen)))
        elif way == 8 and isinstance(part, str):
            interned = sys.intern(part + "")
            held.append((lambda kept=interned: kept, repr(interned)))

    for start in range(0, len(TEXT), size):
        piece = TEXT[start : start + size]
        changes = parser.append(piece)
        assert repr(changes) == repr(plain.append(piece))
        if rng.random() < 0.8:
            value = parser.snapshot()
            assert repr(value) == repr(plain.snapshot())
            if rng.random() < 0.3:
                hold(value)
            del value
        if rng.random() < 0.1:
            held.append((lambda kept=changes: kept, repr(changes)))
        if rng.random() < 0.05 and held:
            held.pop(rng.randrange(len(held)))
    assert parser.snapshot() == plain.snapshot() == json.loads(TEXT.replace("tru,", ""))
    for look, before in held:
        assert repr(look()) == before


def test_what_was_taken_out_of_a_snapshot_never_changes():
    """Taken out by one who then wrote something else in its place: the reference count alone looks as before."""
    for steps in ((), ("a",), ("a", 0), ("a", 0, "b")):
        parser = _engine_c.StreamingJsonParser()
        parser.append('{"a":[{"b":"text')
        taken = []
        for number in range(40):
            value = parser.snapshot()
            for step in steps[:-1]:
                value = value[step]
            if steps:
                taken.append((value[steps[-1]], repr(value[steps[-1]])))
                value[steps[-1]] = number
            del value
            parser.append(f" and {number}")
        for value, before in taken:
            assert repr(value) == before


@pytest.mark.parametrize("letter", ["y", "\u00e9", "\u0416", "\u4e2d", "\U0001f600"])
@pytest.mark.parametrize("first", ["x", "\u00fc", "\u20ac", "\U0001f680"])
def test_texts_that_were_taken_out_never_change(first, letter):
    """Whatever is taken of a text before: its hash, its UTF-8, a copy; nothing of it is left when it grows."""
    uses = [hash, str.encode, len, lambda text: {text: 1}, lambda text: text + "z", lambda text: text < "m", repr, None]
    parser = _engine_c.StreamingJsonParser()
    parser.append('["' + first)
    taken = []
    for number in range(1, 400):
        parser.append(letter)
        text = parser.snapshot()[0]
        assert text == first + letter * number
        use = uses[number % len(uses)]
        if use:
            use(text)
        if use is len:
            with contextlib.suppress(SyntaxError):
                compile(text, "", "eval")  # reads its UTF-8 form, which it then keeps
        if number % 3 == 0:
            taken.append((number, text))
        del text
    for number, text in taken:
        want = first + letter * number
        assert text == want
        assert (hash(text), len(text), text.encode()) == (hash(want), len(want), want.encode())
        text += "z"  # in place, where the interpreter can
        assert text == want + "z"


def test_snapshots_that_were_changed_do_no_harm():
    """They are for reading; who writes into one may see that again, but the end is right and nothing is damaged."""
    for seed in range(60):
        rng = random.Random(seed)
        parser = _engine_c.StreamingJsonParser()
        for start in range(0, len(TEXT), 3):
            parser.append(TEXT[start : start + 3])
            part = rng.choice(parts_of(parser.snapshot()))
            if parser.complete or rng.random() < 0.5:
                continue
            if isinstance(part, dict) and part:
                key = rng.choice(list(part))
                what = rng.randrange(5)
                if what == 0:
                    del part[key]
                    part["other"] = part
                elif what == 1:
                    part.clear()
                elif what == 2:
                    part[Collides(key)] = 1
                elif what == 3:
                    part.update({f"k{number}": number for number in range(50)})
                else:
                    part[key] = [part]
            elif isinstance(part, list) and part:
                what = rng.randrange(4)
                if what == 0:
                    part.pop()
                elif what == 1:
                    part[:] = [part] * len(part)
                elif what == 2:
                    part.clear()
                else:
                    part += range(50)
            del part
        assert parser.complete
        assert parser.valid is False  # `tru`
        parser.snapshot()
    gc.collect()


class Collides:
    """As a key it meets that of another, and runs code."""

    def __init__(self, key):
        self.key = key

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        gc.collect()
        return False


def test_snapshots_in_threads():
    """Each thread holds what it was given for a while; the parser goes on meanwhile."""
    parser = _engine_c.StreamingJsonParser()
    queue, wrong = [], []
    is_over = threading.Event()

    def look():
        while not is_over.is_set() or queue:
            try:
                value, before = queue.pop()
            except IndexError:
                continue
            for _ in range(5):
                if repr(value) != before:
                    wrong.append(before)

    threads = [threading.Thread(target=look) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        parser.append('{"a":[{"b":"')
        for number in range(2000):
            parser.append(f"{number} " if number % 50 else '"},{"b":"')
            value = parser.snapshot()
            if number % 3:
                part = value["a"][-1] if number % 2 else value
                queue.append((part, repr(part)))
                del part
            del value
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert wrong == []


def test_memory_of_the_last_two_snapshots_is_given_back():
    def some(count):
        for _ in range(count):
            parser = _engine_c.StreamingJsonParser()
            for start in range(0, len(TEXT), 7):
                parser.append(TEXT[start : start + 7])
                parser.snapshot()

    some(5)
    gc.collect()
    before, tracked = sys.getallocatedblocks(), len(gc.get_objects())
    some(50)
    gc.collect()
    assert sys.getallocatedblocks() - before < 200
    assert len(gc.get_objects()) - tracked < 50


@pytest.mark.parametrize("kind", [_engine_c.StreamingJsonParser, type("Parser", (_engine_c.StreamingJsonParser,), {})])
@pytest.mark.parametrize("end", range(0, len('{"a":[{"b":{}},[1]],"c":[{"d":[[]]}]}') + 1, 3))
def test_a_parser_in_its_own_snapshot_is_collected(kind, end):
    """Somebody puts what holds the parser into what the parser has shown, closed or open: a cycle like any other."""

    class Holder:
        pass

    def build():
        holder = Holder()
        holder.parser = kind()
        for character in '{"a":[{"b":{}},[1]],"c":[{"d":[[]]}]}'[:end]:
            holder.parser.append(character)
            for part in parts_of(holder.parser.snapshot()):
                if isinstance(part, dict):
                    part["holder"] = holder
                elif isinstance(part, list):
                    part.append(holder)
        return weakref.ref(holder)

    gc.collect()
    gone = [build() for _ in range(20)]
    gc.collect()
    assert [ref() for ref in gone] == [None] * 20


@pytest.mark.parametrize("is_held_by_its_change", [False, True])
def test_a_parser_in_its_own_changes_is_collected(is_held_by_its_change):
    class Holder:
        pass

    def build():
        holder = Holder()
        holder.parser = _engine_c.StreamingJsonParser()
        for piece in ('["', "a", "b", "c"):
            changes = holder.parser.append(piece)
            if is_held_by_its_change:
                changes[0] = ("append", (0,), holder)
            else:
                changes.append(holder)
        return weakref.ref(holder)

    gc.collect()
    gone = [build() for _ in range(20)]
    gc.collect()
    assert [ref() for ref in gone] == [None] * 20


def test_changes_that_can_hold_others_or_are_long_are_let_go_of_at_once():
    class Holder:
        pass

    parser = _engine_c.StreamingJsonParser()
    for piece in ('{"a":"x', 'y","b":[', '"c', '",{"d":1,"e":', "[", '"f', '",['):
        changes = parser.append(piece)
        if isinstance(changes[-1][2], list):
            holder = Holder()
            changes[-1][2].append(holder)
            gone = weakref.ref(holder)
            del holder, changes
            assert gone() is None
    parser.append('"')
    for letter in "xy":
        piece = letter * 3000
        references = sys.getrefcount(piece)
        parser.append(piece)
        assert sys.getrefcount(piece) == references


@pytest.mark.parametrize("seed", range(30))
def test_changes_that_are_held_never_change(seed):
    """Lists that nobody has are handed out again: no others, and whatever was done to them."""
    rng = random.Random(seed)
    text = json.dumps({"a": "x" * 90 + "\n\u4e2d" * 20, "b": ["y" * 60, 1.5, {"c": "z" * 90}], "d": "long" * 700})
    parsers = [_engine_c.StreamingJsonParser(report_ends=seed % 2 == 1) for _ in range(2)]
    plain = _engine_py.StreamingJsonParser(report_ends=seed % 2 == 1)
    held, start = [], 0
    while start < len(text):
        piece = text[start : start + rng.choice([1, 2, 3, 5, 8, 9, 30, 1200])]
        start += len(piece)
        want = plain.append(piece)
        for parser in parsers:
            changes = parser.append(piece)
            assert changes == want
            if not changes or rng.random() < 0.3:
                continue
            what = rng.randrange(7)
            if what == 0:
                held.append((changes, repr(changes)))
            elif what == 1:
                held.append((changes[-1], repr(changes[-1])))
            elif what == 2:
                held.append((changes[0][1:], repr(changes[0][1:])))
            elif what == 3:
                held.append((iter(changes), repr(changes)))
            elif what == 4:
                changes.clear()
            elif what == 5:
                changes.append(changes[0])
            else:
                changes[0] = rng.choice([None, (), ("append", changes[0][1]), ("append", changes[0][1], parser)])
        held = held[-rng.randrange(1, 40) :]
        for thing, was in held:
            if not hasattr(thing, "__next__"):
                assert repr(thing) == was
    for thing, was in held:
        assert repr(list(thing) if hasattr(thing, "__next__") else thing) == was


def test_the_collector_counts_every_reference_of_a_parser():
    """What a living parser holds is not taken for garbage, at any point of a text."""
    parsers, pieces = [_engine_c.StreamingJsonParser() for _ in range(4)], pieces_of(TEXT, 9)
    plain = _engine_py.StreamingJsonParser()
    for number, piece in enumerate(pieces):
        plain.append(piece)
        want = repr(plain.snapshot())
        for order, parser in enumerate(parsers):
            parser.append(piece)
            if order == 0 or number % order == 0:
                assert repr(parser.snapshot()) == want
        gc.collect()


@pytest.mark.parametrize("unit", ["[", '{"a":', '[{"a":'])
def test_nesting_alone_takes_no_containers(unit):
    """They are made with the first member."""
    parser = _engine_c.StreamingJsonParser()
    parser.append(unit * 40)
    tracemalloc.start()
    try:
        parser.append(unit * 20_000)
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert size < 100 * (parser.depth - 40)
    parser.feed("1")
    value = parser.snapshot()
    for _ in range(parser.depth):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value == 1


UNITS = [
    "[",
    "[[[",
    '{"a":',
    '{"b":[',
    '{"a":{"a":[{',
    "{[",
    "{",
    "]",
    "}",
    "]}",
    "1",
    "tr",
    '"a":',
    '"x"',
    '"x',
    ",",
    " ",
]


@pytest.mark.parametrize("block", range(4))
def test_containers_that_are_made_late(block):
    """Whatever comes after nesting: the same as of the plain engine, which makes them at once."""
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        options = {"report_ends": rng.random() < 0.5, "pending_scalars": rng.choice(["show", "withhold"])}
        parser, plain = _engine_c.StreamingJsonParser(**options), _engine_py.StreamingJsonParser(**options)
        held = []
        for unit in rng.choices(UNITS, k=60):
            assert repr(parser.append(unit)) == repr(plain.append(unit))
            if rng.random() < 0.6:
                value = parser.snapshot()
                assert repr(value) == repr(plain.snapshot())
                if rng.random() < 0.3:
                    held.append((value, repr(value)))
                del value
            for fact in ("depth", "open_path", "duplicate_keys", "repairs"):
                assert getattr(parser, fact) == getattr(plain, fact)
        assert all(repr(value) == before for value, before in held)


@pytest.mark.parametrize("letter", ["x", "\u4e2d"])
def test_a_long_text_is_not_kept_more_often_than_need_be(letter):
    size = 1_200_000
    pieces = pieces_of('{"a":"' + letter * size, 4000)
    width, kind = (1, 1) if letter == "x" else (3, 2)  # bytes of a character in the buffer, in a str
    tracemalloc.start()
    try:
        parser = _engine_c.StreamingJsonParser()
        for number, piece in enumerate(pieces):
            parser.append(piece)
            value = parser.snapshot()
            if number % 40 == 0:
                assert value["a"].count(letter) == len(value["a"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(value["a"]) > 0.99 * size
    assert (
        peak < 1.2 * (width + 2 * kind) * size
    )  # the buffer, the newest snapshot and its successor, with room to grow


@pytest.mark.parametrize("before", ['{"a":"', '["x",{"b":"y","a":"', '{"a":[["'])
@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u4e2d", "\U0001f600"])
def test_a_long_text_that_is_held_never_changes(letter, before):
    rng = random.Random(len(before))
    parser, plain = _engine_c.StreamingJsonParser(), _engine_py.StreamingJsonParser()
    held = []

    def text_in(value):
        while not isinstance(value, str):
            value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
        return value

    for piece in [before, *[letter * 9000] * 80, '"']:
        parser.append(piece)
        plain.append(piece)
        value = parser.snapshot()
        assert value == plain.snapshot()
        text = text_in(value)
        way = rng.randrange(6)
        if way == 0:
            held.append((text, len(text), hash(text)))
        elif way == 1:
            held.append((text_in(value), len(text), hash(text[:] + "")))
            held.append((value, copy.deepcopy(value), None))
        elif way == 2:
            assert {text: 1}[letter * len(text)] == 1
        if rng.random() < 0.3 and held:
            held.pop(0)
        for kept, size, known in held:
            if known is None:
                assert kept == size
            else:
                assert (len(kept), hash(kept + "")) == (size, known)
                assert kept.count(letter) == size
        del value, text
