"""One run as one value: every form of the report is rendered from it, so that all tell the same."""

from __future__ import annotations

from collections import Counter

from uploader import __version__
from uploader.core import which
from uploader.errors import ExitCode, SymupError
from uploader.judgement import has_symbols
from uploader.model import Decision, LeftOut, Outcome, Provenance, Quality
from uploader.values import frozen


@frozen
class RunReport:
    """One run of a command over many files."""

    command: str
    outcomes: tuple[Outcome, ...]
    """By path."""
    exit_code: ExitCode
    seconds: float
    destination: str | None = None
    """The place that files were brought to; never holds a credential."""
    project: str | None = None
    extracted: int = 0
    unreached: int = 0
    error: SymupError | None = None
    """The trouble of the run as a whole."""
    left_out: tuple[LeftOut, ...] = ()
    """Files that may hold symbols and were not looked at."""
    shard: str | None = None
    """``2/5`` where the run took only a part of the ids."""
    provenance: Provenance = Provenance()
    """The repository and CI run of the files, as far as CI tells."""
    dwarf: bool = True
    """Debug information was read, where there was any."""
    ended_at: str = ""
    """When it was over: RFC 3339, UTC."""

    @property
    def tool(self) -> str:
        """The program that made the report, e.g. ``symup 0.1.0``."""
        return f"symup {__version__}"

    @property
    def core(self) -> str:
        """The core that ran: ``compiled`` or ``python``."""
        return "compiled" if which.compiled() else "python"

    @property
    def counts(self) -> dict[Decision, int]:
        """How many files had each decision, all of them named."""
        found = Counter(outcome.decision for outcome in self.outcomes)
        return {decision: found[decision] for decision in Decision}

    @property
    def worst_quality(self) -> Quality | None:
        """The poorest quality of a file that holds symbols; None where none does."""
        return min(
            (outcome.quality for outcome in self.outcomes if has_symbols(outcome) and outcome.quality), default=None
        )

    def total(self, member: str) -> int:
        """The sum over all outcomes of one of their counts, by its name."""
        return sum(getattr(outcome, member) for outcome in self.outcomes)
