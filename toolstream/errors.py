"""Every exception that toolstream raises by itself.

    ToolStreamError
    +-- StreamStalledError (TimeoutError)       a stream was silent, or alive, for too long
    +-- LimitExceededError (ValueError)         a limit that the host set was passed
    +-- UnknownProviderError (ValueError)       no protocol of that name, or none that fits the bytes

Bad *content* never raises: it is reported as a repair (parsers) or a defect (streams). A wrong type is a `TypeError`.
"""

__all__ = ["LimitExceededError", "StreamStalledError", "ToolStreamError", "UnknownProviderError"]


class ToolStreamError(Exception):
    """Base of every exception that toolstream raises by itself."""


class StreamStalledError(ToolStreamError, TimeoutError):
    """A stream was silent for longer than `idle_timeout`, or lasted longer than `total_timeout`."""


class LimitExceededError(ToolStreamError, ValueError):
    """A limit that the host set was passed. All that was read before it stays readable."""


class UnknownProviderError(ToolStreamError, ValueError):
    """A provider name that is not registered, or a stream whose protocol is not recognised."""
