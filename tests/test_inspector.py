"""The inspector page: what it holds, and what a real browser makes of it, hostile content included."""

import json
import re
import time

import pytest
from browser import CHROMIUM, Browser

from toolstream import MISSING, ToolCallStream, apply_changes
from toolstream.cli import main

HOSTILE = (
    "</script><script>document.documentElement.dataset.pwned = 1</script>"
    "<img src=x onerror='document.documentElement.dataset.pwned = 2'><!-- <script> ]]> --> "
    "&lt;b&gt; \u2028 \u2029 \u202e reversed \x1b[31m \x00 ' \" ` ${1} \\"
)


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def call(index, text, id=None, name=None):
    function = {"arguments": text} if name is None else {"name": name, "arguments": text}
    entry = {"index": index, "function": function} | ({} if id is None else {"id": id, "type": "function"})
    return chunk({"tool_calls": [entry]})


def sse(events):
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def cut(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.fixture
def inspect(tmp_path, monkeypatch, capsys):
    """A function that writes the page of a stream and gives its path."""
    monkeypatch.chdir(tmp_path)

    def make(content, *options, name="stream.sse", code=0):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert main(["inspect", name, "-o", "page.html", *options]) == code
        capsys.readouterr()
        return tmp_path / "page.html"

    return make


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    made = Browser()
    yield made
    made.close()


def embedded(page):
    """The data of a page."""
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


WEATHER = [
    chunk({"role": "assistant", "content": "Let me look."}),
    call(0, "", "call_a", "get_weather"),
    *(call(0, part) for part in cut('{"city": "Paris", "days": [1, 2.50, 12345678901234567890]}', 4)),
    call(1, "{}", "call_b", "no_arguments"),
    chunk({}, "tool_calls"),
]


def test_the_page_holds_every_piece_with_its_bytes_and_events(inspect):
    data = embedded(inspect(sse(WEATHER)))
    assert len(data["pieces"]) == len(WEATHER) + 2  # one for each message, [DONE], the end of the input
    assert "".join(piece[1] for piece in data["pieces"]) == sse(WEATHER)
    assert sum(piece[3] for piece in data["pieces"]) == data["bytes"] == len(sse(WEATHER))
    assert data["pieces"][0][2] == [["t", "Let me look."]]
    assert data["pieces"][-1][2] == [["e", 0], ["e", 1]]
    assert [(made["name"], made["status"], made["executable"]) for made in data["calls"]] == [
        ("get_weather", "complete", True),
        ("no_arguments", "complete", True),
    ]


def test_no_character_of_the_stream_can_end_the_data_block(inspect):
    page = inspect(sse([call(0, json.dumps({HOSTILE: HOSTILE}), HOSTILE, HOSTILE), chunk({"content": HOSTILE})]))
    text = page.read_text(encoding="utf-8")
    block = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]
    assert not set("<>&\u2028\u2029\x1b\x00") & set(block)
    assert text.count("<script") == 2
    assert "pwned = 1</script>" not in text


def test_pieces_that_are_no_text_are_kept_as_bytes(inspect):
    content = sse([chunk({"content": "né"})]).replace("\\u00e9", "é").encode()
    data = embedded(inspect(content, "--splits", "every"))
    assert {"b": "ww=="} in [piece[1] for piece in data["pieces"]]
    assert data["bytes"] == len(content)


