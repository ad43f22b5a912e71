"""Finds the GSYM file that a person means: a file itself, or the one that a store holds for a binary or an id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from uploader.cli import options
from uploader.cli.files import mapped
from uploader.errors import InputError, MalformedGsym, NothingFound, UsageError
from uploader.model import SymbolId

if TYPE_CHECKING:
    from uploader.config.settings import Settings
    from uploader.protocol.words import Destination
    from uploader.sources.identify import Identified

GSYM_MAGICS = (b"MYSG", b"GSYM")
ELF_MAGIC = b"\x7fELF"


def symbols_for(word: str, chosen: Settings) -> bytes | memoryview:
    """The bytes of a GSYM file: ``word`` is its path, or a binary's or an id that the destination of the settings is asked for.

    Raises `InputError` for a file that is neither, `NothingFound` where the store has nothing, `UsageError` for what is no id.
    """
    path = Path(word)
    if not path.exists():
        return _fetched(_id(word), chosen)
    if path.is_dir():
        raise InputError(f"{word} is a folder")
    data = mapped(path)
    magic = bytes(data[:4])
    if magic in GSYM_MAGICS:
        return data
    if magic == ELF_MAGIC:
        from uploader.objects.elf.elf_file import ElfFile
        from uploader.sources.identify import identify

        with ElfFile.open(path, mapped=False) as elf:
            program = identify(elf)
        return _fetched(program.identity.primary, chosen, program)
    raise MalformedGsym(f"{word} is neither a GSYM file nor an ELF file")


def _id(word: str) -> SymbolId:
    try:
        return SymbolId.of_word(word)
    except ValueError as error:
        raise UsageError(
            f"{word!r} is neither a file nor an id", remedy="symup inspect FILE tells a file's ids."
        ) from error


def _fetched(symbol_id: SymbolId, chosen: Settings, program: Identified | None = None) -> memoryview:
    destination = options.open_destination(chosen)
    try:
        if program is not None:
            _check_program(program, destination)
        return _spooled(destination, symbol_id)
    finally:
        destination.close()


def _check_program(program: Identified, destination: Destination) -> None:
    """Raises `NothingFound` where what is stored under its id is another program's."""
    from uploader.pipeline.fingerprint import fingerprints
    from uploader.protocol.words import differ

    held = destination.manifest(program.identity.primary)
    if held is not None and differ(fingerprints(program), held.fingerprints):
        raise NothingFound(
            f"{destination.url} holds symbols of another program that has the id {program.identity}",
            remedy="Convert the file itself (symup convert FILE -o FILE.gsym), and look addresses up in that.",
        )


def _spooled(destination: Destination, symbol_id: SymbolId) -> memoryview:
    from uploader.net.spool import spooled

    try:
        return spooled(destination.fetch(symbol_id))
    except NothingFound as error:
        raise NothingFound(
            f"{destination.url} holds no symbols for {symbol_id}",
            remedy="Upload them first: symup upload FILE. Or name another store with --from.",
        ) from error
