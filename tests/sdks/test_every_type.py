"""Every type that the official clients declare: what comes in an answer goes back as it came, and every finish word
has a meaning. A type or a word that a client has got since is found here first."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import toolstream


def variants(declared: Any) -> list[Any]:
    """The members of a union, however it is wrapped; else the type itself."""
    declared = getattr(declared, "__value__", declared)
    if typing.get_origin(declared) is typing.Annotated:
        return variants(typing.get_args(declared)[0])
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        return [one for member in typing.get_args(declared) for one in variants(member)]
    return [declared]


def words(declared: Any) -> set[str]:
    """The literals of a type."""
    return {
        word for one in variants(declared) if typing.get_origin(one) is typing.Literal for word in typing.get_args(one)
    }


def example(declared: Any, name: str) -> Any:
    """A value of the type, every optional part of it included."""
    kind = next(one for one in variants(declared) if one is not type(None))
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return inner[0]
    if origin is list:
        return [example(inner[0], name)]
    if hasattr(kind, "model_fields"):
        return fields(kind)
    if inspect.isclass(kind) and issubclass(kind, (bool, int, float)):
        return kind(1)
    return {"k": "v"} if origin is dict or kind is object or kind is Any else f"{name}_a"


def fields(model: Any) -> dict[str, Any]:
    return {field.alias or name: example(field.annotation, name) for name, field in model.model_fields.items()}


def answer(provider: str, events: list[dict[str, Any]]) -> Any:
    return toolstream.assemble(events, provider).message()


def openai_items() -> Iterator[dict[str, Any]]:
    for model in variants(pytest.importorskip("openai.types.responses.response_output_item").ResponseOutputItem):
        item = fields(model)
        if isinstance(item.get("arguments"), str):
            item["arguments"] = '{"a":1}'
        yield item


def test_items_of_openai_responses() -> None:
    items = list(openai_items())
    assert len(items) > 20
    for item in items:
        item.pop("created_by", None)  # no request has it
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        assert answer("openai-responses", [done]) == [item]


@pytest.mark.parametrize("names", [("anthropic.types", ""), ("anthropic.types.beta", "Beta")])
def test_blocks_of_anthropic(names: tuple[str, str]) -> None:
    declared = getattr(pytest.importorskip(names[0]), f"{names[1]}RawContentBlockStartEvent")
    blocks = [fields(model) for model in variants(declared.model_fields["content_block"].annotation)]
    assert len(blocks) > 10
    for block in blocks:
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        events = [start, {"type": "content_block_stop", "index": 0}, {"type": "message_stop"}]
        assert answer("anthropic", events)["content"] == [block]


def test_parts_of_gemini() -> None:
    declared = pytest.importorskip("google.genai.types").Part
    for name, field in declared.model_fields.items():
        if name not in ("thought", "thought_signature"):
            value = example(field.annotation, name)
            if name == "function_call":
                value = {"id": "a", "name": "f", "args": {"x": 1}}
            part = {str(field.alias): value, "thoughtSignature": "c2ln", "partMetadata": {"k": 1}}
            response = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}
            assert answer("gemini", [response])["parts"] == [part]


def test_steps_of_gemini_interactions() -> None:
    declared = pytest.importorskip("google.genai._gaos.types.interactions.step")
    for kind, model in declared._STEP_VARIANTS.items():
        step = {**fields(model), "type": kind}
        for name in ("content", "summary"):
            if name in step:
                step[name] = [{"type": "text", "text": "x"}]
        start = {"event_type": "step.start", "index": 0, "step": step}
        events = [start, {"event_type": "step.stop", "index": 0}]
        assert answer("gemini-interactions", events) == [step]


def finish_words() -> Iterator[tuple[str, set[str]]]:
    """Protocol and the words its client declares; those that say nothing are left out."""
    chunk = pytest.importorskip("openai.types.chat.chat_completion_chunk")
    yield "openai_chat", words(chunk.Choice.model_fields["finish_reason"].annotation)
    anthropic = pytest.importorskip("anthropic.types.beta")
    yield "anthropic", words(anthropic.BetaStopReason)
    gemini = pytest.importorskip("google.genai.types")
    yield "gemini", {word.value for word in gemini.FinishReason} - {"FINISH_REASON_UNSPECIFIED", "STOP"}
    interaction = pytest.importorskip("google.genai._gaos.types.interactions.interaction")
    yield "gemini_interactions", words(interaction.InteractionStatus) - {"in_progress", "queued", "idle"}
    choice = pytest.importorskip("mistralai.client.models.completionresponsestreamchoice")
    yield "openai_chat", words(choice.CompletionResponseStreamChoiceFinishReason)
    session = pytest.importorskip("botocore.session").get_session()
    yield "bedrock_converse", set(session.get_service_model("bedrock-runtime").shape_for("StopReason").enum)
    yield "cohere", words(pytest.importorskip("cohere").ChatFinishReason)


def test_finish_words() -> None:
    found = list(finish_words())
    assert all(len(declared) > 3 for _, declared in found)
    for module, declared in found:
        known = import_module(f"toolstream.providers.{module}")._MEANINGS
        assert {word for word in declared if word not in known} == set(), module
