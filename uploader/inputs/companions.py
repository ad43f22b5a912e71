"""Finds the file that holds what was stripped from a binary, and makes sure that it is that binary's.

What decides is the build-id. Where either file has none, a ``.gnu_debuglink``'s CRC-32 of the whole debug file does (GDB manual,
"Separate Debug Files"). A name alone pairs nothing: it only says where to look.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence

from uploader.errors import InputError, UsageError
from uploader.inputs.port import Found
from uploader.inputs.walk import walk
from uploader.model import IdScheme
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import prelinked
from uploader.objects.input import FileInput, Input
from uploader.sources.identify import Identified, identify
from uploader.sources.registry import sought
from uploader.values import frozen

SYSTEM_DEBUG_DIRS = ("/usr/lib/debug",)
"""Where distributions install debug files."""

BUILD_ID_FOLDER = ".build-id"


@frozen
class Rejected:
    """A file that lies where a debug file would, and why it was not taken."""

    path: str
    reason: str


@frozen
class Search:
    """What looking for a binary's debug file came to."""

    found: Identified | None = None
    rejected: tuple[Rejected, ...] = ()
    looked_in: tuple[str, ...] = ()
    """The folders, in the order in which they were looked at."""


class Companions:
    """Looks for debug files in the usual places. Files and folders are only ever read; what is broken there is told, not raised."""

    def __init__(
        self,
        *,
        roots: Sequence[str] = (),
        debug_dirs: Sequence[str] = (),
        system_dirs: Sequence[str] = SYSTEM_DEBUG_DIRS,
        met: Mapping[str, Sequence[Input]] | None = None,
    ) -> None:
        """Takes what the user gave, and what the walk met.

        ``roots`` are folders to look in for ``.build-id`` trees, ``debug_dirs`` folders of debug files in any layout; ``met`` gives
        the files that the walk met by their base names. Raises `UsageError` for one that is not there.
        """
        for folder in debug_dirs:
            if not os.path.isdir(folder):
                raise UsageError(
                    f"--debug-dir {folder} is not a folder", remedy="Name a folder that holds debug files."
                )
        folders = [folder for folder in roots if os.path.isdir(folder)]
        # A root may be a package that was unpacked, or a whole system's.
        self._roots = (*folders, *(os.path.join(folder, "usr/lib/debug") for folder in folders))
        self._debug_dirs = tuple(debug_dirs)
        self._system_dirs = tuple(system_dirs)
        self._met = met or {}
        self._walked: dict[str, list[Input]] | None = None

    def search(self, binary: Identified) -> Search:
        """The best companion that adds DWARF, or at least symbols, to ``binary``: the first with more DWARF, in this order.

        1. ``.build-id/xx/yyyy.debug`` under each debug folder, each root, the binary's folder and the system's debug folders;
        2. the name of ``.gnu_debuglink``, the binary's own with ``.debug``, and its own: beside it, in ``.debug/`` there, among the
           files that the walk met, in each debug folder and under the binary's folder below each debug folder and the system's;
        3. all files below the debug folders, by their build-ids.
        """
        looked: dict[str, None] = {}
        rejected: dict[str, Rejected] = {}
        fallback: Identified | None = None
        seen = {binary.input.key()}
        for place, candidate in self._candidates(binary):
            looked.setdefault(place)
            key = candidate.key()
            if key is None or key in seen:
                continue
            seen.add(key)
            met = check(binary, candidate)
            if isinstance(met, Rejected):
                rejected.setdefault(met.path, met)
            elif met.dwarf_size_bytes > binary.dwarf_size_bytes:
                return Search(found=met, rejected=tuple(rejected.values()), looked_in=tuple(looked))
            elif fallback is None:
                fallback = met
        return Search(found=fallback, rejected=tuple(rejected.values()), looked_in=tuple(looked))

    def _candidates(self, binary: Identified) -> Iterator[tuple[str, Input]]:
        """(folder to tell of, file to look at, if it is there)."""
        build_id, names = build_id_of(binary), names_of(binary)
        own = os.path.basename(binary.path)
        folders = _folders_of(binary.input)
        if build_id:
            for folder, path in self._by_build_id(build_id, folders):
                yield folder, FileInput(path=path)
        for name in names:
            for folder in folders:
                yield folder, FileInput(path=os.path.join(folder, name))
                yield os.path.join(folder, ".debug"), FileInput(path=os.path.join(folder, ".debug", name))
            # Files of one build-id were put together by whoever walked; others of the binary's own name are other binaries.
            for file in self._met.get(name, ()) if not build_id or name != own else ():
                yield os.path.dirname(file.path), file
            for debug_dir in self._debug_dirs:
                yield debug_dir, FileInput(path=os.path.join(debug_dir, name))
            for debug_dir in (*self._debug_dirs, *self._system_dirs):
                for folder in folders:
                    place = os.path.join(debug_dir, os.path.abspath(folder).lstrip(os.sep))
                    yield place, FileInput(path=os.path.join(place, name))
        if self._debug_dirs:
            index = self._index()
            for key in ((build_id,) if build_id else ()) + names:
                for file in index.get(key, ()):
                    yield os.path.dirname(file.path), file

    def _by_build_id(self, build_id: str, folders: Sequence[str]) -> Iterator[tuple[str, str]]:
        file = os.path.join(build_id[:2], build_id[2:] + ".debug")
        for folder in (*self._debug_dirs, *self._roots, *folders[:1], *self._system_dirs):
            place = os.path.join(folder, BUILD_ID_FOLDER)
            yield place, os.path.join(place, file)
        for folder in self._debug_dirs:
            yield folder, os.path.join(folder, file)

    def _index(self) -> dict[str, list[Input]]:
        """What lies below the debug folders: by build-id, and by base name what has none. Read once, when it is first needed."""
        if self._walked is None:
            self._walked = {}
            for item in walk(self._debug_dirs):
                if not isinstance(item, Found):
                    continue
                try:
                    with ElfFile.of(item.input, mapped=False) as elf:
                        key = build_id_of(identify(elf)) or os.path.basename(item.path)
                except InputError:
                    continue
                self._walked.setdefault(key, []).append(item.input)
        return self._walked


