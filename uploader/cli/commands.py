"""The sub-commands of ``symup``, and how typer reads a command line for them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated, Any

import typer

from uploader.cli import terminal
from uploader.cli.form import Command, Group
from uploader.errors import UsageError

HELP = """Turns what a build leaves behind into compact, verified symbol files, and gets them into a symbol store.

Begin with: symup upload build/

Then: symup status build/ tells what the store holds.

Exit codes: 0 done, 1 some file failed, 2 usage, 3 nothing with symbols found, 4 not allowed,
5 refused by the destination, 6 network gave out (run it again: it resumes), 7 quality below --require,
130 interrupted.
"""

COMPLETION_VARIABLE = "_SYMUP_COMPLETE"
"""A variable by which a shell asks typer for completions, so that no command runs."""

COMMANDS = {
    "upload": "Send what the store lacks of the symbols of binaries.",
    "convert": "Write symbols to GSYM files, with no network at all.",
    "inspect": "Show what a binary or a GSYM file is and holds.",
    "lookup": "Show the function, file and line of addresses.",
    "status": "Tell what the store holds for binaries or ids.",
    "push": "Bring what one store holds to another.",
    "serve": "Serve a symbol store over HTTP.",
    "gc": "Delete what no symbol file in a store needs.",
    "init": "Propose the CI step that stores a repository's symbols, as a diff.",
    "login": "Keep a server's token in the keyring.",
    "logout": "Delete a server's token from the keyring.",
    "whoami": "Tell which token is used, and what it may do.",
    "completion": "Print the lines that complete commands in a shell.",
    "help": "Show how a command is used.",
    "version": "Tell the version and which core runs.",
}
"""In the order of the help; each is ``command`` of the module of its name beside this one."""


def invoke(arguments: list[str]) -> int:
    """Runs the command that ``arguments`` begin with, and gives its exit code. Raises `UsageError` for what typer can't read."""
    try:
        code = _application(arguments)(args=arguments, prog_name="symup", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as problem:
        told = _usage(problem)
        if told is None:
            raise
        raise told from None
    return int(code or 0)


def _application(arguments: list[str]) -> typer.Typer:
    """The command line. Where ``arguments`` begin with a command it has that one only: the others need not be imported."""
    if COMPLETION_VARIABLE in os.environ:
        from typer.completion import get_completion_inspect_parameters

        # Makes typer know the shells; with add_completion it would take two options more into every page of help.
        get_completion_inspect_parameters()
    app = typer.Typer(
        name="symup",
        cls=Group,
        help=HELP,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    for name in [name for name in COMMANDS if arguments[:1] == [name]] or COMMANDS:
        module = import_module(f"uploader.cli.{name}")
        context = getattr(module, "CONTEXT", None)
        app.command(name, cls=Command, short_help=COMMANDS[name], context_settings=context)(module.command)
    return app


def _tell_version(wanted: bool) -> None:
    if wanted:
        terminal.tell_version()
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_tell_version, is_eager=True, help="Tell the version and which core runs."
        ),
    ] = False,
) -> None:
    pass


def _usage(problem: Exception) -> UsageError | None:
    """The trouble that typer found with the command line; None for an error of another kind.

    The class is known by its methods: its module differs between typer's versions.
    """
    if not hasattr(problem, "format_message"):
        return None
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "symup"
    message = " ".join(str(problem.format_message()).split())
    option = getattr(problem, "option_name", "")
    if context is not None and hasattr(problem, "possibilities"):
        message = f"No such option: {option}{_did_you_mean(option, context)}"
    return UsageError(message.rstrip("."), remedy=f"{command} --help")


def _did_you_mean(typed: str, context: Any) -> str:
    """The options that begin with what was typed, or else the one that is most like it."""
    from difflib import get_close_matches

    known = [name for param in context.command.get_params(context) for name in param.opts if name.startswith("--")]
    meant = [name for name in known if typed.startswith("--") and name.startswith(typed)]
    meant = meant or get_close_matches(typed, known, n=1, cutoff=0.7)
    return f" (did you mean {' or '.join(meant)}?)" if meant else ""
