"""One exit code for a run of many files."""

from __future__ import annotations

from collections.abc import Iterable

from uploader.errors import ExitCode
from uploader.model import Outcome

PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.NOT_ALLOWED,
    ExitCode.NETWORK,
    ExitCode.REFUSED,
    ExitCode.SOME_FAILED,
    ExitCode.QUALITY,
    ExitCode.NOTHING_FOUND,
    ExitCode.DONE,
)
"""What a person has to see to first comes first: what stops the whole run, then what stopped one file, then what is only poor."""


def exit_code(outcomes: Iterable[Outcome], *more: ExitCode) -> ExitCode:
    """The exit code of a run: of those that its outcomes would give alone, and of ``more``, the first in `PRECEDENCE`."""
    codes = {ExitCode(outcome.exit_code) for outcome in outcomes} | set(more)
    return next((code for code in PRECEDENCE if code in codes), ExitCode.DONE)
