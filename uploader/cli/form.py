"""The form that a command has for people: options in groups, their variables beside them, and its page of help."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from uploader.cli import colour, terminal

OTHER = "Options"


class Command(TyperCommand):
    """A command whose options are grouped by their ``rich_help_panel`` and tell the variable that says the same.

    Variables are read with all other settings (`uploader.config`), which know what comes from where: not as the command line is.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for option in self.params:
            if isinstance(option.envvar, str):
                setattr(option, "help", f"{getattr(option, 'help', '')} [env {option.envvar}]")  # noqa: B010  # arguments have none
                option.envvar = None

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments as their metavar has them."""
        return [piece[1:-1] if piece.startswith("{") else piece for piece in super().collect_usage_pieces(ctx)]

    def get_help_option(self, ctx: Any) -> Any:
        """The option whose page goes the way of all results."""
        return _told(super().get_help_option(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then each group of options in the order of their first, those without one last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        others: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            panel = "Arguments" if param.param_type_name == "argument" else getattr(param, "rich_help_panel", None)
            if row is not None:
                (groups.setdefault(panel, []) if panel else others).append(row)
        groups[OTHER] = others
        for name, rows in groups.items():
            if rows:
                with formatter.section(colour.painted(name, colour.BOLD, sys.stdout)):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """All commands."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option whose page goes the way of all results."""
        return _told(super().get_help_option(ctx))


def _told(option: Any) -> Any:
    if option is not None:
        option.callback = _tell_help
    return option


def _tell_help(context: typer.Context, _param: Any, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        terminal.result(context.get_help())
        context.exit()
