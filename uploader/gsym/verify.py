"""The check that a store makes before it promises a symbol file to anyone."""

from __future__ import annotations

from uploader.errors import MalformedGsym
from uploader.gsym.decode import decode
from uploader.gsym.layout import Data, Header


def check(data: Data, *, uuid: bytes | None = None) -> Header:
    """Decodes a whole GSYM file and gives its header; with a ``uuid``, also holds the file's own to it.

    Raises `MalformedGsym` for unsound bytes and for another UUID.
    """
    header, _ = decode(data)
    if uuid is not None and header.uuid != uuid:
        raise MalformedGsym(f"the GSYM file's UUID is {header.uuid.hex() or 'empty'}, not {uuid.hex()}")
    return header
