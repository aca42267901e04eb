/* What the compiled engine does not want to say in Cython: runs over bytes a register at a time, UTF-8, numbers.
 *
 * Everything has a portable form; SSE2 (any x86-64) and NEON (any AArch64) only make it faster. No function reads a byte
 * outside [p, end). Text is UTF-8 and known to be valid, except for the two functions that find out.
 */
#ifndef TOOLSTREAM_ENGINE_C_H
#define TOOLSTREAM_ENGINE_C_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define TS_SSE2 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#include <arm_neon.h>
#define TS_NEON 1
#endif

#if defined(_MSC_VER)
#include <intrin.h>
static inline int ts_ctz64(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
static inline int ts_clz64(uint64_t x) { unsigned long i; _BitScanReverse64(&i, x); return 63 - (int)i; }
#define ts_likely(x) (x)
#else
static inline int ts_ctz64(uint64_t x) { return __builtin_ctzll(x); }
static inline int ts_clz64(uint64_t x) { return __builtin_clzll(x); }
#define ts_likely(x) __builtin_expect(!!(x), 1)
#endif

static inline int ts_popcount64(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (int)((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

/* ---------------------------------------------------------------- runs of bytes */

/* The classes of a byte outside strings. */
enum { TS_WORD, TS_BLANK, TS_QUOTE, TS_COMMA, TS_COLON, TS_OPEN_OBJECT, TS_OPEN_ARRAY, TS_CLOSE };

static const unsigned char ts_class[256] = {
    [' '] = TS_BLANK, ['\t'] = TS_BLANK, ['\n'] = TS_BLANK, ['\r'] = TS_BLANK,
    ['"'] = TS_QUOTE, [','] = TS_COMMA, [':'] = TS_COLON,
    ['{'] = TS_OPEN_OBJECT, ['['] = TS_OPEN_ARRAY, ['}'] = TS_CLOSE, [']'] = TS_CLOSE,
};

/* What a simple escape stands for, by the character after the backslash. */
static const unsigned char ts_escape[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

/* The escape of a character that ends a run in double quotes, in at most 6 bytes; returns how many. */
static inline Py_ssize_t ts_put_escape(unsigned char *out, unsigned char c) {
    const char *hex = "0123456789abcdef";
    const char brief = c == '"' ? '"' : c == '\\' ? '\\' : c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r'
                     : c == '\b' ? 'b' : c == '\f' ? 'f' : 0;
    out[0] = '\\';
    out[1] = brief ? (unsigned char)brief : 'u';
    if (brief) return 2;
    out[2] = out[3] = '0';
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    return 6;
}

/* What ends a run in a string: bit 0 in any string, bit 1 in double quotes, bit 2 in single ones. */
static const unsigned char ts_special[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ['\\'] = 1, ['"'] = 2, ['\''] = 4,
};

static inline int ts_hex_digit(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of four hexadecimal digits, negative if they are none. */
static inline int ts_hex4(const unsigned char *p) {
    int a = ts_hex_digit(p[0]), b = ts_hex_digit(p[1]), c = ts_hex_digit(p[2]), d = ts_hex_digit(p[3]);
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

/* Whether none of eight bytes is the quote, a backslash or a control character. */
static inline int ts_is_plain_word(uint64_t x, unsigned char quote) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t q = x ^ ones * quote, s = x ^ ones * '\\';
    return !((((q - ones) & ~q) | ((s - ones) & ~s) | ((x - ones * 0x20) & ~x)) & tops);
}

/* The last n bytes, 1 to 8, of what ends there, in the order of memory; blanks fill the rest. Reads eight bytes and does not
 * branch: in front of its characters a str that is ASCII has its own header. */
static inline uint64_t ts_last_word(const unsigned char *end, Py_ssize_t n) {
    const int unused = (int)(64 - 8 * n);
    const uint64_t blanks = 0x2020202020202020u, all = ~(uint64_t)0;
    uint64_t x;
    memcpy(&x, end - 8, 8);
#if PY_BIG_ENDIAN
    return x << unused | (blanks & ~(all << unused));
#else
    return x >> unused | (blanks & ~(all >> unused));
#endif
}

/* The first byte that is the quote, a backslash or a control character. */
static inline const unsigned char *ts_plain_run(const unsigned char *p, const unsigned char *end, unsigned char quote) {
    const unsigned char mask = quote == '"' ? 3 : 5;
#if TS_SSE2
    const __m128i quotes = _mm_set1_epi8((char)quote), slashes = _mm_set1_epi8('\\'), controls = _mm_set1_epi8(0x1f);
    while (end - p >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quotes), _mm_cmpeq_epi8(x, slashes)),
                                       _mm_cmpeq_epi8(_mm_max_epu8(x, controls), controls));
        int found = _mm_movemask_epi8(special);
        if (found) return p + ts_ctz64((uint64_t)found);
        p += 16;
    }
#elif TS_NEON
    const uint8x16_t quotes = vdupq_n_u8(quote), slashes = vdupq_n_u8('\\'), controls = vdupq_n_u8(0x20);
    while (end - p >= 16) {
        uint8x16_t x = vld1q_u8(p);
        uint8x16_t special = vorrq_u8(vorrq_u8(vceqq_u8(x, quotes), vceqq_u8(x, slashes)), vcltq_u8(x, controls));
        uint64_t found = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
        if (found) return p + (ts_ctz64(found) >> 2);
        p += 16;
    }
#else
    for (; end - p >= 8; p += 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        if (!ts_is_plain_word(x, quote)) break;
    }
#endif
    while (p < end && !(ts_special[*p] & mask)) p++;
    return p;
}

/* memcpy for what is mostly a few bytes. */
static inline void ts_copy(unsigned char *out, const unsigned char *p, Py_ssize_t n) {
    if (n > 16) {
        memcpy(out, p, (size_t)n);
    } else if (n >= 8) {
        memcpy(out, p, 8);
        memcpy(out + n - 8, p + n - 8, 8);
    } else if (n >= 4) {
        memcpy(out, p, 4);
        memcpy(out + n - 4, p + n - 4, 4);
    } else if (n > 0) {
        out[0] = p[0];
        out[n >> 1] = p[n >> 1];
        out[n - 1] = p[n - 1];
    }
}

static inline int ts_is_ascii(const unsigned char *p, Py_ssize_t n) {
    const unsigned char *end = p + n;
    uint64_t x;
    while (end - p >= 32) {
        uint64_t y[4];
        memcpy(y, p, 32);
        if ((y[0] | y[1] | y[2] | y[3]) & 0x8080808080808080u) return 0;
        p += 32;
    }
    for (; end - p >= 8; p += 8) {
        memcpy(&x, p, 8);
        if (x & 0x8080808080808080u) return 0;
    }
    for (; p < end; p++)
        if (*p & 0x80) return 0;
    return 1;
}

/* How many of eight bytes are no continuation. */
static inline Py_ssize_t ts_characters_of_word(uint64_t x) {
    x = (~x >> 7 | x >> 6) & 0x0101010101010101u;
    return (Py_ssize_t)((x * 0x0101010101010101u) >> 56);
}

/* The number of characters. */
static inline Py_ssize_t ts_characters(const unsigned char *p, const unsigned char *end) {
    Py_ssize_t count = 0;
    for (; end - p >= 8; p += 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        count += ts_characters_of_word(x);
    }
    for (; p < end; p++) count += (*p & 0xC0) != 0x80;
    return count;
}

/* ---------------------------------------------------------------- UTF-8 */

static inline Py_ssize_t ts_put_utf8(unsigned char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (unsigned char)(0xC0 | c >> 6);
        out[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (unsigned char)(0xE0 | c >> 12);
        out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (unsigned char)(0xF0 | c >> 18);
    out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}

/* The length of the character at p; negative: so many bytes are no character; 0: it is cut off, and good so far. The first
 * two bytes of a surrogate are kept as if they were good, as the decoder of the standard library does. */
static inline int ts_utf8_length(const unsigned char *p, const unsigned char *end) {
    unsigned char lead = *p, low = 0x80, high = 0xBF;
    int need, have;
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return -1;
    need = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (have = 1; have <= need; have++) {
        if (p + have == end) return 0;
        if (p[have] < low || p[have] > high) return lead == 0xED && p[1] >= 0xA0 && p[1] <= 0xBF && p + 2 == end ? 0 : -have;
        low = 0x80;
        high = 0xBF;
    }
    return need + 1;
}

/* The end of the longest run of whole characters. */
static inline const unsigned char *ts_utf8_run(const unsigned char *p, const unsigned char *end) {
    for (;;) {
        int n;
        while (end - p >= 8) {
            uint64_t x;
            memcpy(&x, p, 8);
            if (x & 0x8080808080808080u) break;
            p += 8;
        }
        if (p == end) return p;
        n = ts_utf8_length(p, end);
        if (n <= 0) return p;
        p += n;
    }
}

/* The largest character that the kind of str for n bytes of valid UTF-8 has to hold. */
static inline Py_UCS4 ts_widest(const unsigned char *p, Py_ssize_t n) {
    unsigned char top = 0;
    if (ts_is_ascii(p, n)) return 0x7F;
    for (; n > 0; n--, p++) top = *p > top ? *p : top;
    return top >= 0xF0 ? 0x10FFFF : top >= 0xC4 ? 0xFFFF : 0xFF;
}

/* Decode n bytes of valid UTF-8 into a str that is not ASCII, from character i on. */
static void ts_decode_at(PyObject *text, Py_ssize_t i, const unsigned char *p, Py_ssize_t n) {
    const unsigned char *end = p + n;
#define TS_DECODE(TYPE, out)                                                                                   \
    for (TYPE *o = (out) + i; p < end;) {                                                                      \
        uint32_t c = *p;                                                                                       \
        if (c < 0x80) {                                                                                        \
            *o++ = (TYPE)c;                                                                                    \
            p += 1;                                                                                            \
        } else if (c < 0xE0) {                                                                                 \
            *o++ = (TYPE)((c & 0x1F) << 6 | (p[1] & 0x3F));                                                    \
            p += 2;                                                                                            \
        } else if (c < 0xF0) {                                                                                 \
            *o++ = (TYPE)((c & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3F));                             \
            p += 3;                                                                                            \
        } else {                                                                                               \
            *o++ = (TYPE)((c & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3F));      \
            p += 4;                                                                                            \
        }                                                                                                      \
    }
    if (PyUnicode_KIND(text) == PyUnicode_4BYTE_KIND) {
        TS_DECODE(Py_UCS4, PyUnicode_4BYTE_DATA(text))
    } else if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND) {
        TS_DECODE(Py_UCS2, PyUnicode_2BYTE_DATA(text))
    } else {
        TS_DECODE(Py_UCS1, PyUnicode_1BYTE_DATA(text))
    }
#undef TS_DECODE
}

/* The str of n bytes of ASCII. */
static inline PyObject *ts_ascii(const unsigned char *p, Py_ssize_t n) {
    PyObject *text = PyUnicode_New(n, 0x7F);
    if (text && n) memcpy(PyUnicode_1BYTE_DATA(text), p, (size_t)n);
    return text;
}

/* The str of n bytes of valid UTF-8. */
static PyObject *ts_decode(const unsigned char *p, Py_ssize_t n) {
    Py_UCS4 widest = ts_widest(p, n);
    PyObject *text;
    if (widest == 0x7F) return ts_ascii(p, n);
    text = PyUnicode_New(ts_characters(p, p + n), widest);
    if (text) ts_decode_at(text, 0, p, n);
    return text;
}

static inline Py_UCS4 ts_read(int kind, const void *data, Py_ssize_t i) {
    return kind == PyUnicode_1BYTE_KIND ? ((const Py_UCS1 *)data)[i]
         : kind == PyUnicode_2BYTE_KIND ? ((const Py_UCS2 *)data)[i] : ((const Py_UCS4 *)data)[i];
}

/* Encode characters i to n-1 of a str up to the first surrogate; return where that is. *size is what was written. */
static Py_ssize_t ts_encode(int kind, const void *data, Py_ssize_t i, Py_ssize_t n, unsigned char *out, Py_ssize_t *size) {
    unsigned char *o = out;
#define TS_ENCODE(TYPE)                                                                                        \
    for (const TYPE *d = (const TYPE *)data; i < n; i++) {                                                     \
        uint32_t c = d[i];                                                                                     \
        if (c >= 0xD800 && c <= 0xDFFF) break;                                                                 \
        o += ts_put_utf8(o, c);                                                                                \
    }
    if (kind == PyUnicode_1BYTE_KIND) {
        for (const Py_UCS1 *d = (const Py_UCS1 *)data; i < n; i++) o += ts_put_utf8(o, d[i]);
    } else if (kind == PyUnicode_2BYTE_KIND) {
        TS_ENCODE(Py_UCS2)
    } else {
        TS_ENCODE(Py_UCS4)
    }
#undef TS_ENCODE
    *size = o - out;
    return i;
}

/* The UTF-8 form that a str happens to keep, or NULL. */
static inline const unsigned char *ts_kept_utf8(PyObject *text, Py_ssize_t *n) {
#if defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
    (void)text;
    (void)n;
    return NULL;
#else
    *n = ((PyCompactUnicodeObject *)text)->utf8_length;
    return (const unsigned char *)((PyCompactUnicodeObject *)text)->utf8;
#endif
}

/* ---------------------------------------------------------------- depth and string state, 64 bytes at a time */

typedef struct {
    Py_ssize_t depth;
    uint64_t in_string; /* all ones or 0 */
    uint64_t escape;    /* 1 or 0 */
} ts_tracker;

static inline void ts_masks(const unsigned char *p, uint64_t *quote, uint64_t *slash, uint64_t *open, uint64_t *close) {
    int i;
    *quote = *slash = *open = *close = 0;
#if TS_SSE2
    for (i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20)); /* [ and { differ in this bit, and so do ] and } */
        *quote |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('"'))) << 16 * i;
        *slash |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))) << 16 * i;
        *open |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << 16 * i;
        *close |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << 16 * i;
    }
