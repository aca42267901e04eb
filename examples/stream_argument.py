"""Write one argument of a call to a file while the model is still writing it.

    python examples/stream_argument.py [FOLDER]

`changes=True` gives, with each delta, the path of every value that grew and what was added, so that nobody compares two
snapshots of a text of megabytes. The file keeps a temporary name until the verdict: a call that was cut leaves nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from typing import TextIO

from recorded import pieces

import toolstream


def main(folder: str) -> None:
    drafts: dict[str, TextIO] = {}  # by the call's id
    for event in toolstream.iter_events(pieces("write_file.jsonl"), changes=True):
        match event:
            case toolstream.ToolCallStart(call) if call.name == "write_file":
                name = os.path.join(folder, f"{call.position}.part")
                drafts[call.id] = open(name, "w", encoding="utf-8")  # noqa: SIM115 - closed with the call
            case toolstream.ToolCallDelta(call, _, restart, changes) if call.id in drafts:
                write(drafts[call.id], restart, changes)
            case toolstream.ToolCallEnd(call) if call.id in drafts:
                finish(drafts.pop(call.id), call, folder)


def write(draft: TextIO, restart: bool, changes: Sequence[toolstream.JsonChange]) -> None:
    for kind, path, value in changes:
        if path == ("content",) and isinstance(value, str):
            restart = restart or kind == "set"  # a key that is sent twice counts with its last value
            if restart:
                draft.seek(0)
                draft.truncate()
                restart = False
            draft.write(value)
    draft.flush()


def finish(draft: TextIO, call: toolstream.ToolCall, folder: str) -> None:
    draft.close()
    if call.executable:
        # the path is the model's word: only its last part is used, so that the file stays in the folder
        target = os.path.join(folder, os.path.basename(call.arguments["path"]))
        os.replace(draft.name, target)
        print(f"{target}: {os.path.getsize(target)} bytes")
    else:
        os.unlink(draft.name)
        print(f"nothing was written: the call is {call.status}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="toolstream-"))
