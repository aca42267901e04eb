"""Deterministic JSON argument texts, and ways to cut them into the pieces of a stream.

No dependency but the standard library; the pseudo-random generator is written out here, so the texts are the same on
every version of Python. `digests()` gives the SHA-256 of each: results from two machines compare only if they agree.

    corpora()                 -> dict[str, str], small to large
    string_doc(n)             -> the call of a `write_file` tool whose JSON text is about n characters
    chunks(text, n)           -> pieces of n characters
    token_chunks(text, seed)  -> random pieces of 1 to 8 characters, about the size of a model's tokens
"""

# ruff: noqa: SIM905 - words are easier to read in one string

from __future__ import annotations

import hashlib
import json

SEED = 20260101

_MASK = (1 << 64) - 1


class Rng:
    """SplitMix64: small, fixed, the same everywhere."""

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def u64(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return self.u64() % n

    def between(self, low: int, high: int) -> int:
        """Inclusive on both ends."""
        return low + self.u64() % (high - low + 1)

    def pick(self, items):
        return items[self.u64() % len(items)]

    def chance(self, percent: int) -> bool:
        return self.u64() % 100 < percent


# ------------------------------------------------------------------------------------------------------------ chunks


def chunks(text: str, n: int) -> list[str]:
    """Cut `text` into pieces of `n` characters."""
    return [text[i : i + n] for i in range(0, len(text), n)]


def token_chunks(text: str, seed: int = 0) -> list[str]:
    """Cut `text` into random pieces of 1..8 characters (4.5 on average)."""
    rng = Rng(SEED ^ (seed * 0x10001 + 7))
    out = []
    i = 0
    end = len(text)
    while i < end:
        k = 1 + rng.below(8)
        out.append(text[i : i + k])
        i += k
    return out


# ----------------------------------------------------------------------------------------------------------- content

_NAMES = (
    "index value result buffer token stream parser state count items config payload response request handler "
    "session user record cache batch offset limit path node edge model layer weight score total field"
).split()
_VERBS = "load save parse build merge split render update fetch apply compute validate encode decode".split()
_WORDS = (
    "the quick report shows that every second request was served from the cache while the others waited for a slow "
    "backend and then failed with an error that nobody had logged before the last release of this service"
).split()
_CITIES = ("Lisbon", "Nairobi", "Osaka", "Reykjavik", "Quito", "Tallinn", "Perth", "Oaxaca", "Leeds", "Turin")


def _code(rng: Rng, encoded_chars: int) -> str:
    """Python-like source whose JSON string encoding has about `encoded_chars` characters."""
    lines: list[str] = []
    size = 0
    indent = 0
    while size < encoded_chars:
        kind = rng.below(12)
        name, other = rng.pick(_NAMES), rng.pick(_NAMES)
        pad = "    " * indent
        if kind == 0:
            indent = 0
            line = f"\n\ndef {rng.pick(_VERBS)}_{name}(self, {other}: str, limit: int = {rng.below(500)}) -> None:"
            indent = 1
        elif kind == 1:
            line = f'{pad}"""{rng.pick(_VERBS).capitalize()} the {name}; "{other}" must not be empty."""'
        elif kind == 2:
            line = f'{pad}{name} = re.sub(r"\\s+\\"{other}\\"", "\\n", {other}["{name}"])'
        elif kind == 3:
            line = f"{pad}if {name} is not None and {other} > {rng.below(1000)}:"
            indent = min(indent + 1, 5)
        elif kind == 4:
            line = f"{pad}return {{'{name}': {other}, 'ok': True}}"
            indent = max(indent - 1, 0)
        elif kind == 5:
            line = f'{pad}logger.info("{name}=%s {other}=%d\\t", {name}, len({other}))'
        elif kind == 6:
            line = f"{pad}# {' '.join(rng.pick(_WORDS) for _ in range(rng.between(4, 11)))}"
        elif kind == 7:
            line = f'{pad}path = "C:\\\\data\\\\{name}\\\\" + str({other})'
        elif kind == 8:
            line = f"{pad}for i, {name} in enumerate({other}_list[{rng.below(9)}:]):"
            indent = min(indent + 1, 5)
        elif kind == 9:
            line = ""
            indent = max(indent - 1, 0)
        else:
            line = f"{pad}self.{name}.{rng.pick(_VERBS)}({other}, key=lambda x: x.{name}[{rng.below(64)}])"
        lines.append(line)
        # One more for the \n escape's two characters; quotes and backslashes take two.
        size += len(line) + 2 + line.count('"') + line.count("\\") + line.count("\n")
    return "\n".join(lines)


def string_doc(n: int, seed: int = 0) -> str:
    """A write_file-like call: a path and one long code string. The JSON text has about `n` characters."""
    head = {"path": "src/toolkit/handlers/session_cache.py", "content": ""}
    room = n - len(json.dumps(head))
    head["content"] = _code(Rng(SEED + 101 + seed), max(room, 1))
    return json.dumps(head, ensure_ascii=False)


def _weather() -> str:
    return json.dumps({"location": "San Francisco, California", "unit": "celsius"})


def _search() -> str:
    return json.dumps(
        {
            "query": 'incremental json parser "streaming" tool calls',
            "filters": {
                "language": ["en", "de"],
                "since": "2025-03-01T00:00:00Z",
                "min_score": 0.725,
                "max_results": 25,
                "include_archived": False,
                "owner": None,
            },
            "sort": [{"field": "relevance", "order": "desc"}, {"field": "date", "order": "asc"}],
            "bbox": [-122.4194, 37.7749, -121.75, 38.0],
            "page": {"size": 50, "cursor": "eyJvIjo1MH0="},
            "explain": True,
        }
    )


def _records(target: int, seed: int) -> str:
    rng = Rng(SEED + seed)
    rows = []
    size = 2
    i = 0
    while size < target:
        row = {
            "id": 100000 + i,
            "name": f"{rng.pick(_NAMES)} {rng.pick(_WORDS)} {rng.below(10000)}",
            "email": f"{rng.pick(_NAMES)}.{rng.pick(_VERBS)}{rng.below(999)}@example.org",
            "score": rng.below(10**9) / 10**6,
            "active": rng.chance(60),
            "parent": None if rng.chance(40) else rng.below(10**6),
            "tags": [rng.pick(_WORDS) for _ in range(rng.below(4))],
            "city": rng.pick(_CITIES),
            "delta": -rng.below(10**6),
            "ratio": rng.below(10**4) / 10**4,
        }
        rows.append(row)
        size += len(json.dumps(row)) + 2
        i += 1
    return json.dumps(rows)


_SCRIPTS = (
    "数据结构与算法分析语言模型输出流式解析工具调用参数逐步到达界面更新",
    "日本語の文章をストリームで受け取り画面に表示するテスト",
    "한국어문장조각을순서대로이어붙인다",
    "éèêëàâäçñöüßøåæœžščřďť",
    "ЖизньпрекраснаиудивительнадажееслиJSON",
)
_EMOJI = "😀🚀🔥🎉👩🏽🧠🐍📦🛠🌍💡🥑"


def _unicode(target_bytes: int) -> str:
    """CJK, emoji and accented text, part raw and part as \\uXXXX escapes (surrogate pairs for emoji)."""
    rng = Rng(SEED + 202)

    def text(count: int) -> str:
        out = []
        for _ in range(count):
            kind = rng.below(10)
            if kind < 6:
                script = rng.pick(_SCRIPTS)
                start = rng.below(len(script))
                out.append(script[start : start + rng.between(1, 6)])
            elif kind < 8:
                out.append(" " + rng.pick(_WORDS) + " ")
            elif kind < 9:
                out.append(rng.pick(_EMOJI))
            else:
                out.append(rng.pick(("\n", '"', "\\", "—", "…", "“")))
        return "".join(out)

    members = []
    size = 2
    i = 0
    while size < target_bytes:
        escaped = i % 3 == 2
        value = json.dumps(text(rng.between(20, 120)), ensure_ascii=escaped)
        key = json.dumps(f"段落{i}" if i % 2 else f"section_{i}", ensure_ascii=escaped)
        member = f"{key}: {value}"
        members.append(member)
        size += len(member.encode("utf-8")) + 2
        i += 1
    return "{" + ", ".join(members) + "}"


def _numbers(count: int) -> str:
    rng = Rng(SEED + 303)
    out = []
    for _ in range(count):
        digits = rng.between(6, 17)
        text = str(rng.between(1, 9)) + "".join(str(rng.below(10)) for _ in range(digits - 1))
        point = rng.between(1, min(digits - 1, 6))
        text = text[:point] + "." + text[point:]
        if rng.chance(30):
            text = "-" + text
        if rng.chance(8):
            text += rng.pick(("e", "E")) + rng.pick(("", "-", "+")) + str(rng.between(1, 30))
        out.append(text)
    return "[" + ", ".join(out) + "]"


def _wide(count: int) -> str:
    rng = Rng(SEED + 404)
    row = {}
    for i in range(count):
        kind = rng.below(5)
        value = (
            rng.below(10**5)
            if kind == 0
            else rng.pick(_WORDS)
            if kind < 3
            else rng.chance(50)
            if kind == 3
            else rng.below(10**4) / 100
        )
        row[f"{rng.pick(_NAMES)}_{i}"] = value
    return json.dumps(row)


def _deep(levels: int) -> str:
    rng = Rng(SEED + 505)
    value: object = "bottom"
    for i in range(levels):
        value = [rng.below(100), value] if i % 2 else {rng.pick(_NAMES): value, "n": i}
    return json.dumps(value)


_CACHE: dict[str, str] = {}


def corpora() -> dict[str, str]:
    """All texts by name. Built once per process."""
    if not _CACHE:
        _CACHE.update(
            weather=_weather(),
            search=_search(),
            deep=_deep(200),
            edit=string_doc(8 * 1024, seed=1),
            unicode=_unicode(32 * 1024),
            wide=_wide(2000),
            numbers=_numbers(4096),
            records_100k=_records(100_000, 606),
            file_256k=string_doc(256 * 1024, seed=2),
            file_1m=string_doc(1024 * 1024, seed=3),
        )
    return dict(_CACHE)


def digests() -> dict[str, str]:
    """The SHA-256 of every text."""
    return {name: hashlib.sha256(text.encode("utf-8")).hexdigest() for name, text in corpora().items()}


if __name__ == "__main__":
    for name, text in corpora().items():
        print(f"{name:13} {len(text):>9} characters  {digests()[name][:16]}")