#else
    for (i = 0; i < 64; i++) {
        unsigned char c = p[i];
        *quote |= (uint64_t)(c == '"') << i;
        *slash |= (uint64_t)(c == '\\') << i;
        *open |= (uint64_t)((c | 0x20) == '{') << i;
        *close |= (uint64_t)((c | 0x20) == '}') << i;
    }
#endif
}

static void ts_track(const unsigned char *p, Py_ssize_t n, ts_tracker *tracker) {
    const unsigned char *end = p + n;
    Py_ssize_t depth = tracker->depth;
    uint64_t in_string = tracker->in_string, escape = tracker->escape;
    while (end - p >= 64) {
        const uint64_t even = 0x5555555555555555u;
        uint64_t quote, slash, open, close, escaped, inside;
        ts_masks(p, &quote, &slash, &open, &close);
        p += 64;
        if (slash) { /* a run of backslashes that starts at one parity escapes what stands at the other */
            uint64_t starts, sum, follows;
            slash &= ~escape;
            follows = slash << 1 | escape;
            starts = slash & ~even & ~follows;
            sum = starts + slash;
            escape = sum < starts;
            escaped = (even ^ sum << 1) & follows;
        } else {
            escaped = escape;
            escape = 0;
        }
        quote &= ~escaped;
        inside = quote ^ quote << 1; /* after the six steps: whether an odd number of quotes stands at or before a byte */
        inside ^= inside << 2;
        inside ^= inside << 4;
        inside ^= inside << 8;
        inside ^= inside << 16;
        inside ^= inside << 32;
        inside ^= in_string;
        in_string = (uint64_t)((int64_t)inside >> 63);
        open &= ~inside; /* a backslash escapes quotes and backslashes alone */
        close &= ~inside;
        if (open | close) depth += ts_popcount64(open) - ts_popcount64(close);
    }
    for (; p < end; p++) {
        unsigned char c = *p;
        if (!in_string && (c | 0x20) == '{') depth++;
        else if (!in_string && (c | 0x20) == '}') depth--;
        if (escape) escape = 0;
        else if (c == '\\') escape = 1;
        else if (c == '"') in_string = ~in_string;
    }
    tracker->depth = depth;
    tracker->in_string = in_string;
    tracker->escape = escape;
}

