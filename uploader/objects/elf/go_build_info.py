"""What Go's linker writes into a program of how it was built (``.go.buildinfo``): toolchain, modules, revision, settings.

The form is that which Go's package ``debug/buildinfo`` describes: since Go 1.18 two texts behind a header, before that two pointers to
texts. The second text is that of ``runtime/debug.BuildInfo``: a line for each fact, tabs between its parts.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from uploader.errors import MalformedElf
from uploader.model import Build
from uploader.objects.elf.elf_file import PIECE_BYTES, ElfFile
from uploader.objects.elf.headers import ET_CORE, ET_REL, PF_W, Segment
from uploader.objects.elf.loaded import LoadedImage
from uploader.values import frozen
from uploader.words import one_line

SECTION = ".go.buildinfo"
MAGIC = b"\xff Go buildinf:"
ALIGNMENT = 16
HEADER_BYTES = 32
TEXTS_FOLLOW = 2
"""The bit of the header's last byte that says that the texts stand behind it."""

MAX_TEXT_BYTES = 1 << 20
"""The length of either text: a line for each of a thousand modules makes 100 kB."""
MAX_INFO_BYTES = 2 * MAX_TEXT_BYTES + 64
"""The header with both texts."""
MAX_SCANNED_BYTES = 64 << 20
"""So much of what is loaded is searched for the header. Linkers lay it at the beginning of data, behind what is relocated."""
MAX_FACTS = 4096
MAX_CHARACTERS = 256
"""The length of each fact that is kept with symbols."""

_SENTINEL_BYTES = 16
"""Before and behind the modules' text, for programs that look for it in memory."""
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@frozen
class Module:
    """One module that a program was built of."""

    path: str
    version: str = ""
    replaced_by: str = ""
    """The path, and the version if any, of what was taken in its place."""


