"""The names of a line table's files: directories joined, Unix's and Windows's paths told apart (DWARF 5 §6.2.4)."""

from __future__ import annotations

from uploader.sources.dwarf.constants import FORM_LINE_STRP, FORM_STRING, FORM_STRP
from uploader.sources.dwarf.line_header import LineHeader
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.strings import StringReader, string_at
from uploader.sources.dwarf.units import Unit

_SHARED = (FORM_STRING, FORM_STRP, FORM_LINE_STRP)
"""Forms whose value alone says which string is meant, whatever the unit."""

Place = tuple[int, int]
"""The form and value of a string."""


class FileNames:
    """Turns files of line tables into (directory, base name) pairs."""

    def __init__(self, sections: DwarfSections) -> None:
        self._sections = sections
        self._strings = StringReader(sections)
        self._text: dict[Place, bytes] = {}
        self._known: dict[tuple[Place, Place, bytes], tuple[bytes, bytes]] = {}

    def pair(self, header: LineHeader, index: int, unit: Unit | None) -> tuple[bytes, bytes]:
        """The directory and base name of file ``index`` (0 is the first entry), joined with the compilation directory where relative."""
        if index >= header.file_count:
            return b"", b""
        file, directory = _places(header, index)
        return self._pair(file, directory, unit.comp_dir if unit else b"", unit)

    def fixed_pair(self, header: LineHeader, index: int) -> tuple[bytes, bytes] | None:
        """The same before the unit is known; None where it has a say. What is likely to be said then is found out already."""
        file, directory = _places(header, index)
        if file[0] not in _SHARED or directory[0] not in _SHARED:
            return None
        if is_absolute(self._read(file, None)) or is_absolute(self._read(directory, None)):
            return self._pair(file, directory, b"", None)
        if header.version >= 5 and header.directory_count:
            # The first directory is that of the compilation (DWARF 5 §6.2.4), and nearly always as its unit has it.
            compilation = header.directory(0)
            if compilation[0] in _SHARED:
                self._pair(file, directory, self._read(compilation, None), None)
        return None

    def _pair(self, file: Place, directory: Place, comp_dir: bytes, unit: Unit | None) -> tuple[bytes, bytes]:
        if file[0] not in _SHARED or directory[0] not in _SHARED:
            return _joined(self._read(file, unit), self._read(directory, unit), comp_dir)
        # Units of one project list the same headers from the same places of the string sections, again and again.
        key = (file, directory, comp_dir)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _joined(self._read(file, None), self._read(directory, None), comp_dir)
        return known

    def _read(self, place: Place, unit: Unit | None) -> bytes:
        text = self._text.get(place)
        if text is None:
            form, value = place
            if form == FORM_STRING:
                text = string_at(self._sections.line, value) if value >= 0 else b""
            else:
                text = self._strings.read(self._strings.locate(form, value, unit))
            if form in _SHARED:
                self._text[place] = text
        return text


def _joined(name: bytes, directory: bytes, comp_dir: bytes) -> tuple[bytes, bytes]:
    if is_absolute(name):
        return split(name)
    path = directory if is_absolute(directory) else join(comp_dir, directory)
    return split(join(path, name))


def _places(header: LineHeader, index: int) -> tuple[Place, Place]:
    """Where a file's name and its directory's are."""
    form, value, directory_index = header.file(index)
    directory = (FORM_STRING, -1)
    if directory_index < header.directory_count and (directory_index or header.version >= 5):
        directory = header.directory(directory_index)
    return (form, value), directory


def is_absolute(path: bytes) -> bool:
    """Whether a path stands on its own, by Unix's or Windows's rules."""
    return path[:1] in (b"/", b"\\") or (len(path) > 2 and path[1:2] == b":" and path[2:3] in (b"\\", b"/"))


def join(directory: bytes, name: bytes) -> bytes:
    """``name`` inside ``directory``, with the separator that the directory uses."""
    if not directory or is_absolute(name):
        return name
    if not name:
        return directory
    if directory[-1:] in (b"/", b"\\"):
        return directory + name
    windows = is_absolute(directory) and directory[:1] != b"/" and b"/" not in directory
    return directory + (b"\\" if windows else b"/") + name


def split(path: bytes) -> tuple[bytes, bytes]:
    """(directory, base name); the root keeps its separator."""
    cut = path.rfind(b"/")
    if is_absolute(path) and path[:1] != b"/":
        cut = max(cut, path.rfind(b"\\"))
    if cut < 0:
        return b"", path
    return path[:cut] or path[:1], path[cut + 1 :]
