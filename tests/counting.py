"""Counted work, so that a test of growth does not depend on a clock."""

import sys


def lines_executed(action):
    """How many lines of Python `action` runs, in whatever it calls too."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count
