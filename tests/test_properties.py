"""Properties that hold for any text, cut anywhere: JSON texts, damaged and cut ones, and heaps of tokens."""

import json

from cutting import feed_all, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolstream import MISSING, LimitExceededError, apply_changes

SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# ---------------------------------------------------------------- texts

characters = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from('"\\/{}[]:, \n\t\x00\x1f\x7f\u00a0\u2028\ufeff\ufffdé€\U0001f600'),
)
strings = st.text(characters, max_size=12)
numbers = st.one_of(
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -1, 1e300, 5e-324, -0.0]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, strings),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(strings, inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def documents(draw):
    """A valid text: any layout, escapes or not."""
    value = draw(values)
    indent = draw(st.sampled_from([None, 0, 1, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
    return draw(st.sampled_from(["", " ", "\r\n"])) + text + draw(st.sampled_from(["", " ", "\n\t"]))


TOKENS = [
    *'{}[]:,"\'\\/#` \n\t-.eE019x<>&\u00a0\ufeff\x00', "{}", "[]", '""', '":', '","', '"a"', '"a":', "'b'", "'b':",
    "true", "false", "null", "True", "False", "None", "NaN", "Infinity", "-Infinity", "-0", "1.5", "1e5", "1e400",
    "00", "tru", "nul", "\\n", "\\t", "\\r", "\\u00e9", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\u12", "\\u", "\\x",
    "\\'", '\\"', "\\\\", "//", "/*", "*/", "# c\n", "// c\n", "/* c */", "```", "```json\n", "\n```", "<json>",
    "</json>", "<", "</", "é", "€", "\U0001f600", "word", "data: ", "[[[", "]]]", '{"a":',
]  # fmt: skip
heaps = st.lists(st.sampled_from(TOKENS), max_size=25).map("".join)


@st.composite
def damaged(draw):
    """A document with a few characters cut out, doubled, put in or exchanged, or cut off."""
    text = draw(documents())
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        until = min(len(text), at + draw(st.integers(0, 3)))
        put = draw(st.one_of(st.just(""), st.sampled_from(TOKENS), st.just(text[at:until] * 2)))
        text = text[:at] + put + text[until:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


texts = st.one_of(documents(), damaged(), heaps)
options = st.fixed_dictionaries(
    {
        "pending_scalars": st.sampled_from(["show", "withhold"]),
        "lenient": st.booleans(),
        "report_ends": st.booleans(),
        "max_depth": st.sampled_from([None, None, 1, 3]),
    }
)


def cut(text, data):
    """`text` in pieces, as `data` wants it: some of them empty, some of one character."""
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8), label="cuts"))
    if data.draw(st.booleans(), label="one by one"):
        places = range(len(text))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


# ---------------------------------------------------------------- properties

FACTS = (
    "complete", "valid", "error", "repairs", "repair_count", "duplicate_keys", "overflow_count", "position",
    "root_end", "depth", "in_string", "escape", "open_path",
)  # fmt: skip


def facts(parser):
    return {name: getattr(parser, name) for name in FACTS}


class Reading:
    """A parser, what it returned, and how it ended."""

    def __init__(self, engine, pieces, options, look):
        self.parser = engine.StreamingJsonParser(**options)
        self.changes, self.error, self.kept = [], None, []
        for piece in pieces:
            try:
                self.changes += self.parser.append(piece)
            except LimitExceededError as error:
                self.error = str(error)
            if look:
                shown = self.parser.snapshot()
                self.kept.append((shown, repr(shown)))
        self.value = self.parser.snapshot()

    def merged(self):
        """The changes, as if they had come at once: what a string grows by is in its set."""
        merged, at = [], {}
        for kind, path, value in self.changes:
            if kind == "append":
                merged[at[path]] = ("set", path, merged[at[path]][2] + value)
                continue
            if kind == "set":
                at[path] = len(merged)
            merged.append((kind, path, value))
        return merged


@SETTINGS
@given(data=st.data(), text=texts, options=options)
def test_any_cut_as_text_or_bytes_gives_the_same(engine, data, text, options):
    whole = Reading(engine, [text], options, look=False)
    encoded = text.encode()
    others = {
        "str": cut(text, data),
        "bytes": cut(encoded, data),
        "bytearray": [bytearray(piece) for piece in cut(encoded, data)],
    }
    for kind, pieces in others.items():
        other = Reading(engine, pieces, options, look=True)
        assert same(other.value, whole.value), kind
        assert facts(other.parser) == facts(whole.parser), kind
        assert other.error == whole.error, kind
        if whole.error is None:  # else the changes of the last piece are lost
            assert repr(other.merged()) == repr(whole.merged()), kind
        assert all(repr(shown) == before for shown, before in other.kept), kind
        fed = engine.StreamingJsonParser(**options)
        if whole.error is None:
            feed_all(fed, pieces)
            assert same(fed.snapshot(), whole.value), kind
            assert facts(fed) == facts(whole.parser), kind


@SETTINGS
@given(data=st.data(), text=texts, options=options)
def test_changes_replay_to_the_value(engine, data, text, options):
    """All of a closed document, and of one whose scalars are withheld until they end."""
    reading = Reading(engine, cut(text, data), {**options, "max_depth": None}, look=False)
    if reading.parser.complete or options["pending_scalars"] == "withhold":
        written = apply_changes(MISSING, reading.changes)
        assert same(written, reading.value)
        step_by_step = MISSING
        for change in reading.changes:
            step_by_step = apply_changes(step_by_step, [change])
        assert same(step_by_step, reading.value)


@SETTINGS
@given(data=st.data(), text=texts)
def test_ends_are_extra_and_final(engine, data, text):
    pieces = cut(text, data)
    plain = Reading(engine, pieces, {}, look=False).changes
    with_ends = Reading(engine, pieces, {"report_ends": True}, look=False).changes
    assert [change for change in with_ends if change[0] != "end"] == plain
    live = set()
    for kind, path, value in with_ends:
        if kind == "set" and isinstance(value, (str, list, dict)):
            live.add(path)
        elif kind == "append":
            assert path in live  # what has ended does not grow
        elif kind == "end":
            assert value is None
            live.remove(path)  # each is ended once


def refuse(name):
    raise ValueError(f"{name} is not JSON")


def verdict(text):
    try:
        return True, json.loads(text, parse_constant=refuse)
    except ValueError:
        return False, None


@SETTINGS
@given(data=st.data(), text=texts)
def test_the_verdict_is_that_of_json_loads(engine, data, text):
    text += " "  # a bare scalar has ended then
    accepted, value = verdict(text)
    for lenient in (False, True):
        parser = feed_all(engine.StreamingJsonParser(lenient=lenient), cut(text, data))
        assert (parser.complete and parser.valid) == accepted
        assert parser.valid or parser.error is not None
        if accepted:
            dumped = json.dumps(value, ensure_ascii=False)
            value = json.loads("".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in dumped))
            assert same(parser.snapshot(), value)


@SETTINGS
@given(text=documents(), data=st.data())
def test_every_beginning_of_a_valid_text_is_valid(engine, text, data):
    text += " "
    for way in (text, text.encode()):
        parser = engine.StreamingJsonParser()
        for piece in cut(way, data):
            parser.feed(piece)
            assert parser.valid
            assert parser.error is None
        assert parser.complete
        assert parser.repair_count == 0


@SETTINGS
@given(text=damaged(), data=st.data())
def test_valid_never_comes_back_and_the_error_stays(engine, text, data):
    parser = engine.StreamingJsonParser()
    first = None
    for piece in cut(text, data):
        parser.feed(piece)
        if first is not None:
            assert parser.error == first
        first = parser.error
        assert parser.valid == (first is None)
        assert first is None or 0 <= first[0] <= parser.position


@SETTINGS
@given(text=documents(), data=st.data())
def test_withheld_values_never_change_their_mind(engine, text, data):
    """Each view of a valid text without repeated keys continues the one before."""
    parser, before = engine.StreamingJsonParser(pending_scalars="withhold"), MISSING
    for piece in cut(text, data):
        parser.feed(piece)
        after = parser.snapshot()
        assert before is MISSING or continues(before, after)
        before = after


def continues(before, after):
    if type(before) is not type(after):
        return False
    if isinstance(before, str):
        return after.startswith(before)
    if isinstance(before, list):
        return len(before) <= len(after) and all(map(continues, before, after))
    if isinstance(before, dict):
        return all(key in after and continues(value, after[key]) for key, value in before.items())
    return before == after


@SETTINGS
@given(data=st.binary(max_size=40), cuts=st.data())
def test_any_bytes(engine, data, cuts):
    """Whatever comes is read as the text that `decode("utf-8", "replace")` gives."""
    text = data.decode("utf-8", "replace")
    before, after = engine.StreamingJsonParser(), engine.StreamingJsonParser()
    feed_all(before, cut(b'["' + data + b'"]', cuts))
    feed_all(after, ['["' + text + '"]'])
    assert same(before.snapshot(), after.snapshot())
    assert facts(before) == facts(after)


@SETTINGS
@given(text=st.text(st.one_of(characters, st.sampled_from("\ud83d\ude00\udbff\udc00")), max_size=12), data=st.data())
def test_raw_halves_in_any_cut(engine, text, data):
    text = f'["{text}"]'
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    parser = feed_all(engine.StreamingJsonParser(), cut(text, data))
    whole = feed_all(engine.StreamingJsonParser(), [text])
    assert same(parser.snapshot(), whole.snapshot())
    assert parser.valid == whole.valid
    assert parser.repairs == whole.repairs
    if all(char >= " " and char not in '"\\' for char in joined[2:-2]) and "\udc00" not in text:
        assert len(parser.snapshot()[0]) == len(joined) - 4
    parser.snapshot()[0].encode()  # no lone half leaves the parser


@SETTINGS
@given(text=st.text(st.sampled_from('{}[]"\\a\u00e9\U0001f600\n'), max_size=30), data=st.data())
def test_the_tracker_follows_every_character(engine, text, data):
    depth, in_string, escape = 0, False, False
    for char in text:
        if char in "{}[]" and not in_string:
            depth += 1 if char in "{[" else -1
            escape = False
        elif escape:
            escape = False
        elif char == "\\":
            escape = True
        elif char == '"':
            in_string = not in_string
    for way in (text, text.encode()):
        tracker = engine.JsonTracker()
        for piece in cut(way, data):
            tracker.feed(piece)
        assert (tracker.depth, tracker.in_string, tracker.escape) == (depth, in_string, escape)
