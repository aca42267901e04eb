"""What holds for any calls, interleaved and cut in any way, with noise for which the rules name one call."""

import json

import pytest
from chat import delta, entry, finish
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol_helpers import check_events

from toolstream import LimitExceededError, Limits, ToolCallStream
from toolstream._values import dump, extends, same_value
from toolstream._verdict import _suspicious, suspicions
from toolstream.assembler import Assembler

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=3)
texts = st.builds(
    lambda value, ascii, indent: json.dumps(value, ensure_ascii=ascii, indent=indent),
    objects,
    st.booleans(),
    st.sampled_from([None, 1]),
)
words = st.sampled_from(["tool_calls", "stop", "length", "content_filter"])


@st.composite
def cut(draw, text, most=4):
    """The text in pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=most)))
    return [text[i:j] for i, j in zip([0, *places], [*places, len(text)], strict=True)]


@st.composite
def interleaved(draw):
    """(texts of calls in order of appearance, chunks)."""
    choices = draw(st.integers(1, 2))
    calls = []
    for position in range(draw(st.integers(1, 4))):
        text = draw(texts)
        choice = draw(st.integers(0, choices - 1))
        # one index for each, in any order and with gaps; never two calls in one slot
        index = position * 2 + draw(st.integers(0, 1))
        calls.append({"id": f"call_{position}", "name": draw(st.sampled_from("fg")), "text": text, "index": index,
                      "choice": choice, "left": draw(cut(text)), "opened": False})  # fmt: skip
    chunks, order = [], []
    while unfinished := [call for call in calls if call["left"]]:
        call = draw(st.sampled_from(unfinished))
        opened_here = [other for other in order if other["choice"] == call["choice"]]
        one = draw(noisy(call, opened_here, len(calls) * 2))
        if not call["opened"]:
            call["opened"] = True
            order.append(call)
        last = chunks[-1]["choices"][0] if chunks and chunks[-1]["choices"] else {}
        if last.get("index") == call["choice"] and last["delta"].get("tool_calls") and draw(st.booleans()):
            last["delta"]["tool_calls"].append(one)  # another entry of the same delta
        else:
            chunks.append(delta(one, choice=call["choice"]))
        if draw(st.integers(0, 4)) == 0:
            chunks.append(draw(between(choices)))
    return order, [*chunks, *[finish(choice=n) for n in range(choices)]]


@st.composite
def noisy(draw, call, opened, unused):
    """The next fragment of a call, with identifiers that leave no doubt whose it is."""
    text = call["left"].pop(0)
    if not call["opened"]:
        kind = draw(st.sampled_from(["whole", "index as text", "name later", "id later"]))
        if kind == "name later":  # only the id opens it; the name comes before any other fragment
            call["left"][:0] = [("name", text)]
            return entry(call["index"], call["id"])
        if kind == "id later":
            call["left"][:0] = [("id", text)]
            return entry(call["index"], None, call["name"])
        index = str(call["index"]) if kind == "index as text" else call["index"]
        return {
            "index": index,
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": text},
        }
    if isinstance(text, tuple):
        late, text = text
        return entry(
            call["index"], call["id"] if late == "id" else None, call["name"] if late == "name" else None, text
        )
    kind = draw(st.sampled_from(
        ["plain", "id again", "name again", "both again", "empty", "null", "other id", "text index", "drift",
         "conflict"]
    ))  # fmt: skip
    id = {"id again": call["id"], "both again": call["id"], "empty": "", "other id": "elsewhere", "drift": call["id"],
          "conflict": call["id"]}.get(kind)  # fmt: skip
    name = {"name again": call["name"], "both again": call["name"], "empty": ""}.get(kind)
    index = call["index"]
    if kind == "text index":
        index = str(index)
    elif kind == "drift":
        index = unused + draw(st.integers(0, 5))
    elif kind == "conflict":
        index = draw(st.sampled_from(opened))["index"]
    one = entry(index, id, name, text)
    return {**one, "id": None, "type": None} if kind == "null" else one


@st.composite
def between(draw, choices):
    """A chunk that no call is concerned with."""
    choice = draw(st.integers(0, choices - 1))
    return draw(st.sampled_from([
        delta(choice=choice, content="\n"),
        delta(choice=choice, reasoning_content="hm"),
        delta(choice=choice, tool_calls=None, function_call=None),
        delta(choice=choice, tool_calls=[]),
        delta(entry(77), entry(78, "", "", ""), choice=choice),
        {"choices": [], "usage": {"total_tokens": 1}},
        {"choices": [{"index": choice, "delta": {}, "finish_reason": ""}]},
    ]))  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(interleaved())
def test_any_interleaving_gives_the_calls_back(stream_of_calls):
    calls, chunks = stream_of_calls
    stream = ToolCallStream("openai-chat")
    events, shown = [], {}
    for chunk in chunks:
        events += stream.feed(chunk)
        for call in stream.completion.calls:
            live = call.partial_arguments
            assert extends(shown.get(call, {}), live)
            shown[call] = live
    events += stream.close()
    check_events(stream.completion, events)
    got = stream.completion.calls
    assert [(c.id if c.provider_id is None else c.provider_id, c.name, c.choice, c.index) for c in got] == [
        (call["id"], call["name"], call["choice"], call["index"]) for call in calls
    ]
    assert [(c.arguments_text, c.executable) for c in got] == [(call["text"], True) for call in calls]
    for c, call in zip(got, calls, strict=True):
        assert same_value(c.arguments, json.loads(call["text"]))
    assert not any(d.severity == "error" for d in stream.completion.defects)


def plain(stream):
    """What no cut of the bytes may change; made-up ids are."""
    done = stream.completion
    return (
        [(c.provider_id, c.name, c.index, c.choice, c.status, c.executable, c.arguments_text, c.arguments)
         for c in done.calls],
        done.text, done.reasoning, done.finish_reason, done.raw_finish_reason,
        sorted((d.code, d.call) for d in done.defects if d.call is not None), done.defect_count,
    )  # fmt: skip


def read(pieces):
    stream = ToolCallStream("openai-chat")
    for piece in pieces:
        stream.feed(piece)
    stream.close()
    return plain(stream)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_cutting_the_bytes_anew_changes_nothing(data):
    _, chunks = data.draw(interleaved())
    lines = [json.dumps(chunk, ensure_ascii=data.draw(st.booleans())) for chunk in chunks]
    for _ in range(data.draw(st.integers(0, 2))):
        lines.insert(
            data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(['{"choices":[{', "null", "[DONE]"]))
        )
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    whole = "".join(f"data: {line}{end}{end}" for line in lines).encode("utf-8", "surrogatepass")
    whole = whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole
    assert read(data.draw(cut(whole, 40))) == read([whole]) == read([whole[i : i + 1] for i in range(len(whole))])


@settings(max_examples=300, deadline=None)
@given(values | objects, st.booleans(), st.sampled_from([None, 1]), words, st.data())
def test_a_cut_text_gives_the_same_arguments_or_none(value, ascii, indent, word, data):
    text = json.dumps(value, ensure_ascii=ascii, indent=indent)
    if data.draw(st.booleans()):
        text = json.dumps(text)  # an object as a string
    n = data.draw(st.integers(1, len(text)))

    def run(text, word):
        stream = ToolCallStream("openai-chat")
        stream.feed(delta(entry(0, "a", "f", "")))
        for piece in data.draw(cut(text)):
            stream.feed(delta(entry(0, arguments=piece)))
        stream.feed(finish(word))
        stream.close()
        return stream.completion.calls[0]

    whole, part = run(text, "tool_calls"), run(text[:n], word)
    if isinstance(value, dict):
        assert whole.executable
        assert same_value(whole.arguments, value)
    else:
        assert whole.executable == (text == "null")
    assert not part.executable or same_value(part.arguments, whole.arguments)


@settings(max_examples=300, deadline=None)
@given(st.text("{}[]\",:\\ \nabtrue1.-/*`<>'x", max_size=30), st.text('{}[]",:\\ abt1', max_size=20), words, st.data())
def test_any_text_ends_well(head, tail, word, data):
    """Nothing raises, events are whole, and only a closed object can be run; how the text is cut does not matter."""
    for text in (head + tail, '{"a":1}' + tail):
        for pieces in ([text], list(text), data.draw(cut(text))):
            stream = ToolCallStream("openai-chat", changes=data.draw(st.booleans()))
            events = [e for p in pieces for e in stream.feed(delta(entry(0, "a", None if p != pieces[0] else "f", p)))]
            events += stream.feed(finish(word))
            events += stream.close()
            check_events(stream.completion, events)
            for call in stream.completion.calls:
                if call.executable:
                    assert isinstance(call.arguments, dict)
                    assert json.loads(dump(call.arguments)) == call.arguments


@settings(max_examples=200, deadline=None)
@given(values)
def test_dump_is_json(value):
    assert same_value(json.loads(dump(value)), value)
    deep = value
    for _ in range(2000):
        deep = [deep]
    assert dump(deep) == "[" * 2000 + dump(value) + "]" * 2000


@settings(max_examples=300, deadline=None)
@given(objects, objects, st.data())
def test_extends_is_what_growing_does(one, two, data):
    assert same_value(one, one)
    assert extends(one, one)
    assert extends(one, {**one, **{k: v for k, v in two.items() if k not in one}})
    assert same_value(one, two) == (json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)) or one == two
    if extends(one, two) and extends(two, one):
        assert same_value(one, two)


scalars = st.one_of(st.text(max_size=5), st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.none())
nested = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3))
whole_objects = st.one_of(
    st.dictionaries(st.text(max_size=3), nested, max_size=4),
    st.sampled_from(
        [{"a": float("inf")}, {"a": 1.5}, {1: 2}, {"a": "\ud83d"}, {"a": "\f\b\0\\x"}, {"a": "x"}, [], "x"]
    ),
)


odd_text = st.text("\0\b\f\\a\n 0", max_size=4)
odd = st.recursive(
    odd_text, lambda v: st.lists(v, max_size=80) | st.dictionaries(odd_text, v, max_size=3), max_leaves=90
)


@given(st.dictionaries(odd_text, odd, max_size=3), st.sampled_from((0, 600)))
def test_what_is_suspicious_is_found_in_the_value_as_in_the_text(value, length):
    value["more"] = "\\" * length
    for text in (dump(value), json.dumps(value, indent=1)):
        assert suspicions(value, text) == _suspicious(text)


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(st.one_of(whole_objects, st.text(' {}"a:1,x', min_size=1, max_size=6)), min_size=1, max_size=4),
    known=st.booleans(),
)
def test_objects_that_come_whole_are_what_their_text_says(parts, known):
    """The short way for them, which does not read their text, is the same to whoever looks."""

    def run():
        assembler = Assembler(new_id=lambda: "made")
        call = assembler.open(None, id="a" if known else None, name="f")
        seen = []
        for part in parts:
            if isinstance(part, str):
                assembler.append(call, part)
            else:
                assembler.whole(call, part)
            seen.append(json.dumps([call.partial_arguments, call.arguments_text]))
        assembler.end(call)
        events = assembler.take() + assembler.close()
        check_events(assembler.completion, events)
        return seen, json.dumps([event.to_dict() for event in events])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolstream.assembler.write_object", lambda value, max_depth: None)
        careful = run()
    assert run() == careful


whole_texts = ['{"a":1}', '{"a":1}', '{"b":[]}', "{}", '{"a":"\\bin"}', '{"a":1,"a":2}', "{'a':1}", '{"a":', "1}", ""]
odd_texts = ['{"a":1}{"b":2}', '{"a":"\ud83d', '\ude00"}', '{"a":{"b":[]}}', '{"a":1e400}', "null", "}"]
any_texts = [*whole_texts, *whole_texts, *odd_texts]
whole_entries = st.builds(
    lambda index, id, name, arguments: {**index, "id": id, "type": "function", "function": {"name": name, **arguments}},
    st.sampled_from([*[{"index": n} for n in (0, 0, 0, 1, 1, 2, None, "1", 1.0, True, [1])], {}]),
    st.sampled_from(["a", "b", "c", "", "null", None, 7, ["a"]]),
    st.sampled_from(["f", "f", "g", "", "null", None, ["f"]]),
    st.sampled_from(
        [
            *({"arguments": text} for text in any_texts),
            {},
            {"arguments": None},
            {"arguments": {"a": 1}},
        ]
    ),
)
continued = st.builds(entry, st.sampled_from([0, 0, 1]), arguments=st.sampled_from(any_texts))
LIMITS = [Limits(max_depth=1), Limits(max_calls=2), Limits(max_argument_bytes=30)]
entries = st.one_of(whole_entries, whole_entries, continued)


@settings(max_examples=1000, deadline=None)
@given(
    deltas=st.lists(
        st.tuples(
            st.lists(entries, min_size=1, max_size=2),
            st.sampled_from([0, 0, 0, 1]),
            st.sampled_from([None] * 6 + ["tool_calls", "length"]),
            st.sampled_from([{}, {}, {"content": "x\ud83d"}]),
        ),
        min_size=1,
        max_size=6,
    ),
    finished=st.sampled_from([None, "tool_calls"]),
    options=st.sampled_from(
        [{}, {}, {}, {"strict": True}, {"changes": True}, *({"limits": limits} for limits in LIMITS)]
    ),
)
def test_calls_that_come_whole_are_what_their_steps_make_of_them(deltas, finished, options):
    """The short way for them in Chat Completions is the same to whoever looks."""
    chunks = [delta(*some, choice=choice, finish=word, **fields) for some, choice, word, fields in deltas]
    if finished:
        chunks.append(finish(finished))

    def run():
        stream = ToolCallStream("openai-chat", new_id=iter(f"made_{n}" for n in range(99)).__next__, **options)
        seen = []
        for chunk in chunks:
            try:
                seen.append([event.to_dict() for event in stream.feed(chunk)])
            except LimitExceededError as error:
                seen.append(str(error))
            seen.append([[call.partial_arguments, call.to_dict()] for call in stream.completion.calls])
        seen.append([event.to_dict() for event in stream.close()])
        return json.dumps([seen, stream.completion.message(), stream.completion.message(1)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolstream.assembler.read_object", lambda text, max_depth: None)
        careful = run()
    assert run() == careful
