"""The command ``symup``: the one place where errors become messages and exit codes."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

from uploader.errors import Interrupted, SymupError

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Much is allocated here and hardly ever in circles: Python's own 700 would have it look for garbage a tenth of the time."""


def main() -> NoReturn:
    """Runs the command line of this process and ends it with a documented exit code; never with a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    debug = os.environ.get("SYMUP_DEBUG", "") not in ("", "0")
    if debug:
        _log_to_stderr()
    _end(run(sys.argv[1:] or ["--help"], debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Runs one command line and gives its exit code. With ``--json`` an error, too, is a document on stdout."""
    try:
        if arguments == ["--version"]:
            from uploader.cli import terminal

            terminal.tell_version()
            code = 0
        else:
            from uploader.cli.commands import invoke

            code = invoke(arguments)
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
        return code
    except SymupError as problem:
        told = problem
    except KeyboardInterrupt:
        told = Interrupted("interrupted", remedy="Run the same command again.")
    except Exception as problem:  # noqa: BLE001  # the last resort before a traceback
        told = _bug(problem)
        if debug:
            import traceback

            from uploader.cli import terminal

            terminal.say(traceback.format_exc())
    return _tell(told, arguments)


def _bug(problem: Exception) -> SymupError:
    if isinstance(problem, OSError):
        return SymupError(
            f"the system says: {problem.strerror or problem}{f': {problem.filename}' if problem.filename else ''}"
        )
    if isinstance(problem, MemoryError):
        return SymupError("out of memory", remedy="Give it more memory, or fewer --jobs.")
    return SymupError(
        f"unexpected {type(problem).__name__}: {problem}",
        remedy="This is a bug in symup: please report it, with what SYMUP_DEBUG=1 shows.",
    )


def _tell(problem: SymupError, arguments: list[str]) -> int:
    from uploader.cli import terminal
    from uploader.cli.tell import in_github

    terminal.error(problem)
    if in_github(os.environ):
        from uploader.report.github import error_annotation

        terminal.say(error_annotation(problem.message, problem.remedy))
    if "--json" in arguments:
        from uploader.cli.commands import COMMANDS
        from uploader.report.json import report
        from uploader.report.run import Run

        command = next((word for word in arguments if word in COMMANDS), "")
        run = Run(command=command, outcomes=(), exit_code=problem.exit_code, seconds=0.0, error=problem)
        terminal.document(report(run))
    return int(problem.exit_code)


def _log_to_stderr() -> None:
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("symup: %(name)s: %(message)s"))
    # Only our own loggers: those of HTTP libraries would show request headers.
    logger = logging.getLogger("uploader")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def _end(code: int) -> NoReturn:
    """Ends the process at once, without waiting for workers that an interruption left behind."""
    for stream in (sys.stdout, sys.stderr):
        # A reader that went away (head, less) is not our failure.
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
