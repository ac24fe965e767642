"""The command line from outside: what it prints, what it imports, how it ends."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

# A command line with one more command, which ends as its argument says.
WITH_AN_ENDING = """
import os, signal, sys
from stream_dedup import errors
from stream_dedup.cli import main
from stream_dedup.cli.app import app

@app.command()
def end(how: str) -> None:
    match how:
        case "interrupt": os.kill(os.getpid(), signal.SIGINT)
        case "terminate": os.kill(os.getpid(), signal.SIGTERM)
        case "terminate within C": raise SystemError("a result, too") from SystemExit(0)
        case "interrupt within C": raise SystemError("a result, too") from KeyboardInterrupt()
        case "bug": raise ZeroDivisionError("on [purpose]")
        case "well": print("done")
        case "pipe": print("x" * 100_000)
        case error: raise getattr(errors, error)("the [reason]")

sys.exit(main(["end", *sys.argv[1:]]))
"""
WITH_IMPORTS_LISTED = """
import sys
from stream_dedup.cli import main
code = main(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def run(
    arguments: Sequence[str], stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    plain = {"PATH": os.environ["PATH"], "COLUMNS": "200", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=plain | environment,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_teaches_the_commands() -> None:
    """`stream-dedup`, with --help or without, lists each command with a line on what it is for."""
    asked, alone = (run(["-m", "stream_dedup", *more]) for more in (["--help"], []))

    assert asked.returncode == alone.returncode == 0
    assert asked.stdout == alone.stdout
    assert all(command in asked.stdout for command in ("pairs", "plan", "explain"))
    assert asked.stderr == ""


def test_the_version_is_told() -> None:
    """--version prints the version and nothing else."""
    told = run(["-m", "stream_dedup", "--version"])

    assert told.returncode == 0
    assert told.stdout.startswith("stream-dedup ")
    assert told.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["--help"], 0),
        (["pairs", "--help"], 0),
        (["plan", "--help"], 0),
        (["explain", "--help"], 0),
        (["pairs", "--no-such-option"], 2),
        (["plan", "--threshold", "high"], 2),
    ],
)
def test_help_and_wrong_usage_answer_at_once(arguments: list[str], exit_code: int) -> None:
    """Nothing that computes or connects is imported before a command has work to do."""
    done = run(["-c", WITH_IMPORTS_LISTED, *arguments])
    imported = set(done.stderr.splitlines()[-1].split())

    assert done.returncode == exit_code
    assert "stream_dedup" in imported
    assert imported & {"numpy", "numba", "confluent_kafka", "rocksdict", "starlette"} == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pars"], "error: No such command 'pars'. Did you mean 'pairs'?\n"),
        (["plan", "--threshhold", "1"], "--threshold"),
        (["plan", "--threshold", "high"], "--threshold"),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments: list[str], message: str) -> None:
    """A mistyped command or option ends with 2 and one line that names the nearest right one."""
    done = run(["-m", "stream_dedup", *arguments])

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("how", "exit_code", "message"),
    [
        ("well", 0, ""),
        ("terminate", 0, ""),
        ("interrupt", 130, ""),
        ("terminate within C", 0, ""),
        ("interrupt within C", 130, ""),
        ("StreamDedupError", 1, "error: the [reason]\n"),
        ("Unavailable", 1, "error: the [reason]\n"),
        ("InputError", 2, "error: the [reason]\n"),
        ("SettingsError", 2, "error: the [reason]\n"),
        ("Refused", 3, "error: the [reason]\n"),
        (
            "bug",
            1,
            "error: ZeroDivisionError: on [purpose] (STREAM_DEDUP_TRACEBACK=1 shows where)\n",
        ),
    ],
)
def test_the_exit_code_says_how_it_ended(how: str, exit_code: int, message: str) -> None:
    """0 done or terminated, 1 failed, 2 wrong usage or input, 3 refused, 130 Ctrl-C; one line."""
    done = run(["-c", WITH_AN_ENDING, how])

    assert (done.returncode, done.stderr) == (exit_code, message)


def test_a_traceback_is_shown_on_request() -> None:
    """Whoever looks for a bug gets the traceback by an environment variable."""
    done = run(["-c", WITH_AN_ENDING, "bug"], STREAM_DEDUP_TRACEBACK="1")

    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("arguments", [["-c", WITH_AN_ENDING, "pipe"], ["-m", "stream_dedup"]])
def test_a_reader_that_has_had_enough_is_no_error(arguments: list[str]) -> None:
    """`stream-dedup … | head` ends quietly, be the output longer than the pipe or shorter."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run(arguments, stdout=writing)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is full")
def test_a_full_disk_is_told_once() -> None:
    """Output that cannot be written ends with 1 and one line, not with a complaint at exit."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(["-c", WITH_AN_ENDING, "well"], stdout=full.fileno())

    assert done.returncode == 1
    assert done.stderr.startswith("error: OSError: ")
    assert done.stderr.count("\n") == 1
