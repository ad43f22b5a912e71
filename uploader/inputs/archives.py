"""What a file that is no ELF file is, where it may hold ELF files: told by what it begins with, so that people learn what to do with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from uploader.values import frozen

HEAD_SIZE_BYTES = 1088
"""What is read of a file to tell what it is: as far as the magic of ext file systems."""

ISO_MAGIC_OFFSET = 32769

_MAY_HOLD_ELF = re.compile(
    r"(?i)\.(?:tar\.\w+|t[gbx]z2?|tzst|apk|crate|ko\.\w+|so(?:\.\d+)*\.(?:gz|xz|zst|bz2)|debug\.\w+|vmlinux\.\w+)\Z"
)


@frozen
class Container:
    """A kind of file that symup doesn't look into."""

    one: str
    """``a zip archive``."""
    many: str
    remedy: str
    """What to do today."""


_UNPACK = "unpack it, and give the folder"
_AR = Container(
    one="a static library",
    many="static libraries",
    remedy="give the programs linked with it",
)
_DEB = Container(one="a Debian package", many="Debian packages", remedy=f"{_UNPACK}: dpkg-deb -x FILE FOLDER")
_ZIP = Container(one="a zip archive", many="zip archives", remedy=f"{_UNPACK}: unzip FILE -d FOLDER")
_TAR = Container(one="a tar archive", many="tar archives", remedy=f"{_UNPACK}: tar -xf FILE -C FOLDER")
_COMPRESSED = Container(
    one="a compressed file",
    many="compressed files",
    remedy=f"{_UNPACK}: tar -xf FILE -C FOLDER, gunzip, unxz or unzstd",
)
_IMAGE = Container(
    one="a file system image", many="file system images", remedy=f"{_UNPACK}: mount it, or take 7z x or unsquashfs"
)
_MAGICS = (
    (b"!<thin>\n", _AR),
    (b"PK\x03\x04", _ZIP),
    (
        b"\xed\xab\xee\xdb",
        Container(one="an RPM package", many="RPM packages", remedy=f"{_UNPACK}: rpm2cpio FILE | cpio -id"),
    ),
    (b"07070", Container(one="a cpio archive", many="cpio archives", remedy=f"{_UNPACK}: cpio -id <FILE")),
    (b"7z\xbc\xaf\x27\x1c", Container(one="a 7-Zip archive", many="7-Zip archives", remedy=f"{_UNPACK}: 7z x FILE")),
    (b"hsqs", _IMAGE),
    (b"QFI\xfb", _IMAGE),
)
_COMPRESSED_MAGICS = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"BZh")


def container(path: str, head: bytes, read_at: Callable[[int, int], bytes], *, named: bool) -> Container | None:
    """The kind of a file that begins with ``head``; None where it is none that may hold ELF files.

    ``read_at`` gives so many bytes from an offset. Most compressed files hold a text, so that in a folder the name decides whether they
    are told of; ``named`` says that the user named this very file.
    """
    if head.startswith(b"!<arch>\n"):
        return _DEB if head[8:21] == b"debian-binary" else _AR
    for magic, kind in _MAGICS:
        if head.startswith(magic):
            return kind
    if head.startswith(_COMPRESSED_MAGICS):
        return _COMPRESSED if named or _MAY_HOLD_ELF.search(path) else None
    if head[257:262] == b"ustar":
        return _TAR
    if head[1080:1082] == b"\x53\xef" and not any(head[:1024]):
        return _IMAGE
    if not any(head) and read_at(ISO_MAGIC_OFFSET, 5) == b"CD001":
        return _IMAGE
    return None


def look_at(path: str | os.PathLike[str]) -> Container | None:
    """The kind of a file that the user named; None where it is none, or can't be read."""
    try:
        with open(path, "rb") as file:
            return container(
                os.fspath(path),
                file.read(HEAD_SIZE_BYTES),
                lambda offset, size: os.pread(file.fileno(), size, offset),
                named=True,
            )
    except OSError:
        return None
