"""A fragment of the wire that may be shown: what identifies and frames stays, what users and models wrote goes.

A message whose payload is JSON is masked by its structure: strings survive only under keys that carry identity, types,
and reasons; argument texts keep their JSON punctuation, literals and escapes, which is where their faults are, and lose
letters and digits. In bytes that cannot be parsed only the words of protocols survive.
"""

from __future__ import annotations

import json
import re
from typing import Any

from toolstream.cli.output import clean, shorten

__all__ = ["fragment"]

LONGEST = 320
DEPTH = 64  # of a payload; deeper parts are left out


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOISE = _words("""
    created created_at createTime model modelVersion system_fingerprint service_tier logprobs obfuscation p responseId
    sequence_number usageMetadata prompt_filter_results safetyRatings
""")
SHOWN = _words("""
    id type object name role index status code param call_id item_id tool_call_id toolUseId response_id event event_type
    finish_reason native_finish_reason stop_reason stopReason finishReason done_reason kind jsonPath output_index
""")
ARGUMENTS = _words("arguments args input partial_json parameters partialArgs delta failed_generation")
LITERALS = _words("true false null True False None NaN Infinity undefined")
PROTOCOL_WORDS = (
    NOISE
    | SHOWN
    | ARGUMENTS
    | LITERALS
    | _words("""
    data event choices delta tool_calls function function_call content message messages error DONE assistant
    content_block content_block_start content_block_delta content_block_stop message_start message_delta message_stop
    input_json_delta text_delta text tool_use candidates parts functionCall contentBlockDelta contentBlockStart
    contentBlockStop contentBlockIndex toolUse usage item response output done custom
""")
)

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{0,4}|\\.|\w+", re.DOTALL)
_WORD = re.compile(r"\w+")


def fragment(data: bytes, *, show_values: bool) -> str:
    """One line for a message of the wire, as it was sent or masked, shortened around its middle."""
    text = data.decode("utf-8", "replace").strip("\r\n")
    lines = [line if show_values else _masked_line(line) for line in text.splitlines()]
    return shorten(clean(" / ".join(lines)), LONGEST)


def _masked_line(line: str) -> str:
    field, colon, payload = line.partition(":")
    if field in ("event", "id", "retry") or (field == "data" and payload.strip() == "[DONE]"):
        return line
    if field == "data" and colon:
        return "data: " + _masked_payload(payload.strip())
    return _masked_payload(line.strip())


def _masked_payload(payload: str) -> str:
    try:
        value = json.loads(payload.strip(","))
    except (ValueError, RecursionError):
        return _WORD.sub(lambda word: word[0] if word[0] in PROTOCOL_WORDS else _mask(word[0]), payload)
    if isinstance(value, dict) and "choices" in value:  # these say the same in every chunk of a stream
        value = {name: item for name, item in value.items() if name not in ("id", "object")}
    return json.dumps(_masked(value, "", DEPTH, inside=False), ensure_ascii=False)


def _masked(value: Any, key: str, depth: int, *, inside: bool) -> Any:
    """The value without its content; `inside`: within the arguments of a call, where no key means anything."""
    if isinstance(value, dict):
        if not depth:
            return "..."
        return {
            _mask(name) if inside else name: _masked(
                item, name, depth - 1, inside=inside or (name in ARGUMENTS and not _is_envelope(name, item))
            )
            for name, item in value.items()
            if inside or name not in NOISE
        }
    if isinstance(value, list):
        return [_masked(item, key, depth - 1, inside=inside) for item in value] if depth else "..."
    if isinstance(value, str):
        if inside:
            return _mask_json(value)
        return value if key in SHOWN else _mask(value)
    if inside and isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0
    return value


def _is_envelope(name: str, item: Any) -> bool:
    """`delta` is a text of arguments in one protocol and the envelope of a change in the others."""
    return name == "delta" and isinstance(item, dict)


def _mask_json(text: str) -> str:
    """An argument text: punctuation, literals and escapes stay."""

    def masked(token: re.Match[str]) -> str:
        word = token[0]
        if word.startswith("\\u"):
            surrogate = word[2:4].lower() in ("d8", "d9", "da", "db", "dc", "dd", "de", "df")
            return word if surrogate else "\\u" + "0" * (len(word) - 2)
        return word if word.startswith("\\") or word in LITERALS else _mask(word)

    return _TOKEN.sub(masked, text)


def _mask(text: str) -> str:
    return "".join("0" if c.isdigit() else "x" if c.isalnum() else c for c in text)
