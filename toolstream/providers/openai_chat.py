"""OpenAI Chat Completions, and every server that speaks it in its own way.

Calls are not announced: an entry of `delta.tool_calls` carries an index, an id, a name and a fragment, each of them
missing, repeated or wrong at one server or another. The assembler finds the call; here the fields are read, as
tolerantly as the servers are different: nulls anywhere mean nothing new, unknown fields of a call are kept as extras.
Finish words of one chunk come after its deltas. Words that mean a cut win over others: OpenRouter says `tool_calls`
of a cut call, and only `native_finish_reason` tells, beside that word or in a chunk without one.

Sources: https://platform.openai.com/docs/api-reference/chat-streaming and recordings of 25 compatible servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolstream._text import TextBuffer, whole_text
from toolstream.identity import absent, sent_index
from toolstream.providers import plain
from toolstream.providers._blocks import text_arguments
from toolstream.types import MISSING

if TYPE_CHECKING:
    from toolstream.assembler import Assembler, Meaning
    from toolstream.completion import ToolCall

__all__ = ["OpenAIChat"]

_MEANINGS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(("tool_calls", "tool_call", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed"), "stop"),
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_completion_tokens",
            "model_length",
            "model_context_window_exceeded",
            "repetition_truncation",
            "incomplete",
        ),
        "length",
    ),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "safety", "sensitive", "refusal", "recitation", "prohibited_content"),
        "content_filter",
    ),
    **dict.fromkeys(
        ("error", "network_error", "insufficient_system_resource", "abort", "cancelled", "timeout"), "error"
    ),
}
_CUTS: Final = ("length", "content_filter", "error")
_USUAL: Final = frozenset(("tool_calls", "content", "role"))
_CALL_FIELDS: Final = frozenset(("index", "id", "type", "function", "custom"))


class OpenAIChat:
    """One stream of chunks."""

    name = "openai-chat"
    exact_numbers = False

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self._slots = assembler.slots
        self._refusals: dict[int, TextBuffer] = {}
        self._audio: dict[int, str] = {}  # ids of spoken answers, all that the next request has of them
        self._spoken: set[int] = set()  # choices whose text is what was spoken
        self._details: dict[int, list[Any]] = {}  # OpenRouter's `reasoning_details`, which the next request needs
        self._reasoning_field: dict[int, str] = {}  # the field that reasoning came in
        self._noted: dict[int, list[tuple[int, dict[str, Any]]]] = {}  # parts of the content: text before, as sent

    def feed(self, event: dict[str, Any]) -> None:
        """One chunk, or one event of the SDK's stream helper, which has the chunk inside."""
        choices = event.get("choices")
        if choices and isinstance(choices, list):
            if len(choices) > 1:
                self._choices(choices)
            elif not self._continues(choices[0]):
                self._choice(choices[0])
        else:
            chunk = event.get("chunk")
            if isinstance(chunk, dict):
                event = chunk
                if event.get("choices"):
                    self.feed(event)
                    return
            if event.get("object") == "error" or _is_error_type(event.get("type")):
                self.assembler.error(event.get("error") or event)
                return
        if "error" in event or "x_groq" in event or event.get("usage"):
            self._beside(event)

    def close(self) -> None:
        """Nothing is open between chunks."""

    def _beside(self, event: dict[str, Any]) -> None:
        """What stands beside the choices of a chunk."""
        error, usage, groq = event.get("error"), event.get("usage"), event.get("x_groq")
        if isinstance(groq, dict):
            error, usage = error or groq.get("error"), usage or groq.get("usage")
        if error:
            self.assembler.error(error)
        if usage:
            self.assembler.usage(usage if isinstance(usage, dict) else plain(usage))

    # ------------------------------------------------------------ choices

    def _choices(self, choices: list[Any]) -> None:
        """Several choices: the deltas of all come before the finish words."""
        seen: set[int] = set()
        for choice in choices:
            if isinstance(choice, dict):
                number = _choice_number(choice)
                if number in seen:
                    self.assembler.defect("choice_repeated_in_chunk")
                seen.add(number)
                self._choice({**choice, "finish_reason": None, "native_finish_reason": None})
        for choice in choices:
            if isinstance(choice, dict):
                self._finish(_choice_number(choice), choice)

    def _continues(self, choice: Any) -> bool:
        """The short way of nearly all chunks of a call: one entry with nothing odd about it, which begins a call, or is
        an index and a text for one that is known. Whether that is all that the choice is."""
        try:
            delta = choice["delta"]
            if "tool_calls" not in delta or (len(delta) > 1 and (delta.get("content") or not _USUAL.issuperset(delta))):
                return False
            (entry,) = delta["tool_calls"]
            function = entry["function"]
            number, index, text = choice["index"], entry["index"], function["arguments"]
            if len(entry) > 2 or len(function) > 1:
                call, id, name = None, entry.get("id"), function.get("name")
                if not _CALL_FIELDS.issuperset(entry) or type(number) is not int:
                    return False
            else:
                call = self._slots[number][index]
                if call.choice is not number or call.index is not index:
                    return False  # equal numbers of another type go the careful way
        except (AttributeError, KeyError, TypeError, ValueError):
            return False
        if type(text) is not str:
            return False
        if choice.get("finish_reason") or choice.get("native_finish_reason") or "error" in choice:
            return False
        if call is None:
            self.assembler.delta(number, index, id, name, text)
        else:
            self.assembler.append(call, text)
        return True

    def _choice(self, choice: Any) -> None:
        if not isinstance(choice, dict):
            return
        number = choice.get("index")
        if type(number) is not int:
            number = _choice_number(choice)
        delta = choice.get("delta")
        if type(delta) is not dict:  # some servers send the last part as a whole message
            delta = plain(choice.get("message") if delta is None else delta)
            if not isinstance(delta, dict):
                delta = None
        if delta:
            content = delta.get("content")
            if content:
                if isinstance(content, str):
                    self.assembler.text(content, number)
                elif isinstance(content, list):
                    self._parts(number, content)
            calls = delta.get("tool_calls")
            if calls:
                if not isinstance(calls, list):
                    self._call(number, calls, None)  # one entry without its list
                elif len(calls) == 1:
                    self._call(number, calls[0], None)
                else:
                    self._calls(number, calls)
            if not _USUAL.issuperset(delta):
                self._rest(number, delta)
        if choice.get("error"):
            self.assembler.error(choice["error"])
        if choice.get("finish_reason") or choice.get("native_finish_reason"):
            self._finish(number, choice)

    def _finish(self, number: int, choice: dict[str, Any]) -> None:
        word = choice.get("finish_reason")
        meaning = _meaning(choice.get("native_finish_reason"))
        if meaning not in _CUTS:
            meaning = _meaning(word)
        elif not word:
            self.assembler.cut(meaning, number)
        if word:
            self.assembler.finish(word, meaning, number)
            if "usage" in choice:  # some servers have it here
                self.assembler.usage(choice["usage"])

    def _rest(self, choice: int, delta: dict[str, Any]) -> None:
        """The fields of a delta that few chunks have."""
        for field in ("reasoning_content", "reasoning"):
            text = delta.get(field)
            if text and isinstance(text, str):
                self._reasoning_field.setdefault(choice, field)
                self.assembler.reasoning(text, choice)
                break
        if "reasoning_details" in delta:
            details = delta["reasoning_details"]
            if details and isinstance(details, list):
                self._details.setdefault(choice, []).extend(self.assembler.exact(details))
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refusals.setdefault(choice, TextBuffer()).append(refusal)
            self.assembler.text(refusal, choice)
        audio = delta.get("audio")
        if isinstance(audio, dict):
            self._speech(choice, audio)
        legacy = delta.get("function_call")
        if legacy and isinstance(legacy, dict):
            arguments = legacy.get("arguments")
            call = self.assembler.delta(choice, MISSING, None, legacy.get("name"), arguments, "legacy_function")
            if arguments is None and call is not None and "arguments" in legacy:
                self.assembler.defect("args_null_delta", call)

    def _speech(self, choice: int, audio: dict[str, Any]) -> None:
        """A piece of a spoken answer: its id, its words, or its sound, which is not read."""
        id, words = audio.get("id"), audio.get("transcript")
        if id and isinstance(id, str):
            self._audio.setdefault(choice, id)
        if words and isinstance(words, str):
            self._spoken.add(choice)
            self.assembler.text(words, choice)

    def _parts(self, choice: int, parts: list[Any]) -> None:
        """Content as a list of parts: text, and thinking that is a list of parts itself."""
        for part in parts:
            if isinstance(part, str):
                self.assembler.text(part, choice)
            elif isinstance(part, dict):
                thinking, text = part.get("thinking"), part.get("text")
                if thinking or (not isinstance(text, str) and part.get("type") not in (None, "text")):
                    before = self.assembler.completion._text.length(choice)
                    self._noted.setdefault(choice, []).append((before, self.assembler.exact(part)))
                for inner in thinking if isinstance(thinking, list) else (thinking,):
                    self.assembler.reasoning(inner.get("text") if isinstance(inner, dict) else inner, choice)
                if not thinking:
                    self.assembler.text(text, choice)

    # ------------------------------------------------------------ calls

    def _calls(self, choice: int, entries: list[Any]) -> None:
        """Several entries of one delta."""
        count = number = 0  # of bare entries, and those so far
        if not all(type(entry) is dict and type(entry.get("index")) is int for entry in entries):
            entries = [entry for entry in map(_fields, entries) if isinstance(entry, dict)]
            count = sum(map(_is_bare, entries))
            if count > 1:
                self.assembler.bare_entries(choice, count)
        seen: set[int] = set()
        for entry in entries:
            bare = None
            if count > 1 and _is_bare(entry):
                bare = number
                number += 1
            call = self._call(choice, entry, bare)
            index = sent_index(entry.get("index"))
            if index is not None:
                if index in seen and call is not None:
                    self.assembler.defect("index_repeated_in_delta", call)
                seen.add(index)

    def _call(self, choice: int, entry: Any, bare: int | None) -> ToolCall | None:
        if not isinstance(entry, dict):
            entry = plain(entry)
            if not isinstance(entry, dict):
                return None
        function = entry.get("function")
        kind = "function"
        field = "arguments"
        if not isinstance(function, dict):
            entry = plain(entry)
            function = entry.get("function")
            if not isinstance(function, dict):
                custom = entry.get("custom")
                if isinstance(custom, dict) or entry.get("type") == "custom":
                    function, kind, field = custom if isinstance(custom, dict) else {}, "custom", "input"
                else:
                    function = None
        id = entry.get("id")
        if function is None:
            call = self.assembler.delta(choice, entry.get("index", MISSING), id, None, None, kind, bare)
            if call is not None and "function" in entry:
                self.assembler.defect("function_null", call)
        else:
            arguments = function.get(field)
            call = self.assembler.delta(
                choice, entry.get("index", MISSING), id, function.get("name"), arguments, kind, bare
            )
            if arguments is None and call is not None and field in function:
                self.assembler.defect("args_null_delta", call)
        if call is not None and not _CALL_FIELDS.issuperset(entry):
            self.assembler.extras(call, {key: value for key, value in entry.items() if key not in _CALL_FIELDS})
        return call

    # ------------------------------------------------------------ the next request

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The assistant's message. Reasoning goes back, in the field that it came in, where calls follow it: servers
        that think between calls ask for it, and others have not sent any. No request may hold a call without a name."""
        completion = self.assembler.completion
        refusal = self._refusals.get(choice)
        audio = self._audio.get(choice)
        has_own = refusal is None and (audio is None or choice not in self._spoken)
        content: Any = (whole_text(completion._text.read(choice)) if has_own else "") or None
        field = self._reasoning_field.get(choice)
        if choice in self._noted:
            content = _content(content or "", self._noted[choice])
        out: dict[str, Any] = {"role": "assistant", "content": content}
        if refusal is not None:
            out["refusal"] = whole_text(refusal.read())
        if audio is not None:
            out["audio"] = {"id": audio}
        calls = [call for call in completion.calls if call.choice == choice and call.name is not None]
        if calls:
            if field is not None:
                out[field] = whole_text(completion._reasoning.read(choice))
            legacy = [call for call in calls if call.kind == "legacy_function"]
            if legacy:
                out["function_call"] = {"name": legacy[0].name, "arguments": text_arguments(legacy[0])}
            if len(legacy) < len(calls):
                out["tool_calls"] = [_request_call(call) for call in calls if call.kind != "legacy_function"]
        elif refusal is None and audio is None:
            out["content"] = content or ""  # a message has to have something
        if choice in self._details:
            out["reasoning_details"] = _joined(self._details[choice])
        return out


def _request_call(call: ToolCall) -> dict[str, Any]:
    if call.kind == "custom":
        return {
            "id": call.id,
            "type": "custom",
            "custom": {"name": call.name, "input": whole_text(call.input or "")},
            **call.extras,
        }
    function = {"name": call.name, "arguments": text_arguments(call)}
    return {"id": call.id, "type": "function", "function": function, **call.extras}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _content(text: str, noted: list[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The content where it came in parts: text and the other parts in their order, pieces of one thought together."""
    parts: list[dict[str, Any]] = []
    thoughts: list[Any] | None = None  # pieces of the last part, if it may go on
    at = 0
    for offset, part in noted:
        if offset > at:
            parts.append(_text_part(text[at:offset]))
            at, thoughts = offset, None
        thinking = part.get("thinking")
        if not thinking and part.get("type") != "thinking":
            parts.append(part)
            thoughts = None
            continue
        if thoughts is None:
            thoughts = []
            parts.append({"type": "thinking"})
        thoughts += thinking if isinstance(thinking, list) else [_text_part(thinking)] if thinking else []
        parts[-1].update({key: value for key, value in part.items() if value is not None}, thinking=thoughts)
        if part.get("signature"):
            thoughts = None
    if at < len(text):
        parts.append(_text_part(text[at:]))
    return [{**part, "thinking": _thoughts(part["thinking"])} if part.get("thinking") else part for part in parts]


