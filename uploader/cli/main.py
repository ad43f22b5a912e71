"""The command ``symup``: its sub-commands, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from uploader import __version__, core
from uploader.cli import (
    convert,
    init,
    inspect,
    login,
    logout,
    lookup,
    push,
    serve,
    status,
    tell,
    terminal,
    upload,
    whoami,
)
from uploader.errors import Interrupted, SymupError, UsageError

HELP = """Turns what a build leaves behind into compact, verified symbol files, and gets them into a symbol store.

Begin with: symup upload build/

Then: symup status build/ tells what the store holds.

Exit codes: 0 done, 1 some file failed, 2 usage, 3 nothing with symbols found, 4 not allowed,
5 refused by the destination, 6 network gave out (run it again: it resumes), 7 quality below --require,
130 interrupted.
"""

app = typer.Typer(
    name="symup",
    help=HELP,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
COMMANDS: dict[str, tuple[Callable[..., int], str]] = {
    "upload": (upload.command, "Send what the store lacks of the symbols of binaries."),
    "convert": (convert.command, "Write symbols to GSYM files, with no network at all."),
    "inspect": (inspect.command, "Show what a binary or a GSYM file is and holds."),
    "lookup": (lookup.command, "Show the function, file and line of addresses."),
    "status": (status.command, "Tell what the store holds for binaries or ids."),
    "push": (push.command, "Bring what one store holds to another."),
    "serve": (serve.command, "Serve a symbol store over HTTP."),
    "init": (init.command, "Write the CI job and the settings for a repository."),
    "login": (login.command, "Keep a server's token in the keyring."),
    "logout": (logout.command, "Delete a server's token from the keyring."),
    "whoami": (whoami.command, "Tell which token is used, and what it may do."),
}
for name, (command, in_short) in COMMANDS.items():
    app.command(name, short_help=in_short, context_settings=login.CONTEXT if name == "login" else None)(command)


def _tell_version(wanted: bool) -> None:
    if wanted:
        terminal.result(f"symup {__version__} (core: {core.description()})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version and which core runs."),
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Runs the command line of this process and ends it with a documented exit code; never with a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    debug = os.environ.get("SYMUP_DEBUG", "") not in ("", "0")
    if debug:
        _log_to_stderr()
    _end(run(sys.argv[1:] or ["--help"], debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Runs one command line and gives its exit code. With ``--json`` an error, too, is a document on stdout."""
    try:
        code = app(args=arguments, prog_name="symup", standalone_mode=False)
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
        return int(code or 0)
    except SymupError as problem:
        told = problem
    except (KeyboardInterrupt, typer.Abort):
        told = Interrupted("interrupted", remedy="Run the same command again.")
    except Exception as problem:  # noqa: BLE001  # the last resort before a traceback
        told = _usage(problem) or _bug(problem)
        if debug:
            terminal.say(traceback.format_exc())
    return _tell(told, arguments)


def _usage(problem: Exception) -> UsageError | None:
    """What typer found wrong with the command line; None for an error of another kind.

    Known by what it can do: where the class lives differs between typer's versions.
    """
    if not hasattr(problem, "format_message"):
        return None
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "symup"
    return UsageError(str(problem.format_message()).rstrip("."), remedy=f"{command} --help")


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
    terminal.error(problem)
    if tell.in_github(os.environ):
        from uploader.report.github import error_annotation

        terminal.say(error_annotation(problem.message, problem.remedy))
    if "--json" in arguments:
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
