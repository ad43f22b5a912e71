"""Where the files lie that a binary's DWARF names: split units (``.dwo``, ``.dwp``) and what dwz moved out of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

DEBUG_ROOT = "/usr/lib/debug"


class FilesBeside:
    """Looks where compilers, packagers and people put such files, starting from a binary's or debug file's own path.

    Only paths are made up here; nothing is opened. A name may be any bytes but NUL, and may lead anywhere: that a file counts only
    where it is ELF and its id fits is for the reader to see to.
    """

    def __init__(self, path: str | os.PathLike[str], debug_folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._path = os.fspath(path)
        here = os.path.dirname(self._path)
        self._folders = list(dict.fromkeys([here, os.path.dirname(os.path.realpath(self._path))]))
        self._debug_folders = [os.fspath(folder) for folder in debug_folders]

    def packages(self) -> Sequence[str]:
        """``binary.dwp``, for ``binary`` and for ``binary.debug``."""
        stem = self._path.removesuffix(".debug")
        found = [self._path + ".dwp", stem + ".dwp", os.path.realpath(self._path) + ".dwp"]
        name = os.path.basename(stem) + ".dwp"
        return _each_once([*found, *(os.path.join(folder, name) for folder in self._debug_folders)])

    def split(self, directory: bytes, name: bytes) -> Sequence[str]:
        """Where the compiler wrote it, else beside the binary: by its path from there, then by its base name."""
        named = os.fsdecode(name)
        if not named or "\0" in named:
            return []
        compiled = os.path.join(os.fsdecode(directory), named)
        # A relative folder is told from where the compiler ran, which nobody knows here.
        found = [compiled] if os.path.isabs(compiled) or self._folders[0] == "" else []
        for folder in (*self._folders, *self._debug_folders):
            if not os.path.isabs(named):
                found.append(os.path.join(folder, named))
            found.append(os.path.join(folder, os.path.basename(named)))
        return _each_once(found)

    def supplementary(self, name: bytes, build_id: bytes) -> Sequence[str]:
        """By its path from the binary, in the tree that the binary's own path is part of, and by its id in debug folders."""
        named = os.fsdecode(name)
        found = []
        roots = [*self._debug_folders, DEBUG_ROOT]
        if named and "\0" not in named:
            found += [os.path.join(folder, named) for folder in self._folders]
            for folder in self._folders:
                # A package that was unpacked somewhere still names its files by where they were to be installed.
                above, root, _ = (folder + "/").partition(DEBUG_ROOT + "/")
                if root and above:
                    roots.insert(0, above + DEBUG_ROOT)
                    if os.path.isabs(named):
                        found.append(above + named)
            found += [os.path.join(root, ".dwz", os.path.basename(named)) for root in roots]
        if len(build_id) > 1:
            digits = build_id.hex()
            found += [os.path.join(root, ".build-id", digits[:2], digits[2:] + ".debug") for root in roots]
        return _each_once(found)

    def may_tell_of(self, path: str) -> bool:
        """Below the binary's folder, a folder of debug files, and where systems keep theirs."""
        real = os.path.realpath(path)
        own = (*self._folders, *self._debug_folders, DEBUG_ROOT)
        return any(real.startswith(os.path.join(os.path.realpath(folder), "")) for folder in own)


def _each_once(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(os.fspath(Path(path)) for path in paths if "\0" not in path))
