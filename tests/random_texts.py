"""Random texts: documents, damaged ones, and heaps of what means something to a reader of JSON."""

import json

VALUES = """{" ": ", "} [[ ]] }} {} [] "" "a" "b": "a": true false null True False None NaN Infinity -Infinity nul tru
    Nan 1 -1 0 -0 01 1.5 1e5 1E+2 1e400 -1e999 1. 12345678901234567890 0.1234567890123456789 123456789.123e-30 5e-324
    1.7976931348623159e308 x word it's 'a' 'a': a/b"""
ESCAPES = r"\n \t \r \" \\ \/ \b \' \d \u \u0041 \u00e9 \ud83d \ude00 \uD83D\uDE00 \u12 \u123 \u12g \x41"
SNIPPETS = [
    *"{}[]:,\"\\/'`#<>*-+.eE0123456789 \t\n\rtrufalsn",
    *VALUES.split(),
    *ESCAPES.split(),
    *("//", "/*", "*/", "/**/", "//x\n", "# c\n", "```", "```json\n", "````", "``", "Here is", "9" * 70),
    *("<tool>", "</tool>", '<a b="c">', "<", "</", "<|x|>"),
    *"\ufeff\u00e9\u20ac\U0001f600\ud83d\ude00\ud800\x00\x01\x1f\x7f\u00a0\u2028\ufffd",
]


def document(rng, depth=0):
    """A random value; keys come from a small set, so that some are repeated."""
    kind = rng.randrange(10 if depth < 5 else 6)
    if kind >= 8:
        return {
            rng.choice(["a", "b", "key", "\u00e9", "long name of a member"]): document(rng, depth + 1)
            for _ in range(rng.randrange(4))
        }
    if kind >= 6:
        return [document(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 0:
        return rng.choice([True, False, None])
    if kind == 1:
        return rng.randint(-(10 ** rng.randrange(1, 25)), 10 ** rng.randrange(1, 25))
    if kind == 2:
        return rng.choice([rng.random(), rng.uniform(-1e10, 1e10), 10 ** rng.uniform(-300, 300)])
    characters = rng.choice(["ab", 'a"\\\n\t/', "\u00e9\u20ac\U0001f600x", "abcdefghij"])
    return "".join(rng.choice(characters) for _ in range(rng.randrange(30)))


def text_of(rng):
    kind = rng.randrange(3)
    if kind == 0:
        return "".join(rng.choice(SNIPPETS) for _ in range(rng.randrange(1, 25)))
    text = json.dumps(document(rng), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1]))
    if kind == 2:
        for _ in range(rng.randrange(1, 4)):
            i = rng.randrange(len(text) + 1)
            text = text[:i] + rng.choice(["", *SNIPPETS]) + text[i + rng.randrange(3) :]
    return text
