"""The recipes of docs/providers.md, word for word, with the real clients against the loopback server."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from clients import KEY, PROMPT, USER
from server import StreamServer

PAGE = Path(__file__).parent.parent.parent / "docs" / "providers.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
LOOP, *RECIPES = BLOCKS
OSLO = {"city": "Oslo", "note": 'a "b" é 😀'}
TOOLS: dict[str, list[Any]] = {
    "anthropic": [{"name": "now", "input_schema": {"type": "object"}}],
    "openai-responses": [{"type": "function", "name": "now", "parameters": {"type": "object"}, "strict": False}],
}
FUNCTION = {"name": "now", "description": "Now.", "parameters": {"type": "object", "properties": {}}}
PROMPTS: dict[str, Any] = {
    "gemini": {"role": "user", "parts": [{"text": PROMPT}]},
    "gemini-interactions": {"type": "user_input", "content": [{"type": "text", "text": PROMPT}]},
    "bedrock-converse": {"role": "user", "content": [{"text": PROMPT}]},
}


@pytest.fixture
def everything_local(server: StreamServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every client finds the loopback server where it looks for its provider."""

    def point(stream: str) -> None:
        url = server.url(stream)
        for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "CO_API_URL", "OLLAMA_HOST"):
            monkeypatch.setenv(name, url)
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        for name in ("OPENAI", "ANTHROPIC", "GEMINI", "CO"):
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, KEY)
        reroute(monkeypatch, "https://api.openai.com", url)
        if stream == "mistral":
            from mistralai.client import sdkconfiguration

            monkeypatch.setitem(sdkconfiguration.SERVERS, sdkconfiguration.SERVER_GLOBAL, url)
        if stream == "cohere":  # which asks where its server is when it is imported
            for module in [name for name in sys.modules if name.partition(".")[0] == "cohere"]:
                monkeypatch.delitem(sys.modules, module)

    return point


def reroute(monkeypatch: pytest.MonkeyPatch, host: str, url: str) -> None:
    """Requests of httpx to `host` go to `url`."""
    httpx = pytest.importorskip("httpx")
    build = httpx.Client.build_request

    def elsewhere(self: Any, **options: Any) -> Any:
        return build(self, **{**options, "url": str(options["url"]).replace(host, url)})

    monkeypatch.setattr(httpx.Client, "build_request", elsewhere)


def test_every_protocol_has_a_recipe() -> None:
    from toolstream.providers import known_providers

    named = {name for block in RECIPES for name in re.findall(r'read\(\w+, "([\w-]+)"\)', block)}
    assert named == set(known_providers()) & named
    assert len(named) == 9


@pytest.mark.parametrize(
    "recipe", RECIPES, ids=[re.findall(r"import (\w+)", block)[0] + str(i) for i, block in enumerate(RECIPES)]
)
def test_recipe(everything_local: Any, recipe: str) -> None:
    module = re.findall(r"^(?:from ([\w.]+) import|import (openai|\w+))", recipe, re.M)[-1]
    pytest.importorskip("".join(module))
    provider = re.findall(r', "([\w-]+)"\)', recipe)[-1]
    everything_local(provider)
    ran: list[Any] = []
    messages = [PROMPTS.get(provider, USER)]
    namespace: dict[str, Any] = {
        "show": lambda _: None,
        "run": lambda *call: ran.append(call),
        "messages": messages,
        "tools": TOOLS.get(provider, [{"type": "function", "function": FUNCTION}]),
    }
    exec(compile(LOOP, "the loop", "exec"), namespace)
    exec(compile(recipe, "the recipe", "exec"), namespace)
    assert [call[1:] for call in ran] == [("lookup", OSLO), ("now", {})]
    completion = namespace.pop("completion")
    for name in ("stream", "client", "response"):
        namespace.pop(name, None)
    gc.collect()  # the recipes leave their clients open: here, where their warnings do not count
    assert [call[0] for call in ran] == [call.id for call in completion.calls]
    if "messages" in recipe.rpartition("\n")[0].splitlines()[-1]:
        added = completion.message()
        assert messages[1:] == (added if isinstance(added, list) else [added])
