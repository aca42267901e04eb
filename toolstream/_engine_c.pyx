# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: embedsignature=True, embedsignature.format=clinic, binding=False
"""The JSON engine, compiled; `_engine_py.py` is the same in plain Python.

Theory
------
One scanner reads UTF-8 bytes: an ASCII str gives its own storage, other text is encoded into a scratch buffer, and bytes
are read where they are. `_take` turns a piece into segments of whole characters and hands them to `_read`; what can only
be understood with the next piece is kept back (the bytes of an unfinished character, a raw high half). Inside, no
character is read twice: an unfinished escape, a high half, a lone `/` are states of their own.

An open string, or a bare token, that does not end in its segment lies in one growing buffer, with escapes resolved;
all others are made from the segment at once. `JsonTracker` and `scan_bytes` go 64 bytes at a time (`_engine_c.h`).

Invariants
----------
* Frame k is an open container: the container (owned), for an object the name read last (owned), and the grammar state to
  go on with. The step of a container in its parent follows from the parent's frame: its name, or the last position of
  its list. The paths of the outer ones are kept once they have been asked for.
* A container hangs in its parent from the moment it opens, but that those which hold nothing but one another, the frames
  from `_made` on, are made with the first member: nesting alone takes no containers. A value string gets its place at
  the latest at the end of the piece in which it began.
* Closed containers never change again, so snapshots and changes share them.
* The last two snapshots are kept, each with what it mirrors, level by level. Where the older one is held by nobody else,
  nobody can see it change: it is brought up to date, and becomes the newest, instead of another copy.
* `_hidden` is the level of the outermost open container that stands where a name was expected, 0 without one.
* `_is_busy` while code of others could run in the middle of something (the collector's, a signal's). An exception that
  breaks off a piece leaves it set: from there on nothing of what was half done is looked at again.

Cost: as `_engine_py.py` has it. The buffer grows by half of its size, and is given back when it was large.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from libc.string cimport memchr, memcpy, strlen

from toolstream import _rules as rules
from toolstream._json_types import MISSING
from toolstream.errors import LimitExceededError

__all__ = ["JsonTracker", "StreamingJsonParser", "read_object", "scan_bytes", "write_object"]

cdef extern from "Python.h":
    bint PyUnicode_Check(object o)
    bint PyUnicode_CheckExact(object o)
    bint PyUnicode_IS_ASCII(object o)
    bint PyUnicode_IS_COMPACT_ASCII(object o)
    int PyUnicode_READY(object o) except -1
    int PyUnicode_KIND(object o)
    void* PyUnicode_DATA(object o)
    Py_ssize_t PyUnicode_GET_LENGTH(object o)
    bint PyBytes_CheckExact(object o)
    char* PyBytes_AS_STRING(object o)
    Py_ssize_t PyBytes_GET_SIZE(object o)

    PyObject* PyList_New(Py_ssize_t size) except NULL
    Py_ssize_t PyList_GET_SIZE(PyObject* o)
    void PyList_SET_ITEM(PyObject* o, Py_ssize_t i, PyObject* item)
    PyObject* PyList_GET_ITEM(PyObject* o, Py_ssize_t i)
    object PyList_GetSlice(PyObject* o, Py_ssize_t low, Py_ssize_t high)
    PyObject* PyDict_New() except NULL
    object PyDict_Copy(PyObject* o)
    int PyDict_SetItem(PyObject* o, PyObject* key, PyObject* value) except -1
    Py_ssize_t PyDict_GET_SIZE(PyObject* o)
    bint PyDict_Next(PyObject* o, Py_ssize_t* position, PyObject** key, PyObject** value)
    int PyList_SetSlice(PyObject* o, Py_ssize_t low, Py_ssize_t high, PyObject* items) except -1
    PyObject* PyTuple_New(Py_ssize_t size) except NULL
    void PyTuple_SET_ITEM(PyObject* o, Py_ssize_t i, PyObject* item)
    PyObject* PyTuple_GET_ITEM(PyObject* o, Py_ssize_t i)
    PyObject* PyLong_FromSsize_t(Py_ssize_t value) except NULL
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1
    char* PyOS_double_to_string(double value, char format, int precision, int flags, int* kind) except NULL
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    enum: Py_DTSF_ADD_DOT_0
    enum: PY_SSIZE_T_MAX
    PyObject* PyFloat_FromDouble(double value) except NULL
    bint PyFloat_CheckExact(PyObject* o)
    bint PyList_CheckExact(PyObject* o)
    double PyFloat_AS_DOUBLE(PyObject* o)
    void Py_INCREF(PyObject* o)
    void Py_DECREF(PyObject* o)
    void Py_XDECREF(PyObject* o)
    void Py_CLEAR(PyObject* o)
    PyObject* Py_True
    PyObject* Py_False
    PyObject* Py_None

    ctypedef int (*visitproc)(PyObject* o, void* arg) noexcept
    ctypedef int (*traverseproc)(PyObject* o, visitproc visit, void* arg) noexcept
    ctypedef int (*inquiry)(PyObject* o) noexcept
    ctypedef struct PyTypeObject:
        traverseproc tp_traverse
        inquiry tp_clear

cdef extern from "_engine_c.h":
    ctypedef unsigned long long uint64_t
    enum: TS_WORD, TS_BLANK, TS_QUOTE, TS_COMMA, TS_COLON, TS_OPEN_OBJECT, TS_OPEN_ARRAY, TS_CLOSE
    enum: TS_NO_NUMBER, TS_NUMBER, TS_LONG_INTEGER, TS_LONG_FLOAT
    enum: TS_POWERS
    const unsigned char* ts_class
    const unsigned char* ts_escape
    uint64_t* ts_power_high
    uint64_t* ts_power_low
    ctypedef struct ts_tracker:
        Py_ssize_t depth
        uint64_t in_string
        uint64_t escape
    int ts_hex_digit(unsigned char c) noexcept nogil
    int ts_hex4(const unsigned char* p) noexcept nogil
    const unsigned char* ts_plain_run(const unsigned char* p, const unsigned char* end, unsigned char quote) noexcept nogil
    bint ts_is_ascii(const unsigned char* p, Py_ssize_t n) noexcept nogil
    Py_ssize_t ts_characters_of_word(uint64_t x) noexcept nogil
    Py_ssize_t ts_characters(const unsigned char* p, const unsigned char* end) noexcept nogil
    void ts_copy(unsigned char* out, const unsigned char* p, Py_ssize_t n) noexcept nogil
    Py_ssize_t ts_put_escape(unsigned char* out, unsigned char c) noexcept nogil
    Py_ssize_t ts_put_utf8(unsigned char* out, unsigned int c) noexcept nogil
    int ts_utf8_length(const unsigned char* p, const unsigned char* end) noexcept nogil
    const unsigned char* ts_utf8_run(const unsigned char* p, const unsigned char* end) noexcept nogil
    PyObject* ts_decode(const unsigned char* p, Py_ssize_t n) except NULL
    PyObject* ts_ascii(const unsigned char* p, Py_ssize_t n) except NULL
    object ts_text "ts_decode"(const unsigned char* p, Py_ssize_t n)
    unsigned int ts_read(int kind, const void* data, Py_ssize_t i) noexcept nogil
    Py_ssize_t ts_encode(int kind, const void* data, Py_ssize_t i, Py_ssize_t n, unsigned char* out, Py_ssize_t* size) noexcept nogil
    const unsigned char* ts_kept_utf8(object text, Py_ssize_t* n) noexcept
    void ts_track(const unsigned char* p, Py_ssize_t n, ts_tracker* tracker) noexcept nogil
    int ts_number(const unsigned char* p, const unsigned char* end, const unsigned char** stop, PyObject** value) noexcept
    int ts_list_append(PyObject* list, PyObject* item) except -1
    int ts_list_put(PyObject* list, Py_ssize_t i, PyObject* item) except -1
    int ts_dict_put(PyObject* dict, PyObject* key, PyObject* value) except -1
    bint ts_may_change(PyObject* text) noexcept
    bint ts_lengthen(
        PyObject* text, const unsigned char* p, Py_ssize_t n, Py_ssize_t* known, Py_ssize_t room
    ) noexcept
    int ts_make_room(PyObject** text, Py_ssize_t* room) except -1
    object ts_longer_text(
        PyObject* old, bint is_own, const unsigned char* p, Py_ssize_t n, Py_ssize_t* known, Py_ssize_t* room
    )
    bint ts_is_held_by(PyObject* o, Py_ssize_t count) noexcept
    bint ts_has_at(PyObject* container, Py_ssize_t i, PyObject* item) noexcept
    int ts_discard(PyObject* dict, PyObject* key) except -1
    list ts_first_change(PyObject** kept, PyObject* kind, PyObject* path, PyObject* value)
    bint ts_is_plain_word(uint64_t x, unsigned char quote) noexcept nogil
    unsigned long long ts_last_word(const unsigned char* end, Py_ssize_t n) noexcept nogil
    PyObject* ts_change(PyObject* kind, PyObject* path, PyObject* value) except NULL
    PyObject* ts_name(const unsigned char* p, Py_ssize_t n) except NULL

# the numbers of `_rules`, compared below

cdef enum:
    ROOT, OBJECT_FIRST, OBJECT_KEY, OBJECT_COLON, OBJECT_VALUE, OBJECT_COMMA, ARRAY_FIRST, ARRAY_VALUE, ARRAY_COMMA, END
    NO_CONTROL, ESCAPED, HEX_DIGITS, DIGIT, NUMBER_END, LITERAL, NO_MARK

cdef enum:
    CONTROL_CHARACTER, INVALID_ESCAPE, ESCAPED_APOSTROPHE, LONE_SURROGATE, SPACE_ESCAPE, TRAILING_COMMA, SINGLE_QUOTES
    PYTHON_LITERAL, COMMENT, FENCE, TAG, BYTE_ORDER_MARK, DROPPED_WORD, DROPPED_NUMBER, DROPPED_VALUE, NONFINITE
    MISSING_COMMA, MISSING_COLON, MISSING_VALUE, EXTRA_COMMA, EXTRA_COLON, MISMATCHED_CLOSER, STRAY_CLOSER, TRAILING

cdef enum:
    DEAD, MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGIT
    WORD = 16

cdef enum:
    REPORT_DEPTH = 32
    APPEND_CREDIT = 256
    CHARACTER_CREDIT = 8
    STRING_DIVISOR = 16
    PENDING_LIMIT = 64
    MAX_REPAIRS = 100
    JSON_WORDS = 3
    KNOWN_WORDS = 6
    ALL_WORDS = 9
    WRITTEN_LEVELS = 100  # `_write` recurses, in threads with little stack as well

cdef enum:  # modes: where the reader stands
    M_OUTSIDE, M_STRING, M_TOKEN, M_LINE_COMMENT, M_BLOCK_COMMENT, M_FENCE_LINE, M_TAG, M_IGNORE
    M_HELD  # outside, after a character that means something only with the next one: \ / ` <
    M_HELD_TOKEN  # the same inside a token: \ /

cdef bint* KEY_WANTED = [False, True, True, False, False, True, False, False, False, False]
cdef int* AFTER_VALUE = [
    END, OBJECT_FIRST, OBJECT_KEY, OBJECT_COMMA, OBJECT_COMMA, OBJECT_COMMA, ARRAY_COMMA, ARRAY_COMMA, ARRAY_COMMA, END
]
cdef const char** WORDS = ["true", "false", "null", "True", "False", "None", "NaN", "Infinity", "-Infinity"]
cdef const unsigned char* REPLACEMENT = <const unsigned char*>b"\xef\xbf\xbd"  # U+FFFD
cdef int* WORD_LENGTHS = [4, 5, 4, 4, 5, 4, 3, 8, 9]

cdef enum:
    FRAMES = 6  # of a parser itself; more of them are allocated
    PATHS = REPORT_DEPTH + 1
    LARGE = 1 << 16  # bytes of a buffer that is not kept for the next string
    LONG_TEXT = 1 << 18  # bytes of an open string of which memory has no more copies than need be

cdef struct Frame:
    PyObject* container  # NULL while it is not made
    PyObject* key
    unsigned char state
    unsigned char is_object
    unsigned char is_repeated  # a name was repeated: it is not mirrored

cdef struct Mirror:  # of an open container in a snapshot
    PyObject* copy  # owned
    Py_ssize_t synced  # so many members, from the first one, are final; at this place stands what is not

cdef struct View:
    Mirror* mirrors
    Py_ssize_t levels
    Py_ssize_t room
    Py_ssize_t same  # of the levels, from the outside, are of containers that have been open since
    Py_ssize_t size  # members of the innermost copy; further out they are the final ones and the next container
    PyObject* extra  # the name of a pending scalar that is in the innermost copy alone, owned
    PyObject* text  # the open string in it, owned
    Py_ssize_t text_serial
    Py_ssize_t text_size  # bytes of the buffer
    Py_ssize_t text_room  # characters

cdef object SET = "set"
cdef object APPEND = "append"
cdef object END_CHANGE = "end"
cdef object NOTHING = MISSING
cdef object EMPTY = ""
cdef object SHOW = "show"
cdef object WITHHOLD = "withhold"
cdef object ROOT_PATH = ()
cdef tuple CODES = rules.REPAIRS


cdef void _check_numbers() except *:
    names = (
        "ROOT OBJECT_FIRST OBJECT_KEY OBJECT_COLON OBJECT_VALUE OBJECT_COMMA ARRAY_FIRST ARRAY_VALUE ARRAY_COMMA END"
        " NO_CONTROL ESCAPED HEX_DIGITS DIGIT NUMBER_END LITERAL NO_MARK"
        " DEAD MINUS ZERO INTEGER POINT FRACTION EXPONENT EXPONENT_SIGN EXPONENT_DIGIT WORD"
        " REPORT_DEPTH APPEND_CREDIT CHARACTER_CREDIT STRING_DIVISOR PENDING_LIMIT MAX_REPAIRS JSON_WORDS"
    ).split()
    here = (
        ROOT, OBJECT_FIRST, OBJECT_KEY, OBJECT_COLON, OBJECT_VALUE, OBJECT_COMMA, ARRAY_FIRST, ARRAY_VALUE, ARRAY_COMMA,
        END, NO_CONTROL, ESCAPED, HEX_DIGITS, DIGIT, NUMBER_END, LITERAL, NO_MARK,
        DEAD, MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGIT, WORD,
        REPORT_DEPTH, APPEND_CREDIT, CHARACTER_CREDIT, STRING_DIVISOR, PENDING_LIMIT, MAX_REPAIRS, JSON_WORDS,
    )
    there = tuple([getattr(rules, name) for name in names])
    words = tuple([WORDS[i].decode() for i in range(ALL_WORDS)])
    if there != here or words != rules.WORDS or KNOWN_WORDS != len(rules.VALUES) or TRAILING + 1 != len(CODES):
        raise ImportError("toolstream._engine_c was built from other rules than toolstream._rules: build it again")


cdef void _fill_powers() except *:
    for exponent in range(-TS_POWERS, TS_POWERS + 1):
        power = 5 ** abs(exponent)
        if exponent >= 0:
            power = power << 128 >> power.bit_length()
        else:
            power = (1 << (127 + (power - 1).bit_length())) // power + 1
        ts_power_high[exponent + TS_POWERS] = power >> 64
        ts_power_low[exponent + TS_POWERS] = power & 0xFFFFFFFFFFFFFFFF


_check_numbers()
_fill_powers()


cdef inline int _step(int state, unsigned char c) noexcept:
    """The next state of a token, as `rules.STEPS` has it."""
    cdef int word
    cdef bint is_digit = 48 <= c <= 57
    if state >= WORD:
        if state == WORD * 6 + 1 and c == c'a':  # NaN begins like None
            return WORD * 7 + 2
        word = state // WORD - 1
        if state % WORD < WORD_LENGTHS[word] and c == <unsigned char>WORDS[word][state % WORD]:
            return state + 1
        return DEAD
    if state == DEAD or state == MINUS:
        if is_digit:
            return ZERO if c == c'0' else INTEGER
        if state == MINUS:
            return WORD * 9 + 2 if c == c'I' else DEAD
        if c == c'-':
            return MINUS
        for word in range(ALL_WORDS - 2):
            if word != 6 and c == <unsigned char>WORDS[word][0]:
                return WORD * (word + 1) + 1
        return WORD * 8 + 1 if c == c'I' else DEAD
    if is_digit:
        if state == ZERO:
            return DEAD
        if state == POINT:
            return FRACTION
        return EXPONENT_DIGIT if state >= EXPONENT else state
    if c == c'.':
        return POINT if state == ZERO or state == INTEGER else DEAD
    if c | 0x20 == c'e':
        return EXPONENT if state == ZERO or state == INTEGER or state == FRACTION else DEAD
    if state == EXPONENT and (c == c'+' or c == c'-'):
        return EXPONENT_SIGN
    return DEAD


cdef inline const unsigned char* _more_digits(int state, const unsigned char* p, const unsigned char* end) noexcept:
    """The end of the digits that leave a token in its state."""
    if state == INTEGER or state == FRACTION or state == EXPONENT_DIGIT:
        while p < end and 48 <= p[0] <= 57:
            p += 1
    return p


cdef inline bint _is_json(int state) noexcept:
    return state < WORD * (JSON_WORDS + 1)


cdef inline int _expected(int state) noexcept:
    if state >= WORD:
        return LITERAL
    return DIGIT if state == MINUS or state == POINT or state == EXPONENT or state == EXPONENT_SIGN else NUMBER_END


cdef PyObject* _word(int word) noexcept:
    """The value of a word: a new reference."""
    cdef PyObject* value = Py_None if word % 3 == 2 else Py_True if word % 3 == 0 else Py_False
    Py_INCREF(value)
    return value


cdef inline bint _is_infinite(PyObject* value) noexcept:
    cdef double number
    if not PyFloat_CheckExact(value):
        return False
    number = PyFloat_AS_DOUBLE(value)
    return number - number != 0


cdef inline Py_ssize_t _size(PyObject* container, bint is_object) noexcept:
    return PyDict_GET_SIZE(container) if is_object else PyList_GET_SIZE(container)


cdef int _copy(Mirror* mirror, Frame* frame, Py_ssize_t size, object last, bint is_placed) except -1:
    """Mirror a container of `size` members by a copy, with `last` for its open child or pending scalar; `is_placed`: that
    is one of the members."""
    cdef object copy
    mirror.synced = size - is_placed
    if frame.is_object:
        copy = PyDict_Copy(frame.container) if mirror.synced else {}
        if last is not NOTHING:
            PyDict_SetItem(<PyObject*>copy, frame.key, <PyObject*>last)
    elif mirror.synced:
        copy = PyList_GetSlice(frame.container, 0, size)
        if is_placed:
            (<list>copy)[size - 1] = last
        elif last is not NOTHING:
            (<list>copy).append(last)
    else:
        copy = [] if last is NOTHING else [last]
    Py_INCREF(<PyObject*>copy)
    mirror.copy = <PyObject*>copy
    return 0


cdef int _bring_up(Mirror* mirror, Frame* frame, Py_ssize_t size, PyObject* extra, object last, bint is_placed) except -1:
    """Bring the copy of a container of `size` members up to date; `extra` is a name in it that was not final."""
    cdef PyObject* copy = mirror.copy
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t final = size - is_placed
    cdef Py_ssize_t i = mirror.synced
    cdef Py_ssize_t wanted
    if is_placed and i == final and extra == NULL and ts_has_at(copy, i, <PyObject*>last):
        return 0
    if not frame.is_object:
        while i < final:
            value = PyList_GET_ITEM(frame.container, i)
            Py_INCREF(value)
            ts_list_put(copy, i, value)
            i += 1
        if last is not NOTHING and (i == PyList_GET_SIZE(copy) or PyList_GET_ITEM(copy, i) != <PyObject*>last):
            Py_INCREF(<PyObject*>last)
            ts_list_put(copy, i, <PyObject*>last)
        wanted = final + (last is not NOTHING)
        if PyList_GET_SIZE(copy) > wanted:
            PyList_SetSlice(copy, wanted, PyList_GET_SIZE(copy), NULL)
    else:
        if extra != NULL:
            if i < final:
                PyDict_Next(frame.container, &i, &key, &value)
                i -= 1
            else:
                key = NULL if last is NOTHING else frame.key
            if key != extra:
                ts_discard(copy, extra)
        while i < final and PyDict_Next(frame.container, &i, &key, &value):
            PyDict_SetItem(copy, key, value)
        if last is not NOTHING:
            PyDict_SetItem(copy, frame.key, <PyObject*>last)
    mirror.synced = final
    return 0


cdef int _put(Mirror* mirror, Frame* frame, PyObject* value) except -1:
    """Put something else where the open string is."""
    if frame.is_object:
        PyDict_SetItem(mirror.copy, frame.key, value)
    else:
        Py_INCREF(value)
        ts_list_put(mirror.copy, mirror.synced, value)
    return 0


cdef tuple _longer(PyObject* path, Py_ssize_t size, object step):
    """A path of `size` steps, and one more."""
    cdef PyObject* longer = PyTuple_New(size + 1)
    cdef PyObject* item
    cdef Py_ssize_t i
    for i in range(size):
        item = PyTuple_GET_ITEM(path, i)
        Py_INCREF(item)
        PyTuple_SET_ITEM(longer, i, item)
    Py_INCREF(<PyObject*>step)
    PyTuple_SET_ITEM(longer, size, <PyObject*>step)
    return _own(longer)


cdef inline object _own(PyObject* o):
    """A new reference as an object."""
    cdef object owned = <object>o
    Py_DECREF(o)
    return owned


cdef PyObject* _long_number(const unsigned char* p, Py_ssize_t n, bint is_float) except NULL:
    """The value of a number of many digits, or of a large exponent."""
    cdef object value
    cdef char small[64]
    cdef char* text = small
    if not is_float:
        value = rules.parse_integer((<const char*>p)[:n].decode("ascii"))
        Py_INCREF(<PyObject*>value)
        return <PyObject*>value
    if n >= 64:
        text = <char*>PyMem_Malloc(n + 1)
        if text == NULL:
            raise MemoryError
    try:
        memcpy(text, p, n)
        text[n] = 0
        return PyFloat_FromDouble(PyOS_string_to_double(text, NULL, NULL))
    finally:
        if text != small:
            PyMem_Free(text)


cdef const unsigned char* _bytes(object piece, Py_buffer* view, bint* has_view, Py_ssize_t* n) except NULL:
    """The bytes of a piece that is no str; `view` must be released if there is one."""
    cdef const char* kind
    if PyBytes_CheckExact(piece):
        n[0] = PyBytes_GET_SIZE(piece)
        return <const unsigned char*>PyBytes_AS_STRING(piece)
    try:
        PyObject_GetBuffer(piece, view, PyBUF_CONTIG_RO | PyBUF_FORMAT)
    except (TypeError, ValueError, BufferError):
        raise rules.wrong_piece(piece) from None
    kind = view.format
    if kind != NULL and kind[0] in (c'<', c'>', c'=', c'@', c'!'):  # of single bytes an order says nothing
        kind += 1
    if view.itemsize != 1 or not (kind == NULL or (kind[0] in (c'B', c'b', c'c') and kind[1] == 0)):
        PyBuffer_Release(view)
        raise rules.wrong_piece(piece)
    has_view[0] = True
    n[0] = view.len
    return <const unsigned char*>view.buf if view.buf != NULL else <const unsigned char*>""


cdef extern from "Python.h":
    int PyObject_GetBuffer(object o, Py_buffer* view, int flags) except -1
    void PyBuffer_Release(Py_buffer* view)
    enum: PyBUF_CONTIG_RO, PyBUF_FORMAT


@cython.final
@cython.no_gc
cdef class JsonTracker:
    """JsonTracker()