/* ---------------------------------------------------------------- numbers */

/* Powers of ten from 10**-TS_POWERS to 10**TS_POWERS: the first 128 bits of each, rounded down, or up where the power is
 * negative; filled at import. */
#define TS_POWERS 64
static uint64_t ts_power_high[2 * TS_POWERS + 1], ts_power_low[2 * TS_POWERS + 1];

static inline void ts_multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    *low = (uint64_t)product;
#elif defined(_M_X64)
    *low = _umul128(a, b, high);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, middle = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
    *low = middle << 32 | (uint32_t)ll;
    *high = ah * bh + (lh >> 32) + (hl >> 32) + (middle >> 32);
#endif
}

/* mantissa * 10**exponent, correctly rounded (Lemire, "Number parsing at a gigabyte per second", 2021); 0 if it is out of
 * the range of the table or not a normal number. */
static inline int ts_double(uint64_t mantissa, int exponent, double *value) {
    uint64_t high, low, bits;
    int zeros, top, shift, power;
    if (mantissa >> 53 == 0 && exponent >= -22 && exponent <= 22) { /* both exact: one rounding */
        static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD == 0
        *value = exponent < 0 ? (double)mantissa / tens[-exponent] : (double)mantissa * tens[exponent];
        return 1;
#else
        (void)tens;
#endif
    }
    if (mantissa == 0) {
        *value = 0.0;
        return 1;
    }
    if (exponent < -TS_POWERS || exponent > TS_POWERS) return 0;
    zeros = ts_clz64(mantissa);
    mantissa <<= zeros;
    ts_multiply(mantissa, ts_power_high[exponent + TS_POWERS], &high, &low);
    if ((high & 0x1FF) == 0x1FF) {
        uint64_t high2, low2;
        ts_multiply(mantissa, ts_power_low[exponent + TS_POWERS], &high2, &low2);
        low += high2;
        if (low < high2) high++;
    }
    top = (int)(high >> 63);
    shift = top + 64 - 52 - 3;
    bits = high >> shift;
    power = (((152170 + 65536) * exponent) >> 16) + 63 + top - zeros + 1023;
    if (power <= 0) return 0;
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 && bits << shift == high)
        bits &= ~(uint64_t)1; /* exactly between two: to the even one */
    bits += bits & 1;
    bits >>= 1;
    if (bits >= (uint64_t)2 << 52) {
        bits = (uint64_t)1 << 52;
        power++;
    }
    if (power >= 0x7FF) return 0;
    bits = (bits & ~((uint64_t)1 << 52)) | (uint64_t)power << 52;
    memcpy(value, &bits, 8);
    return 1;
}

