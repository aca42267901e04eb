"""A call in the terminal while the model writes it.

    python examples/live_view.py [SPEED]

The live view (`partial_arguments`) is made for people: it never raises, and what it shows only grows. It is shown here
as indented JSON that is drawn again when a piece has come; what may be run is known at the end.
"""

from __future__ import annotations

import json
import shutil
import sys

from recorded import pieces

import toolstream

UP, CLEAR = "\x1b[{}A", "\x1b[J"


def fitted(line: str) -> str:
    """The line, or its beginning and its growing end, as wide as the terminal."""
    width = shutil.get_terminal_size().columns - 1
    return line if len(line) <= width else line[:20] + " ... " + line[25 - width :]


def main(speed: float | None = 1.0) -> None:
    drawn = 0
    for event in toolstream.iter_events(pieces("write_file.jsonl", speed)):
        match event:
            case toolstream.TextDelta(text):
                print(text, end="", flush=True)
            case toolstream.ToolCallStart(call):
                print(f"\n{call.name}:")
                drawn = 0
            case toolstream.ToolCallDelta(call):
                # json.dumps writes control characters as escapes, so the model cannot write to the terminal itself
                lines = json.dumps(call.partial_arguments, indent=2).splitlines()
                print((UP.format(drawn) if drawn else "") + CLEAR + "\n".join(map(fitted, lines)))
                drawn = len(lines)
            case toolstream.ToolCallEnd(call):
                print(f"{call.status}, {'may be run' if call.executable else 'must not be run'}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
