"""Every error that symup raises, in one tree, each with its exit code and a remedy.

::

    SymupError
    ├── InputError                 1   bytes from outside that can't be read as what they claim to be
    │   ├── NotElf
    │   ├── MalformedElf
    │   ├── MalformedDwarf
    │   ├── MalformedGoTable
    │   └── MalformedGsym
    ├── NotWritten                 1   a file could not be written, for want of room or by the system's trouble
    ├── UsageError                 2   the command or the configuration is off
    ├── NothingFound               3   nothing with symbols found
    ├── NotAllowed                 4   not logged in, or not allowed
    ├── Refused                    5   the destination declined
    │   ├── ChunkMismatch              a chunk's bytes are not what its name says
    │   ├── TooLarge                   a request is larger than what lets it through
    │   ├── ArtifactMismatch           a committed artifact does not check out
    │   ├── NotAsSent                  the destination holds something else than what it said to have stored
    │   └── StoreDamaged               what the store holds is not what it promised
    ├── NetworkGaveOut             6   run it again: it resumes
    ├── QualityTooLow              7   below ``--require``
    └── Interrupted              130

Trouble with one file is not raised through the pipeline: it becomes that file's `model.Outcome`.
"""

from __future__ import annotations

import enum
from typing import ClassVar


class ExitCode(enum.IntEnum):
    """The process exit codes. They are stable: scripts depend on them."""

    DONE = 0
    SOME_FAILED = 1
    USAGE = 2
    NOTHING_FOUND = 3
    NOT_ALLOWED = 4
    REFUSED = 5
    NETWORK = 6
    QUALITY = 7
    INTERRUPTED = 130


class SymupError(Exception):
    """The root of the tree: a message for a person, and a remedy that says what to do next."""

    exit_code: ClassVar[ExitCode] = ExitCode.SOME_FAILED
    default_remedy: ClassVar[str | None] = None

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy if remedy is not None else self.default_remedy


class InputError(SymupError):
    """Bytes from outside that can't be read as what they claim to be.

    ``path`` names the file where it is known. The message then begins with it; ``reason`` is the message without it, for reports that
    tell the path beside it.
    """

    def __init__(self, reason: str, *, path: str = "", remedy: str | None = None) -> None:
        super().__init__(f"{path} {reason}" if path else reason, remedy=remedy)
        self.reason = reason


class NotElf(InputError):
    """The file is not an ELF file at all."""


class MalformedElf(InputError):
    """An ELF file whose headers contradict its bytes."""


class MalformedDwarf(InputError):
    """DWARF that can't be decoded; what is sound around it still counts."""


class MalformedGoTable(InputError):
    """A table of Go's linker that contradicts itself."""


class MalformedGsym(InputError):
    """A GSYM file that can't be decoded."""


class NotWritten(SymupError):
    """A file could not be written whole, though nothing is wrong with the command: no room, a broken disk, a pipe without a reader."""

    default_remedy = "Make room on that disk, or name a place on another one; then run the same command again."


class UsageError(SymupError):
    """The command line or the configuration is off."""

    exit_code = ExitCode.USAGE


class NothingFound(SymupError):
    """No file with symbols was found in the given paths."""

    exit_code = ExitCode.NOTHING_FOUND


class NotAllowed(SymupError):
    """The destination wants a login, or this login may not do this."""

    exit_code = ExitCode.NOT_ALLOWED


class Refused(SymupError):
    """The destination understood and declined."""

    exit_code = ExitCode.REFUSED


class ChunkMismatch(Refused):
    """A chunk's bytes don't have the digest that it is named by."""


class TooLarge(Refused):
    """A request is larger than the destination, or a proxy before it, lets through."""

    def __init__(self, message: str, *, remedy: str | None = None, limit_size_bytes: int | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.limit_size_bytes = limit_size_bytes


class ArtifactMismatch(Refused):
    """A committed artifact misses chunks, or its content is not what the manifest says."""


class NotAsSent(Refused):
    """A destination holds something else than it said to have stored."""

    default_remedy = "Run the same command again. Where that doesn't help, tell who runs the server."


class StoreDamaged(Refused):
    """A store holds something else than its manifests promise."""

    default_remedy = "Upload the file again: what is damaged or missing is sent anew."


class NetworkGaveOut(SymupError):
    """The network failed for longer than symup retries."""

    exit_code = ExitCode.NETWORK

    def __init__(self, message: str, *, remedy: str | None = None, again: str = "Run the same command again") -> None:
        """``again`` tells, without a full stop, to run the command again; ``remedy`` is for what that doesn't help against."""
        super().__init__(message, remedy=remedy or f"{again}: it resumes where it stopped.")
        self._remedy_of_asking = remedy or f"{again}."

    def for_asking(self) -> NetworkGaveOut:
        """The same, met by a command that only asks: nothing of it is left to be resumed."""
        return NetworkGaveOut(self.message, remedy=self._remedy_of_asking)


class QualityTooLow(SymupError):
    """Some symbol file is poorer than ``--require`` asks."""

    exit_code = ExitCode.QUALITY


class Interrupted(SymupError):
    """The user or the system asked symup to stop."""

    exit_code = ExitCode.INTERRUPTED
    default_remedy = "Run the same command again: it sends only what is still missing."