enum { TS_NO_NUMBER, TS_NUMBER, TS_LONG_INTEGER, TS_LONG_FLOAT };

/* Read the number at p, if a delimiter ends it before `end`: TS_NUMBER and its value (NULL: an error is set), or that it is
 * one for the slow way. *stop is where it ends. */
static inline int ts_number(const unsigned char *p, const unsigned char *end, const unsigned char **stop, PyObject **value) {
    const unsigned char *start;
    uint64_t mantissa = 0;
    int negative = 0, digits, exponent = 0, is_float = 0, fraction = 0;
    if (*p == '-') {
        negative = 1;
        p++;
    }
    start = p;
    while (p < end && (unsigned char)(*p - '0') < 10) mantissa = mantissa * 10 + (unsigned char)(*p++ - '0');
    if (p == start || (*start == '0' && p != start + 1)) return TS_NO_NUMBER;
    digits = (int)(p - start > 100 ? 100 : p - start);
    if (p < end && *p == '.') {
        const unsigned char *point = ++p;
        while (p < end && (unsigned char)(*p - '0') < 10) mantissa = mantissa * 10 + (unsigned char)(*p++ - '0');
        if (p == point) return TS_NO_NUMBER;
        fraction = (int)(p - point > 100 ? 100 : p - point);
        exponent = -fraction;
        is_float = 1;
        digits += fraction;
        if (digits > 19 && digits < 100) { /* zeros in front are no digits */
            const unsigned char *first = start;
            while (*first == '0' || *first == '.') {
                digits -= *first == '0';
                first++;
            }
        }
    }
    if (p < end && (*p | 0x20) == 'e') {
        const unsigned char *sign = ++p, *first;
        int e = 0;
        if (p < end && (*p == '+' || *p == '-')) p++;
        first = p;
        for (; p < end && (unsigned char)(*p - '0') < 10; p++)
            if (e < 10000) e = e * 10 + (*p - '0');
        if (p == first) return TS_NO_NUMBER;
        exponent += *sign == '-' ? -e : e;
        is_float = 1;
    }
    if (p == end || ts_class[*p] == TS_WORD) return TS_NO_NUMBER;
    *stop = p;
    if (!is_float) {
        if (digits > 18) return TS_LONG_INTEGER;
        *value = PyLong_FromLongLong(negative ? -(long long)mantissa : (long long)mantissa);
        return TS_NUMBER;
    }
    {
        double number;
        if (digits > 19 || !ts_double(mantissa, exponent, &number)) return TS_LONG_FLOAT;
        *value = PyFloat_FromDouble(negative ? -number : number);
        return TS_NUMBER;
    }
}

