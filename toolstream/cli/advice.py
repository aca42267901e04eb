"""For each defect code, where it comes from and what to do about it: what `check` prints and docs/defects.md lists.

The sentence that says what happened stands with the code in `toolstream.defects`; here is what follows for the people
who run the server and for those who call it.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ADVICE"]

ADVICE: Final[dict[str, tuple[str, str]]] = {
    # errors
    "args_truncated": (
        "The token limit, a filter, an error or a dropped connection ended the output inside the arguments; some "
        "servers lose the last fragment of a call.",
        "Raise the token limit or ask again; on a server, compare the last fragment that the model made with the last "
        "one that was sent.",
    ),
    "args_invalid": (
        "The model wrote text that is not JSON, often by dropping a quote, a value or a bracket.",
        "Send the model what is wrong (parse_tool_call_arguments(call).detail), or constrain the output with a schema "
        "on the server.",
    ),
    "args_not_object": (
        "The model wrote an array, a number or a text where an object of arguments was due.",
        "Ask again with the schema in the prompt; on a server, constrain the output to an object.",
    ),
    "args_nonfinite": (
        "The model wrote NaN or Infinity, or a number beyond the range of a double.",
        "Name the allowed range in the schema, and let the model send null or a text where there is no number.",
    ),
    "args_concatenated": (
        "Two calls were sent under one index without anything that separates them, or every fragment is a document of "
        "its own.",
        "On a server, give every call its own index and id. A client cannot tell which value is meant: ask again.",
    ),
    "args_conflict": (
        "The server corrects itself: it parsed the model's output again and sends another result for the same call.",
        "On a server, send the arguments once, when they are settled. A client should ask again.",
    ),
    "depth_exceeded": (
        "The model repeats an opening bracket without end, or somebody tries to exhaust the reader.",
        "Refuse the call. If such depth is real, raise Limits(max_depth=...).",
    ),
    "name_missing": (
        "The server lost the first delta of a call, or the model's output could not be split into name and arguments.",
        "On a server, send the name with the first delta of the call. A client cannot run the call: ask again.",
    ),
    "stream_error": (
        "Overload, a failed tool-call parser, a filter or a limit of the provider, after the answer had begun.",
        "Read completion.error; try again later if it is a passing trouble. Calls that were whole before may be run.",
    ),
    "stream_ended_early": (
        "The connection broke, a proxy timed out, or a recording was cut.",
        "Try again; look at the idle timeout of proxies. On a server, always send the finish reason and the end mark.",
    ),
    # warnings: arguments
    "args_cumulative": (
        "A bridge forwards snapshots of the arguments as if they were deltas.",
        "On a server, send only what is new. Clients that join deltas read this stream wrong.",
    ),
    "args_double_encoded": (
        "The arguments were serialised twice, once by the model or its template and once by the server.",
        "On a server, do not encode a text that is JSON already.",
    ),
    "args_fenced": (
        "The model writes Markdown, and the server passes the fence on as arguments.",
        "On a server, strip the fence or constrain the output; in a prompt, ask for bare JSON.",
    ),
    "args_merged": (
        "A server splits an object of arguments over several events, or sends it again in parts.",
        "On a server, send one whole object for each call.",
    ),
    "args_placeholder": (
        "A server opens every call with {} and sends the real arguments later.",
        "On a server, open a call with an empty text, not with {}: clients that join deltas get {}{...}.",
    ),
    "args_repaired": (
        "The model wrote a habit of another language: single quotes, True, a comment, a trailing comma, a raw line "
        "end.",
        "Nothing must be done; strict=True refuses such calls. On a server, constrained output avoids it.",
    ),
    "args_resend": (
        "The server sends the whole arguments once more with the end of a call.",
        "On a server, leave the copy out: clients that join deltas get every call twice.",
    ),
    "args_trailing": (
        "The model went on after the object, often with a closing tag of its chat template.",
        "On a server, cut at the end of the object. strict=True refuses such calls.",
    ),
    "surrogate_lone": (
        "A text was cut between the two escapes of one character, or the model wrote only one of them.",
        "On a server, never cut inside an escape; nothing can be restored afterwards.",
    ),
    "suspicious_escape": (
        "The model wrote \\frac or \\beta with one backslash; in JSON that is a form feed or a backspace.",
        "Check the value before it is used; ask the model to double backslashes in LaTeX and in Windows paths.",
    ),
    # warnings: which call, and what it is called
    "id_changed": (
        "The server makes a new id for every delta.",
        "On a server, keep the id of the first delta. Clients that key by id see one call per delta.",
    ),
    "id_duplicate": (
        "The server numbers ids per message part, or uses a constant.",
        "On a server, make ids unique within an answer: results are matched by id. Send back the id that toolstream "
        "gives.",
    ),
    "id_placeholder": (
        "A template printed the absence of an id as a text, such as null or None.",
        "On a server, leave the id out or make one.",
    ),
    "index_conflict": (
        "Two counters of the server disagree, as when items are numbered in another order than they are sent.",
        "On a server, derive index and id from the same counter.",
    ),
    "index_drift": (
        "The first delta of a call is numbered by another list than the later ones, for example by the tools of the "
        "request.",
        "On a server, number calls by their position in the answer, in every delta.",
    ),
    "index_null": (
        "A schema of the server has an optional index, and it is sent as null.",
        "On a server, always send the index of the call.",
    ),
    "index_reused": (
        "The server parses each call alone and calls every one of them number 0.",
        "On a server, count the calls of an answer. Clients that key by index merge the calls into one.",
    ),
    "index_type": (
        "The index was serialised as a text or as a number with a fraction.",
        "On a server, send an integer.",
    ),
    "name_changed": (
        "The server guessed the tool from the first words of the output and corrected the guess later.",
        "On a server, send the name when it is settled. Check such a call before it is run.",
    ),
    "name_split": (
        "The name is streamed token by token.",
        "On a server, send the name whole in the first delta: most clients take the last or the first part only.",
    ),
    "orphan_delta": (
        "The delta that opens the call was lost, or the index of a continuation points nowhere.",
        "On a server, open each call with its name and id before its fragments. Ask again: something is missing.",
    ),
    # warnings: order and ends
    "block_unclosed": (
        "The answer ended inside a block, or the server leaves the closing event out.",
        "On a server, close every block before the message ends.",
    ),
    "delta_after_finish": (
        "The finish reason is sent with every call, or is decided before the last fragment has been sent.",
        "On a server, send the finish reason last. Clients that stop at it lose these parts.",
    ),
    "done_empty": (
        "The final event of the arguments is built from a record that was never filled.",
        "On a server, repeat the whole text in the final event.",
    ),
    "done_mismatch": (
        "The server cleans up the arguments after they have been streamed.",
        "On a server, stream what the final event will say. A client should use the finished call, not the deltas.",
    ),
    "finish_length": (
        "The limit was reached just after the last call, or the reason is reported wrong.",
        "The calls may be run; further calls that the model wanted to make may be missing.",
    ),
    # warnings: bytes and events
    "sse_bad_json": (
        "An event was cut by a proxy or mixed with another one, or the server prints its log into the stream.",
        "Find out what writes into the stream; an event that is lost may have held arguments.",
    ),
    "sse_unterminated_event": (
        "The connection was closed right after the last event, or the server leaves out the last blank line; or the "
        "program gives lines without their ends (`iter_lines()`).",
        "On a server, end every event with a blank line: strict readers drop the last one. In a program, give bytes "
        "as the network brings them.",
    ),
    "utf8_invalid": (
        "A character was cut in two and both halves were replaced, or the text has another encoding.",
        "On a server, cut at characters, or pass bytes on without decoding them.",
    ),
    # infos: arguments
    "args_empty": (
        "A tool without parameters: many servers send no text for it.",
        "Nothing; the arguments are {}, unless the call was cut.",
    ),
    "args_in_start": (
        "The server does not stream arguments.",
        "Nothing; live views show this call at once.",
    ),
    "args_null": (
        "A tool without parameters, whose arguments were serialised from nothing.",
        "Nothing; the arguments are {}, unless the call was cut. On a server, send {}.",
    ),
    "args_null_delta": (
        "The field is sent in every delta, null where there is nothing.",
        "Nothing; clients that join texts without a check fail on it.",
    ),
    "args_object": (
        "The server sends arguments as an object where its protocol has a text.",
        "Nothing; clients that join texts fail on it. On a server, serialise the object.",
    ),
    # infos: numbering
    "block_index_gap": (
        "Blocks that are not sent to the client are counted too.",
        "Nothing.",
    ),
    "index_missing": (
        "The server sends whole calls and sees no need for numbers.",
        "Nothing; many clients take a missing index as 0. On a server, send it.",
    ),
    "index_not_zero_based": (
        "The server counts from 1, or counts the text as number 0.",
        "Nothing; clients that use the index as a list position fail on it.",
    ),
    "index_sparse": (
        "The server counts other things together with the calls.",
        "Nothing; clients that use the index as a list position fail on it.",
    ),
    "index_repeated_in_delta": (
        "Name and first fragment are sent as two entries.",
        "Nothing; clients that keep one entry per index lose the other.",
    ),
    "choice_repeated_in_chunk": (
        "Several tokens are sent in one chunk, each as its own entry.",
        "Nothing; clients that keep one entry per choice lose the others.",
    ),
    # infos: final events
    "done_extends_deltas": (
        "The last fragment is sent in the final event only.",
        "Nothing; clients that only join deltas lose the end of the call.",
    ),
    "snapshot_only": (
        "The server does not stream arguments.",
        "Nothing; live views show this call at its end.",
    ),
    "item_id_missing": (
        "An imitation of the protocol leaves the id out.",
        "Nothing; on a server, send it.",
    ),
    # infos: finish
    "finish_mismatch": (
        "The tool was forced by the request, or the server has no reason of its own for calls.",
        "Nothing; look at the calls, not at the reason.",
    ),
    "finish_repeated": (
        "The reason is sent again with the usage, or with each call.",
        "Nothing; clients that stop at the first one may miss what follows.",
    ),
    "function_null": (
        "The field is sent in every delta, null where there is nothing.",
        "Nothing; clients that read its members without a check fail on it.",
    ),
    # infos: ids and names
    "id_empty": (
        "The field is sent in every delta, empty where there is nothing new.",
        "Nothing; clients that overwrite the id lose it.",
    ),
    "id_late": (
        "The id is made when the call has been recognised.",
        "Nothing.",
    ),
    "id_missing": (
        "The protocol or the server has no ids.",
        "Nothing; match results by the id that toolstream made, or by order.",
    ),
    "id_repeated": (
        "Every delta is built from the same record.",
        "Nothing; clients that start a call at every id see too many calls.",
    ),
    "name_empty": (
        "The field is sent in every delta, empty where there is nothing new.",
        "Nothing; clients that overwrite the name lose it.",
    ),
    "name_late": (
        "The arguments are streamed before the name has been recognised.",
        "Nothing; the call starts when the name is known.",
    ),
    "name_repeated": (
        "Every delta is built from the same record.",
        "Nothing; clients that join names get the name several times.",
    ),
    "name_missing_in_part": (
        "The protocol sends later parts of a call without its name.",
        "Nothing.",
    ),
    # infos: text
    "nul_in_string": (
        "The model wrote the escape \\u0000, often in place of a letter with an accent.",
        "Check the value before it goes to a database or to a program written in C.",
    ),
}
"""code -> (where it comes from, what to do)."""
