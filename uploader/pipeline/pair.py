"""Puts the files of one binary together: which is the binary, which of the others add to it, and what is still missing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from uploader.inputs.companions import SYSTEM_DEBUG_DIRS, Companions, build_id_of
from uploader.model import Identity, Outcome, Quality, Role, Source, SymbolId
from uploader.objects.elf.headers import ET_REL
from uploader.objects.input import Input
from uploader.pipeline.artifact import Artifact, expected_quality
from uploader.pipeline.outcomes import skipped_for
from uploader.sources.identify import Identified
from uploader.sources.registry import adds, read
from uploader.values import frozen, replace

if TYPE_CHECKING:
    from uploader.inputs.debuginfod import DebugInfod


@frozen
class DebugSources:
    """Where debug information is looked for besides the paths given."""

    debug_dirs: tuple[str, ...] = ()
    system_dirs: tuple[str, ...] = SYSTEM_DEBUG_DIRS
    debuginfod: DebugInfod | None = None


USUAL_PLACES = DebugSources()


def paired(files: Sequence[Identified], *, dwarf: bool) -> tuple[Artifact, list[Outcome]]:
    """One artifact from files of one id and one code, and the outcomes of those that are not its main file.

    The main file is the richest of those with code in them. Read with it is each that adds a source, the richest first.
    """
    ordered = sorted(files, key=lambda file: _richness(file, dwarf=dwarf), reverse=True)
    main = next((file for file in ordered if file.has_code_bytes), ordered[0])
    inputs = [main]
    settled = []
    for file in ordered:
        if file is main:
            continue
        if _adds(file, inputs, dwarf=dwarf):
            inputs.append(file)
            settled.append(part_of(file, main))
        else:
            settled.append(skipped_for(file, Role.TWIN, main.path))
    return _artifact(inputs, dwarf=dwarf), settled


def part_of(file: Identified, main: Identified) -> Outcome:
    """The outcome of a companion. Its size counts with the artifact."""
    return replace(skipped_for(file, Role.PART, main.path), input_size_bytes=0)


@frozen
class Part:
    """The outcome of a file that was met on its own and turned out to be the companion of an artifact."""

    outcome: Outcome
    own_id: SymbolId
    artifact_id: SymbolId


def completed(
    artifacts: Sequence[Artifact], companions: Companions, debug: DebugSources, *, dwarf: bool
) -> tuple[list[Artifact], list[Part]]:
    """The artifacts with the debug files that could be found for them; and those that were artifacts themselves and are parts now."""
    lone = {
        key: artifact
        for artifact in artifacts
        if len(artifact.inputs) == 1 and (key := artifact.main.input.key()) is not None
    }
    taken: dict[str, Part] = {}
    found = []
    for artifact in artifacts:
        complete = _completed(artifact, companions, debug, dwarf=dwarf)
        found.append(complete)
        for file in complete.inputs[len(artifact.inputs) :]:
            own = lone.get(file.input.key())
            if own is not None and own is not artifact:
                taken[own.path] = Part(
                    outcome=part_of(own.main, artifact.main),
                    own_id=own.identity.primary,
                    artifact_id=artifact.identity.primary,
                )
    return [artifact for artifact in found if artifact.path not in taken], list(taken.values())


def _completed(artifact: Artifact, companions: Companions, debug: DebugSources, *, dwarf: bool) -> Artifact:
    main = artifact.main
    wanted = Source.DWARF if dwarf else Source.SYMTAB
    # What has DWARF and still names a debug file may have kept that of an assembler file alone.
    names_more = dwarf and main.debug_link is not None and len(artifact.inputs) == 1
    if (artifact.has(wanted) and not names_more) or not main.has_code_bytes:
        return artifact
    if main.kind == ET_REL and not build_id_of(main) and main.debug_link is None:
        # A compiler's object file: nobody splits those.
        return artifact
    search = companions.search(main)
    inputs = list(artifact.inputs)
    if search.found is not None and _adds(search.found, inputs, dwarf=dwarf):
        inputs.append(search.found)
    if debug.debuginfod is None or any(wanted in file.sources for file in inputs):
        return replace(_artifact(inputs, dwarf=dwarf), search=search)
    cached = debug.debuginfod.cached(main)
    if cached is not None:
        return replace(_artifact([*inputs, cached], dwarf=dwarf), search=search)
    ask = debug.debuginfod.may_have(main)
    made = replace(_artifact(inputs, dwarf=dwarf), search=search, ask_debuginfod=ask)
    return replace(made, expected_quality=Quality.FULL) if ask and dwarf else made


@frozen
class Looked:
    """What would be read for one binary, and why debuginfod was of no help where it was asked."""

    artifact: Artifact
    debuginfod: str = ""


def look_for_companions(binary: Identified, debug: DebugSources) -> Looked:
    """Looks for the debug file of one binary everywhere, debuginfod servers included where ``debug`` says so. Raises `UsageError`."""
    artifact, _ = paired([binary], dwarf=True)
    companions = Companions(debug_dirs=debug.debug_dirs, system_dirs=debug.system_dirs)
    (artifact,), _ = completed([artifact], companions, debug, dwarf=True)
    if debug.debuginfod is None or not artifact.ask_debuginfod:
        return Looked(artifact=artifact)
    fetched = debug.debuginfod.fetch(binary)
    inputs = [*artifact.inputs, *([fetched.file] if fetched.file else [])]
    return Looked(artifact=replace(_artifact(inputs, dwarf=True), search=artifact.search), debuginfod=fetched.reason)


def by_base_name(files: Sequence[Identified]) -> Mapping[str, Sequence[Input]]:
    """Files by what they are called."""
    names: dict[str, list[Input]] = {}
    for file in files:
        names.setdefault(os.path.basename(file.path), []).append(file.input)
    return names


def _adds(file: Identified, inputs: Sequence[Identified], *, dwarf: bool) -> bool:
    """Whether a file has a source that is not there yet, or more DWARF.

    Line tables alone and mini-debuginfo are no gain beside what is more.
    """
    if dwarf and file.dwarf_size_bytes > max(each.dwarf_size_bytes for each in inputs):
        return True
    return adds(file.sources, {source for each in inputs for source in each.sources}, dwarf=dwarf)


def _richness(file: Identified, *, dwarf: bool) -> tuple[int, int, int, int, bool]:
    """Orders files of one id by worth; of equals the first found stays first, as sorting is stable."""
    tables = read(file.sources, dwarf=False)
    told = file.dwarf_size_bytes if dwarf else 0
    return (expected_quality([file], dwarf=dwarf), told, len(tables), file.size_bytes, file.has_code_bytes)


def _artifact(files: Sequence[Identified], *, dwarf: bool) -> Artifact:
    return Artifact(
        identity=_all_ids(files), inputs=tuple(files), expected_quality=expected_quality(files, dwarf=dwarf)
    )


def _all_ids(files: Sequence[Identified]) -> Identity:
    """The ids of all files, those of a shipped binary among them, so that a look-up by any finds the artifact."""
    primary = files[0].identity.primary
    ids = (each for file in files for each in (file.identity.primary, *file.identity.aliases))
    return Identity(primary=primary, aliases=tuple(dict.fromkeys(each for each in ids if each != primary)))
