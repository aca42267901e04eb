"""What providers do wrong: the codes, severities, what to tell a person; and whether a finished message is whole.

`DEFECTS` is the one table of codes. Severity says what follows:

- `error`: the call, or the stream, cannot be trusted; such a call is never executable;
- `warning`: the provider broke a rule of its protocol, and the reading is the one that fits what it must have meant;
- `info`: unusual, harmless, and good to know when two providers are compared.

A sentence says what came and what follows from it. It is whole as it stands: whoever reports a defect may put the name
of the call before it and particulars after it, and never the text of arguments.

`detect_completion_defect` asks another question, once, of a message that is finished: is anything missing, so that it
had better be asked for again? Its facts are read from whatever shape the message has, and judged in one place.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

from toolstream._engine import StreamingJsonParser
from toolstream._rules import BLANK, get_field, is_blank
from toolstream.arguments import tool_call_arguments_absent
from toolstream.types import MISSING, CompletionDefect, CompletionDefectKind

__all__ = ["DEFECTS", "LOST", "Severity", "detect_completion_defect"]

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

LOST: Final = frozenset(("orphan_delta", "sse_bad_json"))
"""Codes of defects after which something may be missing."""


# ---------------------------------------------------------------- finished messages

LENGTH: Final = frozenset(
    (
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "model_length",
        "model_context_window_exceeded",
        "repetition_truncation",
        "incomplete",
        "budget_exceeded",
        "continuation",
        "requires_continuation",
    )
)
FILTER: Final = frozenset(
    (
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "refusal",
        "safety",
        "sensitive",
        "recitation",
        "language",
        "blocklist",
        "prohibited_content",
        "spii",
        "model_armor",
        "escalation",
        "pup_limited_disabled",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
    )
)
FAILED: Final = frozenset(
    (
        "error",
        "failed",
        "cancelled",
        "abort",
        "timeout",
        "network_error",
        "insufficient_system_resource",
        "malformed_function_call",
        "malformed_tool_use",
        "malformed_model_output",
        "malformed_response",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "missing_thought_signature",
    )
)
PROMISE: Final = frozenset(("tool_calls", "tool_call", "tool_use", "function_call", "requires_action"))
"""Finish words of all protocols, in small letters: cut by length, cut by a filter, failed, and promising calls."""

GEMINI_FAILED: Final = frozenset(("other", "image_other", "no_image"))
"""Words of failure only where Gemini says them."""

SENTENCES: Final[dict[CompletionDefectKind, str]] = {
    "error": "The provider reported an error; what came before it may be only a part.",
    "name_missing": "It has no name, so nothing can be run for it.",
    "arguments_truncated": "Its arguments end before they are whole; it must not be run.",
    "arguments_invalid": "Its arguments are not valid; it must not be run.",
    "deltas_lost": "Parts of the stream belong to no call or could not be read; something may be missing.",
    "length": "The output was cut because it became too long.",
    "content_filter": "The output was cut by a content filter.",
    "calls_missing": "The finish reason promises tool calls, and there are none.",
    "empty": "The message has neither tool calls nor text.",
    "ended_early": "The stream ended without a finish reason or end mark; what came may be only a part.",
}

_NO_FIELDS: Final = (type(None), str, bytes, bytearray, memoryview, int, float, list, tuple)

_Cut: TypeAlias = Literal["length", "content_filter"]


class _Call(NamedTuple):
    """A call of a finished message."""

    name: Any
    arguments: Any  # text or an object; None: none came
    is_json: bool = True  # whether text arguments are to be JSON
    whole: bool | None = None  # the provider's word on this very call, if it gives one


class _Message(NamedTuple):
    """What matters of a finished message, or of one choice of it."""

    calls: list[_Call]
    speaks: bool  # there is text, reasoning or anything else that is no call
    word: str  # the finish word in small letters, "" if there is none
    failed: bool = False


def detect_completion_defect(completion_or_message: Any) -> CompletionDefect | None:
    """Why a finished message should not be taken as it is, or `None`: it can be.

    Takes a `Completion`, or a provider's own finished message as a dict or an SDK object: a message, a choice or a
    whole completion of Chat Completions (Mistral, Cohere and Ollama are read alike), a message of Anthropic, a response
    of OpenAI Responses, Gemini or Bedrock Converse. What has no fields at all is a `TypeError`.

        >>> call = {"type": "function", "function": {"name": "read", "arguments": '{"path": "no'}}
        >>> detect_completion_defect({"tool_calls": [call], "finish_reason": "tool_calls"}).kind
        'arguments_truncated'

    The kind is the first of these that applies:

    - `error`: the provider reported one;
    - of the first call that has any: `name_missing`; `arguments_truncated`, its text is the beginning of JSON;
      `arguments_invalid`, its text is no JSON (of a `Completion`: none that can be read without loss); `length` or
      `content_filter`, such a cut came before any of its arguments, or in free text, which does not show its end;
    - `deltas_lost`: the stream had fragments or events that nobody could use (known of a `Completion` only);
    - `length`, `content_filter`: the text was cut, and there is no call;
    - `calls_missing`: the finish reason promises calls, and there are none;
    - `empty`: there is neither a call nor text nor reasoning;
    - `ended_early`: the stream broke off (known of a `Completion` only).

    A call without arguments is legitimate, by `tool_call_arguments_absent`, unless the message was cut. Arguments that
    are JSON and no object are left to `parse_tool_call_arguments`: it answers the model, while a defect says that
    asking again may help. A whole call under a `length` word is whole. Of several choices the first defect counts, and
    `call` is the position among the calls of all of them.
    """
    given = completion_or_message
    if isinstance(given, _NO_FIELDS):
        raise TypeError(f"a finished message is an object with fields, not {type(given).__name__}")
    if get_field(given, "calls", MISSING) is not MISSING and get_field(given, "defect_count", MISSING) is not MISSING:
        return _defect_of_completion(given)
    position = 0
    for message in _messages(given):
        defect = _defect_of_message(message, position)
        if defect:
            return defect
        position += len(message.calls)
    return None


# ---------------------------------------------------------------- judging


def _defect(kind: CompletionDefectKind, position: int | None = None, name: Any = None) -> CompletionDefect:
    sentence = SENTENCES[kind]
    if position is not None:
        sentence = f"Call {position}{f' ({name})' if name else ''}: {sentence}"
    return CompletionDefect(kind, position, sentence)


def _cut(word: str) -> _Cut | None:
    """What cut the output, by its finish word."""
    return "length" if word in LENGTH else "content_filter" if word in FILTER else None


def _defect_of_message(message: _Message, position: int) -> CompletionDefect | None:
    """The defect of a message of any provider; `position` is that of its first call."""
    if message.failed or message.word in FAILED:
        return _defect("error")
    for call in message.calls:
        kind = _call_defect(call, _cut(message.word))
        if kind:
            return _defect(kind, position, call.name)
        position += 1
    return None if message.calls else _defect_without_calls(message.speaks, message.word)


def _defect_without_calls(speaks: bool, word: str) -> CompletionDefect | None:
    kind: CompletionDefectKind | None = _cut(word)
    if kind is None and word in PROMISE:
        kind = "calls_missing"
    if kind is None and not speaks:
        kind = "empty"
    return _defect(kind) if kind else None


def _call_defect(call: _Call, cut: _Cut | None) -> CompletionDefectKind | None:
    if not call.name:
        return "name_missing"
    if call.is_json and not tool_call_arguments_absent(call.arguments):
        if isinstance(call.arguments, (str, bytes, bytearray, memoryview)):
            return _text_defect(call.arguments)
        if call.arguments:
            return None
    if call.whole:
        return None
    return cut or (None if call.whole is None else "arguments_truncated")


def _text_defect(text: Any) -> CompletionDefectKind | None:
    """The defect of argument text; None if it is one whole value."""
    parser = StreamingJsonParser()
    parser.feed(text)
    if not parser.valid:
        return "arguments_invalid"
    parser.feed(" ")  # the end of a bare number or literal
    return None if parser.complete and parser.valid else "arguments_truncated"


def _defect_of_completion(completion: Any) -> CompletionDefect | None:
    reason = _word(get_field(completion, "finish_reason"))
    if get_field(completion, "error") or reason == "error":
        return _defect("error")
    lost = get_field(completion, "_lost")  # the defects kept may not reach so far
    if lost is None:
        lost = any(get_field(defect, "code") in LOST for defect in get_field(completion, "defects"))
    calls = get_field(completion, "calls")
    for position, call in enumerate(calls):
        kind = _own_call_defect(call, _cut(reason), lost)
        if kind:
            return _defect(kind, position, get_field(call, "name"))
    if lost:
        return _defect("deltas_lost")
    if not calls:
        speaks = any(not is_blank(get_field(completion, name) or "") for name in ("text", "reasoning"))
        word = reason if _cut(reason) else _word(get_field(completion, "raw_finish_reason"))
        defect = _defect_without_calls(speaks, word)
        if defect:
            return defect
    return None if reason else _defect("ended_early")


def _own_call_defect(call: Any, cut: _Cut | None, lost: bool) -> CompletionDefectKind | None:
    """The defect of a `ToolCall`, by the verdict that it has got."""
    status = get_field(call, "status")
    if not get_field(call, "name"):
        return "name_missing"
    if status == "complete":
        return None
    text = get_field(call, "arguments_text") or ""
    if status == "invalid":  # what is JSON and no object is readable all the same
        return "arguments_invalid" if _text_defect(text) or text.lstrip(BLANK).startswith("{") else None
    if not is_blank(text) and get_field(call, "input") is None:  # free text does not show whether it is whole
        return "arguments_truncated"
    return cut or ("deltas_lost" if lost else "arguments_truncated")


# ---------------------------------------------------------------- reading


def _first(given: Any, *names: str) -> Any:
    """The first of these fields that has something."""
    for name in names:
        value = get_field(given, name)
        if value:
            return value
    return None


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _word(word: Any) -> str:
    """A finish word in small letters; also one that an SDK made an enumeration of."""
    if not isinstance(word, str):
        word = getattr(word, "name", None)
    return str.lower(word) if isinstance(word, str) else ""


def _messages(given: Any) -> list[_Message]:
    """What there is to judge, one for each choice."""
    failed = bool(get_field(given, "error"))
    output = get_field(given, "output")
    if isinstance(output, (list, tuple)):
        return [_response(given, output, failed)]
    if output is not None:  # Bedrock Converse
        return [_chat_message(get_field(output, "message"), _word(get_field(given, "stopReason")), failed)]
    choices = get_field(given, "choices")
    if isinstance(choices, (list, tuple)):
        return [_choice(choice, failed) for choice in choices] or [_Message([], False, "", failed)]
    candidates = _items(get_field(given, "candidates"))
    if candidates:
        return [_candidate(candidate, failed) for candidate in candidates]
    if _first(_first(given, "promptFeedback", "prompt_feedback"), "blockReason", "block_reason"):
        return [_Message([], False, "content_filter", failed)]
    return [_choice(given, failed)]


def _choice(choice: Any, failed: bool) -> _Message:
    """A choice, or anything else that has the message in a field; or the message itself."""
    message = get_field(choice, "message")
    word = _word(_first(choice, "finish_reason", "done_reason", "stop_reason", "stopReason"))
    return _chat_message(choice if isinstance(message, _NO_FIELDS) else message, word, failed)


def _chat_message(message: Any, word: str, failed: bool) -> _Message:
    content = get_field(message, "content")
    calls, speaks = _blocks(content if isinstance(content, (list, tuple)) else [content])
    calls += [_chat_call(entry) for entry in _items(get_field(message, "tool_calls"))]
    legacy = get_field(message, "function_call")
    if legacy is not None:
        calls.append(_Call(get_field(legacy, "name"), get_field(legacy, "arguments")))
    for name in ("refusal", "reasoning_content", "reasoning", "thinking", "tool_plan", "audio"):
        speaks = speaks or _speaks(get_field(message, name))
    return _Message(calls, speaks, word, failed)


def _candidate(candidate: Any, failed: bool) -> _Message:
    """A candidate of Gemini."""
    calls, speaks = _blocks(_items(get_field(get_field(candidate, "content"), "parts")))
    word = _word(_first(candidate, "finishReason", "finish_reason"))
    return _Message(calls, speaks, word, failed or word in GEMINI_FAILED)


def _blocks(blocks: Any) -> tuple[list[_Call], bool]:
    """The calls among content blocks or parts, and whether there is anything else."""
    calls = []
    speaks = False
    for block in blocks:
        use = _first(block, "toolUse", "tool_use", "functionCall", "function_call")
        if use is not None:  # Bedrock, Gemini
            calls.append(_Call(get_field(use, "name"), _first(use, "input", "args")))
        elif get_field(block, "type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            calls.append(_Call(get_field(block, "name"), get_field(block, "input")))
        else:
            speaks = speaks or _speaks(block)
    return calls, speaks


def _speaks(block: Any) -> bool:
    """Whether there is anything in a text or block: text that is not blank, or something else than text."""
    if block is not None and not isinstance(block, str):
        text = next((text for name in ("text", "thinking") if (text := get_field(block, name)) is not None), None)
        if not isinstance(text, str):
            return bool(block)
        block = text
    return block is not None and not is_blank(block)


def _chat_call(entry: Any) -> _Call:
    kind = get_field(entry, "type")
    function = get_field(entry, "function")
    custom = get_field(entry, "custom")
    if custom is not None and function is None:
        return _Call(get_field(custom, "name"), get_field(custom, "input"), is_json=False)
    if kind and kind != "function":
        return _Call(kind, None)  # an item without a name has its type as name
    return _Call(get_field(function, "name"), get_field(function, "arguments"))


def _response(response: Any, output: Any, failed: bool) -> _Message:
    """A response of OpenAI Responses. Its items say themselves whether they are whole."""
    calls = []
    speaks = False
    for item in output:
        kind = get_field(item, "type")
        if isinstance(kind, str) and (kind.endswith("_call") or kind == "mcp_approval_request"):
            name = get_field(item, "name")
            if kind not in ("function_call", "custom_tool_call"):
                name = name or kind
            is_json = kind != "custom_tool_call"
            arguments = get_field(item, "arguments" if is_json else "input")
            calls.append(_Call(name, arguments, is_json, get_field(item, "status") != "incomplete"))
        elif kind == "message":
            speaks = _blocks(_items(get_field(item, "content")))[1] or speaks
        else:
            speaks = True
    word = _word(get_field(response, "status"))
    if _word(get_field(get_field(response, "incomplete_details"), "reason")) == "content_filter":
        word = "content_filter"
    return _Message(calls, speaks, word, failed)
