"""What protocols with announced blocks have in common: a start, fragments and an end, all named by an index.

Only a start opens a block. It does so on a taken index as well: what was open there is left to the end of the stream,
and a new call says `index_reused`. A fragment of arguments whose index names no open call fits no call,
`orphan_delta`; one for a block of a type that is not known here is ignored with its block. Each step costs O(1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolstream._text import whole_text
from toolstream._verdict import says_nothing
from toolstream.completion import ToolCall
from toolstream.identity import absent, sent_index
from toolstream.providers import Block

if TYPE_CHECKING:
    from toolstream.assembler import Assembler

__all__ = ["BlockProvider", "object_arguments", "text_arguments"]


def text_arguments(call: ToolCall) -> str:
    """A call's arguments for a request that takes text: as the model sent them, `{}` where it sent none."""
    text = whole_text(call.arguments_text)
    return "{}" if says_nothing(text) else text


def object_arguments(call: ToolCall) -> dict[str, Any]:
    """A call's arguments for a request that takes an object only. A refused text is wrapped, so that the model sees
    what it wrote: https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming"""
    if isinstance(call.arguments, dict):
        return call.arguments
    text = whole_text(call.arguments_text)
    return {} if says_nothing(text) else {"INVALID_JSON": text}


class BlockProvider:
    """The blocks of one message: those open, by index, and all of them in order of appearance (`blocks`)."""

    exact_numbers = False
    has_done = False  # where it comes an event of the protocol's own has come before
    object_start = False
    """Does the start of a call have its arguments as an object, by the protocol? Elsewhere one is `args_object`."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self.blocks: list[Block | ToolCall] = []
        self._open: dict[int | None, Block | ToolCall] = {}
        self._seen: set[int] = set()  # indexes of all blocks so far
        self._next = 0  # the index after the highest
        self._whole: dict[int | None, Any] = {}  # arguments from the start of a call, until a fragment comes
        self._direct: dict[int | None, ToolCall] = {}  # calls without such, open or ended: text goes straight to them

    def sent(self) -> list[Block | ToolCall]:
        """The blocks for the next request. No request may hold a call without a name."""
        return [block for block in self.blocks if isinstance(block, Block) or block.name is not None]

    def close(self) -> None:
        """Calls that are still open take what their start brought."""
        for index in list(self._whole):
            self._take_whole(index)

    def open_call(
        self, index: Any, *, id: Any, name: Any, kind: str, arguments: Any = None, extras: dict[str, Any] | None = None
    ) -> ToolCall:
        """A call is announced. `arguments`: what its start has of them. Text is their beginning; an object counts only
        if no fragment comes, and an empty one says nothing."""
        sent, index = index, sent_index(index)
        call = self.assembler.open(index, id=id, name=name, kind=kind, index=sent)
        if index is not None:
            if index in self._seen:
                self.assembler.defect("index_reused", call)
            elif index > self._next:
                self.assembler.defect("block_index_gap", call)
        if extras:
            self.assembler.extras(call, extras)
        self._add(index, call)
        if arguments is not None and arguments not in ("", {}):
            self._whole[index] = self.assembler.exact(arguments)
            del self._direct[index]
            if isinstance(arguments, str):
                self.assembler.append(call, arguments)
        return call

    def open_block(self, index: Any, start: dict[str, Any]) -> Block:
        """Any other block is announced, or begins with its first fragment."""
        block = Block(self.assembler.exact(start))
        self._add(sent_index(index), block)
        return block

    def _add(self, index: int | None, block: Block | ToolCall) -> None:
        if self._whole:
            self._take_whole(index)
        self.blocks.append(block)
        self._open[index] = block
        if isinstance(block, ToolCall):
            self._direct[index] = block
        else:
            self._direct.pop(index, None)
        if index is not None:
            self._seen.add(index)
            if index >= self._next:
                self._next = index + 1

    def open_at(self, index: Any) -> Block | ToolCall | None:
        """What is open at that index."""
        return self._open.get(index if type(index) is int else sent_index(index))

    def block_for(self, index: Any, kind: str) -> Block:
        """The open block for a fragment of text; a new one of that type where none is open. A call that is open there
        stays open, for nothing has ended it: what comes beside it has a block without an index."""
        block = self.open_at(index)
        if block is None:
            return self.open_block(index, {"type": kind})
        if isinstance(block, Block):
            return block
        last = self.blocks[-1]
        if not isinstance(last, Block) or last.type != kind:
            last = Block({"type": kind})
            self.blocks.append(last)
        return last

    def fragment(self, index: Any, arguments: Any, normal: bool = False) -> None:
        """A fragment of a call's arguments: text, or a whole value instead (`normal`: as the protocol has it)."""
        if type(index) is not int:
            index = self._odd_index(index)
        call = self._open.get(index)
        if isinstance(call, ToolCall):
            if isinstance(arguments, str):
                if arguments:
                    if index not in self._direct:
                        del self._whole[index]
                        self._direct[index] = call
                    self.assembler.append(call, arguments)
            elif arguments is None:
                self.assembler.defect("args_null_delta", call)
            else:
                self._take_whole(index)
                self.assembler.whole(call, arguments, normal=normal)
        elif arguments not in (None, "") and (call is None or call.type in _WITHOUT_ARGUMENTS):
            self.assembler.defect("orphan_delta")

    def _odd_index(self, index: Any) -> int | None:
        """The number that an index of another type stands for, which the call that it names says."""
        number = sent_index(index)
        call = self._open.get(number)
        if isinstance(call, ToolCall) and not absent(index):
            self.assembler.defect("index_type", call)
        return number

    def close_at(self, index: Any) -> None:
        """The block at that index has ended; a second end changes nothing."""
        if type(index) is not int:
            index = sent_index(index)
        if self._whole:
            self._take_whole(index)
        block = self._open.pop(index, None)
        if isinstance(block, ToolCall):
            self.assembler.end(block)

    def _take_whole(self, index: int | None) -> None:
        """No fragment came for the open call at that index: what its start brought is its arguments."""
        arguments = self._whole.pop(index, None)
        call = self._open.get(index)
        if arguments is None or not isinstance(call, ToolCall):
            return
        self._direct[index] = call
        self.assembler.defect("args_in_start", call)
        if not isinstance(arguments, str):
            self.assembler.whole(call, arguments, normal=self.object_start)


# Blocks of words, under the names of all protocols. Others may be calls of a kind that is not known.
_WITHOUT_ARGUMENTS = ("text", "thinking", "redacted_thinking", "reasoning", "model_output", "thought")
