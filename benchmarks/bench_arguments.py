"""The primitives below the stream: arguments, accumulator, parser of calls by index."""

from common import BACKENDS, OPERATIONS, SHAPES, cut, growth_exponent, library

PRIMITIVES = ["arguments", "accumulator", "call_parser"]


class Primitives:
    params = (BACKENDS, PRIMITIVES, ["string", "records"], [4, 64])
    param_names = ("backend", "operation", "shape", "piece")

    def setup(self, backend, operation, shape, piece):
        self.toolstream = library(backend)
        self.data = OPERATIONS[operation].prepare(cut(SHAPES[shape](64 << 10), piece))

    def time_assemble(self, backend, operation, shape, piece):
        OPERATIONS[operation].run(self.toolstream, self.data)


class Growth:
    params = (BACKENDS, PRIMITIVES)
    param_names = ("backend", "operation")

    def setup(self, backend, operation):
        self.toolstream = library(backend)

    def track_growth_exponent(self, backend, operation):
        return growth_exponent(self.toolstream, operation)

    track_growth_exponent.unit = "exponent"


class Finished:
    """parse_tool_call_arguments on a whole call."""

    params = (BACKENDS, [1 << 10, 64 << 10])
    param_names = ("backend", "chars")

    def setup(self, backend, chars):
        self.toolstream = library(backend)
        self.call = {"type": "function", "function": {"name": "f", "arguments": SHAPES["wide"](chars)}}

    def time_parse_tool_call_arguments(self, backend, chars):
        self.toolstream.parse_tool_call_arguments(self.call)
