"""PLT stubs behind the port of sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.model import Quality, Source
from uploader.sources.port import Worth

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.elf_symbols.read import SymbolSet


class PltStubs:
    """Stubs that call into other files: no symbols of the file's own, but names for its code."""

    name = Source.PLT.value
    worth = Worth(gives=Quality.NONE)
    what = "PLT stubs"
    of_the_binary_alone = True

    def present_in(self, _elf: ElfFile) -> bool:
        """Nearly every program has some, so that their presence tells nothing."""
        return False

    def read_symbols(self, _elf: ElfFile, binary: ElfFile) -> SymbolSet | None:
        """See `TableSource`."""
        from uploader.sources.elf_symbols.read import stubs_as_symbols
        from uploader.sources.plt.read import read_plt

        stubs = read_plt(binary)
        return stubs_as_symbols(stubs) if stubs.names else None
