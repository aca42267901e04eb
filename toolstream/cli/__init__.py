"""The command line `toolstream`: replay, assemble, check, repair, demo, inspect.

Exit codes: 0 clean; 1 a defect of severity warning or error, or a refused call; 2 wrong usage or an unusable input;
130 interrupted from the keyboard; 141 the reader of the output went away. Results go to standard output, all else to
standard error. No input gives a traceback: what was read before a trouble is shown, then one line says what happened.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from toolstream.cli.output import say
from toolstream.cli.reading import InputError

__all__ = ["main"]

if TYPE_CHECKING:
    _Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_INPUT, EXIT_INTERRUPTED, EXIT_PIPE = 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: the arguments without the program's name; `sys.argv[1:]` if absent.
    """
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # an old terminal shows escapes instead of failing
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except InputError as error:
        say(str(error))
        return EXIT_INPUT
    except KeyboardInterrupt:
        say("interrupted")
        return EXIT_INTERRUPTED
    except OSError as error:
        # the interpreter flushes standard output once more at its end, and would complain again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            say("the output was closed before everything was written")
            return EXIT_PIPE
        say(f"the output cannot be written: {error.strerror or error}")
        return EXIT_INPUT


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has printed the help or what is wrong
        return int(stop.code or 0)
    if options.version:
        from toolstream.cli.version import version

        return version(options)
    if options.command is None:
        parser.print_help(sys.stderr)
        return EXIT_INPUT
    return _command(options)


def _command(options: argparse.Namespace) -> int:
    """Run the command; each module is imported only when it is asked for."""
    if options.command in ("replay", "demo"):
        from toolstream.cli import replay

        return replay.demo(options) if options.command == "demo" else replay.replay(options)
    if options.command == "assemble":
        from toolstream.cli.assemble import assemble

        return assemble(options)
    if options.command == "check":
        from toolstream.cli.check import check

        return check(options)
    if options.command == "repair":
        from toolstream.cli.repair import repair

        return repair(options)
    from toolstream.cli.inspector import inspect

    return inspect(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolstream",
        description="Read the tool calls out of recorded or live streams of language-model providers.",
        epilog="Exit codes: 0 clean; 1 a defect of severity warning or error, or a call that must not be run; 2 wrong "
        "usage, or an input that cannot be used. To read what is just coming: curl -N ... | toolstream replay -",
    )
    parser.add_argument("--version", action="store_true", help="version, back end and Python, and exit")
    parser.add_argument("--json", action="store_true", help="with --version: as one JSON object")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    replay = _add(commands, "replay", "show the calls of a stream growing, then the finished calls")
    _file(replay)
    _provider(replay)
    _speed(replay)
    _splits(replay)

    demo = _add(commands, "demo", "replay a bundled stream at reading speed; needs no file and no key")
    _speed(demo)
    _splits(demo)

    assemble = _add(commands, "assemble", "one JSON line per stream: calls, text, finish reason, defects")
    _file(assemble, many=True)
    _provider(assemble)
    _splits(assemble)
    assemble.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="read N files at a time, in processes")

    check = _add(commands, "check", "what a provider does wrong, in words, with the wire that shows it")
    _file(check, many=True)
    _provider(check)
    check.add_argument("--show-values", action="store_true", help="do not mask argument values and texts")

    repair = _add(commands, "repair", "the value of a broken or cut JSON text, and what was repaired")
    repair.add_argument("file", metavar="FILE", help="a text file, or - for standard input")

    inspect = _add(commands, "inspect", "write a page that shows a stream piece by piece")
    _file(inspect)
    inspect.add_argument(
        "-o", "--output", metavar="PAGE", required=True, help="the page to write; - for standard output"
    )
    _provider(inspect)
    _splits(inspect)
    return parser


def _add(commands: _Commands, name: str, help: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    return command


def _file(command: argparse.ArgumentParser, *, many: bool = False) -> None:
    command.add_argument(
        "files" if many else "file",
        metavar="FILE",
        nargs="+" if many else None,
        help="the saved body of a response (SSE, NDJSON, JSON array, AWS event stream), a recording, or - for standard "
        "input",
    )


def _provider(command: argparse.ArgumentParser) -> None:
    command.add_argument("--provider", metavar="NAME", help="the protocol, such as openai-chat; recognised if absent")


def _speed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--speed",
        type=_positive,
        metavar="X",
        help="X times as fast as recorded (where no times are known: as 20 pieces a second); "
        "default: 1 on a terminal, else no waiting",
    )


def _splits(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--splits",
        type=_split_rule,
        default="as-is",
        metavar="as-is|every|random:SEED",
        help="cut the bytes anew: after every byte, or at random places",
    )


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def _jobs(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes from 1 up")
    return int(text)


def _split_rule(text: str) -> str:
    word, colon, seed = text.partition(":")
    if text in ("as-is", "every") or (word == "random" and colon and seed.removeprefix("-").isdecimal()):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is neither as-is, every nor random:SEED with a whole number as seed")