/* ---------------------------------------------------------------- objects */

/* Append an item to a list; takes over the reference, also where it fails. */
static inline int ts_list_append(PyObject *list, PyObject *item) {
    PyListObject *self = (PyListObject *)list;
    Py_ssize_t size = PyList_GET_SIZE(list);
    int failed;
#if !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
    if (ts_likely(size < self->allocated)) {
        PyList_SET_ITEM(list, size, item);
        Py_SET_SIZE(self, size + 1);
        return 0;
    }
#endif
    failed = PyList_Append(list, item);
    Py_DECREF(item);
    return failed;
}

/* Set item i of a list, or append it where i is the size; takes over the reference, also where it fails. */
static inline int ts_list_put(PyObject *list, Py_ssize_t i, PyObject *item) {
    PyObject *old;
    if (i == PyList_GET_SIZE(list)) return ts_list_append(list, item);
    old = PyList_GET_ITEM(list, i);
    PyList_SET_ITEM(list, i, item);
    Py_DECREF(old);
    return 0;
}

/* Set a member; takes over the reference to the value, also where it fails. */
static inline int ts_dict_put(PyObject *dict, PyObject *key, PyObject *value) {
    int failed = PyDict_SetItem(dict, key, value);
    Py_DECREF(value);
    return failed;
}

