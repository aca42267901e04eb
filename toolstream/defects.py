"""What providers do wrong: the codes, how grave each is, and what to tell a person about it.

`DEFECTS` is the one table of codes. Severity says what follows:

- `error`: the call, or the stream, cannot be trusted; such a call is never executable;
- `warning`: the provider broke a rule of its protocol, and the reading is the one that fits what it must have meant;
- `info`: unusual, harmless, and good to know when two providers are compared.

A sentence says what came and what follows from it. It is whole as it stands: whoever reports a defect may put the name
of the call before it and particulars after it, and never the text of arguments.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["DEFECTS", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "info"]
"""How grave a defect is."""

DEFECTS: Final[dict[str, tuple[Severity, str]]] = {
    # errors
    "args_truncated": ("error", "The stream or block ended before the arguments were whole; the call must not be run."),
    "args_invalid": (
        "error",
        "The arguments are no JSON, and reading them would need guessing; the call must not be run.",
    ),
    "args_not_object": ("error", "The arguments are a JSON value, but no object; the call must not be run."),
    "args_nonfinite": (
        "error",
        "The arguments hold NaN or an infinity, which JSON has no number for; the call must not be run.",
    ),
    "args_concatenated": (
        "error",
        "Several values came as the arguments of one call, and nothing says which one is meant; "
        "the call must not be run.",
    ),
    "args_conflict": (
        "error",
        "The finished arguments were sent again with another value, and nothing says which one is meant; "
        "the call must not be run.",
    ),
    "depth_exceeded": ("error", "The arguments are nested deeper than the limit; the call must not be run."),
    "name_missing": ("error", "No name of a tool came for this call by the end; it cannot be run."),
    "stream_error": ("error", "The provider reported an error in mid-stream; what came before it may be only a part."),
    "stream_ended_early": (
        "error",
        "The stream ended without a finish reason, an end mark or an error; what came may be only a part.",
    ),
    # warnings: arguments
    "args_cumulative": (
        "warning",
        "Each fragment carries the whole text so far, not what is new; it replaced the text before it.",
    ),
    "args_double_encoded": ("warning", "The arguments are a JSON string that holds the object; the object was read."),
    "args_fenced": ("warning", "A Markdown fence stands around the arguments; what is inside it was read."),
    "args_merged": ("warning", "Several objects came for one call; they were put together, key by key."),
    "args_placeholder": ("warning", "An empty object came first and the real one later; the later one was taken."),
    "args_repaired": ("warning", "The arguments are no strict JSON, but can be read without any loss; they were."),
    "args_resend": ("warning", "The finished arguments were sent a second time; the copy was ignored."),
    "args_trailing": ("warning", "Text came after the end of the arguments' object; it was ignored."),
    "surrogate_lone": (
        "warning",
        "A string holds half of a surrogate pair, which is no character; U+FFFD stands in its place.",
    ),
    "suspicious_escape": (
        "warning",
        "A backspace or form feed stands before a letter, as when a backslash was not escaped (\\b, \\f); "
        "the text is valid, and was left as it is.",
    ),
    # warnings: which call, and what it is called
    "id_changed": ("warning", "A continuation carries another id than its call; the first id was kept."),
    "id_duplicate": ("warning", "Two calls have the same id; the later one was given an id of its own."),
    "id_placeholder": ("warning", "The id is a placeholder, such as the text null; it was taken as absent."),
    "index_conflict": (
        "warning",
        "Two identifiers of one delta name different calls; the more exact one was followed.",
    ),
    "index_drift": ("warning", "A delta came under another index than its call; it was put where it belongs."),
    "index_null": ("warning", "The index is null; it was taken as absent."),
    "index_reused": ("warning", "A second call came under the index of an earlier one; the two were kept apart."),
    "index_type": ("warning", "The index is no integer; it was read as the number it stands for, or as absent."),
    "name_changed": ("warning", "Another name came after the arguments had begun; the first name was kept."),
    "name_split": ("warning", "The name came in pieces; they were joined."),
    "orphan_delta": ("warning", "A fragment belongs to no known call; it was dropped, and its call may be incomplete."),
    # warnings: order and ends
    "block_unclosed": ("warning", "The message ended, but this block was never closed by an event of its own."),
    "delta_after_finish": ("warning", "Parts of calls came after the finish reason; they were still counted."),
    "done_empty": ("warning", "The final text of the arguments is empty although deltas came; the deltas were kept."),
    "done_mismatch": ("warning", "The final text of the arguments differs from the deltas; the final text was taken."),
    "finish_length": ("warning", "The finish reason says that the output was cut, but every call is closed."),
    # warnings: bytes and events
    "sse_bad_json": (
        "warning",
        "An event is no JSON and could not be used as a whole; a part of the answer may be lost.",
    ),
    "sse_unterminated_event": ("warning", "The input ended without the blank line that closes its last event."),
    "utf8_invalid": ("warning", "Bytes that are no UTF-8 came; U+FFFD stands in their place."),
    # infos: arguments
    "args_empty": ("info", "The call came without any argument text."),
    "args_in_start": ("info", "The whole input came in the event that opens the call, and no delta followed."),
    "args_null": ("info", "The whole argument text is null; it was taken as no arguments."),
    "args_null_delta": ("info", "A delta has null for its argument text; it adds nothing."),
    "args_object": ("info", "The arguments came as an object, not as text."),
    # infos: numbering
    "block_index_gap": ("info", "The numbers of the blocks have a gap."),
    "index_missing": ("info", "The index is missing; the call was found without it."),
    "index_not_zero_based": ("info", "The first call does not have index 0."),
    "index_sparse": ("info", "The indexes of the calls have a gap."),
    "index_repeated_in_delta": ("info", "Several entries of one delta have the same index; they were read in order."),
    "choice_repeated_in_chunk": ("info", "One chunk has several entries for the same choice; they were read in order."),
    # infos: final events
    "done_extends_deltas": (
        "info",
        "The final text of the arguments has more than the deltas; the final text was taken.",
    ),
    "snapshot_only": ("info", "The arguments came whole in a final event, without any delta."),
    "item_id_missing": ("info", "The event has no item id; its output index was followed."),
    # infos: finish
    "finish_mismatch": ("info", "No finish reason says that there are calls, although calls came."),
    "finish_repeated": ("info", "A finish reason came more than once; the last one counts."),
    "function_null": ("info", "The function of a delta is null; it adds nothing."),
    # infos: ids and names
    "id_empty": ("info", "A continuation has an empty id; it was taken as absent."),
    "id_late": ("info", "The id came after the beginning of its call."),
    "id_missing": ("info", "No id came for this call; one was generated."),
    "id_repeated": ("info", "The id came again with a continuation."),
    "name_empty": ("info", "A continuation has an empty name; it was taken as absent."),
    "name_late": ("info", "The name came after the beginning of its call."),
    "name_repeated": ("info", "The name came again with a continuation."),
    "name_missing_in_part": ("info", "A part has arguments and no name; they went to the call before it."),
    # infos: text
    "nul_in_string": ("info", "A string holds the character U+0000, which some systems cannot store."),
}
"""code -> (severity, sentence)."""
