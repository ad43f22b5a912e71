"""``symup lookup``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader.cli import options, terminal
from uploader.cli.demangle import demangle as demangle_name
from uploader.cli.symbols import symbols_for
from uploader.errors import UsageError
from uploader.words import printable

if TYPE_CHECKING:
    from uploader.gsym.lookup import Frame

SCHEMA = "symup.lookup/1"


MAX_LINE_CHARACTERS = 1 << 16
"""Nobody writes more than some thousand addresses on one line."""

_ADDRESS = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{1,64})")


def command(
    file: Annotated[
        str,
        typer.Argument(help="A GSYM file; or a binary or an id, for the symbols in the store.", metavar="FILE-or-ID"),
    ],
    addresses: Annotated[
        list[str] | None,
        typer.Argument(help="Addresses in hex, 0x or not; from stdin without any.", metavar="[ADDR]..."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DEST",
            help="The store to ask for a binary or an id.",
            envvar="SYMUP_TO",
            rich_help_panel=options.WHERE,
        ),
    ] = None,
    project: options.Project = None,
    aliases: Annotated[
        bool, typer.Option("--aliases", help="The other names of the function, too, where they were kept.")
    ] = False,
    demangle: Annotated[
        bool, typer.Option(help="C++, Rust, D, Ada, Fortran, Haskell and Nim names as they were written.")
    ] = True,
    as_json: options.Json = False,
) -> int:
    """Show the function, file and line of addresses: the inline chain, innermost first.

    Addresses are those of the binary as it was linked: for a stack trace, take the load address off. Each line is
    'function at file:line', followed by (inlined) for calls that the compiler inlined into the next line.

    Example: symup lookup server.gsym 0x401136
    """
    from uploader.gsym.lookup import Gsym

    gsym = Gsym(symbols_for(file, options.settings(to=source, project=project)))
    if as_json:
        answers = []
        for address in _wanted(addresses or []):
            answer = _answer_object(address, gsym.lookup(address), demangled=demangle)
            if aliases:
                answer["aliases"] = [
                    {"function": _readable(name, demangled=demangle), "symbol": _readable(name, demangled=False)}
                    for name in gsym.aliases(address)
                ]
            answers.append(answer)
        terminal.document({"schema": SCHEMA, "file": file, "addresses": answers})
        return 0
    for address in _wanted(addresses or []):
        lines = [*_lines(address, gsym.lookup(address), demangled=demangle)]
        if aliases:
            lines.extend(
                printable(f"{'':18}  also {_readable(name, demangled=demangle)}") for name in gsym.aliases(address)
            )
        for line in lines:
            if not terminal.result(line, at_once=not addresses):
                return 0
    return 0


def _wanted(addresses: list[str]) -> Iterator[int]:
    """The addresses given, or one for each word on stdin, told one by one so that a pipe gets its answers at once."""
    words: Iterable[str] = addresses or _words_of_stdin()
    for word in words:
        matched = _ADDRESS.fullmatch(word)
        address = int(matched[1], 16) if matched else 1 << 64
        if address >= 1 << 64:
            raise UsageError(f"{word[:80]!r} is not an address", remedy="Give hex, like 0x401136.")
        yield address


def _words_of_stdin() -> Iterator[str]:
    while line := sys.stdin.readline(MAX_LINE_CHARACTERS):
        if len(line) == MAX_LINE_CHARACTERS and not line.endswith("\n"):
            raise UsageError(
                f"a line of stdin is longer than {MAX_LINE_CHARACTERS} characters",
                remedy="Give addresses in hex, on lines of their own.",
            )
        yield from line.split()


def _lines(address: int, frames: list[Frame], *, demangled: bool) -> Iterator[str]:
    """A line a frame; what the address is stands before the first."""
    if not frames:
        yield f"{address:#018x}  ??  (no symbol covers this address)"
    for index, frame in enumerate(frames):
        opening = f"{address:#018x}" if index == 0 else " " * 18
        inlined = "  (inlined)" if index < len(frames) - 1 else ""
        yield printable(f"{opening}  {_name(frame, demangled=demangled)}{_place(frame)}{inlined}")


def _name(frame: Frame, *, demangled: bool) -> str:
    return _readable(frame.name, demangled=demangled, file=frame.base.decode("utf-8", "backslashreplace"))


def _readable(symbol: bytes, *, demangled: bool, file: str = "") -> str:
    name = symbol.decode("utf-8", "backslashreplace")
    return demangle_name(name, file) if demangled else name


def _place(frame: Frame) -> str:
    file = _file(frame)
    if not file:
        return f"  +{frame.offset_bytes:#x}"
    return f" at {file}:{frame.line}" if frame.line else f" at {file}"


def _file(frame: Frame) -> str:
    directory, base = (part.decode("utf-8", "backslashreplace") for part in (frame.directory, frame.base))
    if not directory or not base:
        return base or directory
    joiner = "\\" if "\\" in directory and "/" not in directory else "/"
    return directory.rstrip(joiner) + joiner + base


def _answer_object(address: int, frames: list[Frame], *, demangled: bool) -> dict[str, Any]:
    return {
        "address": f"{address:#x}",
        "frames": [
            {
                "function": _name(frame, demangled=demangled),
                "symbol": frame.name.decode("utf-8", "backslashreplace"),
                "file": _file(frame) or None,
                "line": frame.line or None,
                "offset_bytes": frame.offset_bytes,
                "inlined": index < len(frames) - 1,
            }
            for index, frame in enumerate(frames)
        ],
    }
