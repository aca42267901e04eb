"""Argument text stays where it belongs: in the call, in no message of a defect and in no log."""

import logging

import pytest
from chat import call, finish, read

BROKEN = [
    '{"k": "s3cret',
    '{"k": "s3cret"}{"k": "s3cret"}',
    '{"k": "s3cret"} s3cret',
    "{'k': 's3cret'}",
    '{"k": s3cret}',
    '{"s3cret": NaN}',
    '["s3cret"]',
    '"s3cret"',
    '{"k": "s3cret \\q \\ud800 \\u0000 \\frac"}',
    '```json\n{"k": "s3cret"}\n```',
    "s3cret",
]


@pytest.mark.parametrize("text", BROKEN)
def test_no_message_and_no_log_has_argument_text(text, caplog):
    with caplog.at_level(logging.DEBUG):
        completion = read([call(0, "a", "f", text), call(0, arguments=text), finish()])[0]
    assert "s3cret" in completion.calls[0].arguments_text
    assert completion.defects
    assert [defect.message for defect in completion.defects if "s3cret" in defect.message] == []
    assert caplog.records == []