@frozen
class GoBuildInfo:
    """All that a program tells of its build. Texts are as they stand in the file: foreign, of any length and characters."""

    toolchain: str
    """``go1.27.3``, with what a toolchain of one's own adds."""
    package: str = ""
    """The import path of the program's main package."""
    main: Module | None = None
    dependencies: tuple[Module, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    """Names and values: ``-trimpath``, ``CGO_ENABLED``, ``vcs.revision``. Linker flags among them may hold secrets."""

    def setting(self, name: str) -> str:
        """The value of a setting; empty where there is none of that name."""
        return next((value for key, value in self.settings if key == name), "")

    @property
    def build(self) -> Build:
        """The part that is kept with symbols."""
        main = self.main or Module(path="")
        return Build(
            toolchain=one_line(self.toolchain, MAX_CHARACTERS),
            module=one_line(main.path or self.package, MAX_CHARACTERS),
            module_version=one_line(main.version, MAX_CHARACTERS),
            revision=one_line(self.setting("vcs.revision"), MAX_CHARACTERS),
            modified=self.setting("vcs.modified") == "true",
        )


def go_build_info(elf: ElfFile) -> GoBuildInfo | None:
    """What the program says of its build, from its section or, where no section has a name, from loaded data.

    None where it says nothing, or what it says can't be read: it changes no symbol. What isn't linked yet says nothing, and in the
    dump of a process lies what somebody else's memory held.
    """
    if elf.kind in (ET_REL, ET_CORE):
        return None
    try:
        image = LoadedImage(elf)
        for address, data in _places(elf, image):
            texts = _texts(image, address, data)
            if texts is not None and texts[0]:
                return _parsed(*texts)
    except (MalformedElf, struct.error):
        return None
    return None


def _places(elf: ElfFile, image: LoadedImage) -> Iterator[tuple[int, memoryview]]:
    """(address, bytes) of what begins like the header."""
    section = elf.section(SECTION)
    if section is not None:
        if section.has_bytes and not section.compressed:
            yield section.address, elf.bytes_at(section.offset, min(section.size_bytes, MAX_INFO_BYTES))
        return
    if elf.sections and not any(name == "Go" for name, *_ in elf.notes()):
        return
    left_bytes = MAX_SCANNED_BYTES
    for segment, size_bytes in sorted(image.extents(code=False), key=lambda extent: not extent[0].flags & PF_W):
        at = _scanned(elf, segment, min(size_bytes, left_bytes))
        left_bytes -= min(size_bytes, left_bytes)
        if at is not None:
            yield segment.address + at, elf.bytes_at(segment.offset + at, min(size_bytes - at, MAX_INFO_BYTES))


def _scanned(elf: ElfFile, segment: Segment, size_bytes: int) -> int | None:
    """Where in so much of a segment something first begins like the header; a piece at a time is in memory."""
    for start in range(0, size_bytes, PIECE_BYTES):
        # What begins in one piece may end in the next.
        piece_bytes = min(PIECE_BYTES + len(MAGIC) - 1, size_bytes - start)
        data = bytes(elf.bytes_at(segment.offset + start, piece_bytes))
        at = data.find(MAGIC)
        while at >= 0:
            if not (segment.address + start + at) % ALIGNMENT:
                return start + at
            at = data.find(MAGIC, at + 1)
    return None


def _texts(image: LoadedImage, address: int, data: memoryview) -> tuple[str, str] | None:
    """The toolchain's version, and the modules' text."""
    if bytes(data[: len(MAGIC)]) != MAGIC or len(data) < HEADER_BYTES:
        return None
    if data[len(MAGIC) + 1] & TEXTS_FOLLOW:
        version, behind = _counted(data, HEADER_BYTES)
        modules, _ = _counted(data, behind)
    else:
        version, modules = (_pointed_to(image, word) for word in image.words(address + ALIGNMENT, 2))
    framed = len(modules) > 2 * _SENTINEL_BYTES and modules[-_SENTINEL_BYTES - 1 : -_SENTINEL_BYTES] == b"\n"
    kept = modules[_SENTINEL_BYTES:-_SENTINEL_BYTES] if framed else b""
    return version.decode("utf-8", "replace"), kept.decode("utf-8", "replace")


def _counted(data: memoryview, at: int) -> tuple[bytes, int]:
    """The text at a place, which its length stands before, and where it ends. The length is a LEB128 number."""
    size_bytes = shift = 0
    for byte in data[at : at + 5]:
        at += 1
        size_bytes |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size_bytes > min(MAX_TEXT_BYTES, len(data) - at):
        raise MalformedElf("has build information that is longer than its room")
    return bytes(data[at : at + size_bytes]), at + size_bytes


def _pointed_to(image: LoadedImage, address: int) -> bytes:
    """The text of the string that stands at an address, as a pointer and a length."""
    header = image.words(address, 2)
    if len(header) < 2 or header[1] > MAX_TEXT_BYTES:
        return b""
    text = bytes(image.bytes_from(header[0], header[1]))
    return text if len(text) == header[1] else b""


def _parsed(toolchain: str, text: str) -> GoBuildInfo:
    package = ""
    main: Module | None = None
    dependencies: list[Module] = []
    settings: list[tuple[str, str]] = []
    for line in text.split("\n", MAX_FACTS)[:MAX_FACTS]:
        kind, *parts = line.split("\t")
        path, version = (*parts, "", "")[:2]
        if kind == "path":
            package = path
        elif kind == "mod":
            main = Module(path=path, version=version)
        elif kind == "dep":
            dependencies.append(Module(path=path, version=version))
        elif kind == "=>" and dependencies:
            last = dependencies[-1]
            dependencies[-1] = Module(path=last.path, version=last.version, replaced_by=f"{path} {version}".rstrip())
        elif kind == "build":
            name, _, value = _unquoted_pair(path)
            settings.append((name, value))
    return GoBuildInfo(
        toolchain=toolchain,
        package=package,
        main=main,
        dependencies=tuple(dependencies),
        settings=tuple(settings),
    )


def _unquoted_pair(text: str) -> tuple[str, str, str]:
    """``name=value``, either of which Go quotes where it has to."""
    if text.startswith('"'):
        name, equals, value = text[1:].partition('"=')
        return _unescaped(name), equals, _unquoted(value)
    name, equals, value = text.partition("=")
    return name, equals, _unquoted(value)


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "`":
        return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return _unescaped(value[1:-1])
    return value


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        byte, short, long, octal, char = found.groups()
        digits = byte or short or long
        number = int(digits, 16) if digits else int(octal, 8) if octal else -1
        if number < 0:
            return _ESCAPES.get(char, char)
        return chr(number) if number < 0xD800 or 0xE000 <= number < 0x110000 else "\ufffd"

    return _ESCAPED.sub(plain, text)