--

    Depth and string state of a JSON text that comes in pieces: no values, no checks.

    Brackets count outside strings, of either kind and whether they match or not, so the depth may go below zero. A
    quote opens or closes a string unless a backslash stands before it, outside strings too.

        >>> tracker = JsonTracker()
        >>> tracker.feed('{"a": ["x')
        >>> tracker.depth, tracker.in_string, tracker.escape
        (2, True, False)
    """

    cdef ts_tracker _tracker

    def __init__(self):
        self.reset()

    @cython.critical_section
    def feed(self, piece, /):
        """Read on. `piece` is `str`, or a buffer of UTF-8 bytes, cut anywhere; anything else is a `TypeError`."""
        cdef Py_buffer view
        cdef bint has_view = False
        cdef Py_ssize_t n
        cdef const unsigned char* p
        cdef int kind
        cdef Py_ssize_t i
        cdef unsigned char narrow[256]
        cdef Py_ssize_t size = 0
        cdef unsigned int c
        if PyUnicode_Check(piece):
            PyUnicode_READY(piece)
            n = PyUnicode_GET_LENGTH(piece)
            kind = PyUnicode_KIND(piece)
            if kind == 1:
                ts_track(<const unsigned char*>PyUnicode_DATA(piece), n, &self._tracker)
                return
            for i in range(n):  # all that counts is ASCII
                c = ts_read(kind, PyUnicode_DATA(piece), i)
                narrow[size] = <unsigned char>c if c < 0x80 else 0x80
                size += 1
                if size == 256:
                    ts_track(narrow, size, &self._tracker)
                    size = 0
            ts_track(narrow, size, &self._tracker)
            return
        p = _bytes(piece, &view, &has_view, &n)
        ts_track(p, n, &self._tracker)
        if has_view:
            PyBuffer_Release(&view)

    @property
    def depth(self):
        """Opening brackets less closing ones, outside strings."""
        return self._tracker.depth

    @property
    def in_string(self):
        """Whether a string is open."""
        return self._tracker.in_string != 0

    @property
    def escape(self):
        """Whether the last character was a backslash that escapes the next one."""
        return self._tracker.escape != 0

    @cython.critical_section
    def reset(self):
        """Start over, as new."""
        self._tracker.depth = 0
        self._tracker.in_string = 0
        self._tracker.escape = 0

    def __reduce__(self):
        raise rules.copy_error(self)


def scan_bytes(data, offsets, depth, flags):
    """What `JsonTracker` says at the end of each of many texts, in one call.

    `data` holds the texts one after the other (bytes); text `i` is `data[offsets[i]:offsets[i + 1]]`, so `offsets`
    (signed 64-bit) has one entry more than there are texts. `depth` (signed 32-bit) and `flags` (bytes) are written,
    an entry for each text: bit 0 of the flags is `in_string`, bit 1 is `escape`. All are C-contiguous buffers
    such as `array.array` or numpy arrays; ones of another type or number of entries are a `ValueError`.

        >>> depth, flags = array("i", bytes(8)), bytearray(2)
        >>> scan_bytes(b'{"a":[1]{"b', array("q", [0, 8, 11]), depth, flags)
        >>> depth, flags
        (array('i', [1, 1]), bytearray(b'\\x00\\x01'))
    """
    texts = rules.typed_view("data", data, "B")
    borders = rules.typed_view("offsets", offsets, "q")
    depths = rules.typed_view("depth", depth, "i")
    marks = rules.typed_view("flags", flags, "B")
    if depths.readonly or marks.readonly:
        raise ValueError("depth and flags must be writable")
    if len(borders) == 0 or len(depths) != len(borders) - 1 or len(marks) != len(borders) - 1:
        raise ValueError(
            f"offsets must have one entry more than depth and flags, not {len(borders)}, {len(depths)} and {len(marks)}"
        )
    cdef const unsigned char[::1] text_bytes = texts
    cdef const long long[::1] border_items = borders
    cdef int[::1] depth_items = depths
    cdef unsigned char[::1] mark_items = marks
    cdef Py_ssize_t i, count = len(borders) - 1
    cdef long long start = 0, size = len(texts)
    cdef const unsigned char* p
    cdef ts_tracker tracker
    for i in range(count + 1):
        if not start <= border_items[i] <= size:
            raise ValueError(f"offsets must rise from 0 to at most {size}, the length of data")
        start = border_items[i]
    if count == 0:
        return
    p = &text_bytes[0] if size else NULL
    with nogil:
        for i in range(count):
            tracker.depth = 0
            tracker.in_string = 0
            tracker.escape = 0
            ts_track(p + border_items[i], border_items[i + 1] - border_items[i], &tracker)
            depth_items[i] = <int>tracker.depth
            mark_items[i] = <unsigned char>((tracker.in_string & 1) | tracker.escape << 1)


@cython.freelist(8)
cdef class StreamingJsonParser:
    """StreamingJsonParser(*, pending_scalars='show', lenient=False, report_ends=False, max_depth=None)
