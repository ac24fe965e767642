"""The command line: arguments and settings in, one exit code out; the single last `except`.

Exit codes: 0 done or stopped by SIGTERM, 1 failed while running, 2 wrong usage, settings or
input, 3 refused until an operator decides, 130 Ctrl-C.
"""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import typer
from rich.text import Text

from stream_dedup.cli.app import app
from stream_dedup.cli.terminal import stderr
from stream_dedup.errors import StreamDedupError

TRACEBACK_VARIABLE = "STREAM_DEDUP_TRACEBACK"
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output, such as `head`, has had enough
        return 0
    except StreamDedupError as error:
        return _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        hint = f"{TRACEBACK_VARIABLE}=1 shows where"
        return _fail(f"{type(error).__name__}: {error} ({hint})", exit_code=1)


def _run(arguments: Sequence[str]) -> int:
    """Call the command without typer's own last `except`, which knows other exit codes."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("stream-dedup", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # rich leaves with 1 on its own
            raise leaving.__context__ from None
        raise
    except SystemError as broken:  # a signal came within a call into C, which gave a result too
        if isinstance(broken.__cause__, SystemExit | KeyboardInterrupt):
            raise broken.__cause__ from None
        raise
    finally:
        _flush_stdout()
    return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _fail(message: str, exit_code: int) -> int:
    stderr.print(Text.assemble(("error: ", "bold red"), message))
    return exit_code


def _flush_stdout() -> None:
    """Flush while errors can still be told; else the interpreter trips over them on its way out."""
    if sys.stdout is None:  # closed by whoever started us
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
