# cython: language_level=3
"""The floor of every compiled streaming parser: a call for each piece that does nothing with it."""


cdef class DoNothing:
    def append(self, str piece):
        return None
