"""extract, merge and encode: from one artifact's files to the bytes of its GSYM file. Pure, so that results don't depend on who asks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from uploader.errors import InputError
from uploader.model import Figures, IdScheme, Quality, Shortfall, Source, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.missing import missing_build_id, missing_debug_info, remedy_of_lacking
from uploader.pipeline.plan import USUAL, Conversion
from uploader.pipeline.referred import ReferredFiles
from uploader.pipeline.shortfall import shortfall
from uploader.values import frozen, replace


@frozen
class Made:
    """A GSYM file in memory, and what is known of it. ``gsym`` is empty where the sources hold no function at all."""

    gsym: bytes
    figures: Figures
    warnings: tuple[str, ...]
    remedy: str | None = None
    """How to get more out of it, where that can be told."""
    shortfall: Shortfall | None = None
    lacks_files: bool = False
    """See `Outcome.lacks_files`."""


def make(artifact: Artifact, *, conversion: Conversion = USUAL, threads: int) -> Made:
    """Reads the artifact's files, and first asks debuginfod for what is missing where the artifact says so.

    A companion that can't be read is told in the warnings. Raises `InputError` where nothing sound can be got out of the main file,
    and `UsageError` where the version asked for can't hold it.
    """
    dwarf, debug, form = conversion.dwarf, conversion.debug, conversion.form
    warnings: list[str] = []
    unhelped = ""
    if debug.debuginfod is not None and artifact.ask_debuginfod:
        fetched = debug.debuginfod.fetch(artifact.main)
        unhelped = fetched.reason
        if fetched.file is not None:
            artifact = replace(artifact, inputs=(*artifact.inputs, fetched.file))
    remedy = None
    if dwarf:
        missing, remedy = missing_debug_info(artifact, debuginfod=unhelped)
        warnings.extend(missing)
    unmatched, how_to_match = missing_build_id(artifact)
    warnings.extend(unmatched)
    with ExitStack() as stack:
        elf = stack.enter_context(ElfFile.of(artifact.main.input))
        companions = []
        for file in artifact.inputs[1:]:
            try:
                companions.append(stack.enter_context(ElfFile.of(file.input)))
            except InputError as error:
                warnings.append(f"its companion was left out: {error.message}")
        if dwarf and threads > 1:
            _inflate_ahead((elf, *companions))
        # The decoder is what takes longest to import: of a single file the largest section is inflated by then.
        from uploader.sources.extract import build

        linked = ReferredFiles(artifact, debug)
        extracted = build(
            elf,
            companions=companions,
            linked=linked,
            dwarf=dwarf,
            keep_aliases=form.keep_aliases,
            threads=threads,
        )
        base_address = elf.base_address
    from uploader.gsym.encode import encode

    gsym = b""
    # Stubs alone are no symbols of this file.
    if any(count for source, count in extracted.figures.by_source.items() if source != Source.PLT):
        # Little endian for big-endian machines, too: LLVM's readers take either order, others only that of their own host.
        gsym = encode(
            extracted.table,
            base_address=base_address,
            uuid=uuid(artifact.identity.primary),
            little_endian=True,
            version=form.version,
            threads=threads,
        )
    remedy = remedy or remedy_of_lacking(lacks_files=extracted.lacks_files) or how_to_match
    return Made(
        gsym=gsym,
        figures=extracted.figures,
        warnings=(*warnings, *extracted.warnings),
        remedy=remedy,
        shortfall=shortfall(artifact, extracted.figures, dwarf=dwarf, debug=debug, lacks_files=extracted.lacks_files),
        lacks_files=extracted.lacks_files,
    )


def holds_nothing(artifact: Artifact) -> bool:
    """Whether an artifact has no function at all: where its headers promise nothing but symbol tables, these are read."""
    if artifact.expected_quality > Quality.FUNCTIONS or artifact.ask_debuginfod:
        return False
    if artifact.expected_quality is Quality.NONE:
        return True
    try:
        return not make(artifact, conversion=Conversion(dwarf=False), threads=1).gsym
    except InputError:
        return False


def _inflate_ahead(files: Sequence[ElfFile]) -> None:
    """Begins to inflate what the decoder will want first, where that is one section of one file."""
    named = [file for file in files if file.section(".debug_info") is not None]
    if len(named) == 1:
        named[0].inflate_ahead(".debug_info")


def uuid(symbol_id: SymbolId) -> bytes:
    """The bytes that a GSYM header carries for an id: those that its hex stands for; none for a Go build id, which is text."""
    return b"" if symbol_id.scheme is IdScheme.GO else bytes.fromhex(symbol_id.value)
