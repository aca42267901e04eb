"""OpenAI Responses, and the many servers that speak it (Azure, xAI, LM Studio, Bedrock, vLLM, GitHub Copilot).

The answer is a list of items; an item is announced, filled by deltas, and closed by an event that repeats it whole. The
last event repeats the whole list. So everything may come up to four times, and each of them may be the only one.

Which item an event means: a known `item_id` decides; an unknown one says nothing (some servers send another one on
every event); then `call_id`; then `output_index`, which is all that shell events have. Only an item itself, announced
or closed or in the final list, opens a call.

An item's last status counts for little: a finished item may still say `in_progress`. `incomplete` is believed; so is
a response that says it, or worse, in an event that says better.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

from .._text import whole_text
from ..identity import absent, sent_index, sent_word
from ._blocks import text_arguments
from ._paths import PathWriter

if TYPE_CHECKING:
    from ..assembler import Assembler, Meaning
    from ..completion import ToolCall
    from ..types import JsonPath

__all__ = ["OpenAIResponses"]

TEXT: Final = "text"  # the field holds JSON text
FREE: Final = "free"  # the field holds text of any kind
OBJECT: Final = "object"  # the field holds an object
LIST: Final = "list"  # the field holds a list: it becomes the one argument

# item type -> kind of call, field of the arguments, form of that field
_CALLS: Final = {
    "function_call": ("function", "arguments", TEXT),
    "custom_tool_call": ("custom", "input", FREE),
    "mcp_call": ("mcp", "arguments", TEXT),
    "mcp_approval_request": ("mcp_approval", "arguments", TEXT),
    "local_shell_call": ("client_builtin", "action", OBJECT),
    "shell_call": ("client_builtin", "action", OBJECT),
    "apply_patch_call": ("client_builtin", "operation", OBJECT),
    "computer_call": ("client_builtin", "action", OBJECT),
    "web_search_call": ("server", "action", OBJECT),
    "file_search_call": ("server", "queries", LIST),
    "code_interpreter_call": ("server", "code", FREE),
    "image_generation_call": ("server", "", OBJECT),
    "tool_search_call": ("server", "arguments", OBJECT),
    "program": ("server", "code", FREE),
}
_ANSWERED: Final = frozenset(  # by an output that names their `call_id`
    type_ for type_, (kind, _, _) in _CALLS.items() if kind in ("function", "custom", "client_builtin")
)
_NAMED: Final = frozenset(("function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"))

# xAI's own tools run on its servers and come as custom tool calls all the same.
_XAI_TOOLS: Final = frozenset(("x_keyword_search", "x_semantic_search", "x_user_search", "x_thread_fetch"))

# What the answer to a call must repeat, or what tells whom it goes to.
_EXTRAS: Final = ("namespace", "caller", "server_label", "pending_safety_checks")

# Fields of output items that requests do not take: added by the server's listing, or by an SDK that parses.
_OUTPUT_ONLY: Final = frozenset(("created_by", "parsed_arguments", "parsed"))


class _Item:
    """One item of the output."""

    __slots__ = ("call", "closed", "fields", "index", "pieces", "type", "writer")

    def __init__(self, type_: str, index: int | None, fields: dict[str, Any]) -> None:
        self.type = type_
        self.index = index
        self.fields = fields  # as sent last
        self.closed = False
        self.call: ToolCall | None = None
        self.writer: PathWriter | None = None  # of a call whose object comes in pieces
        self.pieces: dict[tuple[str, int], list[str]] = {}  # streamed text: (type of part, its index) -> pieces


class OpenAIResponses:
    """Reads events of the Responses API."""

    name = "openai-responses"
    exact_numbers = False
    has_done = False

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        assembler.call_word = False
        self._items: list[_Item] = []
        self._by_id: dict[str | None, _Item] = {}  # an absent id finds nothing
        self._by_call_id: dict[str | None, _Item] = {}
        self._by_index: dict[int, _Item] = {}
        self._from_xai: bool | None = None  # None: the model was not named
        self._last: ToolCall | None = None  # the call announced last, if it has an item id
        self._last_id = ""
        self._loose: dict[str, _Item] = {}  # type -> the item of text that names none
        self._failed = False
        self._settled = 0  # so many items were looked at when the response ended

    def feed(self, event: dict[str, Any]) -> None:
        """One event; unknown types are ignored."""
        kind = event.get("type")
        if kind == "response.function_call_arguments.delta":  # nearly all events: of the same item as the one before
            call = self._last
            index = event.get("output_index")  # equal numbers of another type go the careful way
            if call is not None and event.get("item_id") == self._last_id and index is call.index:
                delta = event.get("delta")
                if type(delta) is str:
                    self._assembler.append(call, delta)
                    return
        handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, event)
        elif kind is None and event.get("error"):
            self._error(event)

    def close(self) -> None:
        """Calls without an end of their own end with the stream, with what their announcement had."""
        for item in self._items:
            if item.call is not None and not item.closed and not self._take_announced(item, item.call, item.fields):
                self._assembler.end(item.call, regular=False)

    # ------------------------------------------------------------ which item

    def _item_of(self, event: dict[str, Any]) -> _Item | None:
        """The item that a delta or a `done` event belongs to."""
        index = sent_index(event.get("output_index"))
        item = self._by_id.get(sent_word(event.get("item_id")))
        if item is None:
            item = self._by_call_id.get(sent_word(event.get("call_id")))
            return item or (None if index is None else self._by_index.get(index))
        self._compare_index(item, index)
        return item

    def _call_of(self, event: dict[str, Any]) -> ToolCall | None:
        """The call that a fragment belongs to; without one it is an orphan."""
        item = self._item_of(event)
        if item is None or item.call is None:
            self._assembler.defect("orphan_delta")
            return None
        if absent(event.get("item_id")):
            self._assembler.defect("item_id_missing", item.call)
        index = event.get("output_index")
        if type(index) is not int and not absent(index):
            self._assembler.defect("index_type", item.call)
        return item.call

    def _compare_index(self, item: _Item, index: int | None) -> None:
        if index != item.index and index is not None and item.index is not None and item.call is not None:
            self._assembler.defect("index_conflict", item.call)

    def _same_item(
        self, fields: dict[str, Any], index: int | None, others: Collection[_Item | None] | None = None
    ) -> _Item | None:
        """The known item that this one repeats: by its ids, else by its place. An item that has ended is not there any
        more for one with another call id, but for the final list: there it is, if it has its name and is none of the
        `others` that the list names."""
        item = self._by_ids(fields, index)
        if item is not None or index is None:
            return item
        here = self._by_index.get(index)
        if here is None or here.type != fields.get("type") or (others is not None and here in others):
            return None
        if not here.closed or _agree(here.fields, fields, "call_id"):
            return here
        return here if others is not None and _agree(here.fields, fields, "name") else None

    def _by_ids(self, fields: dict[str, Any], index: int | None) -> _Item | None:
        """The known item with that id, else with that call id. Some servers use an id again: then the call id counts,
        or, of an item that has ended, the place."""
        item_id = sent_word(fields.get("id"))
        by_id, by_call = self._by_id.get(item_id), self._by_call_id.get(sent_word(fields.get("call_id")))
        if by_call is not None:
            if sent_word(by_call.fields.get("id")) == item_id:
                by_id = by_call
        elif by_id is None:
            return None
        for item in (by_id, by_call):
            if item is None or item.type != fields.get("type"):
                continue
            if item is by_call or not item.closed or index == item.index or _agree(item.fields, fields, "call_id"):
                return item
        return None

    def _enter(self, fields: dict[str, Any], index: int | None) -> _Item:
        """A new item. It takes over the ids and the index: later events mean the newest."""
        item = _Item(str(fields.get("type")), index, fields)
        self._items.append(item)
        item_id, call_id = sent_word(fields.get("id")), sent_word(fields.get("call_id"))
        self._last = None
        if item_id is not None:
            self._by_id[item_id] = item
        if call_id is not None:
            self._by_call_id[call_id] = item
        if index is not None:
            self._by_index[index] = item
        return item

    # ------------------------------------------------------------ items

    def _item_added(self, event: dict[str, Any]) -> None:
        fields, index = self._assembler.exact(event.get("item")), sent_index(event.get("output_index"))
        if not isinstance(fields, dict):
            return
        known = self._same_item(fields, index)
        if known is not None and not known.closed and _announces(fields, known.fields, index == known.index):
            self._compare_header(known, fields)
            return  # a second time
        taken = index is not None and index in self._by_index
        item = self._enter(fields, index)
        self._open(item, event.get("output_index"))
        call = item.call
        if call is None:
            return
        if taken:
            self._assembler.defect("index_reused", call)
        _, field, form = _CALLS[item.type]
        value = fields.get(field)
        if form in (TEXT, FREE) and isinstance(value, str) and value:
            self._assembler.append(call, value)

    def _item_done(self, event: dict[str, Any]) -> None:
        fields, index = self._assembler.exact(event.get("item")), sent_index(event.get("output_index"))
        if not isinstance(fields, dict):
            return
        item = self._same_item(fields, index)
        if item is not None:
            self._compare_index(item, index)
        else:
            item = self._late(fields, index, event.get("output_index"))
        self._close(item, fields, fields.get("status") != "incomplete")

    def _late(self, fields: dict[str, Any], index: int | None, index_sent: object) -> _Item:
        """An item that nothing had announced."""
        item = self._enter(fields, index)
        self._open(item, index_sent)
        if item.call is not None:
            self._assembler.defect("snapshot_only", item.call)
        return item

    def _open(self, item: _Item, index_sent: object) -> None:
        """Announce the item's call, if it is one."""
        found = _CALLS.get(item.type)
        if found is None:
            return
        fields = item.fields
        kind, _, form = found
        name = fields.get("name") if item.type in _NAMED else item.type
        if item.type == "custom_tool_call" and sent_word(name) in _XAI_TOOLS and self._from_xai is not False:
            kind = "server"
        elif item.type == "tool_search_call" and fields.get("execution") == "client":
            kind = "client_builtin"
        elif item.type == "shell_call" and _type_of(fields.get("environment")).startswith("container"):
            kind = "server"
        id_ = _id_of(item.type, fields)
        item.call = self._assembler.open(None, id=id_, name=name, kind=kind, index=index_sent, free_text=form is FREE)
        self._take_extras(item.call, fields)
        item_id = fields.get("id")
        if isinstance(item_id, str) and not absent(item_id):
            self._last, self._last_id = item.call, item_id

    def _take_extras(self, call: ToolCall, fields: dict[str, Any]) -> None:
        if not fields.keys().isdisjoint(_EXTRAS):
            self._assembler.extras(call, {name: fields[name] for name in _EXTRAS if fields.get(name)})

    def _close(self, item: _Item, fields: dict[str, Any], regular: bool) -> None:
        """The whole item came: it says what no delta said, and ends."""
        self._compare_header(item, fields)
        if item.closed:
            return
        item.closed = True
        before, item.fields = item.fields, fields
        call = item.call
        if call is None:
            self._whole_text(item)
            return
        for known, key in (
            (self._by_id, "id"),
            (self._by_call_id, "call_id"),
        ):  # events that follow may use the new ids
            value = sent_word(fields.get(key))
            if value is not None:
                known.setdefault(value, item)
        self._take_extras(call, fields)
        self._take_whole(item, call, fields)
        known_arguments = before is fields or self._take_announced(item, call, before)
        self._assembler.end(call, regular=regular and known_arguments)

    def _compare_header(self, item: _Item, fields: dict[str, Any]) -> None:
        """Id and name as the item has them now: late and changed ones are reported, and the first ones stay. A name is
        whole here, never a further part of one."""
        call = item.call
        if call is None:
            return
        before, id_ = sent_word(_id_of(item.type, item.fields)), sent_word(_id_of(item.type, fields))
        name = sent_word(fields.get("name")) if item.type in _NAMED else None
        if name is not None and call.name not in (None, name):
            self._assembler.defect("name_changed", call)
        if id_ == before or (item.closed and before is None):
            id_ = None
        if item.closed or call.name is not None:
            name = None
        if id_ is not None or name is not None:
            self._assembler.header(call, id_, name)

    def _take_whole(self, item: _Item, call: ToolCall, fields: dict[str, Any]) -> None:
        """The arguments of a whole item."""
        _, field, form = _CALLS[item.type]
        value = fields.get(field)
        if form is OBJECT and value is None and isinstance(fields.get("actions"), list):
            value = {"actions": fields["actions"]}  # a computer call may have several
        if value is None or isinstance(value, str) or form in (TEXT, FREE):
            self._assembler.final_text(call, value, done=False)
        elif form is LIST:
            self._assembler.whole(call, {field: value})
        else:
            self._whole_object(item, call, value)

    def _take_announced(self, item: _Item, call: ToolCall, fields: dict[str, Any]) -> bool:
        """What the announcement had of the arguments, where nothing else came of them. False: it had something, and
        they are not known. That is so for objects, which are announced before they are whole."""
        _, field, form = _CALLS[item.type]
        value = fields.get(field)
        if value is None or value in ("", {}) or (value == [] and form is LIST):
            return True
        if isinstance(value, str):
            if call.arguments_text == value:
                self._assembler.defect("args_in_start", call)
        elif not call.arguments_text:
            if form is OBJECT:
                return False
            self._assembler.defect("args_in_start", call)
            self._assembler.whole(call, {field: value} if form is LIST else value, normal=form is LIST)
        return True

    def _whole_object(self, item: _Item, call: ToolCall, value: Any) -> None:
        if item.writer is None:
            self._assembler.whole(call, value)
            return
        if isinstance(
            value, dict
        ):  # in the order in which it was streamed, so that the text only grows if it was right
            value = {**{name: value[name] for name in item.writer.names if name in value}, **value}
        self._assembler.replace(call, json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    # ------------------------------------------------------------ arguments

    def _arguments_delta(self, event: dict[str, Any]) -> None:
        call = self._call_of(event)
        if call is None:
            return
        delta = event.get("delta", "")
        if isinstance(delta, str):
            self._assembler.append(call, delta)
        elif delta is None:
            self._assembler.defect("args_null_delta", call)
        else:
            self._assembler.whole(call, delta, normal=False)

    def _arguments_done(self, event: dict[str, Any]) -> None:
        call = self._call_of(event)
        if call is None:
            return
        for field in ("arguments", "input", "code"):
            if field in event:
                self._assembler.final_text(call, event[field])
                break

    def _diff(self, event: dict[str, Any]) -> None:
        """A piece of a patch, or all of it again."""
        self._live(event, ("diff",), event.get("delta"), event.get("diff"))

    def _command(self, event: dict[str, Any]) -> None:
        """The beginning of a shell command, a piece, or all of it again."""
        whole = event["type"].endswith("done")
        piece = None if whole else event.get("delta", event.get("command"))
        self._live(event, ("commands", sent_index(event.get("command_index")) or 0), piece, event.get("command"))

    def _live(self, event: dict[str, Any], path: JsonPath, piece: object, whole: object) -> None:
        """A piece of a string inside a call's object; without a piece, the whole string ends it.

        The item that closes the call has the object whole, and wins over all of this.
        """
        item = self._item_of(event)
        if item is None or item.call is None or item.closed:
            self._assembler.defect("orphan_delta")
            return
        writer = item.writer
        if writer is None:
            writer = item.writer = PathWriter()
            begun = item.fields.get(_CALLS[item.type][1])
            for name, value in begun.items() if isinstance(begun, dict) else ():
                if name != path[0] and isinstance(value, str):
                    writer.append(((), name), value)
        place = (path[:-1], path[-1])
        key = (str(path[0]), path[-1] if isinstance(path[-1], int) else 0)
        if isinstance(piece, str):
            item.pieces[key] = []  # only to know that it has begun
            writer.append(place, piece, more=True)
        elif isinstance(whole, str):
            writer.append(place, "" if key in item.pieces else whole)
            item.pieces[key] = []
        writer.pass_on(self._assembler, item.call)

    # ------------------------------------------------------------ text

    def _text_delta(self, event: dict[str, Any]) -> None:
        self._say(event, event.get("delta"))

    def _text_done(self, event: dict[str, Any]) -> None:
        """The whole text again: it counts where no delta came."""
        self._say(event, event.get("refusal", event.get("text")), only_if_new=True)

    def _say(self, event: dict[str, Any], text: object, *, only_if_new: bool = False) -> None:
        if not isinstance(text, str) or not text:
            return
        part = event["type"].split(".")[1]
        reasoning = part.startswith("reasoning")
        item = self._item_of(event) or self._loose_item("reasoning" if reasoning else "message", event)
        index = sent_index(event.get("summary_index", event.get("content_index"))) or 0
        if only_if_new and (part, index) in item.pieces:
            return
        item.pieces.setdefault((part, index), []).append(text)
        if reasoning:
            self._assembler.reasoning(text)
        else:
            self._assembler.text(text)

    def _loose_item(self, kind: str, event: dict[str, Any]) -> _Item:
        """The item of text whose announcement was missed, as in a stream that is taken up in the middle."""
        item_id, index = sent_word(event.get("item_id")), sent_index(event.get("output_index"))
        if index is not None or item_id is not None:
            return self._enter({"type": kind, "id": item_id}, index)
        if kind not in self._loose:
            self._loose[kind] = self._enter({"type": kind}, None)
        return self._loose[kind]

    def _whole_text(self, item: _Item) -> None:
        """The text of a whole item of which no piece was streamed."""
        if item.pieces:
            return
        if item.type == "message":
            for part in _dicts(item.fields.get("content")):
                self._assembler.text(part.get("text") or part.get("refusal"))
        elif item.type == "reasoning":
            for part in _dicts(item.fields.get("summary")) or _dicts(item.fields.get("content")):
                self._assembler.reasoning(part.get("text"))

    # ------------------------------------------------------------ the response

    def _started(self, event: dict[str, Any]) -> None:
        response = event.get("response")
        model = response.get("model") if isinstance(response, dict) else None
        if isinstance(model, str) and model:
            self._from_xai = "grok" in model.lower()

    def _ended(self, event: dict[str, Any]) -> None:
        kind: str = event["type"].rpartition(".")[2]
        response = self._assembler.exact(event.get("response"))
        if not isinstance(response, dict):
            response = {}
        says = response.get("status")
        if isinstance(says, str) and _ENDS.get(says, 0) > _ENDS[kind]:
            kind = says
        self._started(event)
        output = _dicts(response.get("output"))
        others = {self._by_ids(fields, index) for index, fields in enumerate(output)}
        for index, fields in enumerate(output):
            status = fields.get("status")
            regular = status == "completed" or (kind == "completed" and status != "incomplete")
            item = self._same_item(fields, index, others) or self._late(fields, index, index)
            self._close(item, fields, regular)
        for item in self._items[self._settled :]:
            if item.call is not None and not item.closed:
                if kind == "completed" and item.writer is not None:
                    item.writer.finish()
                    item.writer.pass_on(self._assembler, item.call)
                self._take_announced(item, item.call, item.fields)
        self._settled = len(self._items)
        self._assembler.usage(response.get("usage"))
        word = says if isinstance(says, str) and says else kind
        meaning: Meaning | None = None
        if kind == "incomplete":
            details = response.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else None
            word = reason if isinstance(reason, str) and reason else word
            meaning = "content_filter" if word == "content_filter" else "length"
        elif kind != "completed":
            meaning = "error"
            if kind == "failed" and not self._failed:
                self._failed = True
                self._assembler.error(response.get("error") or {"message": "the response has failed"})
        self._assembler.finish(word, meaning)
        self._assembler.end_mark()

    def _error(self, event: dict[str, Any]) -> None:
        self._failed = True
        error = event.get("error")
        if not error:
            error = {name: value for name, value in event.items() if name not in ("type", "sequence_number")}
        self._assembler.error(error)

    # ------------------------------------------------------------ the next request

    def message(self, choice: int = 0) -> list[dict[str, Any]]:
        """The items of the answer, to be put into the next request's `input` before the outputs of the calls.

        Items are as sent, reasoning with its encrypted content; a call has the id that its output must name, and the
        arguments that the model wrote. Of a broken stream the text and the client's calls so far are kept; unfinished
        reasoning, unfinished calls of the server and calls without a name are not, since no request may hold them.
        """
        items = self._items
        if all(item.index is not None for item in items):
            items = sorted(items, key=lambda item: item.index or 0)
        return [fields for item in items if (fields := _request_item(item)) is not None]


_ENDS: Final = {"completed": 0, "incomplete": 1, "cancelled": 2, "failed": 3}  # from the best to the worst

_HANDLERS: Final[dict[str, Callable[[OpenAIResponses, dict[str, Any]], None]]] = {
    "response.function_call_arguments.delta": OpenAIResponses._arguments_delta,
    "response.custom_tool_call_input.delta": OpenAIResponses._arguments_delta,
    "response.mcp_call_arguments.delta": OpenAIResponses._arguments_delta,
    "response.code_interpreter_call_code.delta": OpenAIResponses._arguments_delta,
    "response.function_call_arguments.done": OpenAIResponses._arguments_done,
    "response.custom_tool_call_input.done": OpenAIResponses._arguments_done,
    "response.mcp_call_arguments.done": OpenAIResponses._arguments_done,
    "response.code_interpreter_call_code.done": OpenAIResponses._arguments_done,
    "response.output_text.delta": OpenAIResponses._text_delta,
    "response.refusal.delta": OpenAIResponses._text_delta,
    "response.reasoning_summary_text.delta": OpenAIResponses._text_delta,
    "response.reasoning_text.delta": OpenAIResponses._text_delta,
    "response.output_text.done": OpenAIResponses._text_done,
    "response.refusal.done": OpenAIResponses._text_done,
    "response.reasoning_summary_text.done": OpenAIResponses._text_done,
    "response.reasoning_text.done": OpenAIResponses._text_done,
    "response.apply_patch_call_operation_diff.delta": OpenAIResponses._diff,
    "response.apply_patch_call_operation_diff.done": OpenAIResponses._diff,
    "response.shell_call_command.added": OpenAIResponses._command,
    "response.shell_call_command.delta": OpenAIResponses._command,
    "response.shell_call_command.done": OpenAIResponses._command,
    "response.output_item.added": OpenAIResponses._item_added,
    "response.output_item.done": OpenAIResponses._item_done,
    "response.created": OpenAIResponses._started,
    "response.in_progress": OpenAIResponses._started,
    "response.queued": OpenAIResponses._started,
    "response.completed": OpenAIResponses._ended,
    "response.incomplete": OpenAIResponses._ended,
    "response.failed": OpenAIResponses._ended,
    "response.cancelled": OpenAIResponses._ended,
    "error": OpenAIResponses._error,
}


def _request_item(item: _Item) -> dict[str, Any] | None:
    fields = {name: value for name, value in item.fields.items() if name not in _OUTPUT_ONLY}
    call = item.call
    if call is None:
        if item.type == "message":
            if not item.closed:
                return _cut_message(item, fields)
            content = _dicts(fields.get("content"))
            fields["content"] = [{k: v for k, v in part.items() if k not in _OUTPUT_ONLY} for part in content]
        return fields if item.closed else None
    kind, field, form = _CALLS[item.type]
    if not item.closed and kind in ("server", "mcp"):
        return None
    if item.type in _ANSWERED or not absent(fields.get("call_id")):
        fields["call_id"] = call.id
    elif kind == "mcp_approval":
        fields["id"] = call.id  # which the answer names
    if item.type in _NAMED:
        if call.name is None:
            return None
        fields["name"] = call.name
    if form is TEXT:
        fields[field] = text_arguments(call)
    elif form is FREE:
        fields[field] = whole_text(call.arguments_text)
    elif not item.closed and item.writer is not None:
        begun = fields.get(field)
        fields[field] = {**(begun if isinstance(begun, dict) else {}), **call.partial_arguments}
    if not item.closed and item.type in ("function_call", "local_shell_call", "shell_call", "computer_call"):
        fields["status"] = "incomplete"
    return fields


def _cut_message(item: _Item, fields: dict[str, Any]) -> dict[str, Any] | None:
    """A message that was never closed, from its pieces; without any there is nothing to say."""
    content: list[dict[str, Any]] = []
    for (part, _), pieces in item.pieces.items():
        text = whole_text("".join(pieces))
        if part == "refusal":
            content.append({"type": "refusal", "refusal": text})
        else:
            content.append({"type": "output_text", "text": text, "annotations": []})
    if not content:
        return None
    return {**fields, "role": "assistant", "status": "incomplete", "content": content}


def _id_of(type_: str, fields: dict[str, Any]) -> object:
    """The id that the answer to an item has to name."""
    call_id = fields.get("call_id")
    return fields.get("id") if absent(call_id) and type_ not in _ANSWERED else call_id


def _agree(one: dict[str, Any], other: dict[str, Any], field: str) -> bool:
    """Whether an id or a name of two items is the same, or one of them has none."""
    a, b = sent_word(one.get(field)), sent_word(other.get(field))
    return a is None or b is None or a == b


def _announces(fields: dict[str, Any], known: dict[str, Any], same_place: bool) -> bool:
    """Whether a new announcement is that of a known item: by its id, or by its call id in the same place. An id does
    not tell alone, for some servers use it again."""
    if sent_word(fields.get("id")) is not None and sent_word(fields.get("id")) == sent_word(known.get("id")):
        return _agree(fields, known, "call_id") or (same_place and _agree(fields, known, "name"))
    call_id = sent_word(fields.get("call_id"))
    return same_place and call_id is not None and call_id == sent_word(known.get("call_id"))


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _type_of(value: object) -> str:
    return str(value.get("type")) if isinstance(value, dict) else ""
