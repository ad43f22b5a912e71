"""What a file is, and which sources of symbols it holds, from headers and notes alone: nothing is decoded or inflated."""

from __future__ import annotations

from uploader.model import Build, Identity, IdScheme
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.go_build_info import go_build_info
from uploader.objects.elf.identity import (
    CodeSection,
    DebugLink,
    code_sections,
    debug_link,
    dwarf_size_bytes,
    has_code_bytes,
    has_id_of_redacted,
    has_redacted_id,
    identity,
    inflated_size_bytes,
)
from uploader.objects.elf.packed import packed_by_upx
from uploader.objects.input import Input
from uploader.sources.registry import present_in
from uploader.values import frozen


@frozen
class Identified:
    """What `identify` tells of one file."""

    input: Input
    """The file itself."""
    size_bytes: int
    identity: Identity
    machine: str
    kind: int
    """``e_type``: ET_REL 1, ET_EXEC 2, ET_DYN 3."""
    sources: tuple[str, ...]
    """What can be read from this very file, the richest first."""
    code_sections: tuple[CodeSection, ...]
    """The shape of the code, by address. Under one id, equal shapes are companions and different ones a conflict."""
    has_code_bytes: bool
    """The code is in this file; False for ``.debug`` files."""
    packed: bool = False
    """UPX has packed it: what it holds can't be seen."""
    debug_link: DebugLink | None = None
    dwarf_size_bytes: int = 0
    """How long its ``.debug_info`` claims to be once it is inflated: of two files, the one that tells more."""
    inflated_size_bytes: int = 0
    """The size of its debug information and symbols once they are inflated, as far as what they declare is believable."""
    build: Build | None = None
    """None where it says nothing of its build."""
    has_redacted_id: bool = False
    """It has no id, and where Go's should be, the word that stands in many programs."""
    has_id_of_redacted: bool = False
    """It has a GNU build-id that Go's linker made of that word."""

    @property
    def path(self) -> str:
        """What people know the file by."""
        return self.input.path


def identify(elf: ElfFile) -> Identified:
    """The ids of a file and what it holds.

    An open `ElfFile` has all that this needs: it raises `InputError` only where the file changes
    meanwhile.
    """
    told = go_build_info(elf)
    ids = identity(elf)
    redacted = ids.primary.scheme is IdScheme.FILE and has_redacted_id(elf)
    return Identified(
        input=elf.input,
        size_bytes=elf.size_bytes,
        identity=ids,
        machine=elf.machine_name,
        kind=elf.kind,
        sources=present_in(elf),
        code_sections=code_sections(elf),
        has_code_bytes=has_code_bytes(elf),
        packed=packed_by_upx(elf),
        debug_link=debug_link(elf),
        dwarf_size_bytes=dwarf_size_bytes(elf, ".debug_info"),
        inflated_size_bytes=inflated_size_bytes(elf),
        has_redacted_id=redacted,
        has_id_of_redacted=redacted and has_id_of_redacted(elf),
        build=None if told is None else told.build,
    )