--

    Reads one JSON text in pieces: a live value of what is there so far, and a strict verdict on it.

    The live view is tolerant and never raises on text: see `snapshot` and `append`. The verdict is strict: `valid`, and
    at the end `complete and valid`, is what `json.loads` accepts (NaN and infinities refused).

        >>> parser = StreamingJsonParser()
        >>> parser.append('{"city": "Os')
        [('set', (), {}), ('set', ('city',), 'Os')]
        >>> parser.append('lo", "days": 3}')
        [('append', ('city',), 'lo'), ('set', ('days',), 3)]
        >>> parser.snapshot(), parser.complete, parser.valid
        ({'city': 'Oslo', 'days': 3}, True, True)

    `pending_scalars="show"` lets a number or literal that has not ended show in snapshots, `"withhold"` does not.
    `lenient=True` also reads single-quoted strings, `True`, `False` and `None`, comments, `\\n`, `\\r` and `\\t`
    between tokens, a Markdown fence or a tag around the value, and `\\'`. `report_ends=True` adds changes of the kind
    `"end"`. Nesting deeper than `max_depth` is a `LimitExceededError`; what was read before it stays readable.

    Everything together costs time and memory linear in the text and the number of calls, whatever the pieces.
    """

    # options
    cdef bint _shows_pending
    cdef bint _lenient
    cdef bint _report_ends
    cdef Py_ssize_t _max_depth  # -1 without one
    cdef Py_ssize_t _limit  # the offset at which max_depth was passed, -1 before
    cdef bint _is_busy  # a piece is being read, or a snapshot made; for good where an exception broke off the reading

    # the text: what of it waits for the next piece; the segment that is being read
    cdef Py_ssize_t _position
    cdef unsigned char[4] _carry
    cdef int _carry_size
    cdef unsigned int _raw_half  # 0 without one
    cdef unsigned char* _scratch
    cdef Py_ssize_t _scratch_room
    cdef const unsigned char* _anchor  # a byte of the segment, and its offset
    cdef Py_ssize_t _anchor_offset
    cdef bint _is_ascii

    # where the reader stands
    cdef int _mode
    cdef int _state
    cdef Py_ssize_t _mode_start  # offset at which a tag begins
    cdef unsigned char _held
    cdef int _held_count
    cdef bint _star  # a block comment may be about to end

    # the open containers
    cdef object _root
    cdef Py_ssize_t _root_end  # -1 before
    cdef Frame* _frames
    cdef Py_ssize_t _frame_room
    cdef Py_ssize_t _depth
    cdef Py_ssize_t _made  # the frames from here on have no containers, the one before an empty one
    cdef Py_ssize_t _hidden
    cdef Py_ssize_t _outer
    cdef Frame[FRAMES] _first_frames
    cdef PyObject* _paths[PATHS]
    cdef Py_ssize_t _path_count  # so many of them, from the outermost container's, are known

    # the open string, or token
    cdef unsigned char* _buffer
    cdef Py_ssize_t _size
    cdef Py_ssize_t _room
    cdef unsigned char _quote
    cdef bint _is_key
    cdef bint _is_placed
    cdef bint _is_reported
    cdef bint _is_fresh  # begun in the piece that is being read
    cdef Py_ssize_t _mark  # the bytes from here on came with the piece that is being read
    cdef Py_ssize_t _counted  # bytes whose characters are counted
    cdef Py_ssize_t _characters
    cdef Py_ssize_t _joined  # its size when it was shown last
    cdef Py_ssize_t _string_serial
    cdef object _string_path
    cdef int _escape  # 0 outside escapes, else the number of its characters so far
    cdef unsigned char[4] _digits
    cdef unsigned int _half  # a high half that waits for the other, 0 without one
    cdef int _half_size  # characters it was written with
    cdef int _token_state
    cdef bint _token_is_number
    cdef bint _takes  # the token's position takes a value

    # the lenient surroundings of the root
    cdef bint _prose
    cdef int _open_fences
    cdef int _open_tags

    # what is handed out, and the facts
    cdef bint _reports  # within append()
    cdef list _changes  # of the piece that is being read; None while there is none
    cdef (PyObject*)[2] _kept  # changes that were handed out, owned
    cdef object _shown
    cdef View[2] _views
    cdef int _latest  # which of them
    cdef Py_ssize_t _lowest  # the containers from this level on are not those of the last snapshot
    cdef bint _dirty
    cdef Py_ssize_t _credit
    cdef Py_ssize_t _error_offset  # -1 without one
    cdef int _error_expected
    cdef list _repairs
    cdef Py_ssize_t _repair_count
    cdef unsigned int _seen
    cdef Py_ssize_t _duplicate_keys
    cdef Py_ssize_t _overflow_count

    def __cinit__(self):
        self._frames = self._first_frames
        self._frame_room = FRAMES
        self._max_depth = -1
        self._limit = -1
        self._root_end = -1
        self._error_offset = -1
        self._root = NOTHING
        self._shown = NOTHING
        self._shows_pending = True

    def __init__(self, *, pending_scalars="show", lenient=False, report_ends=False, max_depth=None):
        if lenient is not False or report_ends is not False or max_depth is not None or pending_scalars is not SHOW:
            usual = lenient is True and report_ends is False and pending_scalars is WITHHOLD  # as of a stream's calls
            if not (usual and type(max_depth) is int and max_depth > 0):
                rules.check_options(pending_scalars, lenient, report_ends, max_depth)
            self._shows_pending = pending_scalars == SHOW
            self._lenient = lenient
            self._report_ends = report_ends
            if max_depth is not None:
                self._max_depth = min(max_depth, <Py_ssize_t>0x7FFFFFFF)

    def __reduce__(self):
        raise rules.copy_error(self)

    def __dealloc__(self):
        while self._depth:
            self._depth -= 1
            Py_XDECREF(self._frames[self._depth].key)
            Py_XDECREF(self._frames[self._depth].container)
        while self._path_count:
            self._path_count -= 1
            Py_DECREF(self._paths[self._path_count])
        if self._frames != self._first_frames:
            PyMem_Free(self._frames)
        self._drop_views()
        Py_XDECREF(self._kept[0])
        Py_XDECREF(self._kept[1])
        if self._buffer != NULL:
            PyMem_Free(self._buffer)
        if self._scratch != NULL:
            PyMem_Free(self._scratch)

    @cython.critical_section
    def append(self, piece, /):
        """Read on, and return what has changed: plain tuples `(kind, path, value)`, in order.

        `piece` is `str`, or a C-contiguous buffer of UTF-8 bytes, cut anywhere; anything else is a `TypeError`.
        `("set", path, value)`: a value stands at the path now. A container is set empty when it opens. A string
        is set when it begins, with as much of it as this piece brings. Scalars are set when they have ended.
        `("append", path, text)`: the string there, begun in an earlier piece, has grown by `text`.
        `("end", path, None)`: the string or container is final (only with `report_ends=True`).
        Values whose path has more than 32 steps are not reported; a container at the limit is set a second time, with
        all of its content, when it closes. No value in a change is changed later.
        """
        cdef list changes
        if self._take_text(piece):
            if self._is_key or not self._is_reported:
                return []
            self._is_busy = True
            if self._string_path is None:
                self._string_path = self._value_path()
            Py_INCREF(<PyObject*>piece)
            changes = ts_first_change(self._kept, <PyObject*>APPEND, <PyObject*>self._string_path, <PyObject*>piece)
            self._is_busy = False
            return changes
        if self._is_busy:
            self._refuse()
        self._changes = None
        self._reports = True
        try:
            self._take(piece)
        finally:
            self._reports = False
        self._is_busy = True
        changes = self._changes
        self._changes = None
        if changes is None:
            changes = []
        self._is_busy = False
        return changes

    @cython.critical_section
    def feed(self, piece, /):
        """Read on like `append`, without the changes: faster where only snapshots or the end are of interest."""
        if not self._take_text(piece):
            self._take(piece)

    @cython.critical_section
    def snapshot(self):
        """The value as far as it is known; `MISSING` before there is one. It never changes after it was returned.

        The same object as the last time while nothing has changed. Copying what is open is paid for by credit that
        pieces earn, so the view of a very wide container or a very long string may lag, by a bounded part of it,
        until it ends: once the root has ended the answer is exact.
        """
        if not self._dirty or self._is_busy:
            return self._shown
        self._is_busy = True
        try:
            return self._show()
        finally:
            self._is_busy = False

    @cython.critical_section
    def _plain_object(self):
        """For the rest of the package: the value, if it is an object that has ended and there is nothing to say of its
        text. It is valid, no name comes twice, no number is too large for a float. Else `None`."""
        if self._root_end < 0 or self._error_offset >= 0 or self._repair_count or self._hangs() or self._is_busy:
            return None
        if self._duplicate_keys or self._overflow_count or type(self._root) is not dict:
            return None
        return self._root

    @cython.final
    cdef object _show(self):
        cdef Py_ssize_t cost = 0, levels
        cdef bint is_open_string
        cdef object value = NOTHING
        levels = self._hidden - 1 if self._hidden else self._depth
        if self._depth:
            cost = self._outer + self._members(self._depth - 1) + 1
        is_open_string = self._mode == M_STRING and not self._is_key and not self._hidden
        if is_open_string:
            if self._size != self._joined:
                cost += self._count_characters() // STRING_DIVISOR
        elif self._shows_pending and (self._mode == M_TOKEN or self._mode == M_HELD_TOKEN):
            if self._takes and self._token_state and not self._hidden:
                value = self._pending()
                cost += value is not NOTHING
        if cost > self._credit:
            return self._shown
        if levels:
            if is_open_string and self._lengthen(levels):
                value = <object>self._views[self._latest].mirrors[0].copy
            else:
                value = self._renew(levels, is_open_string, value)
        elif is_open_string:
            value = ts_text(self._buffer, self._size)
        elif value is NOTHING:
            value = self._root
            if self._root_end >= 0:
                self._drop_views()
        if is_open_string:
            self._joined = self._size
        self._credit -= cost
        self._dirty = False
        self._shown = value
        return value

    @property
    def complete(self):
        """Whether the root value has ended (a bare scalar ends at a delimiter)."""
        return self._root_end >= 0 and not self._is_busy

    @property
    def valid(self):
        """Whether the text so far is valid JSON by RFC 8259, or a beginning of it. Text after the root counts."""
        return self._error_offset < 0 and not self._hangs()

    @property
    def error(self):
        """The first deviation from JSON: `offset` and `message`; `None` while `valid`."""
        if self._error_offset >= 0:
            return rules.deviation(self._error_offset, self._error_expected)
        if not self._hangs():
            return None
        expected = self._state
        if self._mode == M_TOKEN:
            expected = _expected(self._token_state)
        elif self._mode == M_STRING:
            expected = ESCAPED if self._escape == 1 else HEX_DIGITS
        return rules.deviation(self._position, expected)

    cdef inline bint _hangs(self) noexcept:
        """Whether a part of a character that no JSON text has where it stands was kept back: outside of a string, or
        inside of an escape."""
        return (self._mode != M_STRING or self._escape) and (self._raw_half or self._carry_size)

    @property
    def repairs(self):
        """The deviations that were read over, `(offset, code)`: the first 100, and the first of each code."""
        return () if self._repairs is None else tuple(self._repairs)

    @property
    def repair_count(self):
        """The number of all deviations that were read over."""
        return self._repair_count

    @property
    def duplicate_keys(self):
        """How often a member replaced one of the same name in its object."""
        return self._duplicate_keys

    @property
    def overflow_count(self):
        """The number of numbers beyond the range of a float, such as 1e400, that became an infinity."""
        return self._overflow_count

    @property
    def position(self):
        """The number of characters (code points) read."""
        return self._position

    @property
    def root_end(self):
        """The offset just after the root value; `None` until it has ended."""
        return self._root_end if self._root_end >= 0 and not self._is_busy else None

    @property
    def depth(self):
        """The number of open containers."""
        return self._depth

    @property
    def in_string(self):
        """Whether a string is open: a value or a member's name."""
        return self._mode == M_STRING

    @property
    def escape(self):
        """Whether the text ends inside an escape sequence."""
        return self._mode == M_STRING and self._escape != 0

    @property
    @cython.critical_section
    def open_path(self):
        """The path of the innermost value that is open; of a deep one the first 32 steps. `()` if it is the root."""
        cdef Py_ssize_t levels = self._hidden - 1 if self._hidden else self._depth
        cdef Py_ssize_t level
        cdef list path = []
        cdef Frame* frame
        if self._is_busy:
            return ()
        for level in range(min(levels - 1, REPORT_DEPTH)):
            path.append(self._step_in(level))
        if levels and len(path) < REPORT_DEPTH and not self._hidden:
            frame = &self._frames[levels - 1]
            if self._mode == M_STRING:
                if not self._is_key:
                    path.append(self._step_in(levels - 1))
            elif (self._mode == M_TOKEN or self._mode == M_HELD_TOKEN) and self._takes:
                path.append(<object>frame.key if frame.is_object else self._members(levels - 1))
        return tuple(path)

    # ------------------------------------------------------------ snapshots

    @cython.final
    cdef object _renew(self, Py_ssize_t levels, bint is_open_string, object last):
        """A snapshot of the open containers; `last` is the pending scalar, if one shows."""
        cdef View* view = &self._views[self._latest]
        cdef Frame* frame = &self._frames[levels - 1]
        cdef Py_ssize_t level, kept, same = levels
        cdef bint is_placed = is_open_string
        cdef bint is_pending = last is not NOTHING
        for level in range(2):
            self._views[level].same = min(self._views[level].same, self._lowest)
        self._lowest = levels
        if view.levels and view.mirrors[0].copy == <PyObject*>self._shown and ts_is_held_by(view.mirrors[0].copy, 2):
            self._shown = NOTHING  # if what follows fails nothing of it is shown; the credit is not spent then
            if is_open_string and self._size > LONG_TEXT:  # the other one waits for somebody to hold this one
                self._cut_view(&self._views[1 - self._latest], 0)
                Py_CLEAR(self._views[1 - self._latest].text)
        else:  # somebody has the newest
            self._latest = 1 - self._latest
            view = &self._views[self._latest]
        self._reserve_view(view, levels)
        kept = self._own_levels(view, levels, 1)
        self._cut_view(view, kept)
        view.same = 0  # until it is done
        if is_open_string:
            last = self._text(view, kept == levels)
        else:
            Py_CLEAR(view.text)
        while view.levels < levels:
            view.mirrors[view.levels].copy = NULL
            view.levels += 1
        for level in range(levels - 1, kept - 1, -1):
            _copy(&view.mirrors[level], &self._frames[level], self._members(level), last, is_placed)
            if self._frames[level].is_repeated:
                same = level
            last = <object>view.mirrors[level].copy
            is_placed = True
        if kept:  # what is further out has not changed since: what was open in it still is
            _bring_up(
                &view.mirrors[kept - 1], &self._frames[kept - 1], self._members(kept - 1), view.extra, last, is_placed
            )
            Py_CLEAR(view.extra)
        view.size = _size(view.mirrors[levels - 1].copy, frame.is_object)
        if is_pending and frame.is_object:
            if view.size != view.mirrors[levels - 1].synced:
                view.extra = frame.key
                Py_INCREF(frame.key)
            elif same == levels:  # a value that is there is hidden by the pending one
                same -= 1
        view.same = same
        return <object>view.mirrors[0].copy

    cdef inline bint _lengthen(self, Py_ssize_t levels) noexcept:
        """Make the next snapshot of one that differs in the open string alone, if there is one and nobody holds any of it."""
        cdef int number = self._latest
        cdef View* view = &self._views[number]
        cdef Py_ssize_t references = 2
        if view.levels and view.mirrors[0].copy == <PyObject*>self._shown and ts_is_held_by(view.mirrors[0].copy, 2):
            if self._size > LONG_TEXT and self._views[1 - number].levels:
                return False
        else:
            number = 1 - number
            view = &self._views[number]
            references = 1
        if view.text == NULL or view.text_serial != self._string_serial or self._lowest != levels:
            return False
        if view.same != levels or view.levels != levels or self._own_levels(view, levels, references) != levels:
            return False
        if not ts_has_at(view.mirrors[levels - 1].copy, view.mirrors[levels - 1].synced, view.text):
            return False
        if not ts_lengthen(view.text, self._buffer, self._size, &view.text_size, view.text_room):
            return False
        self._latest = number
        return True

    @cython.final
    cdef Py_ssize_t _own_levels(self, View* view, Py_ssize_t levels, Py_ssize_t references) noexcept:
        """The number of the outer levels that can be seen through this view alone, and are as it left them."""
        cdef Mirror* mirror
        cdef PyObject* parent = NULL
        cdef Py_ssize_t level, place = 0, size
        levels = min(view.same, levels)
        for level in range(levels):
            mirror = &view.mirrors[level]
            if not ts_is_held_by(mirror.copy, references):
                return level
            size = mirror.synced + 1 if level < view.levels - 1 else view.size
            if size != _size(mirror.copy, not PyList_CheckExact(mirror.copy)):
                return level
            if parent != NULL and not ts_has_at(parent, place, mirror.copy):
                return level
            references = 2  # of the parent and the mirror
            parent = mirror.copy
            place = mirror.synced
        return levels

    @cython.final
    cdef object _text(self, View* view, bint is_own):
        """The open string so far; that of the view grows where nobody else has it."""
        cdef object text
        cdef Mirror* mirror
        if view.text_serial != self._string_serial:
            Py_CLEAR(view.text)
        if is_own and view.text != NULL:
            mirror = &view.mirrors[self._depth - 1]
            is_own = ts_has_at(mirror.copy, mirror.synced, view.text)
            if is_own and self._size > LONG_TEXT and view.text_room < self._count_characters():
                self._make_room(view, mirror)
        text = ts_longer_text(view.text, is_own, self._buffer, self._size, &view.text_size, &view.text_room)
        if <PyObject*>text != view.text:
            Py_XDECREF(view.text)
            Py_INCREF(<PyObject*>text)
            view.text = <PyObject*>text
            view.text_serial = self._string_serial
        return text

    cdef int _make_room(self, View* view, Mirror* mirror) except -1:
        """Let the block of a long text grow, which takes no second one while nobody has the text, not its container either."""
        cdef Frame* frame = &self._frames[self._depth - 1]
        if not ts_may_change(view.text):
            return 0
        _put(mirror, frame, <PyObject*>None)
        ts_make_room(&view.text, &view.text_room)
        _put(mirror, frame, view.text)
        return 0

    @cython.final
    cdef int _reserve_view(self, View* view, Py_ssize_t levels) except -1:
        cdef Py_ssize_t room = max(levels, 4, view.room * 2)
        cdef Mirror* mirrors
        if levels > view.room:
            mirrors = <Mirror*>PyMem_Realloc(view.mirrors, room * sizeof(Mirror))
            if mirrors == NULL:
                raise MemoryError
            view.mirrors = mirrors
            view.room = room
        return 0

    @cython.final
    cdef void _cut_view(self, View* view, Py_ssize_t levels) noexcept:
        """Let go of the levels from here on, from the inside: nothing that is freed is deep."""
        if view.levels > levels:
            Py_CLEAR(view.extra)
        while view.levels > levels:
            view.levels -= 1
            Py_CLEAR(view.mirrors[view.levels].copy)
        view.same = min(view.same, levels)

    cdef inline void _drop_views(self) noexcept:
        cdef int number
        for number in range(2):
            if self._views[number].mirrors != NULL:
                self._drop_view(&self._views[number])

    cdef void _drop_view(self, View* view) noexcept:
        self._cut_view(view, 0)
        Py_CLEAR(view.text)
        PyMem_Free(view.mirrors)
        view.mirrors = NULL
        view.room = 0

    # ------------------------------------------------------------ pieces

    cdef inline bint _take_text(self, object piece) except -1:
        """Read a piece that, as most are, is nothing but text of the open string; whether it was one."""
        cdef const unsigned char* p
        cdef Py_ssize_t n
        cdef uint64_t word
        if self._mode != M_STRING or not PyUnicode_CheckExact(piece) or not PyUnicode_IS_COMPACT_ASCII(piece):
            return False
        if self._escape | self._half | self._raw_half | self._carry_size | self._is_busy:
            return False
        p = <const unsigned char*>PyUnicode_DATA(piece)
        n = PyUnicode_GET_LENGTH(piece)
        if 1 <= n <= 8:
            word = ts_last_word(p + n, n)
            if not ts_is_plain_word(word, self._quote):
                return False
            if self._room - self._size < 8:
                self._grow_buffer(8)
            memcpy(self._buffer + self._size, &word, 8)
            self._size += n
        else:
            if n == 0 or ts_plain_run(p, p + n, self._quote) != p + n:
                return False
            self._put(p, n)
        self._position += n
        self._credit += APPEND_CREDIT + CHARACTER_CREDIT * n
        if not self._is_key:
            self._dirty = True
        self._mark = self._size
        return True

    @cython.final
    cdef int _take(self, object piece) except -1:
        cdef Py_ssize_t n
        if self._limit >= 0 or self._is_busy:
            self._refuse()
        if PyUnicode_Check(piece):
            PyUnicode_READY(piece)
            self._credit += APPEND_CREDIT
            n = PyUnicode_GET_LENGTH(piece)
            if n == 0:
                return 0
            self._is_busy = True
            if self._carry_size:
                self._drop_carry()
            if PyUnicode_IS_ASCII(piece):
                if self._raw_half:
                    self._release_half()
                self._read(<const unsigned char*>PyUnicode_DATA(piece), n, n)
            else:
                self._read_wide(piece, n)
        else:
            self._take_bytes(piece)
        if self._mode == M_STRING:
            self._pause_string()
        self._is_busy = False
        if self._limit >= 0:
            self._refuse()
        return 0

    cdef int _take_bytes(self, object piece) except -1:
        cdef Py_buffer view
        cdef bint has_view = False
        cdef Py_ssize_t n
        cdef const unsigned char* p = _bytes(piece, &view, &has_view, &n)
        self._credit += APPEND_CREDIT
        self._is_busy = True
        try:
            if n:
                if self._raw_half:
                    self._release_half()
                if self._carry_size == 0 and ts_is_ascii(p, n):
                    self._read(p, n, n)
                else:
                    self._read_bytes(p, n)
        finally:
            if has_view:
                PyBuffer_Release(&view)
        return 0

    cdef int _refuse(self) except -1:
        if self._is_busy:
            raise RuntimeError("the parser is reading, or an exception (of memory, a signal) broke off an earlier piece")
        raise rules.limit_error(self._max_depth, self._limit)

    @cython.final
    cdef int _pause_string(self) except -1:
        """The piece has ended inside a string: place it, and report what there is of it."""
        if not self._is_key:
            if not self._is_placed:
                Py_INCREF(<PyObject*>EMPTY)
                self._place(<PyObject*>EMPTY)
                self._is_placed = True
            if self._reports and self._is_reported and (self._is_fresh or self._size > self._mark):
                self._report_text(ts_text(self._buffer + self._mark, self._size - self._mark))
        self._is_fresh = False
        self._mark = self._size
        return 0

    cdef int _read_wide(self, object piece, Py_ssize_t n) except -1:
        """Read a str that is not all ASCII, from one surrogate half to the next."""
        cdef int kind = PyUnicode_KIND(piece)
        cdef const void* data = PyUnicode_DATA(piece)
        cdef Py_ssize_t i = 0, size, start
        cdef unsigned int c, following
        cdef const unsigned char* kept
        if self._raw_half == 0:
            kept = ts_kept_utf8(piece, &size)
            if kept != NULL:
                self._read(kept, size, n)
                return 0
        self._reserve_scratch(n * (2 if kind == 1 else 3 if kind == 2 else 4))
        while i < n:
            if self._limit >= 0:
                return 0
            if self._raw_half:
                c = ts_read(kind, data, i)
                if 0xDC00 <= c <= 0xDFFF:
                    size = ts_put_utf8(self._scratch, 0x10000 + ((self._raw_half & 0x3FF) << 10) + (c & 0x3FF))
                    self._raw_half = 0
                    i += 1
                    self._read(self._scratch, size, 1)
                else:
                    self._release_half()
                continue
            start = i
            i = ts_encode(kind, data, i, n, self._scratch, &size)
            if i > start:
                self._read(self._scratch, size, i - start)
                continue
            c = ts_read(kind, data, i)
            i += 1
            self._raw_half = c
            if c >= 0xDC00:
                self._release_half()
            elif self._mode == M_STRING:
                self._end_waiting()
        if self._scratch_room > LARGE:
            PyMem_Free(self._scratch)
            self._scratch = NULL
            self._scratch_room = 0
        return 0

    cdef int _read_bytes(self, const unsigned char* p, Py_ssize_t n) except -1:
        """Read UTF-8 that is not all ASCII; what is no UTF-8 becomes U+FFFD as in `bytes.decode("utf-8", "replace")`."""
        cdef const unsigned char* end = p + n
        cdef const unsigned char* q
        cdef int length
        while self._carry_size and p < end:
            self._carry[self._carry_size] = p[0]
            length = ts_utf8_length(self._carry, self._carry + self._carry_size + 1)
            if length < 0:
                self._drop_carry()
                break
            self._carry_size += 1
            p += 1
            if length > 0:
                self._carry_size = 0
                self._read(self._carry, length, 1)
        while p < end and self._limit < 0:
            q = ts_utf8_run(p, end)
            if q > p:
                self._read(p, q - p, ts_characters(p, q))
                p = q
                continue
            length = ts_utf8_length(p, end)
            if length == 0:
                self._carry_size = <int>(end - p)
                memcpy(self._carry, p, end - p)
                return 0
            self._read(REPLACEMENT, 3, 1)
            p -= length
        return 0

    cdef int _drop_carry(self) except -1:
        """What was kept back of a character does not go on: so it is none, or two where it is half of a surrogate."""
        if self._carry_size == 2 and self._carry[0] == 0xED and self._carry[1] >= 0xA0:
            self._read(REPLACEMENT, 3, 1)
        self._carry_size = 0
        return self._read(REPLACEMENT, 3, 1)

    cdef int _release_half(self) except -1:
        """The raw half that was kept back stands alone."""
        cdef unsigned int half = self._raw_half
        cdef Py_ssize_t size = self._size
        self._raw_half = 0
        if self._mode != M_STRING:
            return self._read(REPLACEMENT, 3, 1)
        self._credit += CHARACTER_CREDIT
        if half >= 0xDC00 and self._half and not self._escape:
            self._put_character(0x10000 + ((self._half & 0x3FF) << 10) + (half & 0x3FF))
            self._half = 0
        else:
            self._end_waiting()
            if half < 0xDC00:
                self._half = half
                self._half_size = 1
            else:
                self._repair(self._position, LONE_SURROGATE)
                self._put_character(0xFFFD)
        self._position += 1
        if not self._is_key and self._size > size:
            self._dirty = True
        return 0

    cdef int _end_waiting(self) except -1:
        """A raw half comes next in the string: an unfinished escape, or a half, that waited for something else is settled."""
        cdef Py_ssize_t size = self._size
        self._anchor_offset = self._position
        self._anchor = self._digits  # any address: nothing of the text lies between the two
        self._is_ascii = True
        if self._escape:
            self._end_bad_escape(self._anchor)
        elif self._half:
            self._drop_half(self._anchor, 0)
        if not self._is_key and self._size > size:
            self._dirty = True
        return 0

    @cython.final
    cdef int _read(self, const unsigned char* p, Py_ssize_t n, Py_ssize_t characters) except -1:
        """Read a segment of whole characters."""
        cdef const unsigned char* end = p + n
        if self._limit >= 0:
            return 0
        self._credit += CHARACTER_CREDIT * characters
        self._anchor = p
        self._anchor_offset = self._position
        self._is_ascii = n == characters
        if self._position == 0 and n >= 3 and p[0] == 0xEF and p[1] == 0xBB and p[2] == 0xBF:
            self._deviate(p, NO_MARK)
            self._repair(0, BYTE_ORDER_MARK)
            p += 3
        while p < end:
            if self._mode == M_OUTSIDE:
                p = self._read_outside(p, end)
                if self._limit >= 0:
                    self._position = self._limit
                    return 0
            elif self._mode == M_STRING:
                p = self._read_string(p, end)
            elif self._mode == M_TOKEN:
                p = self._read_token(p, end)
            elif self._mode == M_IGNORE:
                break
            elif self._mode == M_HELD or self._mode == M_HELD_TOKEN:
                p = self._read_held(p, end)
            else:
                p = self._read_aside(p, end)
        self._position += characters
        return 0

    # ------------------------------------------------------------ structure

    @cython.final
    cdef const unsigned char* _read_outside(self, const unsigned char* p, const unsigned char* end) except NULL:
        cdef int state = self._state
        cdef int kind
        cdef unsigned char c
        cdef const unsigned char* q
        cdef PyObject* value
        cdef Frame* frame
        while p < end:
            c = p[0]
            kind = ts_class[c]
            if kind == TS_BLANK:
                p += 1
            elif state == END:
                self._state = state
                return self._after_root(p)
            elif kind == TS_QUOTE:
                q = ts_plain_run(p + 1, end, c'"')
                if q == end or q[0] != c'"':
                    self._state = state
                    self._begin_string(c'"', p)
                    return p + 1
                if KEY_WANTED[state]:
                    if state == OBJECT_COMMA:
                        self._deviate(p, state)
                        self._repair(self._offset(p), MISSING_COMMA)
                    value = ts_name(p + 1, q - p - 1)
                    frame = &self._frames[self._depth - 1]
                    Py_XDECREF(frame.key)
                    frame.key = value
                    p = q + 1
                    state = OBJECT_COLON
                    if p < end and p[0] == c':':
                        p += 1
                        state = OBJECT_VALUE
                        if p < end and p[0] == c' ':
                            p += 1
                else:
                    if state == OBJECT_COLON or state == ARRAY_COMMA:
                        self._begin_value(state, self._offset(p))
                    value = ts_ascii(p + 1, q - p - 1) if self._is_ascii else ts_decode(p + 1, q - p - 1)
                    self._place(value)
                    state = AFTER_VALUE[state]
                    if state == END:
                        self._root_end = self._offset(q) + 1
                    if self._reports:
                        self._report(value, True)
                    p = q + 1
            elif kind == TS_COMMA:
                if state == OBJECT_COMMA:
                    state = OBJECT_KEY
                elif state == ARRAY_COMMA:
                    state = ARRAY_VALUE
                else:
                    self._deviate(p, state)
                    if state == OBJECT_COLON or state == OBJECT_VALUE:
                        self._repair(self._offset(p), MISSING_VALUE)
                        state = OBJECT_KEY
                    else:
                        self._repair(self._offset(p), EXTRA_COMMA)
                p += 1
                if p < end and p[0] == c' ':
                    p += 1
            elif kind == TS_COLON:
                if state == OBJECT_COLON:
                    state = OBJECT_VALUE
                else:
                    self._deviate(p, state)
                    self._repair(self._offset(p), EXTRA_COLON)
                p += 1
            elif kind == TS_OPEN_OBJECT or kind == TS_OPEN_ARRAY:
                if self._depth == self._max_depth:
                    self._limit = self._offset(p)
                    self._state = state
                    return p
                state = self._open(state, kind == TS_OPEN_OBJECT, p)
                p += 1
            elif kind == TS_CLOSE:
                state = self._close(state, c, p)
                p += 1
            else:
                kind = TS_NO_NUMBER
                if KEY_WANTED[state]:
                    pass
                elif c == c'-' or 48 <= c <= 57:
                    kind = ts_number(p, end, &q, &value)
                elif c == c't':
                    if end - p > 4 and p[1] == c'r' and p[2] == c'u' and p[3] == c'e' and ts_class[p[4]] != TS_WORD:
                        kind = TS_NUMBER
                        q = p + 4
                        value = _word(0)
                elif c == c'f':
                    if (
                        end - p > 5 and p[1] == c'a' and p[2] == c'l' and p[3] == c's' and p[4] == c'e'
                        and ts_class[p[5]] != TS_WORD
                    ):
                        kind = TS_NUMBER
                        q = p + 5
                        value = _word(1)
                elif c == c'n':
                    if end - p > 4 and p[1] == c'u' and p[2] == c'l' and p[3] == c'l' and ts_class[p[4]] != TS_WORD:
                        kind = TS_NUMBER
                        q = p + 4
                        value = _word(2)
                if kind == TS_NO_NUMBER:
                    self._state = state
                    if self._lenient and (c == c"'" or c == c'\\' or c == c'/' or c == c'#' or c == c'`' or c == c'<'):
                        return self._lenient_begin(p)
                    self._begin_token(c, self._offset(p))
                    return p + 1
                if kind == TS_NUMBER:
                    if value == NULL:
                        raise MemoryError
                else:
                    value = _long_number(p, q - p, kind == TS_LONG_FLOAT)
                    self._overflow_count += _is_infinite(value)
                if state == OBJECT_COLON or state == ARRAY_COMMA:
                    self._begin_value(state, self._offset(p))
                self._place(value)
                state = AFTER_VALUE[state]
                p = q
                if state == END:
                    self._root_end = self._offset(p)
                if self._reports:
                    self._report(value, False)
        self._state = state
        return p

    @cython.final
    cdef int _begin_value(self, int state, Py_ssize_t offset) except -1:
        """A value begins: note what should have come before it."""
        if state == OBJECT_COLON or state == ARRAY_COMMA or KEY_WANTED[state]:
            self._deviate_at(offset, state)
        if state == OBJECT_COLON:
            self._repair(offset, MISSING_COLON)
        elif state == ARRAY_COMMA:
            self._repair(offset, MISSING_COMMA)
        return 0

    cdef inline int _place(self, PyObject* value) except -1:
        """Put a value where it belongs. Takes over the reference."""
        cdef Frame* frame
        cdef Py_ssize_t size
        self._dirty = True
        if self._depth == 0:
            self._root = <object>value
            Py_DECREF(value)
            return 0
        if self._made < self._depth:
            self._make()
        frame = &self._frames[self._depth - 1]
        if not frame.is_object:
            return ts_list_append(frame.container, value)
        size = PyDict_GET_SIZE(frame.container)
        ts_dict_put(frame.container, frame.key, value)
        if PyDict_GET_SIZE(frame.container) == size:
            self._duplicate_keys += 1
            frame.is_repeated = True
            self._lowest = min(self._lowest, self._depth - 1)
        return 0

    @cython.final
    cdef object _path(self, Py_ssize_t level):
        """The path of the container at a level, built once."""
        cdef Py_ssize_t known = self._path_count
        cdef tuple path
        while known <= level:
            path = _longer(self._paths[known - 1], known - 1, self._step_in(known - 1)) if known else ROOT_PATH
            Py_INCREF(<PyObject*>path)
            self._paths[known] = <PyObject*>path
            known += 1
            self._path_count = known
        return <object>self._paths[level]

    @cython.final
    cdef object _value_path(self):
        """The path of the value placed last."""
        if self._depth == 0:
            return ROOT_PATH
        self._path(self._depth - 1)
        return _longer(self._paths[self._depth - 1], self._depth - 1, self._step_in(self._depth - 1))

    @cython.final
    cdef int _report(self, PyObject* value, bint is_string) except -1:
        """Report a value that has just been placed, and is final."""
        cdef object path
        if self._hidden or self._depth > REPORT_DEPTH:
            return 0
        path = self._value_path()
        Py_INCREF(value)
        self._add_change(SET, path, value)
        if is_string and self._report_ends:
            Py_INCREF(Py_None)
            self._add_change(END_CHANGE, path, Py_None)
        return 0

    cdef inline int _add_change(self, object kind, object path, PyObject* value) except -1:
        """Add a change. Takes over the reference to the value."""
        if self._changes is None:
            self._changes = ts_first_change(self._kept, <PyObject*>kind, <PyObject*>path, value)
            return 0
        if <PyObject*>self._changes == self._kept[0]:  # longer ones are not kept
            Py_CLEAR(self._kept[0])
        return ts_list_append(<PyObject*>self._changes, ts_change(<PyObject*>kind, <PyObject*>path, value))

    cdef inline Py_ssize_t _members(self, Py_ssize_t level) noexcept:
        """The number of members of an open container."""
        if self._made - 1 <= level < self._depth - 1:
            return 1  # the next container
        return _size(self._frames[level].container, self._frames[level].is_object) if level < self._made else 0

    cdef inline object _step_in(self, Py_ssize_t level):
        """The step from a container to the value placed last in it."""
        return <object>self._frames[level].key if self._frames[level].is_object else self._members(level) - 1

    @cython.final
    cdef int _make(self) except -1:
        """Make the containers that nothing had to be put into so far."""
        cdef Frame* frame
        cdef PyObject* container
        while self._made < self._depth:
            frame = &self._frames[self._made]
            container = frame.container = PyDict_New() if frame.is_object else PyList_New(0)
            self._made += 1
            frame -= 1
            if frame.is_object:
                PyDict_SetItem(frame.container, frame.key, container)
            else:
                Py_INCREF(container)
                ts_list_append(frame.container, container)
        return 0

    @cython.final
    cdef int _open(self, int state, bint is_object, const unsigned char* p) except -1:
        """Open a container; return the state inside."""
        cdef PyObject* container = NULL
        cdef Frame* frame
        cdef bint is_reported = False
        if self._depth == self._frame_room:
            self._grow_frames()
        if KEY_WANTED[state]:
            self._deviate(p, state)
            self._dirty = True
            if not self._hidden:
                self._hidden = self._depth + 1
            self._repair(self._offset(p), DROPPED_VALUE)
            self._make()
            container = PyDict_New() if is_object else PyList_New(0)
        else:
            if state == OBJECT_COLON or state == ARRAY_COMMA:
                self._begin_value(state, self._offset(p))
            frame = &self._frames[self._depth - 1]
            if self._depth and (frame.container == NULL or _size(frame.container, frame.is_object) == 0):
                self._dirty = True
            else:
                container = PyDict_New() if is_object else PyList_New(0)
                Py_INCREF(container)
                self._place(container)
            state = AFTER_VALUE[state]
            is_reported = self._reports and not self._hidden and self._depth <= REPORT_DEPTH
        if self._depth:
            frame = &self._frames[self._depth - 1]
            frame.state = state
            self._outer += _size(frame.container, frame.is_object) + 1 if container != NULL else 2
        else:
            self._prose = False
        frame = &self._frames[self._depth]
        frame.container = container
        frame.key = NULL
        frame.is_object = is_object
        frame.is_repeated = False
        self._depth += 1
        if container != NULL:
            self._made = self._depth
        if is_reported:
            self._add_change(SET, self._path(self._depth - 1), PyDict_New() if is_object else PyList_New(0))
        return OBJECT_FIRST if is_object else ARRAY_FIRST

    @cython.final
    cdef int _close(self, int state, unsigned char c, const unsigned char* p) except -1:
        """Close the innermost container; return the state outside."""
        cdef Frame* frame
        if state == ROOT:
            self._deviate(p, state)
            self._repair(self._offset(p), STRAY_CLOSER)
            return state
        if self._made < self._depth:
            self._make()
        frame = &self._frames[self._depth - 1]
        if frame.is_object != (c == c'}'):
            self._deviate(p, state)
            self._repair(self._offset(p), MISMATCHED_CLOSER)
        elif state == OBJECT_KEY or state == ARRAY_VALUE:
            self._deviate(p, state)
            self._repair(self._offset(p), TRAILING_COMMA)
        elif state == OBJECT_COLON or state == OBJECT_VALUE:
            self._deviate(p, state)
            self._repair(self._offset(p), MISSING_VALUE)
        if self._reports and not self._hidden and self._depth <= REPORT_DEPTH + 1:
            if self._depth == REPORT_DEPTH + 1:
                Py_INCREF(frame.container)
                self._add_change(SET, self._path(REPORT_DEPTH), frame.container)
            if self._report_ends:
                Py_INCREF(Py_None)
                self._add_change(END_CHANGE, self._path(self._depth - 1), Py_None)
        if self._hidden == self._depth:
            self._hidden = 0
        self._dirty = True
        self._depth -= 1
        self._made = self._depth
        if self._lowest > self._depth:
            self._lowest = self._depth
        if self._path_count > self._depth:
            self._path_count -= 1
            Py_DECREF(self._paths[self._path_count])
        Py_XDECREF(frame.key)
        Py_DECREF(frame.container)
        if self._depth == 0:
            self._root_end = self._offset(p) + 1
            return END
        frame = &self._frames[self._depth - 1]
        self._outer -= _size(frame.container, frame.is_object) + 1
        return frame.state

    cdef int _grow_frames(self) except -1:
        cdef Py_ssize_t room = self._frame_room * 2
        cdef Frame* frames
        if self._frames == self._first_frames:
            frames = <Frame*>PyMem_Malloc(room * sizeof(Frame))
            if frames != NULL:
                memcpy(frames, self._first_frames, sizeof(self._first_frames))
        else:
            frames = <Frame*>PyMem_Realloc(self._frames, room * sizeof(Frame))
        if frames == NULL:
            raise MemoryError
        self._frames = frames
        self._frame_room = room
        return 0

    # ------------------------------------------------------------ strings

    @cython.final
    cdef int _begin_string(self, unsigned char quote, const unsigned char* p) except -1:
        cdef int state = self._state
        self._quote = quote
        self._is_key = KEY_WANTED[state]
        if self._is_key:
            if state == OBJECT_COMMA:
                self._deviate(p, state)
                self._repair(self._offset(p), MISSING_COMMA)
        else:
            self._begin_value(state, self._offset(p))
            self._is_placed = False
            self._is_reported = not self._hidden and self._depth <= REPORT_DEPTH
            self._state = AFTER_VALUE[state]
        self._mode = M_STRING
        self._is_fresh = True
        self._string_path = None
        self._string_serial += 1
        self._size = self._mark = self._joined = self._counted = self._characters = 0
        return 0

    @cython.final
    cdef const unsigned char* _read_string(self, const unsigned char* p, const unsigned char* end) except NULL:
        cdef unsigned char quote = self._quote
        cdef unsigned char c
        cdef const unsigned char* q
        cdef Py_ssize_t size = self._size
        cdef int code, low
        while p < end:
            if self._escape or self._half:
                p = self._read_escape(p)
                continue
            q = ts_plain_run(p, end, quote)
            if q > p:
                self._put(p, q - p)
                p = q
                if p == end:
                    break
            c = p[0]
            if c == quote:
                if self._size != size and not self._is_key:
                    self._dirty = True
                self._end_string(p + 1)
                return p + 1
            if c != c'\\':
                self._deviate(p, NO_CONTROL)
                self._repair(self._offset(p), CONTROL_CHARACTER)
                self._put(p, 1)
                p += 1
                continue
            if end - p >= 2 and ts_escape[p[1]]:
                self._put_byte(ts_escape[p[1]])
                p += 2
                continue
            if end - p >= 6 and p[1] == c'u':
                code = ts_hex4(p + 2)
                if code >= 0 and not 0xD800 <= code <= 0xDFFF:
                    self._put_character(code)
                    p += 6
                    continue
                if 0xD800 <= code <= 0xDBFF and end - p >= 12 and p[6] == c'\\' and p[7] == c'u':
                    low = ts_hex4(p + 8)
                    if 0xDC00 <= low <= 0xDFFF:
                        self._put_character(0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF))
                        p += 12
                        continue
            self._escape = 1
            p += 1
        if self._size != size and not self._is_key:
            self._dirty = True
        return p

    cdef const unsigned char* _read_escape(self, const unsigned char* p) except NULL:
        """Go one character on where an escape is unfinished or a high half is held."""
        cdef unsigned char c = p[0]
        cdef int code
        if self._escape == 0:
            if c == c'\\':
                self._escape = 1
                return p + 1
            self._drop_half(p, 0)
            return p
        if self._escape == 1:
            if c == c'u':
                self._escape = 2
                return p + 1
            if self._half:
                self._drop_half(p, 1)
            if ts_escape[c]:
                self._escape = 0
                self._put_byte(ts_escape[c])
                return p + 1
            if c == c"'" and self._lenient:
                self._deviate(p, ESCAPED)
                self._repair(self._offset(p) - 1, ESCAPED_APOSTROPHE)
                self._escape = 0
                self._put(p, 1)
                return p + 1
            self._end_bad_escape(p)
            return p
        if ts_hex_digit(c) < 0:
            self._end_bad_escape(p)
            return p
        self._digits[self._escape - 2] = c
        if self._escape < 5:
            self._escape += 1
            return p + 1
        self._escape = 0
        code = ts_hex4(self._digits)
        p += 1
        if self._half:
            if 0xDC00 <= code <= 0xDFFF:
                self._put_character(0x10000 + ((self._half & 0x3FF) << 10) + (code & 0x3FF))
                self._half = 0
                return p
            self._drop_half(p, 6)
        if 0xD800 <= code <= 0xDBFF:
            self._half = code
            self._half_size = 6
        elif 0xDC00 <= code <= 0xDFFF:
            self._repair(self._offset(p) - 6, LONE_SURROGATE)
            self._put_character(0xFFFD)
        else:
            self._put_character(code)
        return p

    cdef int _end_bad_escape(self, const unsigned char* p) except -1:
        """The held escape is none: it is text, and the character at `p` is read afresh."""
        cdef int size = self._escape
        if self._half:
            self._drop_half(p, size)
        self._deviate(p, ESCAPED if size == 1 else HEX_DIGITS)
        self._repair(self._offset(p) - size, INVALID_ESCAPE)
        self._escape = 0
        self._put(<const unsigned char*>b"\\u", 1 if size == 1 else 2)
        if size > 2:
            self._put(self._digits, size - 2)
        return 0

    cdef int _drop_half(self, const unsigned char* p, int since) except -1:
        """The held high half, `since` characters in front of `p`, stands alone."""
        self._half = 0
        self._repair(self._offset(p) - since - self._half_size, LONE_SURROGATE)
        return self._put_character(0xFFFD)

    @cython.final
    cdef int _end_string(self, const unsigned char* p) except -1:
        cdef Frame* frame
        cdef PyObject* value
        self._mode = M_OUTSIDE
        if self._is_key:
            value = ts_name(self._buffer, self._size)
            frame = &self._frames[self._depth - 1]
            Py_XDECREF(frame.key)
            frame.key = value
            self._state = OBJECT_COLON
        else:
            value = ts_decode(self._buffer, self._size)
            if not self._is_placed:
                self._place(value)
            elif self._depth == 0:
                self._root = <object>value
                Py_DECREF(value)
            else:
                frame = &self._frames[self._depth - 1]
                if frame.is_object:
                    ts_dict_put(frame.container, frame.key, value)
                else:
                    Py_DECREF(PyList_GET_ITEM(frame.container, PyList_GET_SIZE(frame.container) - 1))
                    PyList_SET_ITEM(frame.container, PyList_GET_SIZE(frame.container) - 1, value)
            if self._depth == 0:
                self._root_end = self._offset(p)
            if self._reports and self._is_reported:
                if self._is_fresh:
                    self._report_text(<object>value)
                elif self._size > self._mark:
                    self._report_text(ts_text(self._buffer + self._mark, self._size - self._mark))
                if self._report_ends:
                    if self._string_path is None:
                        self._string_path = self._value_path()
                    Py_INCREF(Py_None)
                    self._add_change(END_CHANGE, self._string_path, Py_None)
        self._drop_buffer()
        return 0

    @cython.final
    cdef int _report_text(self, object text) except -1:
        """Report what this piece has brought of the open string."""
        if self._string_path is None:
            self._string_path = self._value_path()
        Py_INCREF(<PyObject*>text)
        return self._add_change(SET if self._is_fresh else APPEND, self._string_path, <PyObject*>text)

    @cython.final
    cdef Py_ssize_t _count_characters(self) noexcept:
        """The characters of the open string so far."""
        cdef Py_ssize_t more = self._size - self._counted
        if 1 <= more <= 8 <= self._size:
            self._characters += ts_characters_of_word(ts_last_word(self._buffer + self._size, more)) - (8 - more)
        else:
            self._characters += ts_characters(self._buffer + self._counted, self._buffer + self._size)
        self._counted = self._size
        return self._characters

    # ------------------------------------------------------------ buffers

    cdef inline int _put(self, const unsigned char* p, Py_ssize_t n) except -1:
        if self._size + n > self._room:
            self._grow_buffer(n)
        ts_copy(self._buffer + self._size, p, n)
        self._size += n
        return 0

    cdef inline int _put_byte(self, unsigned char c) except -1:
        if self._size == self._room:
            self._grow_buffer(1)
        self._buffer[self._size] = c
        self._size += 1
        return 0

    cdef int _put_character(self, unsigned int c) except -1:
        if self._size + 4 > self._room:
            self._grow_buffer(4)
        self._size += ts_put_utf8(self._buffer + self._size, c)
        return 0

    cdef int _grow_buffer(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t room = self._room + self._room // (2 if self._room < LONG_TEXT else 8)
        cdef unsigned char* buffer
        if room < self._size + n:
            room = self._size + n
        if room < 256:
            room = 256
        buffer = <unsigned char*>PyMem_Realloc(self._buffer, room)
        if buffer == NULL:
            raise MemoryError
        self._buffer = buffer
        self._room = room
        return 0

    cdef void _drop_buffer(self) noexcept:
        self._size = 0
        if self._room > LARGE:
            PyMem_Free(self._buffer)
            self._buffer = NULL
            self._room = 0

    cdef int _reserve_scratch(self, Py_ssize_t n) except -1:
        cdef unsigned char* scratch
        if n > self._scratch_room:
            scratch = <unsigned char*>PyMem_Realloc(self._scratch, n)
            if scratch == NULL:
                raise MemoryError
            self._scratch = scratch
            self._scratch_room = n
        return 0

    # ------------------------------------------------------------ tokens

    @cython.final
    cdef int _begin_token(self, unsigned char c, Py_ssize_t start) except -1:
        """Begin a token with `c`, whose offset is `start`."""
        cdef int state = self._state
        cdef int first = _step(DEAD, c)
        if not (first and _is_json(first)):
            self._deviate_at(start, state)
        self._takes = not KEY_WANTED[state]
        self._begin_value(state, start)
        self._mode = M_TOKEN
        self._token_is_number = c == c'-' or 48 <= c <= 57
        self._token_state = first
        self._size = 0
        if first:
            self._put_byte(c)
        else:
            self._drop(start)
        if self._takes and self._shows_pending:
            self._dirty = True
        return 0

    @cython.final
    cdef const unsigned char* _read_token(self, const unsigned char* p, const unsigned char* end) except NULL:
        cdef unsigned char c = 0
        cdef const unsigned char* start = p
        cdef int state = self._token_state
        cdef bint is_held = False
        p = _more_digits(state, p, end)
        while p < end:
            c = p[0]
            if ts_class[c] != TS_WORD:
                break
            if self._lenient and (c == c'\\' or (c == c'/' and not self._prose)):
                is_held = True
                break
            if state:
                state = self._grow_token(state, c, p, p - start)
                p = _more_digits(state, p + 1, end)
            else:
                p += 1
        self._token_state = state
        if p > start:
            if self._takes and self._shows_pending:
                self._dirty = True
            if state:
                self._put(start, p - start)
        if is_held:
            if state:
                self._deviate(p, _expected(state))
            self._mode = M_HELD_TOKEN
            self._held = c
            self._held_count = 1
            return p + 1
        if p < end:
            self._end_token(p, 0)
        return p

    cdef inline int _grow_token(self, int state, unsigned char c, const unsigned char* p, Py_ssize_t since) except -1:
        """The state after one more character; `since`: how many in front of `p` are not in the buffer."""
        cdef int following = _step(state, c)
        if not (following and _is_json(following)):
            self._deviate(p, _expected(state))
        if not following:
            self._drop(self._offset(p) - since - self._size)
            self._drop_buffer()
        return following

    cdef int _drop(self, Py_ssize_t start) except -1:
        """The open token can be no value: note it at once."""
        self._repair(start, DROPPED_NUMBER if self._token_is_number else DROPPED_WORD)
        if self._state == ROOT:
            self._prose = True
        return 0

    @cython.final
    cdef object _token_value(self, Py_ssize_t size, int state):
        """The value of the first `size` bytes of the token, whose state there is `state`; MISSING if there is none."""
        cdef const unsigned char* stop
        cdef PyObject* value = NULL
        cdef int kind, word
        cdef unsigned char after
        if state >= WORD:
            word = state // WORD - 1
            if word < JSON_WORDS or (word < KNOWN_WORDS and self._lenient and not self._prose):
                return _own(_word(word))
            return NOTHING
        self._put(<const unsigned char*>b",", 1)  # room for a delimiter
        self._size -= 1
        after = self._buffer[size]
        self._buffer[size] = c','
        kind = ts_number(self._buffer, self._buffer + size + 1, &stop, &value)
        self._buffer[size] = after
        if kind == TS_NO_NUMBER:
            return NOTHING
        if kind != TS_NUMBER:
            value = _long_number(self._buffer, size, kind == TS_LONG_FLOAT)
        elif value == NULL:
            raise MemoryError
        return _own(value)

    @cython.final
    cdef object _pending(self):
        """What shows of the open token."""
        cdef Py_ssize_t size = self._size
        if size > PENDING_LIMIT:
            return NOTHING
        if self._token_state == EXPONENT or self._token_state == EXPONENT_SIGN:
            size -= 1 if self._token_state == EXPONENT else 2
        return self._token_value(size, self._token_state)

    @cython.final
    cdef int _end_token(self, const unsigned char* p, int since) except -1:
        """The token has ended, `since` characters before `p`."""
        cdef int state = self._token_state
        cdef int word = state // WORD - 1
        cdef Py_ssize_t end = self._offset(p) - since
        cdef Py_ssize_t start = end - self._size
        cdef object value = NOTHING
        cdef bint is_number = self._token_is_number
        self._mode = M_OUTSIDE
        if state:
            if state < WORD or state % WORD == WORD_LENGTHS[word]:
                value = self._token_value(self._size, state)
            if value is NOTHING:
                if _is_json(state):
                    self._deviate_at(end, _expected(state))
                if word >= KNOWN_WORDS and state % WORD == WORD_LENGTHS[word]:
                    self._repair(start, NONFINITE)
                else:
                    self._repair(start, DROPPED_NUMBER if is_number else DROPPED_WORD)
                if self._state == ROOT:
                    self._prose = True
            elif not _is_json(state):
                self._repair(start, PYTHON_LITERAL)
        self._drop_buffer()
        if not self._takes:
            if value is not NOTHING:
                self._repair(start, DROPPED_VALUE)
            return 0
        self._dirty = True
        if value is NOTHING:
            if self._state != ROOT:
                self._state = AFTER_VALUE[self._state]
            return 0
        self._overflow_count += _is_infinite(<PyObject*>value)
        Py_INCREF(<PyObject*>value)
        self._place(<PyObject*>value)
        self._state = AFTER_VALUE[self._state]
        if self._state == END:
            self._root_end = end
        if self._reports:
            self._report(<PyObject*>value, False)
        return 0

    # ------------------------------------------------------------ what lenient reading adds

    cdef const unsigned char* _lenient_begin(self, const unsigned char* p) except NULL:
        """Read what begins with a character that means something only to a lenient reader."""
        cdef unsigned char c = p[0]
        cdef bint is_root = self._state == ROOT
        if c == c"'" and not self._prose:
            self._deviate(p, self._state)
            self._begin_string(c, p)
            self._repair(self._offset(p), SINGLE_QUOTES)
            return p + 1
        if (c == c'/' or c == c'#') and not self._prose:
            return self._begin_comment(p)
        if c == c'\\' or ((c == c'`' or c == c'<') and is_root):
            return self._hold(p, self._state)
        self._begin_token(c, self._offset(p))
        return p + 1

    cdef const unsigned char* _begin_comment(self, const unsigned char* p) except NULL:
        if p[0] == c'/':
            return self._hold(p, self._state)
        self._deviate(p, self._state)
        self._repair(self._offset(p), COMMENT)
        self._mode = M_LINE_COMMENT
        return p + 1

    cdef const unsigned char* _hold(self, const unsigned char* p, int state) except NULL:
        """What the character at `p` means will be known with the next one."""
        self._deviate(p, state)
        self._mode = M_HELD
        self._held = p[0]
        self._held_count = 1
        return p + 1

    cdef const unsigned char* _read_held(self, const unsigned char* p, const unsigned char* end) except NULL:
        """Decide what the held character was, by the one at `p`."""
        cdef unsigned char c = p[0]
        cdef unsigned char held = self._held
        cdef bint is_space = held == c'\\' and (c == c'n' or c == c'r' or c == c't')
        cdef bint is_comment = held == c'/' and (c == c'/' or c == c'*')
        cdef Py_ssize_t start
        if self._mode == M_HELD_TOKEN:
            if not is_space and not is_comment:
                self._mode = M_TOKEN
                if self._takes and self._shows_pending:
                    self._dirty = True
                if self._token_state:
                    self._token_state = self._grow_token(self._token_state, held, p, 1)
                return p
            self._end_token(p, 1)
            if is_comment and self._prose and self._state == ROOT:
                self._begin_token(held, self._offset(p) - 1)
                return p
        self._mode = M_OUTSIDE
        start = self._offset(p) - self._held_count
        if is_space:
            self._repair(start, SPACE_ESCAPE)
            return p + 1
        if is_comment:
            self._repair(start, COMMENT)
            self._mode = M_LINE_COMMENT if c == c'/' else M_BLOCK_COMMENT
            self._star = False
            return p + 1
        if held == c'`' and c == c'`':
            self._held_count += 1
            if self._held_count < 3:
                self._mode = M_HELD
                return p + 1
            self._repair(start, FENCE)
            if self._state == END:
                self._open_fences -= 1
                self._mode_start = start + 3
            else:
                self._open_fences += 1
                self._mode = M_FENCE_LINE
            return p + 1
        if held == c'<' and self._state == END and c == c'/':
            self._repair(start, TAG)
            self._open_tags -= 1
            self._mode = M_TAG
            return p + 1
        if held == c'<' and self._state == ROOT and (
            c'A' <= c <= c'Z' or c'a' <= c <= c'z' or c == c'_' or c == c'!' or c == c'?' or c == c'|'
        ):
            self._mode = M_TAG
            self._mode_start = start
            return p + 1
        if self._state == END:
            self._repair(start, TRAILING)
            self._mode = M_IGNORE
            return p
        self._begin_token(held, start)
        return p

    cdef const unsigned char* _read_aside(self, const unsigned char* p, const unsigned char* end) except NULL:
        """Read on in a comment, the first line of a fence, or a tag."""
        cdef unsigned char c
        cdef int mode = self._mode
        while p < end:
            c = p[0]
            p += 1
            if mode == M_BLOCK_COMMENT:
                if c == c'/' and self._star:
                    self._mode = M_OUTSIDE
                    return p
                self._star = c == c'*'
            elif mode == M_LINE_COMMENT:
                if c == c'\n' or c == c'\r':
                    self._mode = M_OUTSIDE
                    return p - 1
            elif mode == M_FENCE_LINE:
                if c == c'\n' or c == c'\r' or c == c'{' or c == c'[' or c == c'"':
                    self._mode = M_OUTSIDE
                    return p - 1
            elif c == c'>':
                self._mode = M_OUTSIDE
                if self._state != END:
                    self._repair(self._mode_start, TAG)
                    self._open_tags += 1
                return p
            elif c == c'<' or c == c'{' or c == c'}' or c == c'[' or c == c']' or c == c'\n':
                if self._state == END:
                    self._repair(self._offset(p - 1), TRAILING)
                    self._mode = M_IGNORE
                else:
                    self._repair(self._mode_start, DROPPED_WORD)
                    self._prose = True
                    self._mode = M_OUTSIDE
                return p - 1
        return p

    cdef const unsigned char* _after_root(self, const unsigned char* p) except NULL:
        """Read what follows the root."""
        cdef unsigned char c = p[0]
        self._deviate(p, END)
        if self._lenient:
            if c == c'/' or c == c'#':
                return self._begin_comment(p)
            if c == c'`' and self._offset(p) == self._mode_start:  # a fence of more than three
                self._mode_start += 1
                return p + 1
            if c == c'\\' or (c == c'`' and self._open_fences) or (c == c'<' and self._open_tags):
                return self._hold(p, END)
        self._repair(self._offset(p), TRAILING)
        self._mode = M_IGNORE
        return p

    # ------------------------------------------------------------ the verdict

    cdef inline Py_ssize_t _offset(self, const unsigned char* p) noexcept:
        """The offset of a byte of the segment that is not before the last one asked for."""
        if self._is_ascii:
            return self._anchor_offset + (p - self._anchor)
        self._anchor_offset += ts_characters(self._anchor, p)
        self._anchor = p
        return self._anchor_offset

    cdef inline void _deviate(self, const unsigned char* p, int expected) noexcept:
        if self._error_offset < 0:
            self._deviate_at(self._offset(p), expected)

    cdef void _deviate_at(self, Py_ssize_t offset, int expected) noexcept:
        if self._error_offset < 0:
            self._error_offset = offset
            self._error_expected = expected

    cdef int _repair(self, Py_ssize_t offset, int code) except -1:
        self._repair_count += 1
        if self._repairs is None:
            self._repairs = []
        if len(self._repairs) < MAX_REPAIRS or not self._seen >> code & 1:
            self._repairs.append((offset, CODES[code]))
            self._seen |= <unsigned int>1 << code
        return 0


# Whole objects, in one call


def read_object(text, max_depth):
    """The object that a `str` is, if there is nothing to say of it (`_plain_object`), and it is no deeper than
    `max_depth`; else `None`."""
    cdef StreamingJsonParser parser = StreamingJsonParser.__new__(StreamingJsonParser)
    parser._lenient = True  # which tells of half a character as well
    if max_depth is not None:
        parser._max_depth = min(max_depth, <Py_ssize_t>0x7FFFFFFF)
    try:
        parser._take(text)
    except LimitExceededError:
        return None
    return parser._plain_object()


cdef struct Writer:
    unsigned char* text
    Py_ssize_t size
    Py_ssize_t room
    unsigned char[512] first


def write_object(value, max_depth):
    """The JSON text of an object, without blanks, and a copy of it, where the text is sure to be read as the same
    object, no deeper than `max_depth`. `None`: it is nested very deeply, or something in it is not of JSON's types, as
    Python has them, or is no ordinary number: an integer of 64 bits, or a float that is written without an exponent."""
    cdef Writer out
    cdef Py_ssize_t levels = WRITTEN_LEVELS
    if type(value) is not dict:
        return None
    if max_depth is not None and max_depth < levels:
        levels = max_depth
    out.text = out.first
    out.size = 0
    out.room = sizeof(out.first)
    try:
        copy = _write(&out, value, levels)
        return None if copy is NOTHING else (ts_text(out.text, out.size), copy)
    finally:
        if out.text != out.first:
            PyMem_Free(out.text)


cdef object _write(Writer* out, object value, Py_ssize_t levels):
    """Write a value that opens at most so many levels. Gives what stands for it in a copy, `NOTHING` if it is refused."""
    cdef type kind = type(value)
    cdef object copy
    cdef double number
    cdef char* digits
    if kind is str:
        return value if _write_text(out, value) else NOTHING
    if kind is int:
        return value if _write_integer(out, value) else NOTHING
    if value is None:
        _write_bytes(out, "null", 4)
    elif value is True:
        _write_bytes(out, "true", 4)
    elif value is False:
        _write_bytes(out, "false", 5)
    elif kind is float:
        number = value
        if number != 0 and not 1e-4 <= abs(number) < 1e15:  # an integer that is too long became one of these
            return NOTHING
        digits = PyOS_double_to_string(number, c"r", 0, Py_DTSF_ADD_DOT_0, NULL)
        try:
            _write_bytes(out, digits, strlen(digits))
        finally:
            PyMem_Free(digits)
    elif levels and kind is dict:
        return _write_members(out, PyDict_Copy(<PyObject*>value), levels - 1)
    elif levels and kind is list:
        return _write_elements(out, PyList_GetSlice(<PyObject*>value, 0, PY_SSIZE_T_MAX), levels - 1)
    else:
        return NOTHING
    return value


cdef object _write_members(Writer* out, object copy, Py_ssize_t levels):
    """Write an object. `copy` is one that nobody else has, unless the collector runs code that looks for it; it gets
    copies of the containers in it."""
    cdef Py_ssize_t position = 0
    cdef PyObject* key
    cdef PyObject* member
    cdef object name, own
    cdef bint is_first = True
    while PyDict_Next(<PyObject*>copy, &position, &key, &member):
        if type(<object>key) is not str:  # first of all: a comparison of its own must not run where a copy is put in
            return NOTHING
    position = 0
    _write_bytes(out, "{", 1)
    while PyDict_Next(<PyObject*>copy, &position, &key, &member):
        if not is_first:
            _write_bytes(out, ",", 1)
        is_first = False
        name = <object>key
        if not _write_text(out, name):
            return NOTHING
        _write_bytes(out, ":", 1)
        own = _write(out, <object>member, levels)
        if own is NOTHING:
            return NOTHING
        if <PyObject*>own != member:
            PyDict_SetItem(<PyObject*>copy, <PyObject*>name, <PyObject*>own)
    _write_bytes(out, "}", 1)
    return copy


cdef object _write_elements(Writer* out, object copy, Py_ssize_t levels):
    """The same for a list."""
    cdef Py_ssize_t i = 0
    cdef object own
    _write_bytes(out, "[", 1)
    while i < PyList_GET_SIZE(<PyObject*>copy):
        if i:
            _write_bytes(out, ",", 1)
        own = _write(out, <object>PyList_GET_ITEM(<PyObject*>copy, i), levels)
        if own is NOTHING or i >= PyList_GET_SIZE(<PyObject*>copy):
            return NOTHING
        Py_INCREF(<PyObject*>own)
        ts_list_put(<PyObject*>copy, i, <PyObject*>own)
        i += 1
    _write_bytes(out, "]", 1)
    return copy


cdef bint _write_text(Writer* out, object text) except -1:
    """Write a string; `False` if it has half of a surrogate pair."""
    cdef Py_ssize_t n, size
    cdef int kind
    cdef unsigned char* wide
    PyUnicode_READY(text)
    n = PyUnicode_GET_LENGTH(text)
    kind = PyUnicode_KIND(text)
    if PyUnicode_IS_COMPACT_ASCII(text):
        _write_escaped(out, <const unsigned char*>PyUnicode_DATA(text), n)
        return True
    wide = <unsigned char*>PyMem_Malloc(n * (2 if kind == 1 else 3 if kind == 2 else 4))
    if wide == NULL:
        raise MemoryError
    try:
        if ts_encode(kind, PyUnicode_DATA(text), 0, n, wide, &size) != n:
            return False
        _write_escaped(out, wide, size)
    finally:
        PyMem_Free(wide)
    return True


cdef int _write_escaped(Writer* out, const unsigned char* p, Py_ssize_t n) except -1:
    """Write the bytes of a string, in quotes."""
    cdef const unsigned char* end = p + n
    cdef const unsigned char* q
    _write_bytes(out, '"', 1)
    while True:
        q = ts_plain_run(p, end, c'"')
        _write_bytes(out, <const char*>p, q - p)
        if q == end:
            break
        _reserve(out, 6)
        out.size += ts_put_escape(out.text + out.size, q[0])
        p = q + 1
    _write_bytes(out, '"', 1)
    return 0


cdef bint _write_integer(Writer* out, object number) except -1:
    """Write an integer; `False` if it is too long."""
    cdef int overflow = 0
    cdef long long value = PyLong_AsLongLongAndOverflow(number, &overflow)
    cdef unsigned long long rest = -<unsigned long long>value if value < 0 else value
    cdef char[20] digits
    cdef int i = 20
    if overflow:
        return False
    while True:
        i -= 1
        digits[i] = <char>(48 + rest % 10)
        rest //= 10
        if rest == 0:
            break
    if value < 0:
        i -= 1
        digits[i] = c"-"
    _write_bytes(out, digits + i, 20 - i)
    return True


cdef inline int _write_bytes(Writer* out, const char* p, Py_ssize_t n) except -1:
    _reserve(out, n)
    ts_copy(out.text + out.size, <const unsigned char*>p, n)
    out.size += n
    return 0


cdef inline int _reserve(Writer* out, Py_ssize_t n) except -1:
    """Make room for so many more bytes."""
    cdef unsigned char* text
    cdef Py_ssize_t room
    if out.room - out.size >= n:
        return 0
    room = out.room * 2 + n
    text = <unsigned char*>PyMem_Realloc(NULL if out.text == out.first else out.text, room)
    if text == NULL:
        raise MemoryError
    if out.text == out.first:
        memcpy(text, out.first, out.size)
    out.text = text
    out.room = room
    return 0


# What Cython does not know of: the references of frames and mirrors. With them the collector can see that somebody has
# put a parser, or what holds it, into a container that a snapshot of it gave away.

cdef traverseproc _traverse_attributes = (<PyTypeObject*>StreamingJsonParser).tp_traverse
cdef inquiry _clear_attributes = (<PyTypeObject*>StreamingJsonParser).tp_clear


cdef int _traverse(PyObject* o, visitproc visit, void* arg) noexcept:
    cdef StreamingJsonParser self = <StreamingJsonParser>o
    cdef Py_ssize_t level
    cdef int number
    cdef int stop = _traverse_attributes(o, visit, arg)
    for level in range(self._made):
        stop = stop or visit(self._frames[level].container, arg)
    for number in range(2):
        if self._kept[number] != NULL:
            stop = stop or visit(self._kept[number], arg)
        for level in range(self._views[number].levels):
            if self._views[number].mirrors[level].copy != NULL:
                stop = stop or visit(self._views[number].mirrors[level].copy, arg)
    return stop


cdef int _clear(PyObject* o) noexcept:
    (<StreamingJsonParser>o)._is_busy = True  # the collector empties the open containers too
    return _clear_attributes(o)


(<PyTypeObject*>StreamingJsonParser).tp_traverse = _traverse
(<PyTypeObject*>StreamingJsonParser).tp_clear = _clear
