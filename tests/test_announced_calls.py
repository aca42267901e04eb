"""Calls that a protocol announces: what its provider tells the assembler, without any provider."""

import pytest
from protocol_helpers import check_events, codes

from toolstream import MISSING, apply_changes
from toolstream.assembler import Assembler


def ended(assembler):
    """The completion after the end of the stream, all events checked."""
    events = assembler.take() + assembler.close()
    assert assembler.close() == []
    check_events(assembler.completion, events)
    return assembler.completion


def finished(assembler):
    assembler.finish("done", "tool_calls")
    return ended(assembler)


def test_a_key_names_a_call_until_it_ends():
    assembler = Assembler()
    assert assembler.find(1) is None
    one = assembler.open(1, id="a", name="f", index=1)
    assembler.alias(one, "a")
    assert assembler.find(1) is assembler.find("a") is one
    assembler.end(one)
    assert (assembler.find(1), assembler.known(1)) == (None, one)
    two = assembler.open(1, id="b", name="g", index=1)
    assert assembler.find(1) is two
    assert codes(finished(assembler)) == [("index_reused", 1)]


def test_a_fragment_after_the_end_is_an_orphan_and_ending_twice_is_ending_once():
    assembler = Assembler()
    one = assembler.open(1, id="a", name="f")
    assembler.append(one, '{"x":1}')
    assembler.end(one)
    assembler.end(one, regular=False)
    assembler.append(one, "x")
    assembler.replace(one, "x")
    completion = finished(assembler)
    assert (one.arguments, one.arguments_text) == ({"x": 1}, '{"x":1}')
    assert codes(completion) == [("orphan_delta", None)]


@pytest.mark.parametrize(("regular", "status"), [(True, "complete"), (False, "incomplete")])
def test_the_end_of_a_block_decides_where_there_is_no_text(regular, status):
    assembler = Assembler()
    one, two = assembler.open(1, id="a", name="f"), assembler.open(2, id="b", name="g", kind="custom", free_text=True)
    assembler.end(one, regular=regular)
    assembler.append(two, "text")
    assembler.end(two, regular=regular)
    completion = ended(assembler)
    assert [c.status for c in completion.calls] == [status] * 2
    assert (one.arguments, two.arguments, two.input) == ({} if regular else None, None, "text")


def test_a_cut_after_the_end_of_a_block_is_not_its_own():
    assembler = Assembler()
    one, two = assembler.open(1, id="a", name="f"), assembler.open(2, id="b", name="g")
    assembler.end(one)
    assembler.finish("max_tokens", "length")
    assembler.end_mark(closes_blocks=True)
    assert [c.status for c in ended(assembler).calls] == ["complete", "incomplete"]
    assert codes(assembler.completion) == [("args_truncated", 1), ("block_unclosed", 1)]
    assert two.arguments is None


@pytest.mark.parametrize("kind", ["server", "mcp", "mcp_approval", "function", "client_builtin"])
def test_kinds(kind):
    assembler = Assembler()
    one = assembler.open(1, id="a", name="f", kind=kind)
    assembler.append(one, "{}")
    assembler.end(one)
    assembler.end_mark()
    completion = ended(assembler)
    assert (one.status, one.arguments) == ("complete", {})
    assert one.executable == (kind in ("function", "client_builtin"))
    assert completion.finish_reason == ("stop" if kind in ("server", "mcp") else "tool_calls")


def final(*texts, deltas=(), done=True, **options):
    assembler = Assembler(**options)
    call = assembler.open(1, id="a", name="f")
    for text in deltas:
        assembler.append(call, text)
    for text in texts:
        assembler.final_text(call, text, done=done)
    assembler.end(call)
    completion = finished(assembler)
    infos = [d.code for d in completion.defects if d.severity == "info" and d.code.startswith("done")]
    return call.arguments_text, call.status, codes(completion) + infos


def test_the_final_text_wins():
    assert final('{"a":1}', deltas=['{"a"', ":1}"]) == ('{"a":1}', "complete", [])
    assert final('{"a":1}') == ('{"a":1}', "complete", [])
    assert final('{"a":1}', deltas=['{"a"']) == ('{"a":1}', "complete", ["done_extends_deltas"])
    assert final('{"a":1}', deltas=['{"b"']) == ('{"a":1}', "complete", [("done_mismatch", 0)])
    assert final('{"a":1}', "", deltas=['{"a":1}']) == ('{"a":1}', "complete", [("done_empty", 0)])
    assert final("", deltas=['{"a":1}'], done=False) == ('{"a":1}', "complete", [])
    assert final("", None) == ("", "complete", [])


