"""Finds the files that may hold symbols below the paths given: by what they begin with, never by how they are called.

Nothing but regular files is ever opened, and of those only the beginning is read. The walk tells of files one by one;
what belongs together (a binary and its debug file) is for the stage that knows their ids. What may hold binaries and isn't looked into
(archives, folders behind links that lead elsewhere) is told, too.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from uploader.errors import InputError, NotElf
from uploader.inputs import registry
from uploader.inputs.archives import HEAD_SIZE_BYTES, container
from uploader.inputs.build_internals import whose
from uploader.inputs.globs import compiled, matches_any
from uploader.inputs.port import WITHIN, Found, Opener, PassedOver, Told, Trouble
from uploader.objects.elf.headers import MAGIC, MIN_SIZE_BYTES
from uploader.objects.input import FileInput, Input
from uploader.values import frozen, replace

LINKED_FOLDERS = "linked folders that lead elsewhere"
LINKED_FOLDERS_REMEDY = "give them as paths to have them looked through"
BUILD_INTERNALS_REMEDY = "--build-internals takes them in"

_DIGEST = re.compile(r"-[0-9a-f]{16}(?:\.[^/]*)?\Z")
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def walk(
    paths: Iterable[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    build_internals: bool = True,
) -> Iterator[Told]:
    """The ELF files at and below ``paths``, in the order of the paths and sorted by name below each, those with several names last.

    Folders are walked to the bottom. Symbolic links to files are followed; links to folders only where the user named them, so
    that a link can't lead the walk out of what it was given; those that do are told as `PassedOver`, as are archives, and, unless
    ``build_internals``, what build systems leave for themselves. A file is told once, whatever its names. Sockets, pipes and devices
    aren't told at all, or as `Trouble` where the user named them, as are paths that don't exist.

    A file below a folder counts if it matches any of ``include`` (or there are none) and none of ``exclude``; a folder that
    matches ``exclude`` isn't entered. A glob without ``/`` is matched with the base name, one with ``/`` with the path relative
    to the folder given; `globs` has their form. A file named explicitly is told whatever it is. Raises `UsageError` for a glob that
    makes no sense.
    """
    for glob in (*include, *exclude):
        compiled(glob)
    named = [os.fspath(path) for path in paths]
    looking = _Walk(
        include=include,
        exclude=exclude,
        build_internals=build_internals,
        roots=[os.path.join(os.path.realpath(path), "") for path in named if os.path.isdir(path)],
        named={_inode(os.stat(path)) for path in named if os.path.isfile(path)},
    )
    for path in named:
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:
            yield Trouble(path=path, reason=_reason(error))
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from looking.folder(path, status)
        elif not stat.S_ISREG(status.st_mode):
            yield Trouble(path=path, reason=f"is a {_kind(status.st_mode)}, not a file")
        else:
            found = _look(path, status, explicit=True)
            if looking.first_time(status):
                yield from looking.within(found, "") if isinstance(found, _Holding) else (found,)


@dataclass(slots=True, kw_only=True)
class _Walk:
    """What one walk over several paths goes by, and what it has met."""

    include: Sequence[str]
    exclude: Sequence[str]
    build_internals: bool
    roots: Sequence[str]
    """The folders given, as they really lie, with a separator behind."""
    named: set[tuple[int, int]]
    """Files given: told when it is their turn, whatever folder they lie in."""
    seen: set[tuple[int, int]] = field(default_factory=set)
    """Files and folders that are told of, or entered."""
    passed: set[tuple[int, int]] = field(default_factory=set)
    """Files that were left out; the user may name one yet."""

    def first_time(self, status: os.stat_result) -> bool:
        """Whether this file or folder is met for the first time; from then on it isn't."""
        inode = _inode(status)
        if inode in self.seen:
            return False
        self.seen.add(inode)
        return True

    def folder(self, root: str, status: os.stat_result) -> Iterator[Told]:
        """What lies below a folder that was named."""
        if not self.first_time(status):
            return
        # A stack of its own: folders nest deeper than Python may recurse.
        stack = [_entries(root, "")]
        waiting: dict[tuple[int, int], list[tuple[bool, Found]]] = {}
        while stack:
            entry = None
            try:
                entry, relative = next(stack[-1])
                if matches_any(relative, self.exclude):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if self.first_time(entry.stat()):
                        stack.append(_entries(entry.path, relative + "/"))
                elif entry.is_symlink() and entry.is_dir():
                    if not self._comes_by(entry.path):
                        yield PassedOver(path=entry.path, what=LINKED_FOLDERS, remedy=LINKED_FOLDERS_REMEDY)
                elif entry.is_file():
                    wanted = not self.include or matches_any(relative, self.include)
                    if wanted or registry.OPENERS:
                        yield from self._file(entry, root, waiting, wanted=wanted)
            except StopIteration:
                stack.pop()
            except OSError as error:
                if entry is None:
                    stack.pop()
                    yield Trouble(path=error.filename or root, reason=_reason(error))
                # A link that leads back to itself is as broken as one that leads nowhere.
                elif error.errno != errno.ELOOP:
                    yield Trouble(path=entry.path, reason=_reason(error))
        best = [
            (
                min(names, key=lambda name: (self._internal(root, name[1].path) is not None, *_familiarity(*name)))[1],
                inode,
            )
            for inode, names in waiting.items()
            if inode not in self.seen
        ]
        for found, inode in sorted(best, key=lambda one: os.fsencode(one[0].path)):
            yield self._told(found, inode, root)

    def _file(
        self,
        entry: os.DirEntry[str],
        root: str,
        waiting: dict[tuple[int, int], list[tuple[bool, Found]]],
        *,
        wanted: bool,
    ) -> Iterator[Told]:
        """Tells of a file; one that has several names waits for the others. One that isn't ``wanted`` counts only for what it holds."""
        status = entry.stat()
        inode = _inode(status)
        if inode in self.named:
            return
        if inode in waiting:
            waiting[inode].append((entry.is_symlink(), replace(waiting[inode][0][1], input=FileInput(path=entry.path))))
        elif status.st_size >= MIN_SIZE_BYTES and inode not in self.seen and inode not in self.passed:
            found = _look(entry.path, status, explicit=False)
            if isinstance(found, Trouble):
                if wanted:
                    self.seen.add(inode)
                    yield found
            elif isinstance(found, _Holding):
                self.seen.add(inode)
                yield from self.within(found, entry.path[len(root) :].lstrip("/"))
            elif not wanted:
                return
            elif not found.is_elf:
                # What isn't told isn't remembered, either.
                if found.container is not None and self._internal(root, entry.path) is None:
                    self.passed.add(inode)
                    yield PassedOver(path=entry.path, what=found.container.many, remedy=found.container.remedy)
            elif status.st_nlink > 1 or entry.is_symlink():
                waiting[inode] = [(entry.is_symlink(), found)]
            else:
                yield self._told(found, inode, root)

    def within(self, holding: _Holding, relative: str) -> Iterator[Told]:
        """The ELF files in a file that holds files; ``relative`` is its path from the folder given, empty where it was named itself."""
        outer = holding.input.path
        try:
            for member in holding.opener.members(holding.input):
                own = member.path.removeprefix(outer)
                name = relative + own if relative else own.removeprefix(WITHIN)
                if matches_any(name, self.exclude) or (self.include and not matches_any(name, self.include)):
                    continue
                told = member if isinstance(member, Trouble) else _look_at(member)
                if told is not None:
                    yield told
        except InputError as error:
            yield Trouble(path=outer, reason=error.reason)

    def _told(self, found: Found, inode: tuple[int, int], root: str) -> Found | PassedOver:
        """The file, unless a build system left it for itself."""
        internal = self._internal(root, found.path)
        if internal is not None:
            self.passed.add(inode)
            return PassedOver(path=found.path, what=internal, remedy=BUILD_INTERNALS_REMEDY)
        self.seen.add(inode)
        return found

    def _internal(self, root: str, path: str) -> str | None:
        """What a build system left there for itself. The name of the folder given counts, too: a shell may have put it there."""
        if self.build_internals:
            return None
        return whose(os.path.basename(os.path.abspath(root)) + "/" + path[len(root) :].lstrip("/"))

    def _comes_by(self, path: str) -> bool:
        """Whether what a link leads to lies below one of the folders given, so that the walk comes by anyway."""
        real = os.path.join(os.path.realpath(path), "")
        return any(real.startswith(root) for root in self.roots)


