"""The command line: what each command prints, its exit codes, and that no input makes it fail otherwise."""

import base64
import io
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toolstream
from toolstream import BACKEND, __version__
from toolstream.cli import main
from toolstream.cli.advice import ADVICE
from toolstream.cli.output import clean, json_parts, path_text, shorten
from toolstream.cli.reading import Piece, by_message, cut_anew
from toolstream.cli.wire import fragment
from toolstream.defects import DEFECTS

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
HOSTILE = "\x1b]0;title\x07 \x1b[31mred \x9b5m \u202eabc \x00 \x7f \r\n\u2028"


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def call(index, text, id=None, name=None):
    function = {"arguments": text} if name is None else {"name": name, "arguments": text}
    entry = {"index": index, "function": function} | ({} if id is None else {"id": id, "type": "function"})
    return chunk({"tool_calls": [entry]})


def sse(*events, done=True):
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + ("data: [DONE]\n\n" if done else "")


CLEAN = sse(
    chunk({"role": "assistant", "content": "Let me look."}),
    call(0, "", "call_a", "get_weather"),
    call(0, '{"city": "Par'),
    call(0, 'is", "days": [1, 2]}'),
    chunk({}, "tool_calls"),
)
CUT = sse(call(0, "{}", "call_a", "ping"), call(1, '{"x": "se', "call_b", "delete"), chunk({}, "length"))
ENDS = sse(call(0, '{"x": "se', "call_a", "delete"), done=False)


