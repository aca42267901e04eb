"""StreamingJsonParser: cost by length of the text, length of the pieces and shape; growth; memory."""

from common import BACKENDS, OPERATIONS, SHAPES, cut, growth_exponent, library, peak_memory

KB, MB = 1 << 10, 1 << 20


class Modes:
    """A long string: `feed` (one value at the end), `append` (changes), `live` (a value after every piece)."""

    params = (BACKENDS, ["feed", "append", "live"], [4 * KB, 64 * KB, 512 * KB], [4, 64, 0])
    param_names = ("backend", "mode", "chars", "piece")

    def setup(self, backend, mode, chars, piece):
        self.toolstream = library(backend)
        self.pieces = cut(SHAPES["string"](chars), piece)

    def time_parse(self, backend, mode, chars, piece):
        OPERATIONS[mode].run(self.toolstream, self.pieces)


class Shapes:
    """64 KB of every shape in pieces of 16 characters."""

    params = (BACKENDS, ["feed", "live"], list(SHAPES))
    param_names = ("backend", "mode", "shape")

    def setup(self, backend, mode, shape):
        self.toolstream = library(backend)
        self.pieces = cut(SHAPES[shape](64 * KB), 16)

    def time_parse(self, backend, mode, shape):
        OPERATIONS[mode].run(self.toolstream, self.pieces)


class Growth:
    params = (BACKENDS, ["feed", "append", "live"], ["string", "records", "wide", "word"])
    param_names = ("backend", "mode", "shape")

    def setup(self, backend, mode, shape):
        self.toolstream = library(backend)

    def track_growth_exponent(self, backend, mode, shape):
        return growth_exponent(self.toolstream, mode, shape)

    track_growth_exponent.unit = "exponent"


class Changes:
    params = (BACKENDS,)
    param_names = ("backend",)

    def setup(self, backend):
        self.toolstream = library(backend)
        self.changes = OPERATIONS["apply_changes"].prepare(cut(SHAPES["string"](64 * KB), 16))

    def time_apply_changes(self, backend):
        OPERATIONS["apply_changes"].run(self.toolstream, self.changes)

    def track_growth_exponent(self, backend):
        return growth_exponent(self.toolstream, "apply_changes")

    track_growth_exponent.unit = "exponent"


class Memory:
    """A live run whose pieces are made as they are asked for."""

    params = (BACKENDS, ["string", "records"], [MB, 8 * MB], [64])
    param_names = ("backend", "shape", "chars", "piece")

    def setup(self, backend, shape, chars, piece):
        if (backend, shape, chars) == ("python", "records", 8 * MB):
            raise NotImplementedError("takes too long")
        self.toolstream = library(backend)
        self.text = SHAPES[shape](chars)

    def parse(self, piece):
        pieces = (self.text[start : start + piece] for start in range(0, len(self.text), piece))
        return OPERATIONS["live"].run(self.toolstream, pieces)

    def peakmem_live(self, backend, shape, chars, piece):
        self.parse(piece)

    def track_peak_per_character(self, backend, shape, chars, piece):
        return peak_memory(lambda: self.parse(piece)) / len(self.text)

    track_peak_per_character.unit = "bytes a character, values included"
