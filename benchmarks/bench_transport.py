"""The decoders from bytes to messages."""

from common import BACKENDS, OPERATIONS, SHAPES, cut, growth_exponent, library

DECODERS = ["sse", "sse_one_event", "ndjson", "json_array"]


class Decoders:
    """Messages of 16 characters of text each, as they come and cut into pieces of 7 bytes."""

    params = (BACKENDS, DECODERS, ["messages", "7 bytes"])
    param_names = ("backend", "decoder", "pieces")

    def setup(self, backend, decoder, pieces):
        self.toolstream = library(backend)
        self.data = OPERATIONS[decoder].prepare(cut(SHAPES["string"](32 << 10), 16))
        if pieces == "7 bytes":
            joined = b"".join(self.data)
            self.data = [joined[start : start + 7] for start in range(0, len(joined), 7)]

    def time_decode(self, backend, decoder, pieces):
        OPERATIONS[decoder].run(self.toolstream, self.data)


class Growth:
    params = (BACKENDS, DECODERS)
    param_names = ("backend", "decoder")

    def setup(self, backend, decoder):
        self.toolstream = library(backend)

    def track_growth_exponent(self, backend, decoder):
        return growth_exponent(self.toolstream, decoder)

    track_growth_exponent.unit = "exponent"