/* Whether exactly so many references to an object exist. Where that cannot be known the answer is no. */
static inline int ts_is_held_by(PyObject *o, Py_ssize_t count) {
#if defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
    (void)o;
    (void)count;
    return 0;
#else
    return Py_REFCNT(o) == count;
#endif
}

#if !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
/* Give a str, whose block has the room, another length. Only one that nobody else has may change. */
static inline void ts_set_length(PyObject *text, Py_ssize_t n) {
    PyASCIIObject *self = (PyASCIIObject *)text;
    int kind = PyUnicode_KIND(text);
    memset((char *)PyUnicode_DATA(text) + n * kind, 0, (size_t)kind);
    self->length = n;
    self->hash = -1;
#if PY_VERSION_HEX < 0x030C0000
    if (self->wstr && !PyUnicode_IS_ASCII(text)) ((PyCompactUnicodeObject *)text)->wstr_length = n; /* the data itself */
#endif
}

/* Whether nobody has a text but its view and one container, and it has no second form that would not change with it. */
static inline int ts_may_change(PyObject *text) {
    if (!ts_is_held_by(text, 2) || PyUnicode_CHECK_INTERNED(text)) return 0;
    if (!PyUnicode_IS_ASCII(text) && ((PyCompactUnicodeObject *)text)->utf8) return 0;
#if PY_VERSION_HEX < 0x030C0000
    if (((PyASCIIObject *)text)->wstr && (void *)((PyASCIIObject *)text)->wstr != PyUnicode_DATA(text)) return 0;
#endif
    return 1;
}

/* Let the block of a text that nobody else has grow, in place where the allocator can. */
static inline int ts_make_room(PyObject **text, Py_ssize_t *room) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(*text), size = length + length / 8 + 64;
    ((PyASCIIObject *)*text)->hash = -1;
    if (PyUnicode_Resize(text, size) < 0) return -1;
    ts_set_length(*text, length);
    *room = size;
    return 0;
}
/* Let a text that nobody has but its view and one container grow in its block of room for so many characters, by those of
 * the n bytes of valid UTF-8 that are not *known; whether it could. */
