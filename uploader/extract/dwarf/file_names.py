"""The names of a line table's files: directories joined, Unix's and Windows's paths told apart (DWARF 5 §6.2.4)."""

from __future__ import annotations

from uploader.extract.dwarf.constants import FORM_STRING
from uploader.extract.dwarf.line_header import LineHeader
from uploader.extract.dwarf.sections import DwarfSections
from uploader.extract.dwarf.strings import StringReader, string_at
from uploader.extract.dwarf.units import Unit


class FileNames:
    """Turns files of line tables into (directory, base name) pairs."""

    def __init__(self, sections: DwarfSections) -> None:
        self._sections = sections
        self._strings = StringReader(sections)

    def pair(self, header: LineHeader, index: int, unit: Unit | None) -> tuple[bytes, bytes]:
        """The directory and base name of file ``index`` (0 is the first entry), joined with the compilation directory where relative."""
        if index >= header.file_count:
            return b"", b""
        form, value, directory_index = header.file(index)
        name = self._read(form, value, unit)
        directory = b""
        if not is_absolute(name):
            if directory_index < header.directory_count and (directory_index or header.version >= 5):
                directory = self._read(*header.directory(directory_index), unit)
            if not is_absolute(directory):
                directory = join(unit.comp_dir if unit else b"", directory)
        return split(join(directory, name))

    def _read(self, form: int, value: int, unit: Unit | None) -> bytes:
        if form == FORM_STRING:
            return string_at(self._sections.line, value)
        return self._strings.read(self._strings.locate(form, value, unit))


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
