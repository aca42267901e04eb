"""Chunks of Chat Completions, built small, and a stream that reads them."""

from protocol_helpers import check_events

import toolstream


def entry(index=None, id=None, name=None, arguments=None, **more):
    """An entry of `tool_calls`; what is `None` is left out."""
    out = {} if index is None else {"index": index}
    if id is not None:
        out["id"] = id
    function = {}
    if name is not None:
        function["name"] = name
    if arguments is not None:
        function["arguments"] = arguments
    if function:
        out["function"] = function
    return {**out, **more}


def delta(*entries, choice=0, finish=None, **fields):
    """A chunk with those entries."""
    if entries:
        fields["tool_calls"] = list(entries)
    return {"choices": [{"index": choice, "delta": fields, "finish_reason": finish}]}


def call(*args, choice=0, **fields):
    """A chunk with one entry."""
    return delta(entry(*args, **fields), choice=choice)


def finish(word="tool_calls", choice=0):
    return delta(choice=choice, finish=word)


def read(chunks, provider="openai-chat", **options):
    """(completion, events) of a whole stream."""
    stream = toolstream.ToolCallStream(provider, **options)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    events += stream.close()
    check_events(stream.completion, events)
    return stream.completion, events