static inline int ts_lengthen(PyObject *text, const unsigned char *p, Py_ssize_t n, Py_ssize_t *known, Py_ssize_t room) {
    Py_UCS4 widest = PyUnicode_MAX_CHAR_VALUE(text);
    Py_ssize_t more = n - *known, length = PyUnicode_GET_LENGTH(text);
    p += *known;
    if (!ts_may_change(text)) return 0;
    if (widest == 0x7F) {
        if (n >= 8 && more > 0 && more <= 8 && length + 8 <= room) { /* as most are */
            uint64_t word = ts_last_word(p + more, more);
            if (word & 0x8080808080808080u) return 0;
            memcpy(PyUnicode_1BYTE_DATA(text) + length, &word, 8);
        } else {
            if (length + more > room || !ts_is_ascii(p, more)) return 0;
            ts_copy(PyUnicode_1BYTE_DATA(text) + length, p, more);
        }
        length += more;
    } else {
        Py_ssize_t characters = ts_characters(p, p + more);
        if (length + characters > room || ts_widest(p, more) > widest) return 0;
        ts_decode_at(text, length, p, more);
        length += characters;
    }
    ts_set_length(text, length);
    *known = n;
    return 1;
}
#else
static inline int ts_may_change(PyObject *text) {
    (void)text;
    return 0;
}
static inline int ts_lengthen(PyObject *text, const unsigned char *p, Py_ssize_t n, Py_ssize_t *known, Py_ssize_t room) {
    (void)text;
    (void)p;
    (void)n;
    (void)known;
    (void)room;
    return 0;
}
static inline int ts_make_room(PyObject **text, Py_ssize_t *room) {
    (void)text;
    (void)room;
    return 0;
}
#endif

/* The str of n bytes of valid UTF-8: a new reference. `old`, if there is one, is that of the first *known bytes, in a block
 * with room for *room characters; where `is_own` allows it and nobody else has it, it grows, and is the one returned. */
static PyObject *ts_longer_text(PyObject *old, int is_own, const unsigned char *p, Py_ssize_t n, Py_ssize_t *known,
                                Py_ssize_t *room) {
#if defined(PYPY_VERSION) || defined(Py_GIL_DISABLED)
    (void)old;
    (void)is_own;
    (void)known;
    (void)room;
    return ts_decode(p, n);
#else
    Py_UCS4 widest = old ? PyUnicode_MAX_CHAR_VALUE(old) : 0;
    Py_ssize_t start, size, length;
    PyObject *text;
    if (old && is_own && ts_lengthen(old, p, n, known, *room)) {
        Py_INCREF(old);
        return old;
    }
    start = old && ts_widest(p + *known, n - *known) <= widest ? *known : 0;
    size = start ? PyUnicode_GET_LENGTH(old) : 0;
    if (!start) widest = ts_widest(p, n);
    p += start;
    n -= start;
    length = size + (widest == 0x7F ? n : ts_characters(p, p + n));
    text = PyUnicode_New(length + length / 8 + 64, widest);
    if (!text) return NULL;
    *room = length + length / 8 + 64;
    if (start) memcpy(PyUnicode_DATA(text), PyUnicode_DATA(old), (size_t)(size * (Py_ssize_t)PyUnicode_KIND(old)));
    if (widest != 0x7F) ts_decode_at(text, size, p, n);
    else if (n) memcpy(PyUnicode_1BYTE_DATA(text) + size, p, (size_t)n); /* an empty run has no address */
    ts_set_length(text, length);
    *known = start + n;
    return text;
#endif
}

/* Whether the item is what stands at a place of a list, or of a dict in the order of its members. */
static inline int ts_has_at(PyObject *container, Py_ssize_t i, PyObject *item) {
    PyObject *key, *value;
    if (PyList_CheckExact(container)) return i < PyList_GET_SIZE(container) && PyList_GET_ITEM(container, i) == item;
    return PyDict_Next(container, &i, &key, &value) && value == item;
}

