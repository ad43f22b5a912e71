"""The command ``symup``: the one place where errors become messages and exit codes."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

from uploader.errors import Interrupted, NetworkGaveOut, SymupError

CARRYING = frozenset({"upload", "push"})
"""The commands that go on where they stopped when they are run again; others only ask."""

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Much is allocated here and hardly ever in circles: Python's own 700 would have it look for garbage a tenth of the time."""


def main() -> NoReturn:
    """Runs the command line of this process and ends it with a documented exit code; never with a traceback."""
    _open_standard_streams()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    debug = os.environ.get("SYMUP_DEBUG", "") not in ("", "0")
    if debug:
        _log_to_stderr()
    _end(run(sys.argv[1:] or ["--help"], debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Runs one command line and gives its exit code. With ``--json`` an error, too, is a document on stdout."""
    code = _run(arguments, debug=debug)
    from uploader.cli import terminal

    lost = terminal.undelivered()
    if lost is None:
        return code
    # The run's own exit code says more.
    problem = SymupError(
        f"stdout did not take the whole result: {lost.strerror or lost}",
        remedy="Send it where there is room, and run it again.",
    )
    terminal.error(problem)
    return code or int(problem.exit_code)


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        if arguments in (["--version"], ["-V"], ["version"]):
            from uploader.cli import terminal

            terminal.tell_version()
            return 0
        from uploader.cli.commands import invoke

        return invoke(arguments)
    except NetworkGaveOut as problem:
        told: SymupError = problem if CARRYING.intersection(arguments[:1]) else problem.for_asking()
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
        from uploader.report.model import RunReport

        command = next((word for word in arguments if word in COMMANDS), "")
        run = RunReport(command=command, outcomes=(), exit_code=problem.exit_code, seconds=0.0, error=problem)
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


def _open_standard_streams() -> None:
    """Gives streams that were closed (``>&-``) a file, before the next file that is opened becomes one of them.

    Nothing can be written to the one of stdout, which `terminal.undelivered` then tells; nobody waits for what stderr says.
    """
    for descriptor, (name, mode) in enumerate(
        (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, mode)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _end(code: int) -> NoReturn:
    """Ends the process at once, without waiting for workers that an interruption left behind."""
    for stream in (sys.stdout, sys.stderr):
        # Output that could not be written has been told of by now.
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
