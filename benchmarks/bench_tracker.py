"""JsonTracker and scan_bytes: depth and string state without values."""

from common import BACKENDS, OPERATIONS, SHAPES, cut, growth_exponent, library


class Tracker:
    params = (BACKENDS, ["tracker", "scan_bytes"], [4, 64, 0])
    param_names = ("backend", "operation", "piece")

    def setup(self, backend, operation, piece):
        self.toolstream = library(backend)
        self.data = OPERATIONS[operation].prepare(cut(SHAPES["records"](256 << 10), piece))

    def time_scan(self, backend, operation, piece):
        OPERATIONS[operation].run(self.toolstream, self.data)


class Growth:
    params = (BACKENDS, ["tracker", "scan_bytes"])
    param_names = ("backend", "operation")

    def setup(self, backend, operation):
        self.toolstream = library(backend)

    def track_growth_exponent(self, backend, operation):
        return growth_exponent(self.toolstream, operation, "records")

    track_growth_exponent.unit = "exponent"
