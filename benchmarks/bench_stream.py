"""ToolCallStream with live arguments read after every delta: decoded events, raw bytes, parallel calls, many calls."""

from common import BACKENDS, OPERATIONS, SHAPES, cut, growth_exponent, library, peak_memory

STREAMS = ["stream", "stream_sse", "stream_parallel", "stream_calls"]


class Streams:
    params = (BACKENDS, STREAMS, [4, 64])
    param_names = ("backend", "operation", "piece")

    def setup(self, backend, operation, piece):
        self.toolstream = library(backend)
        self.data = OPERATIONS[operation].prepare(cut(SHAPES["string"](32 << 10), piece))

    def time_stream(self, backend, operation, piece):
        OPERATIONS[operation].run(self.toolstream, self.data)


class Growth:
    params = (BACKENDS, STREAMS)
    param_names = ("backend", "operation")

    def setup(self, backend, operation):
        self.toolstream = library(backend)

    def track_growth_exponent(self, backend, operation):
        return growth_exponent(self.toolstream, operation)

    track_growth_exponent.unit = "exponent"


class Memory:
    """One call of 8 MB in pieces of 1,024 characters, as decoded events."""

    params = (BACKENDS,)
    param_names = ("backend",)

    def setup(self, backend):
        self.toolstream = library(backend)
        self.events = OPERATIONS["stream"].prepare(cut(SHAPES["string"](8 << 20), 1024))

    def track_peak_per_character(self, backend):
        return peak_memory(lambda: OPERATIONS["stream"].run(self.toolstream, self.events)) / (8 << 20)

    track_peak_per_character.unit = "bytes a character, values included"
