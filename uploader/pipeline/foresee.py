"""What would come of an artifact, where files are missing that its debug information refers to: headers promise more than that."""

from __future__ import annotations

import contextlib

from uploader.errors import InputError
from uploader.model import Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.make import Made, make
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion
from uploader.pipeline.referred import ReferredFiles
from uploader.values import frozen, replace


@frozen
class Foreseen:
    """Which files would not be found, and what is made of the artifact without them."""

    missing: tuple[str, ...]
    """In the words of the warnings, for each file that refers to any."""
    made: Made


def foreseen(artifact: Artifact, debug: DebugSources, *, ask_servers: bool) -> Foreseen | None:
    """What reading the artifact gives without the files that are missing; None where all are there.

    How much is left can't be told from headers, so that it is read as for an upload. Without ``ask_servers`` no debuginfod server
    is asked, and what one may yet have does not count as missing. Raises `InputError` where reading does.
    """
    if not artifact.has(Source.DWARF):
        return None
    servers = debug.debuginfod if ask_servers else None
    servers_may_have_it = debug.debuginfod is not None and servers is None
    asked = replace(debug, debuginfod=servers)
    missing = _missing(artifact, asked, supplementary=not servers_may_have_it)
    if not missing:
        return None
    made = make(replace(artifact, ask_debuginfod=False), conversion=Conversion(debug=asked), threads=1)
    return Foreseen(missing=missing, made=made)


def _missing(artifact: Artifact, debug: DebugSources, *, supplementary: bool) -> tuple[str, ...]:
    from uploader.sources.dwarf.referred import missing_split_units
    from uploader.sources.dwarf.supplementary import opened_supplementary
    from uploader.symbols.columns import NameTable

    files = ReferredFiles(artifact, debug)
    told: list[str] = []
    # What is wrong with a file's DWARF is for conversion to tell.
    with contextlib.suppress(InputError), contextlib.ExitStack() as opened:
        inputs = [opened.enter_context(ElfFile.of(file.input)) for file in artifact.inputs]
        for elf in inputs:
            trouble = missing_split_units(elf, inputs[0].executable_ranges(), files)
            told += [trouble] if trouble else []
            if supplementary:
                with opened_supplementary(elf, files, NameTable()) as other:
                    told += other.warnings if other.missing else ()
    return tuple(told)
