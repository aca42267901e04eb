"""An endpoint that forwards the arguments of calls to a browser while they are written.

    pip install fastapi uvicorn
    cd examples && uvicorn fastapi_sse:app
    curl -N http://127.0.0.1:8000/answer

Each event goes out as server-sent event with its own name; `event.to_dict()` is plain JSON. A browser shows the deltas
as they come, and offers a button when `tool_call.end` says that the call is executable.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from recorded import apieces

import toolstream

app = FastAPI()


async def forwarded(speed: float | None) -> AsyncIterator[str]:
    async for event in toolstream.aiter_events(apieces("parallel.jsonl", speed), changes=True):
        yield f"event: {event.type}\ndata: {json.dumps(event.to_dict())}\n\n"


@app.get("/answer")
async def answer(speed: float = 1.0) -> StreamingResponse:
    """One answer of the model, its calls growing. A client that goes away closes the source too."""
    return StreamingResponse(forwarded(speed), media_type="text/event-stream")