@pytest.fixture
def write(tmp_path):
    """A function that writes a file and gives its path."""

    def make(content, name="stream.sse"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return make


@pytest.fixture
def run(capsys):
    """A function that runs a command line and gives exit code, standard output and standard error."""

    def make(*argv):
        code = main([str(word) for word in argv])
        out, err = capsys.readouterr()
        return code, out, err

    return make


def command(*argv):
    return [sys.executable, "-m", "toolstream", *map(str, argv)]


def in_terminal(*argv, **environment):
    """Exit code and output of a command whose standard output and error are a terminal."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    settings_of_it = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", **environment}
    with subprocess.Popen(
        command(*argv), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=settings_of_it
    ) as process:
        os.close(slave)
        parts = []
        while select.select([master], [], [], 30)[0]:
            try:
                block = os.read(master, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not block:
                break
            parts.append(block)
        os.close(master)
        code = process.wait(30)
    return code, b"".join(parts).decode()


# ---------------------------------------------------------------- usage and version


def test_version_names_back_end_and_python(run):
    code, out, err = run("--version")
    assert (code, err) == (0, "")
    first, second, third = out.splitlines()
    assert first == f"toolstream {__version__}"
    assert re.fullmatch(rf"back end: {BACKEND} \(.+\)", second)
    assert third.startswith("Python " + sys.version.split()[0])


def test_version_as_json(run):
    code, out, _ = run("--version", "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["version"], facts["backend"], facts["clash"]) == (__version__, BACKEND, None)


def test_version_warns_of_the_other_distribution(run, tmp_path, monkeypatch):
    folder = tmp_path / "toolstream-9.9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: toolstream\nVersion: 9.9\n")
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = run("--version")
    assert code == 0
    assert out.startswith("toolstream ")
    assert "9.9 is installed too" in err
    assert "pip uninstall" in err


def test_the_other_distribution_on_top_takes_neither_version_nor_inspector_away(write, tmp_path):
    copy = tmp_path / "site" / "toolstream"
    shutil.copytree(Path(toolstream.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "__init__.py").write_text('__version__ = "9.9"\n__all__ = ["Stream"]\n')
    for name, number in ("toolstream", "9.9"), ("toolstream_parser", "4.5.6"):
        folder = copy.parent / f"{name}-{number}.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {number}\n"
        (folder / "METADATA").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}

    def ask(*argv):
        done = subprocess.run(command(*argv), capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert done.returncode == 0
        return done.stdout, done.stderr

    out, err = ask("--version")
    assert out.startswith(f"toolstream 4.5.6\nback end: {BACKEND} (")
    assert "9.9 is installed too" in err
    assert "4.5.6" in ask("inspect", write(CLEAN), "-o", "-")[0]


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["frobnicate"],
        ["replay"],
        ["replay", "x", "--speed", "0"],
        ["replay", "x", "--speed", "fast"],
        ["replay", "x", "--speed", "nan"],
        ["replay", "x", "--splits", "sometimes"],
        ["replay", "x", "--splits", "random:"],
        ["assemble", "x", "--jobs", "0"],
        ["assemble", "x", "--jobs", "many"],
        ["inspect", "x"],
        ["--bogus"],
    ],
)
def test_wrong_usage_is_code_2(run, argv):
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert "usage: toolstream" in err
    assert "invalid _" not in err, "what argparse says of a function's name"


def test_help_is_code_0(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    for word in ("replay", "assemble", "check", "repair", "demo", "inspect"):
        assert word in out


def test_every_command_takes_json(run):
    for word in ("replay", "assemble", "check", "repair", "demo", "inspect"):
        assert "--json" in run(word, "--help")[1], word


def test_an_unknown_provider_is_code_2(run, write):
    path = write(CLEAN)
    code, out, err = run("replay", path, "--provider", "nobody")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--provider: unknown provider 'nobody'; known are openai-chat" in err
    assert path not in err


@pytest.mark.parametrize("argv", [["replay"], ["assemble"], ["check"], ["replay", "--json"]])
def test_a_provider_that_the_stream_is_not_of_is_code_2(run, write, argv):
    code, _, err = run(*argv, write(CLEAN), "--provider", "anthropic")
    assert (code, err.count("\n")) == (2, 1)
    assert "nothing was found that is of anthropic; leave out --provider" in err


# ---------------------------------------------------------------- replay and demo


def test_replay_logs_each_change_then_the_finished_calls(run, write):
    code, out, err = run("replay", write(CLEAN))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        'text      "Let me look."',
        "call 0    get_weather  id call_a",
        'call 0      city = "Par"',
        'call 0      city += "is"',
        "call 0      days = []",
        "call 0      days[0] = 1",
        "call 0      days[1] = 2",
        "call 0    complete, may be run",
        "",
        "1 call, finish reason tool_calls, no defects",
        "0  get_weather  complete, may be run",
        '   {"city": "Paris", "days": [1, 2]}',
    ]


def test_replay_shows_defects_and_refused_calls(run, write):
    code, out, _ = run("replay", write(CUT))
    assert code == 1
    assert "error     args_truncated: " in out
    assert "1  delete  incomplete, must not be run" in out
    assert '   text so far: {"x": "se' in out


def test_replay_shows_what_the_provider_said_went_wrong(run, write):
    error = {"error": {"message": "Overloaded\x1b[2J", "type": "server_error"}}
    code, out, _ = run("replay", write(sse(call(0, "{}", "call_a", "ping"), error, done=False)))
    assert code == 1
    assert 'error  {"message": "Overloaded\\u001b[2J", "type": "server_error"}\n' in out


def test_replay_json_is_one_document_of_finished_calls(run, write):
    code, out, err = run("replay", "--json", write(CLEAN))
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert document["provider"] == "openai-chat"
    assert document["finish_reason"] == "tool_calls"
    assert document["text"] == "Let me look."
    [made] = document["calls"]
    assert (made["id"], made["name"], made["executable"]) == ("call_a", "get_weather", True)
    assert made["arguments"] == {"city": "Paris", "days": [1, 2]}
    assert made["arguments_text"] == '{"city": "Paris", "days": [1, 2]}'


@pytest.mark.parametrize("splits", ["as-is", "every", "random:1", "random:-7"])
def test_the_cuts_do_not_matter(run, splits):
    whole = json.loads(run("replay", "--json", EXAMPLES / "weather.sse")[1])
    code, out, _ = run("replay", "--json", "--splits", splits, EXAMPLES / "weather.sse")
    assert code == 0
    assert json.loads(out) == whole


def test_replay_keeps_the_recorded_pace(write):
    rows = [
        {"record": 1},
        *({"t": t, "d": part} for t, part in zip((0, 5, 10), (CLEAN[:50], CLEAN[50:99], CLEAN[99:]), strict=True)),
    ]
    path = write("".join(json.dumps(row) + "\n" for row in rows))
    begin = time.monotonic()
    assert main(["replay", path, "--speed", "20", "--json"]) == 0
    assert 0.5 <= time.monotonic() - begin < 9
    begin = time.monotonic()
    assert main(["replay", path]) == 0  # no terminal: no waiting
    assert time.monotonic() - begin < 9


def test_demo_is_clean(run):
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert "2 calls, finish reason tool_calls, no defects" in out
    assert json.loads(run("demo", "--json")[1])["calls"][0]["name"] == "get_weather"


def test_replay_in_a_terminal_is_coloured_unless_asked_not_to(write):
    path = write(CLEAN)
    code, out = in_terminal("replay", path, "--speed", "1000")
    assert code == 0
    assert "\x1b[" in out
    code, out = in_terminal("replay", path, "--speed", "1000", NO_COLOR="1")
    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[1-7]m", out)
    assert "get_weather" in out


def test_replay_in_a_terminal_grows_in_place_with_rich():
    pytest.importorskip("rich")
    code, out = in_terminal("replay", EXAMPLES / "write_file.jsonl", "--speed", "20")
    assert code == 0
    assert "streaming" in out
    assert out.count("write_file") > 5
    assert '\n   {"path": "tides/README.md", ' in out.replace("\r", ""), "the finished call stays"


def test_replay_in_a_terminal_without_rich_is_the_log(run, monkeypatch, write):
    from toolstream.cli import replay

    monkeypatch.setattr(replay, "is_terminal", lambda stream: True)
    monkeypatch.setattr(replay, "_rich_is_installed", lambda: False)
    code, out, _ = run("replay", write(CLEAN), "--speed", "1000")
    assert code == 0
    assert 'call 0      city += "is"' in out


# ---------------------------------------------------------------- hostile content


def hostile_stream():
    return sse(
        chunk({"content": HOSTILE, "reasoning_content": HOSTILE}),
        call(0, json.dumps({HOSTILE: HOSTILE, "n": [HOSTILE]}), HOSTILE, HOSTILE),
        call(0, '{"cut": "' + HOSTILE, "other", HOSTILE),
        {"error": {"message": HOSTILE, "code": HOSTILE}},
    )


@pytest.mark.parametrize(
    "argv", [["replay"], ["replay", "--json"], ["assemble"], ["check"], ["check", "--show-values"], ["check", "--json"]]
)
def test_control_characters_never_reach_the_output(run, write, argv):
    _, out, err = run(*argv, write(hostile_stream()))
    text = (out + err).replace("\n", "")
    assert text.isprintable(), [c for c in text if not c.isprintable()]


def test_control_characters_never_reach_the_live_view(write):
    pytest.importorskip("rich")
    _, out = in_terminal("replay", write(hostile_stream()), "--speed", "100")
    assert "\x1b]0" not in out
    assert "\x9b" not in out
    assert "\u202e" not in out
    assert "\\x1b]0;title" in out


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_clean_text_is_printable_and_keeps_what_was(text):
    assert clean(text).isprintable()
    if text.isprintable():
        assert clean(text) == text


# ---------------------------------------------------------------- recordings and raw inputs


def recording(*rows, header=None):
    return "".join(json.dumps(row) + "\n" for row in ([] if header is None else [header]) + list(rows))


def pieces_of(text, size):
    return [{"t": at / 1000, "d": text[at : at + size]} for at in range(0, len(text), size)]


@pytest.mark.parametrize("header", [None, {"record": 1}, {"record": 1, "provider": "openai-chat", "note": "x"}])
def test_recordings_are_read_by_every_command(run, write, header):
    path = write(recording(*pieces_of(CLEAN, 37), header=header), "stream.jsonl")
    whole = json.loads(run("assemble", write(CLEAN))[1])["calls"]
    assert json.loads(run("assemble", path)[1])["calls"] == whole
    assert json.loads(run("replay", "--json", path)[1])["calls"] == whole
    assert run("check", path)[0] == 0
    code, out, _ = run("replay", path)
    assert code == 0
    assert re.search(r"^   0\.\d{3}  call 0    get_weather", out, re.MULTILINE)


def test_bytes_of_a_recording_may_be_base64(run, write):
    content = CLEAN.replace("Paris", "Par\u00eds").replace("Par", "Pâr").encode()
    rows = [{"t": 0, "b": base64.b64encode(content[at : at + 1]).decode()} for at in range(len(content))]
    code, out, _ = run("assemble", write(recording(*rows, header={"record": 1})))
    assert code == 0
    assert json.loads(out)["calls"][0]["arguments"]["city"] == "Pâris"


@pytest.mark.parametrize(
    ("content", "words", "read"),
    [
        (recording(*pieces_of(CLEAN, 37), header={"record": 1})[:-30], "is no piece of a recording", 1),
        (recording({"t": 0, "d": CLEAN}, {"t": 1, "x": 0}, header={"record": 1}), "line 3", 1),
        (recording({"t": 0, "d": CLEAN}, {"t": "late", "d": ""}, header={"record": 1}), "line 3", 1),
        (recording({"t": 0, "d": CLEAN}, {"t": 1, "b": "!"}, header={"record": 1}), "line 3", 1),
        (recording({"t": 0, "d": CLEAN}, header={"record": 2}), "version 2", 0),
        (recording(header={"record": 1}), "without a single piece", 0),
    ],
)
def test_damaged_recordings(run, write, content, words, read):
    code, out, err = run("assemble", write(content))
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert out.count("\n") == read


def test_a_recording_names_its_provider(run, write):
    code, out, _ = run("assemble", write(recording({"t": 0, "d": CLEAN}, header={"record": 1, "provider": "mistral"})))
    assert json.loads(out)["provider"] == "mistral"
    path = write(recording({"t": 0, "d": CLEAN}, header={"record": 1, "provider": "nobody"}))
    code, _, err = run("assemble", path)
    assert code == 2
    assert "nobody" in err
    assert json.loads(run("assemble", path, "--provider", "openai-chat")[1])["provider"] == "openai-chat"


@pytest.mark.parametrize("content", [CLEAN, recording(*pieces_of(CLEAN, 37), header={"record": 1})])
@pytest.mark.parametrize("argv", [["replay", "--json"], ["assemble"]])
def test_standard_input(argv, content):
    done = subprocess.run(command(*argv, "-"), input=content.encode(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    assert document["file"] == "standard input"
    assert document["calls"][0]["arguments"] == {"city": "Paris", "days": [1, 2]}


@POSIX
def test_standard_input_is_shown_as_it_comes():
    with subprocess.Popen(command("replay", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        middle = CLEAN.index('is\\"')
        process.stdin.write(CLEAN[:middle].encode())
        process.stdin.flush()
        seen = b""
        while b"get_weather" not in seen:
            assert select.select([process.stdout], [], [], 30)[0], seen
            seen += process.stdout.read1()
        process.stdin.write(CLEAN[middle:].encode())
        process.stdin.close()
        assert b"complete, may be run" in process.stdout.read()
    assert process.returncode == 0


JSON_LINES = "".join(json.dumps({"n": n}) + "\n" for n in range(5))
FRAMES = b"".join((20 + n).to_bytes(4, "big") + bytes(16 + n) for n in range(4))


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (CLEAN.encode(), 6),
        (CLEAN.replace("\n", "\r\n").encode(), 6),
        (CLEAN.replace("\n", "\r").encode(), 6),
        (b"\xef\xbb\xbf" + CLEAN.encode(), 6),
        (CLEAN.rstrip("\n").encode(), 6),
        (JSON_LINES.encode(), 5),
        (b"[" + JSON_LINES.encode() + b"]", 6),
        (FRAMES, 4),
        (FRAMES + b"\0\0", 5),
        (b"\n\n\n", 1),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_raw_files_are_cut_at_messages(content, count, size):
    blocks = (Piece(at // size, None, content[at : at + size]) for at in range(0, len(content), size))
    made = list(by_message(blocks, renumber=True))
    assert b"".join(piece.data for piece in made) == content
    assert len(made) == count
    assert [piece.number for piece in made] == list(range(count))


@given(st.lists(st.binary(max_size=50)), st.sampled_from(["as-is", "every", "random:3"]))
@settings(max_examples=100, deadline=None)
def test_new_cuts_keep_every_byte(parts, splits):
    pieces = [Piece(number, float(number), data) for number, data in enumerate(parts)]
    made = list(cut_anew(iter(pieces), splits))
    assert b"".join(piece.data for piece in made) == b"".join(parts)
    if splits == "every":
        assert [len(piece.data) for piece in made] == [1] * sum(map(len, parts))
        assert [piece.t for piece in made] == [piece.t for piece in pieces for _ in piece.data]


# ---------------------------------------------------------------- inputs that cannot be used, and interruptions

COMMANDS = [
    ["replay"],
    ["replay", "--json"],
    ["assemble"],
    ["check"],
    ["check", "--json"],
    ["inspect", "-o", "{page}"],
    ["repair"],
]


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("kind", "words"),
    [("empty", "is empty"), ("folder", "is a folder"), ("missing", "no such file"), ("nul", "cannot be opened")],
)
def test_unusable_inputs_are_one_line_and_code_2(run, write, tmp_path, argv, kind, words):
    path = {
        "empty": write(""),
        "folder": str(tmp_path),
        "missing": str(tmp_path / "missing.sse"),
        "nul": "a\0b",
    }[kind]
    argv = [word.format(page=tmp_path / "page.html") for word in argv]
    code, out, err = run(*argv, path)
    assert code == 2
    assert err.count("\n") == 1
    assert err.startswith("toolstream: ")
    assert words in err
    assert not (tmp_path / "page.html").exists()
    assert out == "" or argv == ["check", "--json"]


@pytest.mark.parametrize("argv", COMMANDS[:-1], ids=" ".join)
@pytest.mark.parametrize("content", [bytes(range(256)) * 40, b"\x7fELF" + os.urandom(70_000), b"plain text\n", b"\n\n"])
def test_a_file_of_something_else_is_one_line_and_code_2(run, write, tmp_path, argv, content):
    argv = [word.format(page=tmp_path / "page.html") for word in argv]
    code, _, err = run(*argv, write(content))
    assert code == 2
    assert err.count("\n") == 1
    assert "--provider" in err


@pytest.mark.parametrize("argv", [["replay"], ["assemble"], ["check"]])
@pytest.mark.parametrize("at", [60, 100, 300, len(CLEAN) - 60])
def test_a_cut_file_shows_what_came(run, write, argv, at):
    code, out, err = run(*argv, write(CLEAN.encode()[:at], "cut.sse"), "--provider", "openai-chat")
    assert code == 1
    assert out
    assert err.count("\n") <= 1


def test_a_cut_file_names_the_calls_that_must_not_be_run(run, write):
    code, out, err = run("assemble", write(ENDS, "cut.sse"))
    assert code == 1
    [made] = json.loads(out)["calls"]
    assert (made["status"], made["executable"], made["partial_arguments"]) == ("incomplete", False, {"x": "se"})
    assert err.endswith("1 of 1 calls must not be run: 0 (delete, incomplete)\n")


def wait_until_read(process):
    """Until a process has taken what was written to it: on a busy machine it may take long to start."""
    import fcntl
    import termios

    deadline = time.monotonic() + 30
    while int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


@POSIX
@pytest.mark.parametrize("argv", [["replay"], ["assemble"], ["check"], ["replay", "--json"]])
def test_control_c_shows_what_came(argv):
    with subprocess.Popen(
        command(*argv, "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        process.stdin.write(CUT.partition('{"delta": {}')[0].encode()[:-80])
        process.stdin.flush()
        wait_until_read(process)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.decode().count("\n") == 1
    assert b"interrupted" in err
    assert b"ping" in out or b"args_truncated" in out


@POSIX
def test_an_interruption_does_not_wait_for_the_files_of_other_processes(write, tmp_path):
    silent = tmp_path / "silent.sse"
    os.mkfifo(silent)
    with subprocess.Popen(
        command("assemble", "--jobs", "2", write(CLEAN), silent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        assert json.loads(process.stdout.readline())["calls"]
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.decode() == "toolstream: interrupted\n"


@POSIX
@pytest.mark.parametrize("argv", [["replay"], ["assemble"], ["check", "--show-values"], ["inspect", "-o", "-"]])
def test_a_closed_pipe_is_one_line(write, argv):
    path = write(sse(*(call(0, "word " * 50, f"call_{n}", "write") for n in range(2000))))
    with subprocess.Popen(command(*argv, path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        err = process.stderr.read().decode()
        code = process.wait(60)
    assert code == 141
    assert err == "toolstream: the output was closed before everything was written\n"


@POSIX
@pytest.mark.parametrize(
    ("redirection", "code", "words"),
    [
        ("<&-", 2, "standard input is closed"),
        ("< /dev/null", 2, "standard input: is empty"),
        ("< stream.sse >&-", 0, ""),
        ("< stream.sse 2>&-", 0, ""),
        ("< stream.sse > /dev/full", 2, "the output cannot be written"),
    ],
)
def test_odd_standard_streams(write, tmp_path, redirection, code, words):
    write(CLEAN)
    if "/dev/full" in redirection and not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    line = f"'{sys.executable}' -m toolstream replay - {redirection}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == code, done.stderr
    assert words in done.stderr.decode()
    assert done.stderr.count(b"\n") == bool(words)


# ---------------------------------------------------------------- assemble


def test_assemble_writes_a_line_for_each_file_and_goes_on(run, write, tmp_path):
    files = [write(CLEAN, "a.sse"), str(tmp_path / "missing"), write(CUT, "b.sse")]
    code, out, err = run("assemble", *files)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 2
    assert [row["file"] for row in rows] == [files[0], files[2]]
    assert [row["finish_reason"] for row in rows] == ["tool_calls", "length"]
    assert [defect["code"] for defect in rows[1]["defects"]] == ["args_truncated"]
    assert [line.partition(": ")[2].partition(":")[0] for line in err.splitlines()] == files[1:]


def test_assemble_codes(run, write):
    assert run("assemble", write(CLEAN, "a"))[0] == 0
    assert run("assemble", write(CLEAN, "a"), write(CUT, "b"))[0] == 1


def test_jobs_give_the_same_lines_in_the_same_order(run, write):
    files = [write(CLEAN if n % 3 else CUT, f"{n}.sse") for n in range(6)]
    alone = run("assemble", *files)
    assert run("assemble", "--jobs", "3", *files) == alone
    assert alone[0] == 1


def test_jobs_cannot_share_standard_input(run, write):
    code, _, err = run("assemble", "--jobs", "2", "-", write(CLEAN))
    assert code == 2
    assert "standard input" in err


def test_progress_is_shown_in_a_terminal_for_many_files(write):
    files = [write(CLEAN, f"{n}.sse") for n in range(8)]
    code, out = in_terminal("assemble", *files)
    assert code == 0
    assert re.search(r"\[#*-*\] +\d+% of", out)
    assert "% of" not in in_terminal("assemble", *files[:2])[1]


MEASURE = """
import re, sys
from toolstream.cli import main
code = main(["assemble", sys.argv[1]])
with open("/proc/self/status") as status:
    print(re.search(r"VmHWM:\\s*(\\d+) kB", status.read())[1], file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("size", [5, 40_000])
def test_assemble_reads_a_large_file_in_bounded_memory(tmp_path, size):
    """8 MB of server-sent events; at most 4 times the text of the calls and 50 MB."""
    path = tmp_path / "large.sse"
    part = "word\n" * (size // 5)
    event = f"data: {json.dumps(call(0, json.dumps(part)[1:-1]))}\n\n"
    count = (8 << 20) // len(event)
    with path.open("w") as file:
        file.write(sse(call(0, '{"content": "', "call_a", "write"), done=False))
        for _ in range(count):
            file.write(event)
        file.write(sse(call(0, '"}'), chunk({}, "tool_calls")))
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, timeout=120, check=True)
    made = json.loads(done.stdout)["calls"][0]
    assert made["arguments"]["content"] == part * count
    kilobytes = int(done.stderr)
    assert kilobytes * 1024 < 4 * len(made["arguments_text"]) + (50 << 20)


# ---------------------------------------------------------------- check

GATEWAY = sse(
    call(0, '{"who": "Ines Duarte", "pin": 4711}', "call_a", "find"),
    call(0, '{"who": "Rui', "call_b", "find"),
    call(0, ' Costa", "ok": True}'),
    chunk({"content": "Secret words"}),
    chunk({}, "tool_calls"),
)


def test_check_groups_by_code_and_shows_the_wire(run, write):
    path = write(GATEWAY)
    code, out, err = run("check", path)
    assert (code, err) == (1, "")
    assert out.startswith(f"{path}: openai-chat, 2 calls (2 may be run), finish reason tool_calls\n")
    assert "warning  index_reused  1 time\n" in out
    assert (
        f"  {DEFECTS['index_reused'][1]}\n  cause: {ADVICE['index_reused'][0]}\n  to do: {ADVICE['index_reused'][1]}\n"
        in out
    )
    assert "piece 1, call 1 (find)\n" in out
    assert '"id": "call_b"' in out
    # the repair is known at the end; the message shown is the one that holds it
    assert "piece 2 (known at the end), call 1 (find), at character" in out
    assert 'xxxxx\\", \\"xx\\": True}' in out


def test_check_masks_values_unless_asked(run, write):
    path = write(GATEWAY)
    masked, shown = run("check", path)[1], run("check", "--show-values", path)[1]
    for word in ("Ines", "Duarte", "Rui", "Costa", "4711", "who", "Secret"):
        assert word not in masked
    assert "Rui" in shown


def test_check_of_a_clean_stream(run, write):
    code, out, _ = run("check", write(CLEAN))
    assert code == 0
    assert out.endswith("nothing to report\n")


def test_check_as_json_over_several_files(run, write):
    files = [write(GATEWAY, "a.sse"), write(CUT, "b.sse"), write(GATEWAY, "c.sse")]
    code, out, _ = run("check", "--json", *files)
    report = json.loads(out)
    assert code == 1
    assert [row["file"] for row in report["files"]] == files
    assert [row["calls"] for row in report["files"]] == [2, 2, 2]
    groups = {group["code"]: group for group in report["defects"]}
    assert groups["index_reused"]["count"] == 2
    assert groups["index_reused"]["files"] == 2
    assert [example["file"] for example in groups["index_reused"]["examples"]] == [files[0], files[2]]
    assert report["defects"][0]["code"] == "args_truncated"  # errors first
    assert report["defects"][0]["examples"][0]["call"] == 1


def test_check_numbers_the_pieces_of_a_recording(run, write):
    rows = [{"t": 0, "d": GATEWAY[:40]}, {"t": 1, "d": GATEWAY[40:-20]}, {"t": 2, "d": GATEWAY[-20:]}]
    report = json.loads(run("check", "--json", write(recording(*rows, header={"record": 1})))[1])
    places = {group["code"]: group["examples"][0]["piece"] for group in report["defects"]}
    assert places["index_reused"] == 1


def test_there_is_advice_for_every_code():
    assert list(ADVICE) == list(DEFECTS)


WORDS = st.text("abcdefghijklmnopqrstuvwxyzäß", min_size=6, max_size=12).map(lambda word: "q" + word)


@given(st.dictionaries(WORDS, WORDS | st.lists(WORDS) | st.integers(10**7, 10**9), min_size=1), st.data())
@settings(max_examples=60, deadline=None)
def test_no_word_of_arguments_survives_masking(arguments, data):
    text = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text)))
    payloads = [
        call(0, text[:at], "call_a", "find"),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text[at:]}},
        {"type": "response.function_call_arguments.delta", "item_id": "x", "delta": text[:at]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "find", "args": arguments}}]}}]},
        {"message": {"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": arguments}}]}},
        chunk({"content": text}),
    ]
    lines = [f"data: {json.dumps(payload, ensure_ascii=False)}" for payload in payloads]
    lines += [lines[0][: len(lines[0]) // 2], lines[3][len(lines[3]) // 3 :], json.dumps(payloads[3])]
    words = set(re.findall(r"q[a-zäß]{6,}|\d{8,}", json.dumps(arguments, ensure_ascii=False)))
    for line in lines:
        masked = fragment(line.encode(), show_values=False)
        assert not [word for word in words if word in masked], masked


def test_masking_keeps_what_identifies_and_what_is_wrong():
    entry = '{"index": null, "id": "call_9", "function": {"arguments": "\\"a\\\\q\\": NaN,}"}}'
    line = 'data: {"choices": [{"index": 1, "delta": {"tool_calls": [' + entry + "]}}]}"
    assert fragment(line.encode(), show_values=False) == line.replace('\\"a\\\\q', '\\"x\\\\q')
    assert fragment(line.encode(), show_values=True) == line


# ---------------------------------------------------------------- repair


def test_repair_writes_the_value_and_says_what_was_done(run, write):
    code, out, err = run("repair", write('{"a": [1, 2,],\n "b": \'x\',\n "c": "cut he', "broken.json"))
    assert code == 1
    assert json.loads(out) == {"a": [1, 2], "b": "x", "c": "cut he"}
    places = [re.search(r"broken\.json:(\d+):(\d+): (.*)", line).groups() for line in err.splitlines()]
    assert [(int(line), int(column)) for line, column, _ in places] == [(1, 13), (2, 7), (3, 14)]
    assert [text for *_, text in places] == [
        "a comma before a closing bracket; it was ignored",
        "a string in single quotes; it was read as a string",
        "the text ends inside c before the value is whole; the rest is left out",
    ]


def test_repair_of_sound_json_is_quiet(run, write):
    value = {"a": [1, 2.5, None, True, "é\u2028"], "b": {}}
    code, out, err = run("repair", write(json.dumps(value)))
    assert (code, err) == (0, "")
    assert json.loads(out) == value


def test_repair_as_json(run, write):
    code, out, err = run("repair", "--json", write("[1, nope, 2]"))
    document = json.loads(out)
    assert (code, err) == (1, "")
    assert document["value"] == [1, 2]
    assert (document["valid"], document["complete"]) == (False, True)
    assert [(note["line"], note["column"], note["code"]) for note in document["repairs"]] == [(1, 5, "dropped_word")]


def test_repair_takes_a_recording_for_the_text_that_it_is(run, write):
    assert run("repair", write('{"record": 2}')) == (0, '{\n  "record": 2\n}\n', "")


def test_repair_without_any_value(run, write):
    code, out, err = run("repair", write("no value here"))
    assert (code, out) == (2, "")
    assert "holds no JSON value" in err


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 50_000, "[" * 50_000 + "]" * 50_000])
def test_repair_does_not_recurse(run, write, content):
    code, out, err = run("repair", "--json", write(content))
    assert code == (1 if "]" not in content else 0)
    assert err == ""
    assert out.count("[" if content[0] == "[" else "{") >= 50_000


# ---------------------------------------------------------------- output helpers

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.sampled_from([0, 2]))
@settings(max_examples=100, deadline=None)
def test_json_is_written_as_json_has_it(value, indent):
    text = "".join(json_parts(value, indent=indent))
    assert json.loads(text) == value
    assert text.isascii()
    if "1e999" not in text:
        assert text == json.dumps(value, indent=indent or None)


def test_infinities_are_written_as_numbers():
    assert json.loads("".join(json_parts([math.inf, -math.inf]))) == [math.inf, -math.inf]


def test_long_strings_are_written_in_parts():
    value = "\U0001f600x" * 100_000
    parts = list(json_parts(value))
    assert max(map(len, parts)) < 1 << 20
    assert json.loads("".join(parts)) == value


def test_paths_are_written_as_people_do():
    assert path_text(("legs", 0, "from")) == "legs[0].from"
    assert path_text(("a b", "c", "\x1b")) == '["a b"].c["\\u001b"]'
    assert path_text(()) == "(all)"


def test_shortened_text_says_how_much_is_missing():
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdefgh", 4) == "abc [... 4 more ...] h"


def test_output_may_be_no_terminal_at_all(write, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["replay", write(CLEAN)]) == 0
    assert "get_weather" in out.getvalue()
