"""Says what debug information is missing, where it was looked for, and how to get it."""

from __future__ import annotations

from uploader.binary.identity import Identified
from uploader.discover.companions import build_id_of
from uploader.model import Source
from uploader.pipeline.artifact import Artifact

REJECTED_TOLD = 3

REMEDY_GIVE = "Give the unstripped file or its debug file too, name its folder with --debug-dir, or ask a server with --debuginfod."
REMEDY_BUILD = "Build with debug information: -g, or -g1 for lines only."


def missing_debug_info(artifact: Artifact, *, debuginfod: str = "") -> tuple[tuple[str, ...], str | None]:
    """Warnings and a remedy for an artifact without DWARF; none for others. ``debuginfod`` is why no server helped."""
    if artifact.has(Source.DWARF):
        return (), None
    main = artifact.main
    warnings = [f"no DWARF: {_why(main)}"]
    search = artifact.search
    if search is not None:
        build_id = build_id_of(main)
        by = f" (build-id {build_id})" if build_id else ""
        warnings[0] += f"; looked for its debug file{by} in {', '.join(search.looked_in)}"
        warnings += [f"{one.path} was not taken: {one.reason}" for one in search.rejected[:REJECTED_TOLD]]
        if len(search.rejected) > REJECTED_TOLD:
            warnings.append(f"and {len(search.rejected) - REJECTED_TOLD} more files were not taken")
    if debuginfod:
        warnings.append(debuginfod)
    elif artifact.ask_debuginfod:
        warnings.append("debuginfod servers are yet to be asked for it")
    return tuple(warnings), REMEDY_BUILD if artifact.has(Source.SYMTAB) and main.debug_link is None else REMEDY_GIVE


def _why(main: Identified) -> str:
    if main.debug_link is not None:
        name = main.debug_link.name.decode("utf-8", "backslashreplace")
        return f"stripped, its debug file is called {name}"
    if main.has_code_bytes and not main.code_sections:
        return "without section headers nothing leads to it"
    if Source.SYMTAB in main.sources:
        return "built without -g, or stripped of debug information"
    return "stripped"
