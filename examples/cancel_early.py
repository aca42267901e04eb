"""Stop a stream at the first character that can no longer become JSON.

    python examples/cancel_early.py

A parser beside each call says at every character whether the text is still a prefix of valid JSON. When it is not, the
answer is lost whatever follows, and every further token would be paid for nothing. Leaving the loop closes the source.
"""

from __future__ import annotations

from collections.abc import Iterator

from recorded import HERE, pieces

import toolstream


def main() -> None:
    read = 0

    def counted() -> Iterator[bytes]:
        nonlocal read
        for piece in pieces("malformed.sse"):
            read += len(piece)
            yield piece

    parsers: dict[str, toolstream.StreamingJsonParser] = {}
    events = toolstream.iter_events(counted())
    for event in events:
        match event:
            case toolstream.ToolCallDelta(call, text, restart):
                if restart or call.id not in parsers:
                    parsers[call.id] = toolstream.StreamingJsonParser()
                parser = parsers[call.id]
                parser.feed(text)
                if not parser.valid:
                    events.close()  # and with it the connection
                    print(f"{call.name}: cancelled at character {parser.error.offset}: {parser.error.message}")
                    print(f"so far: {call.partial_arguments}")
                    print(f"{read} of {(HERE / 'malformed.sse').stat().st_size} bytes were read")
                    return


if __name__ == "__main__":
    main()