def test_the_page_goes_to_standard_output_on_request(tmp_path, capsys):
    (tmp_path / "stream.sse").write_text(sse(WEATHER))
    assert main(["inspect", str(tmp_path / "stream.sse"), "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_is_one_line(tmp_path, capsys):
    (tmp_path / "stream.sse").write_text(sse(WEATHER))
    assert main(["inspect", str(tmp_path / "stream.sse"), "-o", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "cannot be written" in err


def test_the_page_does_not_replace_the_stream(tmp_path, capsys):
    stream = tmp_path / "stream.sse"
    stream.write_text(sse([call(0, "{}", "call_a", "ping")]))
    before = stream.read_bytes()
    assert main(["inspect", str(stream), "-o", f"{tmp_path}/./stream.sse"]) == 2
    assert "is the stream itself" in capsys.readouterr().err
    assert stream.read_bytes() == before


def test_the_page_and_json_cannot_share_standard_output(tmp_path, capsys):
    (tmp_path / "stream.sse").write_text(sse(WEATHER))
    assert main(["inspect", "--json", str(tmp_path / "stream.sse"), "-o", "-"]) == 2
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------- in the browser


def live_values(events):
    """What each call's value must be after each piece: the changes that the library gives, applied."""
    stream = ToolCallStream("openai-chat", changes=True)
    values = {}
    rows = []
    for event in [*events, None]:
        for made in stream.close() if event is None else stream.feed(event):
            if made.type == "tool_call.delta":
                before = MISSING if made.restart else values.get(made.call.position, MISSING)
                values[made.call.position] = apply_changes(before, made.changes)
        rows.append({at: json.loads(json.dumps(value)) for at, value in values.items() if value is not MISSING})
    return rows


LIVE = """JSON.stringify(pieces.map((piece, i) => Object.fromEntries(
    stateAt(i).calls.map((call, at) => [at, call.value]).filter(([at, value]) => value !== undefined))))"""


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_live_values_are_those_of_the_library(inspect, browser, order):
    texts = [
        '{"a": {"b": [1, [true, null, {"c": "x"}]], "d": "long ' + "text " * 300 + '"}, "e": 1, "a": {"again": []}}',
        '{"__proto__": {"x": 1}, "constructor": [], "toString": "s", "list": [[], {}, "", [0]]}',
    ]
    events = [call(0, "", "call_a", "one"), call(1, "", "call_b", "two")]
    parts = [cut(text, 3) for text in texts]
    for at in range(max(map(len, parts))):
        events += [call(number, part[at]) for number, part in enumerate(parts) if at < len(part)]
    events.append(chunk({}, "tool_calls"))
    browser.open(inspect(sse(events)).as_uri())
    expected = live_values(events)
    expected.insert(-1, expected[-2])  # [DONE] changes nothing
    if order == "backward":
        browser.run("go(END); for (let i = END; i >= 0; i--) stateAt(i)")
    rows = json.loads(browser.run(LIVE))
    assert len(rows) == len(expected)
    for number, (got, want) in enumerate(zip(rows, expected, strict=True)):
        assert got == {str(at): value for at, value in want.items()}, number


def test_a_placeholder_that_is_replaced_begins_anew(inspect, browser):
    events = [call(0, "{}", "call_a", "one"), call(0, '{"x": 1}'), chunk({}, "tool_calls")]
    browser.open(inspect(sse(events), code=1).as_uri())
    assert json.loads(browser.run(LIVE))[0] == {"0": {}}
    assert json.loads(browser.run(LIVE))[-1] == {"0": {"x": 1}}
    browser.run("go(1)")
    assert "begins anew" in browser.run("element('events').textContent")


def test_hostile_content_stays_text(inspect, browser):
    events = [
        chunk({"role": "assistant", "content": HOSTILE, "reasoning_content": HOSTILE}),
        call(0, "", HOSTILE, HOSTILE),
        *(call(0, part) for part in cut(json.dumps({HOSTILE: HOSTILE, "list": [HOSTILE]}), 9)),
        {"error": {"message": HOSTILE, "code": HOSTILE}},
    ]
    page = inspect(sse(events), name="<img src=x onerror=alert(1)>.sse", code=1)
    browser.open(page.as_uri())
    for position in ("0", "END - 3", "END"):
        browser.run(f"go({position})")
        assert browser.run("document.documentElement.dataset.pwned") is None
    assert browser.run("document.scripts.length") == 2
    assert browser.run("document.querySelectorAll('img, iframe, object, embed, base, link').length") == 0
    assert HOSTILE[:60] in browser.run("element('calls').textContent")
    text = browser.run("document.body.innerText")
    assert not set("\u202e\x1b\x00\u2028") & set(text)
    requests = [
        made["params"]["request"]["url"] for made in browser.events if made["method"] == "Network.requestWillBeSent"
    ]
    assert {address.partition("#")[0] for address in requests} <= {page.as_uri(), "about:blank"}
    assert [made for made in browser.events if made["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")] == []


def test_the_policy_of_the_page_refuses_other_scripts_and_every_request(inspect, browser):
    browser.open(inspect(sse(WEATHER)).as_uri())
    browser.run(
        "{const made = document.createElement('script'); document.body.append(made);"
        "made.textContent = 'document.documentElement.dataset.other = 1'}"
    )
    assert browser.run("document.documentElement.dataset.other") is None
    assert browser.run("fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')") == "refused"


def test_keys_move_through_the_pieces(inspect, browser):
    browser.open(inspect(sse(WEATHER)).as_uri())
    where = "Number(document.documentElement.dataset.piece)"
    end = len(WEATHER) + 1
    for key, shift, expected in [
        ("ArrowRight", False, 1),
        ("ArrowRight", True, 11),
        ("ArrowLeft", False, 10),
        ("End", False, end),
        ("ArrowRight", False, end),
        ("ArrowLeft", True, end - 10),
        ("Home", False, 0),
        ("ArrowLeft", False, 0),
        ("PageDown", False, end),
        ("PageUp", False, 0),
    ]:
        browser.press(key, shift=shift)
        assert browser.run(where) == expected, key
        assert browser.run("Number(element('slider').value)") == expected
    browser.press("Tab")
    assert browser.run("document.activeElement.id") == "first"
    browser.press("ArrowRight")
    assert browser.run(where) == 1


def test_space_plays_and_pauses(inspect, browser):
    browser.open(inspect(sse(WEATHER)).as_uri())
    browser.press(" ")
    limit = time.monotonic() + 10
    while browser.run("current") < 2 and time.monotonic() < limit:
        time.sleep(0.02)
    assert browser.run("current") >= 2
    browser.press(" ")
    assert browser.run("timer") is None


def test_defects_stand_at_their_place(inspect, browser):
    events = [call(0, '{"a": 1}', "call_a", "one"), call(0, '{"b": 2}', "call_b", "two"), chunk({}, "tool_calls")]
    browser.open(inspect(sse(events), code=1).as_uri())
    assert "index_reused" not in browser.run("element('events').textContent")
    browser.press("n")
    assert browser.run("current") == 1
    assert "index_reused" in browser.run("element('events').textContent")
    assert "index_reused" in browser.run("element('defects').textContent")
    browser.run("go(0); element('defects').querySelector('button').click()")
    assert browser.run("current") == 1


def test_the_changed_path_is_marked(inspect, browser):
    browser.open(inspect(sse(WEATHER)).as_uri() + "#piece=5")
    assert browser.run("current") == 5
    marked = "[...document.querySelectorAll('mark')].map((made) => made.textContent).join('|')"
    assert browser.run(marked) == "ris"
    assert '"Paris"' in browser.run("element('calls').textContent")


def test_numbers_are_shown_as_they_were_sent(inspect, browser):
    browser.open(inspect(sse(WEATHER)).as_uri() + "#end")
    assert "12345678901234567890" in browser.run("document.querySelector('.value').textContent")


def test_verdicts_come_with_the_ends(inspect, browser):
    browser.open(inspect(sse([*WEATHER[:6], chunk({}, "length")]), code=1).as_uri())
    browser.run("go(END - 1)")
    assert "streaming" in browser.run("element('calls').textContent")
    browser.run("go(END)")
    assert "incomplete, must not be run" in browser.run("element('calls').textContent")


def recording(count):
    rows = [json.dumps({"record": 1, "provider": "openai-chat"})]
    for number in range(count):
        event = (
            call(0, "", "call_a", "write") if not number else call(0, '{"text": "' if number == 1 else f"word{number} ")
        )
        rows.append(json.dumps({"t": number / 50, "d": f"data: {json.dumps(event)}\n\n"}))
    return "\n".join(rows) + "\n"


def test_ten_thousand_pieces_are_readable(inspect, browser):
    page = inspect(recording(10_000), name="long.jsonl", code=1)
    assert page.stat().st_size < 4 << 20
    browser.open(page.as_uri())
    assert browser.run("END") == 10_000
    steps = """(() => {
        const begin = performance.now();
        for (const position of [9999, 10, 5000, 9998, 4321]) go(position);
        return performance.now() - begin;
    })()"""
    assert browser.run(steps) < 5000  # milliseconds, for five jumps; generous for a busy machine
    assert browser.run("document.querySelectorAll('*').length") < 2000
    assert "word4321" in browser.run("document.querySelector('.value').textContent")
    assert browser.run("element('gaps-box').hidden") is False


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_colour_scheme(inspect, browser, scheme, dark):
    browser.colours(scheme)
    browser.open(inspect(sse(WEATHER)).as_uri())
    colours = browser.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    page, ink = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert (page < ink) is dark
    assert abs(page - ink) > 400
