"""One stream driven from its source to its end, the same way for every command that reads streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from toolstream.cli.output import refused
from toolstream.cli.reading import InputError, Piece, Source
from toolstream.completion import Completion
from toolstream.errors import LimitExceededError, UnknownProviderError
from toolstream.stream import ToolCallStream
from toolstream.types import Limits

__all__ = ["Outcome", "drive", "summary"]

MAX_DEFECTS = 10_000


class Outcome(NamedTuple):
    completion: Completion
    provider: str | None
    loud: int  # defects of severity warning or error
    trouble: BaseException | None  # what stopped the reading before the end of the input

    @property
    def code(self) -> int:
        return 1 if self.loud or refused(self.completion.calls) else 0


def drive(
    source: Source,
    pieces: Iterator[Piece],
    see: Callable[[Completion, Piece | None, Sequence[Any]], None] | None = None,
    *,
    provider: str | None = None,
    **options: Any,
) -> Outcome:
    """Feed all pieces and close; `see` gets the completion so far, each piece, and its events; the close has no piece.

    An input that fails half way and Ctrl-C end the reading as a cut would, so that the calls so far are known; they
    are the outcome's `trouble`, to be raised when these have been shown.
    """
    trouble: BaseException | None = None
    loud = 0

    def pass_on(piece: Piece | None, events: Sequence[Any]) -> None:
        nonlocal loud
        for event in events:
            if event.type == "defect" and event.defect.severity != "info":
                loud += 1
        if see is not None:
            see(stream.completion, piece, events)

    try:
        stream = ToolCallStream(provider or source.provider, limits=Limits(max_defects=MAX_DEFECTS), **options)
    except UnknownProviderError as error:
        raise InputError(f"{'--provider' if provider else source.name}: {error}") from None
    try:
        try:
            for piece in pieces:
                pass_on(piece, stream.feed(piece.data))
        except (InputError, KeyboardInterrupt) as error:
            trouble = error
        except LimitExceededError as error:
            trouble = InputError(f"{source.name}: {error}; everything before was read")
        pass_on(None, stream.close())
    except UnknownProviderError as error:
        raise trouble or InputError(
            f"{source.name}: {error}. Is it the body of a streamed response? --provider NAME names the protocol"
        ) from None
    if provider and trouble is None and stream.framing and _is_blank(stream.completion):
        trouble = InputError(
            f"{source.name}: nothing was found that is of {provider}; "
            "leave out --provider to have the protocol recognised"
        )
    return Outcome(stream.completion, stream.provider, loud, trouble)


def _is_blank(completion: Completion) -> bool:
    """Whether nothing at all was read."""
    read = (completion.calls, completion.text, completion.reasoning, completion.raw_finish_reason, completion.usage)
    return not any(read) and all(defect.code == "stream_ended_early" for defect in completion.defects)


def summary(outcome: Outcome) -> str:
    """In one line, what is wrong with a stream; the empty string if nothing is that stops a call or the reading."""
    calls = outcome.completion.calls
    parts = []
    for defect in outcome.completion.defects:
        if defect.severity == "error" and defect.call is None:
            parts.append(defect.message)
    stopped = refused(calls)
    if stopped:
        names = ", ".join(f"{call.position} ({call.name or 'no name'}, {call.status})" for call in stopped)
        parts.append(f"{len(stopped)} of {len(calls)} calls must not be run: {names}")
    return " ".join(parts)