def test_a_final_value_instead_of_text():
    assert final({"a": 1}, deltas=['{"a": 1.0}']) == ('{"a": 1.0}', "complete", [])
    assert final({"a": 1}) == ('{"a":1}', "complete", [])
    assert final({"a": 1}, deltas=['{"a"']) == ('{"a":1}', "complete", ["done_extends_deltas"])
    assert final({"a": 1}, deltas=['{"b":']) == ('{"a":1}', "complete", [("done_mismatch", 0)])
    assert final({"a": 1}, deltas=['{"a":1}{"b":2}'])[:2] == ('{"a":1}', "complete")
    assert final({}, deltas=['{"a":1}']) == ('{"a":1}', "complete", [("done_empty", 0)])
    assert final({}, deltas=['{"a":1}'], done=False) == ('{"a":1}', "complete", [])
    assert final(3) == ("3", "invalid", [("args_not_object", 0)])
    assert final([], done=False) == ("[]", "invalid", [("args_not_object", 0)])


def test_the_final_text_settles_what_the_deltas_left_open():
    assert final('{"a":1}', deltas=['{"a":1}', '{"a":']) == ('{"a":1}', "complete", [])
    text, status, _ = final('{"b":2}', deltas=['{"a":1}{"b":2}'])
    assert (text, status) == ('{"b":2}', "complete")
    text, status, found = final('{"a":1}', deltas=["[" * 600])
    assert (text, status) == ('{"a":1}', "complete")
    assert ("done_mismatch", 0) in found


def test_a_final_text_of_an_ended_call_changes_nothing():
    assembler = Assembler()
    call = assembler.open(1, id="a", name="f")
    assembler.append(call, "{}")
    assembler.end(call)
    assembler.final_text(call, "{}")
    assembler.final_text(call, '{"a":1}')
    assert codes(finished(assembler)) == [("done_mismatch", 0)]
    assert call.arguments == {}


def test_the_final_text_of_free_text():
    assembler = Assembler()
    call = assembler.open(1, id="a", name="f", kind="custom", free_text=True)
    assembler.append(call, "{not")
    assembler.final_text(call, "{not json")
    assembler.final_text(call, "other")
    assembler.end(call)
    finished(assembler)
    assert (call.input, call.partial_arguments, call.executable) == ("other", {}, True)


def test_a_text_written_anew():
    assembler = Assembler(changes=True)
    call = assembler.open(1, id="a", name="f")
    live = MISSING
    for text in ('{"a":1', '{"a":1,"b":"x', '{"c":{"d":2', '{"c":{"d":2}}'):
        assembler.replace(call, text)
        for event in assembler.take():
            if event.type == "tool_call.delta":
                live = apply_changes(MISSING if event.restart else live, event.changes)
    assert live == {"c": {"d": 2}}
    assembler.end(call)
    assembler.finish("done", "tool_calls")
    assembler.close()
    assert (call.arguments, assembler.completion.defects) == ({"c": {"d": 2}}, [])


def test_a_header_that_comes_in_parts():
    assembler = Assembler()
    call = assembler.open(1, name="f")
    assembler.append(call, "{}")
    assembler.header(call, id="late", name="f")
    assembler.header(call, id="other", name="g")
    assembler.end(call)
    assert (call.provider_id, call.name) == ("late", "f")
    assert codes(finished(assembler)) == [("id_changed", 0), ("name_changed", 0)]


def test_extras_keep_the_last_value_that_is_not_null():
    assembler = Assembler()
    call = assembler.open(1, id="a", name="f")
    assembler.extras(call, {"a": 1, "b": 2})
    assembler.extras(call, {"a": None, "b": 3, "c": 4})
    assert call.extras == {"a": 1, "b": 3, "c": 4}


def test_what_is_no_text_and_no_count_is_ignored():
    assembler = Assembler()
    for nothing in (None, "", 3, [], {}):
        assembler.text(nothing)
        assembler.reasoning(nothing)
        assembler.finish(nothing, "stop")
    for nothing in (None, "", 3, []):
        assembler.usage(nothing)
    assembler.end_mark()
    completion = ended(assembler)
    assert (completion.text, completion.usage, completion.raw_finish_reason) == ("", None, None)
    assert completion.defects == []


def test_a_final_value_after_an_object():
    for last, text, reported in (({"a": 1}, '{"a":1}', []), ({"b": 2}, '{"b":2}', [("done_mismatch", 0)])):
        assembler = Assembler()
        call = assembler.open(1, id="a", name="f")
        assembler.whole(call, {"a": 1})
        assembler.final_text(call, last)
        assembler.end(call)
        assert codes(finished(assembler)) == reported
        assert (call.arguments_text, call.arguments) == (text, last)