def check(binary: Identified, candidate: Input, *, build_id_only: bool = False) -> Identified | Rejected:
    """Whether a file is a companion of ``binary`` that adds to it: what it holds, or why it was not taken.

    With ``build_id_only`` no CRC will do. Never raises.
    """
    try:
        with ElfFile.of(candidate, mapped=False) as elf:
            file = identify(elf)
            reason = _mismatch(binary, file, elf, build_id_only=build_id_only)
    except InputError as error:
        return Rejected(path=candidate.path, reason=error.reason)
    adds = any(source in file.sources and source not in binary.sources for source in sought())
    if reason is None and not adds and file.dwarf_size_bytes <= binary.dwarf_size_bytes:
        reason = "holds nothing that the binary lacks"
    return file if reason is None else Rejected(path=candidate.path, reason=reason)


def build_id_of(file: Identified) -> str:
    """The GNU build-id in hex; empty where there is none."""
    primary = file.identity.primary
    return primary.value if primary.scheme is IdScheme.GNU else ""


def _mismatch(binary: Identified, file: Identified, elf: ElfFile, *, build_id_only: bool) -> str | None:
    """Why ``file`` is not the binary's, or None."""
    wanted, has = build_id_of(binary), build_id_of(file)
    link = binary.debug_link
    if wanted and has:
        if wanted != has:
            return f"its build-id is {has}, the binary's {wanted}"
    elif binary.identity.primary != file.identity.primary:
        whose = "it has no build-id" if wanted else "the binary has no build-id"
        if link is None or build_id_only:
            return f"{whose}{'' if build_id_only else ' and no .gnu_debuglink'} to tell that they belong together"
        crc = 0
        for piece in elf.pieces_at(0, elf.size_bytes):
            crc = zlib.crc32(piece, crc)
        if crc != link.crc32:
            return f"{whose}, and its CRC is {crc:08x}, where .gnu_debuglink says {link.crc32:08x}"
    if binary.code_sections and file.code_sections and binary.code_sections != file.code_sections:
        if prelinked(binary.code_sections, file.code_sections):
            return "the binary was moved by prelink, so that its addresses aren't those of the debug file; prelink -u undoes that"
        return "it has the id of the binary, but different code"
    return None


def names_of(binary: Identified) -> tuple[str, ...]:
    """Base names that a binary's debug file may have, the likeliest first; one that would lead out of a folder is none."""
    own = os.path.basename(binary.path)
    names = [own + ".debug", own]
    if binary.debug_link is not None:
        linked = os.fsdecode(binary.debug_link.name)
        if os.sep not in linked and linked not in (".", ".."):
            names.insert(0, linked)
    return tuple(dict.fromkeys(names))


def _folders_of(file: Input) -> tuple[str, ...]:
    """The folder that a file was named in, and where it really lies, if that is called otherwise; none for what lies in no folder."""
    path = file.place
    if path is None:
        return ()
    named = os.path.dirname(path) or "."
    real = os.path.dirname(os.path.realpath(path))
    return (named,) if os.path.abspath(named) == real else (named, real)
