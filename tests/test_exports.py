"""The public names are these and no others; each can be imported and explains itself."""

import inspect
import typing

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


def test_an_event_is_one_of_seven_classes():
    assert {event.__name__ for event in typing.get_args(toolstream.Event)} == set(PUBLIC["events"].split()) - {"Event"}