def _familiarity(is_link: bool, found: Found) -> tuple[bool, int, bool, bytes]:
    """What puts the name first that a person knows a file by: build systems keep theirs deeper, and with a digest in it."""
    return is_link, found.path.count("/"), _DIGEST.search(found.path) is not None, os.fsencode(found.path)


def _entries(folder: str, prefix: str) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: os.fsencode(entry.name))
    for entry in entries:
        yield entry, prefix + entry.name


@frozen
class _Holding:
    """A file that is looked into."""

    input: Input
    opener: Opener


def _look_at(member: Input) -> Found | Trouble | None:
    """A file within another; None where it is no ELF file."""
    try:
        file = member.open(mapped=False)
    except NotElf:
        return None
    except InputError as error:
        return Trouble(path=member.path, reason=error.reason)
    size_bytes = len(file.data)
    is_elf = size_bytes >= MIN_SIZE_BYTES and bytes(file.data[: len(MAGIC)]) == MAGIC
    file.close()
    return Found(input=member, size_bytes=size_bytes, is_elf=True, explicit=False) if is_elf else None


def _look(path: str, status: os.stat_result, *, explicit: bool) -> Found | Trouble | _Holding:
    head, kind = b"", None
    if explicit or status.st_size >= MIN_SIZE_BYTES:
        try:
            descriptor = os.open(path, _OPEN_FLAGS)
            try:
                head = os.read(descriptor, HEAD_SIZE_BYTES)
                if not head.startswith(MAGIC):
                    kind = container(
                        path, head, lambda offset, size: os.pread(descriptor, size, offset), named=explicit
                    )
            finally:
                os.close(descriptor)
        except OSError as error:
            return Trouble(path=path, reason=_reason(error))
    is_elf = head.startswith(MAGIC) and status.st_size >= MIN_SIZE_BYTES
    opener = None if is_elf else registry.opener_of(head)
    if opener is not None:
        return _Holding(input=FileInput(path=path), opener=opener)
    return Found(
        input=FileInput(path=path), size_bytes=status.st_size, is_elf=is_elf, explicit=explicit, container=kind
    )


def _inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def _kind(mode: int) -> str:
    for check, name in (
        (stat.S_ISFIFO, "pipe"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISBLK, "device"),
        (stat.S_ISCHR, "device"),
    ):
        if check(mode):
            return name
    return "special file"
