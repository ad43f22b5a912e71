"""Says what is missing of a binary, how that may have come, and how to get it."""

from __future__ import annotations

from collections.abc import Collection

from uploader.inputs.companions import build_id_of
from uploader.judgement import GO_TABLE_ADVICE
from uploader.model import IdScheme, Quality, Source
from uploader.objects.elf.headers import ET_REL
from uploader.objects.elf.identity import NO_GO_ID
from uploader.objects.elf.packed import PACKED
from uploader.pipeline.artifact import Artifact, expected_quality
from uploader.sources.identify import Identified

REJECTED_TOLD = 3

REMEDY_GIVE = (
    "Give the unstripped file or its debug file too, name its folder with --debug-dir, or ask a server with --debuginfod. "
    "`symup inspect FILE` lists where its debug file was looked for."
)
REMEDY_TIE = (
    "Give the unstripped file. It has neither a build-id nor a debuglink, so that no debug file is known to be its own, even given "
    "with it: tie them by `objcopy --add-gnu-debuglink=APP.debug APP`, or link with -Wl,--build-id before it is stripped."
)
REMEDY_BUILD = "Build with debug information: -g, or -g1 for lines only."
REMEDY_UNPACK = "Give the file as it was before it was packed, or unpack a copy of it: upx -d FILE."
REMEDY_FILES = (
    "Upload where the build left its .dwo files, or put the .dwp file (or what dwz made) beside the binary; "
    "--debug-dir names folders of them."
)
REMEDY_BUILD_ID = "Link it with -Wl,--build-id, then strip a copy."
ONLY_HERE = "these symbols are found for this very file only, not for a copy of it that is stripped"
REMEDY_REDACTED = (
    "Link it with an id of its own; one that Go makes of that word would be the same for all. The C linker makes one, which needs cgo and "
    'a C compiler: in Bazel, gc_linkopts = ["-linkmode=external", "-extldflags=-Wl,--build-id"]. Without them link it twice, then with '
    "-B 0x and, in hex, a SHA-256 of what the first link gave. Or ship the very file that is uploaded."
)
REMEDY_GO_BUILD_ID = (
    'Build it without -buildid= among -ldflags, so that Go writes its own id; with -ldflags="-B gobuildid" (Go 1.22 or later) it has a '
    "GNU build-id, too. Or link it externally with -extldflags=-Wl,--build-id, which needs cgo and a C compiler."
)


def missing_debug_info(artifact: Artifact, *, debuginfod: str = "") -> tuple[tuple[str, ...], str | None]:
    """Warnings and a remedy for an artifact that DWARF would tell more of; none for others. ``debuginfod`` is why no server helped."""
    if artifact.has(Source.DWARF) or expected_quality(artifact.inputs, dwarf=False) is Quality.FULL:
        return (), None
    main = artifact.main
    if main.packed:
        return (PACKED,), REMEDY_UNPACK
    warnings = [f"no DWARF: {_why(main)}"]
    search = artifact.search
    if search is not None:
        build_id = build_id_of(main)
        warnings[0] += f"; no debug file{f' of build-id {build_id}' if build_id else ''} was found"
        warnings += [f"{one.path} was not taken: {one.reason}" for one in search.rejected[:REJECTED_TOLD]]
        if len(search.rejected) > REJECTED_TOLD:
            warnings.append(f"and {len(search.rejected) - REJECTED_TOLD} more files were not taken")
    if debuginfod:
        warnings.append(debuginfod)
    elif artifact.ask_debuginfod:
        warnings.append("debuginfod servers are yet to be asked for it")
    if artifact.has(Source.SYMTAB) and main.debug_link is None:
        return tuple(warnings), REMEDY_BUILD
    return tuple(warnings), REMEDY_TIE if nothing_ties(artifact) else REMEDY_GIVE


def remedy_of_lacking(*, lacks_files: bool) -> str | None:
    """The remedy where files were not found that the debug information refers to."""
    return REMEDY_FILES if lacks_files else None


def nothing_ties(artifact: Artifact) -> bool:
    """Whether there is nothing in a program that a debug file could be known by as its own."""
    main = artifact.main
    return main.has_code_bytes and main.kind != ET_REL and main.debug_link is None and not build_id_of(main)


def remedy_of_go_table(artifact: Artifact, unread: Collection[str]) -> str | None:
    """The remedy where Go's table is among the sources that were not read, or not whole, and no debug information speaks in its place."""
    return GO_TABLE_ADVICE if Source.GO in unread and not artifact.has(Source.DWARF) else None


def missing_build_id(artifact: Artifact) -> tuple[tuple[str, ...], str | None]:
    """A warning and a remedy for a program that only an id of its very bytes stands for; none for others.

    An object file is not what runs, and is never stripped apart from what is linked of it; what a packed one has can't be seen.
    """
    main = artifact.main
    if artifact.identity.primary.scheme is not IdScheme.FILE or main.kind == ET_REL or main.packed:
        return (), None
    if main.has_redacted_id:
        word = f"no build-id but the word {NO_GO_ID!r}, which Bazel writes into every Go program"
        if main.has_id_of_redacted:
            word += ", and a GNU build-id that Go's linker made of that word, the same in all of them"
        return (f"{word}: {ONLY_HERE}",), REMEDY_REDACTED
    return (f"no build-id: {ONLY_HERE}",), REMEDY_GO_BUILD_ID if Source.GO in main.sources else REMEDY_BUILD_ID


def _why(main: Identified) -> str:
    if main.debug_link is not None:
        name = main.debug_link.name.decode("utf-8", "backslashreplace")
        return f"stripped, its debug file is called {name}"
    if main.has_code_bytes and not main.code_sections:
        return "without section headers nothing leads to it"
    if Source.SYMTAB in main.sources:
        return "built without -g, or stripped of debug information by `strip -g`"
    return "stripped, by `strip` or the linker's -s"
