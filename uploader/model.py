"""The values that travel along the whole street: ids, quality, figures, manifests and outcomes."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import field

from uploader.values import frozen


class Quality(enum.IntEnum):
    """How much a symbol file can tell, from nothing to everything; the order is the worth."""

    NONE = 0
    FUNCTIONS = 1
    LINES = 2
    FULL = 3

    @property
    def label(self) -> str:
        """The name that users see: ``none``, ``functions``, ``lines`` or ``full``."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> Quality:
        """The quality of that name; `ValueError` for an unknown one."""
        try:
            return cls[label.upper()]
        except KeyError:
            raise ValueError(f"unknown quality {label!r}") from None


class IdScheme(enum.StrEnum):
    """The kinds of id that a binary can be known by, in the order of preference."""

    GNU = "gnu"
    GO = "go"
    FILE = "file"


_ID_VALUE = {
    IdScheme.GNU: r"(?:[0-9a-f]{2}){1,64}",
    IdScheme.GO: r"[A-Za-z0-9_.~-]{1,200}",
    IdScheme.FILE: r"[0-9a-f]{32}",
}
_PRINTED_GO_ID = r"[A-Za-z0-9_-]{20}(?:[/~][A-Za-z0-9_-]{20}){1,3}"


@frozen
class SymbolId:
    """One id of a binary. The value is safe as a file name: lowercase hex, or for Go base64 with ``~`` for ``/``.

    Raises `ValueError` for a value that the scheme doesn't allow.
    """

    scheme: IdScheme
    value: str

    def __post_init__(self) -> None:
        if not re.fullmatch(_ID_VALUE[self.scheme], self.value) or self.value.startswith("."):
            raise ValueError(f"not a valid {self.scheme} id: {self.value[:80]!r}")

    def __lt__(self, other: SymbolId) -> bool:
        return (self.scheme, self.value) < (other.scheme, other.value)

    def __str__(self) -> str:
        return self.value if self.scheme is IdScheme.GNU else f"{self.scheme}:{self.value}"

    @classmethod
    def parse(cls, text: str) -> SymbolId:
        """Reads what ``str`` gives: bare hex is a GNU build-id, else ``scheme:value``."""
        scheme, colon, value = text.partition(":")
        if not colon:
            return cls(scheme=IdScheme.GNU, value=text.lower())
        return cls(scheme=IdScheme(scheme), value=value)

    @classmethod
    def of_word(cls, word: str) -> SymbolId:
        """Reads what people write: what `parse` reads, and a Go build id as ``go tool buildid`` prints it, with or without ``go:``.

        Without, only ids of the form that ``go build`` gives are told from paths.
        """
        if word.startswith(f"{IdScheme.GO}:"):
            return cls.parse(word.replace("/", "~"))
        if re.fullmatch(_PRINTED_GO_ID, word):
            return cls(scheme=IdScheme.GO, value=word.replace("/", "~"))
        return cls.parse(word)


@frozen
class Identity:
    """The id an artifact is stored under, and the other ids that resolve to it."""

    primary: SymbolId
    aliases: tuple[SymbolId, ...] = ()

    def __str__(self) -> str:
        return str(self.primary)


class Source(enum.StrEnum):
    """A source of symbols."""

    DWARF = "dwarf"
    DWARF_LINES = "dwarf-lines"
    GO = "go"
    SYMTAB = "symtab"
    DYNSYM = "dynsym"
    MINI_DEBUGINFO = "mini-debuginfo"
    PLT = "plt"
    """Stubs that call into other files, by the relocations of their slots."""


START_UP_SIZE_BYTES = 512
"""Room for what is linked into every program and hardly ever built with -g: ``_start``, ``frame_dummy``, the first stubs."""


@frozen
class Figures:
    """The numbers behind a quality. Sizes in bytes of executable code."""

    executable_bytes: int = 0
    function_bytes: int = 0
    line_bytes: int = 0
    inline_bytes: int = 0
    """Of `line_bytes`, those whose source would also tell of calls that were inlined there."""
    functions: int = 0
    inlines: int = 0
    line_rows: int = 0
    by_source: Mapping[str, int] = field(default_factory=dict)
    """Functions by the source that gave them, keyed by `Source` values."""
    dropped_ranges: int = 0
    """Ranges of functions and inlined calls that debug information states and no answer comes from: malformed, or not in code."""
    cut_ranges: int = 0
    """Those of which a part only is answered from."""
    widened_ranges: int = 0
    """Ranges of inlined calls outside of what they are inlined into, which was widened by them."""

    @property
    def quality(self) -> Quality:
        """The best level that holds for most of the code that has a name.

        ``lines`` wants lines for half of it at least, ``full`` also that half of these come from a source that tells of inlined
        calls: a C program without any is full. The start-up code that a C runtime brings into every program is left out of the account.
        """
        if not self.functions:
            return Quality.NONE
        named_bytes = max(self.line_bytes, self.function_bytes - START_UP_SIZE_BYTES)
        if not self.line_bytes or 2 * self.line_bytes < named_bytes:
            return Quality.FUNCTIONS
        return Quality.FULL if 2 * self.inline_bytes >= self.line_bytes else Quality.LINES