def _thoughts(pieces: list[Any]) -> list[Any]:
    """Pieces of a thought, neighbouring text put together."""
    out: list[Any] = []
    texts: list[str] = []
    for piece in [*pieces, None]:
        if isinstance(piece, dict) and isinstance(piece.get("text"), str):
            texts.append(piece["text"])
            continue
        if texts:
            out.append(_text_part(whole_text("".join(texts))))
            texts = []
        if piece is not None:
            out.append(piece)
    return out


def _joined(details: list[Any]) -> list[Any]:
    """Pieces of `reasoning_details` put together: neighbours of one type and index are one block."""
    blocks: list[Any] = []
    texts: list[dict[str, list[str]]] = []  # of each block: text field -> pieces
    for piece in details:
        last = blocks[-1] if blocks else None
        if not isinstance(piece, dict):
            blocks.append(piece)
            texts.append({})
            continue
        if not isinstance(last, dict) or any(last.get(key) != piece.get(key) for key in ("type", "index")):
            blocks.append({})
            texts.append({})
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                texts[-1].setdefault(key, []).append(value)
            if value is not None or key not in blocks[-1]:
                blocks[-1][key] = value
    for block, fields in zip(blocks, texts, strict=True):
        for key, pieces in fields.items():
            block[key] = whole_text("".join(pieces))
    return blocks


def _choice_number(choice: dict[str, Any]) -> int:
    """The index of a choice; a decimal string is one, and without any it is the first."""
    return sent_index(choice.get("index")) or 0


def _meaning(word: object) -> Meaning | None:
    return _MEANINGS.get(word.lower()) if isinstance(word, str) else None


def _is_error_type(kind: object) -> bool:
    return isinstance(kind, str) and kind.endswith("error")


def _fields(entry: Any) -> Any:
    """An entry as a dict; there may be an SDK's object in its place, or inside it."""
    if type(entry) is dict and type(entry.get("function")) is dict:
        return entry
    return plain(entry)


def _is_bare(entry: dict[str, Any]) -> bool:
    """Whether an entry says nothing about which call it is for."""
    if not absent(entry.get("index")) or not absent(entry.get("id")):
        return False
    function = entry.get("function") or entry.get("custom")
    return not isinstance(function, dict) or absent(function.get("name"))
