"""Run each of several parallel calls as soon as it ends, while the others are still being written.

    python examples/fan_out.py [SPEED]

Protocols that announce the end of a call (Responses, Anthropic, Bedrock, Gemini, Cohere) give its `ToolCallEnd` in the
middle of the stream. Chat Completions has no such announcement, and there all calls end with the stream.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from recorded import apieces

import toolstream


async def get_price(symbol: str, currency: str) -> dict[str, Any]:
    await asyncio.sleep(0.05)
    return {"symbol": symbol, "price": 12.5, "currency": currency}


async def search_news(query: str, limit: int, languages: list[str]) -> list[str]:
    await asyncio.sleep(0.2)
    return [f"{query} ({language})" for language in languages][:limit]


async def risk_score(symbol: str, horizon_days: int, factors: dict[str, float]) -> float:
    await asyncio.sleep(0.1)
    return round(sum(factors.values()) * horizon_days / 365, 3)


TOOLS = {tool.__name__: tool for tool in (get_price, search_news, risk_score)}


async def run(call: toolstream.ToolCall) -> dict[str, Any]:
    """The answer to one call, to be sent back to the model; a call that must not be run gets one too."""
    if not call.executable or call.name not in TOOLS:
        return {"call_id": call.id, "error": f"not run: the call is {call.status}"}
    try:
        result = await TOOLS[call.name](**call.arguments)
    except TypeError as error:  # arguments that the tool does not take
        return {"call_id": call.id, "error": str(error)}
    return {"call_id": call.id, "output": json.dumps(result)}


async def main(speed: float | None = 1.0) -> list[dict[str, Any]]:
    running: list[asyncio.Task[dict[str, Any]]] = []
    async for event in toolstream.aiter_events(apieces("parallel.jsonl", speed)):
        match event:
            case toolstream.ToolCallEnd(call):
                print(f"{call.name} has ended, {len(running)} before it")
                running.append(asyncio.create_task(run(call)))
            case toolstream.StreamEnd():
                print(
                    f"the stream has ended, {sum(task.done() for task in running)} of {len(running)} already answered"
                )
    answers = list(await asyncio.gather(*running))
    for answer in answers:
        print(answer)
    return answers


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