@frozen
class Shortfall:
    """A symbol file's distance from what the headers of its sources promised, and the evidence at hand when that was found."""

    promised: Quality
    evidence: tuple[str, ...]
    """A digest of everything that was read, and of the reader, sorted. A client that has nothing else would get no more out of it."""


@frozen
class Provenance:
    """The origin of a CI job's files, as its environment tells it. Empty where it does not."""

    repository: str = ""
    """The address of its page, without credentials."""
    branch: str = ""
    """The branch or tag."""
    revision: str = ""
    """The commit."""
    run_url: str = ""
    """The page of the job or workflow run."""


@frozen
class Build:
    """How a program was built, as it tells itself; Go's linker writes it into every program. Empty where it does not."""

    toolchain: str = ""
    """The compiler's version: ``go1.27.3``."""
    module: str = ""
    """The path of the main module, or of the main package where there is no module."""
    module_version: str = ""
    """``(devel)`` for what was built in its own checkout."""
    revision: str = ""
    """The commit that was checked out where it was built."""
    modified: bool = False
    """The checkout was not just that commit."""


NEW_IN_STORE = "new in the store"
"""The reason for storing a file of which nothing more need be said."""


class Decision(enum.StrEnum):
    """The fate of one file."""

    STORED = "stored"
    """Sent and committed."""
    PRESENT = "present"
    """The destination already holds it, as good or better."""
    CONVERTED = "converted"
    """Written to a local GSYM file."""
    PLANNED = "planned"
    """Would be sent (``--dry-run``)."""
    SKIPPED = "skipped"
    """Left alone for a stated reason that is not a failure: no symbols, a duplicate."""
    FAILED = "failed"
    """Should have worked and did not."""


class Role(enum.Enum):
    """The role of a skipped file beside the one that speaks for it."""

    COPY = ("the same bytes as {}", "a copy of another file")
    TWIN = ("has the id of {}, which is read instead", "has the id of another file, which is read instead")
    PART = ("part of {}, which it is read with", "part of another file, which it is read with")

    def of(self, path: str) -> str:
        """The role of one file, beside the file at ``path``."""
        return self.value[0].replace("{}", path)

    @property
    def of_many(self) -> str:
        """The role of several, each beside a file of its own."""
        return self.value[1]


@frozen
class LeftOut:
    """Files or folders of one kind that may hold symbols and were not looked at."""

    what: str
    """Their kind, in the plural: ``zip archives``."""
    number: int
    examples: tuple[str, ...]
    """The paths of a few of them."""
    remedy: str
    """The way to have them taken in."""


class Concern(enum.StrEnum):
    """A reason for which a gate can fail a run."""

    FAILED = "failed"
    """Should have worked and did not: unreadable, broken."""
    CONFLICT = "conflict"
    """One id, two different contents."""
    MISSING_DEBUG = "missing-debug"
    """No debug information was found, so that there are function names at most; or a file of it that the rest refers to was not."""
    DECLINED = "declined"
    """The destination kept something else than what it was offered."""
    WARNINGS = "warnings"
    """Something was told that a person should look at."""


@frozen
class Outcome:
    """The fate of one file (or of one artifact made of several), with its reason."""

    path: str
    decision: Decision
    reason: str
    identity: Identity | None = None
    quality: Quality | None = None
    figures: Figures | None = None
    input_size_bytes: int = 0
    gsym_size_bytes: int = 0
    compressed_size_bytes: int = 0
    sent_size_bytes: int = 0
    chunks_total: int = 0
    chunks_sent: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    remedy: str | None = None
    concern: Concern | None = None
    """`Concern.CONFLICT` or `Concern.DECLINED` where it is one of these, which the decision alone does not tell."""
    exit_code: int = 0
    """The exit code that this outcome alone would give (0 when all is well)."""
    role: Role | None = None
    """The role of a file that was skipped for another one."""
    ended_with_run: bool = False
    """It failed for the trouble that ended the whole run, which the run tells."""
    lacks_files: bool = False
    """Files that its debug information refers to were not found: split units, or what dwz moved out."""
