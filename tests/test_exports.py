"""The public names are these and no others; each can be imported and explains itself."""

import ast
import inspect
import typing
from importlib import import_module

import pytest

import toolstream

PUBLIC = {
    "json": "StreamingJsonParser JsonTracker scan_bytes JsonChange JsonPath JsonValue apply_changes "
    "parse_partial_json MISSING",
    "arguments": "ToolCallArgumentsStream parse_tool_call_arguments tool_call_arguments_absent Replacement "
    "FinishedArguments ParsedArguments UnsupportedType UnparseableArguments",
    "assembly": "ToolCallAccumulator StreamingToolCallParser ToolCallParseResult JsonState ToolCallMeta "
    "CompletedToolCall detect_completion_defect CompletionDefect StreamWatchdog",
    "transport": "SseDecoder NdjsonDecoder JsonArrayDecoder AwsEventStreamDecoder SseEvent AwsMessage",
    "stream": "ToolCallStream Limits Completion ToolCall Defect iter_events aiter_events assemble aassemble",
    "events": "Event ToolCallStart ToolCallDelta ToolCallEnd TextDelta ReasoningDelta DefectFound StreamEnd",
    "errors": "ToolStreamError StreamStalledError LimitExceededError UnknownProviderError",
    "facts": "BACKEND __version__",
}
NAMES = sorted(" ".join(PUBLIC.values()).split())


def test_all_is_the_public_names():
    assert sorted(toolstream.__all__) == NAMES


def test_every_public_name_has_one_home():
    """It is imported at once or when it is asked for, from the module that type checkers see."""
    at_once, for_checkers = {}, {}
    for node in ast.walk(ast.parse(inspect.getsource(toolstream))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolstream."):
            homes = for_checkers if node.col_offset else at_once
            homes.update((alias.name, node.module.removeprefix("toolstream.")) for alias in node.names)
    lazy = [(name, part) for part, names in toolstream._PARTS.items() for name in names]
    assert sorted([*at_once, *(name for name, _ in lazy), "__version__"]) == NAMES
    assert dict(lazy) == for_checkers


@pytest.mark.parametrize("part", toolstream._PARTS)
def test_names_are_those_of_their_module(part):
    module = import_module(f"toolstream.{part}")
    assert getattr(toolstream, part) is module
    for name in toolstream._PARTS[part]:
        assert getattr(toolstream, name) is getattr(module, name)


def test_what_is_no_public_name_is_missing():
    with pytest.raises(AttributeError, match="module 'toolstream' has no attribute 'ToolCallStreams'"):
        toolstream.ToolCallStreams  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'ToolCallStreams'"):
        from toolstream import ToolCallStreams  # noqa: F401


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_exists_and_is_documented(name):
    thing = getattr(toolstream, name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        signature, _, words = (thing.__doc__ or "").partition("\n")
        assert words if signature.startswith(f"{name}(") else signature, "a generated signature explains nothing"


@pytest.mark.parametrize("name", NAMES)
def test_public_methods_are_documented(name):
    thing = getattr(toolstream, name)
    if inspect.isclass(thing):
        methods = [key for key, value in vars(thing).items() if not key.startswith("_") and inspect.isroutine(value)]
        assert [key for key in methods if not getattr(thing, key).__doc__] == []


@pytest.mark.parametrize("function", ["iter_events", "aiter_events", "assemble", "aassemble", "parse_partial_json"])
def test_annotations_can_be_read_at_run_time(function):
    assert "return" in typing.get_type_hints(getattr(toolstream, function))


def test_type_checkers_know_that_iterations_can_be_closed():
    """Whoever leaves a loop early closes the source by it."""
    for function, closes in ((toolstream.iter_events, "close"), (toolstream.aiter_events, "aclose")):
        returned = typing.get_type_hints(function)["return"]
        assert hasattr(typing.get_origin(returned), closes)


def test_an_event_is_one_of_seven_classes():
    assert {event.__name__ for event in typing.get_args(toolstream.Event)} == set(PUBLIC["events"].split()) - {"Event"}


@pytest.mark.parametrize("event", typing.get_args(toolstream.Event))
def test_type_checkers_tell_events_apart_by_their_type(event):
    """`if event.type == "stream.end":` makes an event that class: the declared type is the one value."""
    declared = typing.get_type_hints(event)["type"]
    literal = typing.get_args(declared)[0] if typing.get_origin(declared) is typing.Final else declared
    assert typing.get_args(literal) == (event.type,)