/* Delete a member, if there is one of that name. */
static inline int ts_discard(PyObject *dict, PyObject *key) {
    if (PyDict_DelItem(dict, key) == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
    PyErr_Clear();
    return 0;
}

/* A list of one item; takes over the reference, also where it fails. */
static inline PyObject *ts_list_of(PyObject *item) {
    PyObject *list = PyList_New(1);
    if (!list) {
        Py_DECREF(item);
        return NULL;
    }
    PyList_SET_ITEM(list, 0, item);
    return list;
}

/* A change. The path is borrowed, the value is taken over, also where it fails. */
static inline PyObject *ts_change(PyObject *kind, PyObject *path, PyObject *value) {
    PyObject *change = PyTuple_New(3);
    if (!change) {
        Py_DECREF(value);
        return NULL;
    }
    Py_INCREF(kind);
    Py_INCREF(path);
    PyTuple_SET_ITEM(change, 0, kind);
    PyTuple_SET_ITEM(change, 1, path);
    PyTuple_SET_ITEM(change, 2, value);
    return change;
}

/* Whether nobody else has a list that was kept, and it is of one item. */
static inline int ts_is_free(PyObject *list) {
    return list && ts_is_held_by(list, 1) && PyList_GET_SIZE(list) == 1;
}

/* Characters of a text that may be kept longer than it is needed. */
#define TS_SHORT_TEXT 1024

/* A list of one change. The last two lists are kept: most callers have let go of one before the next but one, so that it can be
 * handed out again, and so can the change in it. Not where a value is large or can hold others: that would live longer than
 * anybody knows. kept[0] is the list, if it is kept. Takes over the reference to the value, also where it fails. */
static inline PyObject *ts_first_change(PyObject **kept, PyObject *kind, PyObject *path, PyObject *value) {
    PyObject *list, *change, *old;
#if !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
    int is_kept = PyUnicode_CheckExact(value) ? PyUnicode_GET_LENGTH(value) <= TS_SHORT_TEXT
                                              : !PyDict_CheckExact(value) && !PyList_CheckExact(value);
#else
    int is_kept = 0;
#endif
    if (!is_kept) {
        change = ts_change(kind, path, value);
        return change ? ts_list_of(change) : NULL;
    }
    if (!ts_is_free(kept[0])) {
        list = kept[0];
        kept[0] = kept[1];
        kept[1] = list;
    }
    list = kept[0];
    if (ts_is_free(list)) {
        change = PyList_GET_ITEM(list, 0);
        if (ts_is_held_by(change, 1) && PyTuple_CheckExact(change) && PyTuple_GET_SIZE(change) == 3 &&
            PyTuple_GET_ITEM(change, 0) == kind && PyTuple_GET_ITEM(change, 1) == path) {
            old = PyTuple_GET_ITEM(change, 2);
            PyTuple_SET_ITEM(change, 2, value);
#if PY_VERSION_HEX >= 0x030E0000
            ((PyTupleObject *)change)->ob_hash = -1;
#endif
            Py_INCREF(list);
            Py_DECREF(old);
            return list;
        }
    }
    change = ts_change(kind, path, value);
    if (!change) return NULL;
    if (ts_is_free(list)) { /* still: the collector may have run */
        old = PyList_GET_ITEM(list, 0);
        PyList_SET_ITEM(list, 0, change);
    } else {
        old = list;
        list = kept[0] = ts_list_of(change);
    }
    Py_XINCREF(list);
    Py_XDECREF(old);
    return list;
}

/* Names of members that came before, all ASCII. One entry for each hash: a newer name takes the place of an older one. */
#define TS_NAMES 1024
static struct {
    uint64_t first, last; /* bytes: with the length they say all of a name of up to 16 */
    PyObject *name;
} ts_names[TS_NAMES];

/* A member's name of n bytes of valid UTF-8: a new reference. */
static inline PyObject *ts_name(const unsigned char *p, Py_ssize_t n) {
#if !defined(Py_GIL_DISABLED)
    if (n > 0 && n <= 64) {
        uint64_t first, last, hash;
        PyObject *name;
        Py_ssize_t entry;
        if (n >= 8) {
            memcpy(&first, p, 8);
            memcpy(&last, p + n - 8, 8);
        } else if (n >= 4) {
            uint32_t head, tail;
            memcpy(&head, p, 4);
            memcpy(&tail, p + n - 4, 4);
            first = head;
            last = tail;
        } else {
            first = p[0];
            last = (uint64_t)p[n >> 1] << 8 | p[n - 1];
        }
        hash = (first ^ (last << 13 | last >> 51) ^ (uint64_t)n) * 0x9E3779B97F4A7C15u;
        entry = (Py_ssize_t)(hash >> 54);
        name = ts_names[entry].name;
        if (name && ts_names[entry].first == first && ts_names[entry].last == last && PyUnicode_GET_LENGTH(name) == n &&
            (n <= 16 || memcmp(PyUnicode_1BYTE_DATA(name), p, (size_t)n) == 0)) {
            Py_INCREF(name);
            return name;
        }
        name = ts_decode(p, n);
        if (name && PyUnicode_IS_ASCII(name)) {
            PyObject *old = ts_names[entry].name;
            PyObject_Hash(name);
            Py_INCREF(name);
            ts_names[entry].first = first;
            ts_names[entry].last = last;
            ts_names[entry].name = name;
            Py_XDECREF(old);
        }
        return name;
    }
#endif
    return ts_decode(p, n);
}

#endif
