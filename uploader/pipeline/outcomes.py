"""From what happened to outcomes, and from the outcomes of a run to its end."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from uploader.errors import ExitCode, NothingFound, SymupError
from uploader.judgement import GO_TABLE_ADVICE, UNSTRIPPED_ADVICE, exit_code
from uploader.model import Decision, LeftOut, Outcome, Quality, Role, Source
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.limit import wants_memory
from uploader.pipeline.missing import REMEDY_TIE, REMEDY_UNPACK, nothing_ties
from uploader.pipeline.processes import WorkerKilled
from uploader.sources.identify import Identified
from uploader.values import frozen, replace

NO_FUNCTIONS = "no function symbols in it"
KILLED_REMEDY = "Give it more memory, or a lower --max-memory, so that less is converted beside it."
MEMORY_REMEDY = "Allow it more with --max-memory where the machine has more, or leave the file out with --exclude."
CHANGED_REMEDY = "Run the command again once whatever writes the file is done."

_HELPFUL = {Decision.STORED, Decision.PRESENT, Decision.CONVERTED, Decision.PLANNED}


@frozen
class Finished:
    """What a run came to."""

    outcomes: tuple[Outcome, ...]
    """By path. After an interruption, of the files that had one by then."""
    exit_code: ExitCode
    extracted: int = 0
    """Artifacts whose sources were decoded."""
    unreached: int = 0
    """Artifacts that an interruption left without an outcome."""
    left_out: tuple[LeftOut, ...] = ()
    """What may hold symbols and was not looked at."""
    error: SymupError | None = None
    """What concerns the run as a whole: nothing found, no login, no network, an interruption."""


def failed(
    path: str,
    reason: str,
    *,
    remedy: str | None = None,
    code: ExitCode = ExitCode.SOME_FAILED,
) -> Outcome:
    """The outcome of a file that should have worked and did not."""
    return Outcome(
        path=path,
        decision=Decision.FAILED,
        reason=reason,
        remedy=remedy,
        exit_code=code,
    )


def skipped_for(file: Identified, role: Role, path: str) -> Outcome:
    """The outcome of a file that stands in this role to the one at ``path``, which speaks for it."""
    return replace(skipped(file, role.of(path)), role=role)


def skipped(file: Identified, reason: str) -> Outcome:
    """The outcome of a file that is left alone for a reason that is no failure."""
    return Outcome(
        path=file.path,
        decision=Decision.SKIPPED,
        reason=reason,
        identity=file.identity,
        input_size_bytes=file.size_bytes,
    )


def empty(artifact: Artifact, *, warnings: tuple[str, ...] = ()) -> Outcome:
    """The outcome of a file that holds nothing to look up."""
    remedy = REMEDY_TIE if nothing_ties(artifact) else UNSTRIPPED_ADVICE
    if artifact.main.packed:
        remedy = REMEDY_UNPACK
    elif Source.GO in artifact.main.sources:
        remedy = GO_TABLE_ADVICE
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.SKIPPED,
            reason=NO_FUNCTIONS,
            quality=Quality.NONE,
            warnings=warnings,
            remedy=remedy,
        ),
    )


def stumbled(path: str, error: Exception) -> Outcome:
    """The outcome of a file on which symup itself failed: told, so that the others go on."""
    import logging

    logging.getLogger(__name__).debug("unexpected error in %s", path, exc_info=error)
    if isinstance(error, WorkerKilled):
        if error.signal_number == getattr(signal, "SIGBUS", None):
            return failed(path, "was cut short while it was read, twice", remedy=CHANGED_REMEDY)
        return failed(
            path, "the process that converted it was killed, twice: most likely memory ran out", remedy=KILLED_REMEDY
        )
    if wants_memory(error):
        return failed(path, "converting it takes more memory than is allowed", remedy=MEMORY_REMEDY)
    if isinstance(error, OSError):
        return failed(path, f"can't be read: {error.strerror or error}")
    return failed(
        path,
        f"symup stumbled over it: {type(error).__name__}: {error}",
        remedy="This is a bug in symup: please report it, with what SYMUP_DEBUG=1 shows.",
    )


def _what_to_look_at(outcomes: Sequence[Outcome], left_out: Sequence[LeftOut]) -> str:
    """What to do where nothing with symbols was found: what was met is likelier to be meant than other paths."""
    remedies = [outcome.remedy for outcome in outcomes if outcome.remedy]
    if remedies:
        return remedies[0]
    if left_out and not outcomes:
        most = max(left_out, key=lambda kind: kind.number)
        return f"Only {most.what} were there: {most.remedy}."
    return "Check the paths and patterns."


def conclude(
    outcomes: Iterable[Outcome],
    *,
    error: SymupError | None,
    extracted: int,
    unreached: int,
    allow_empty: bool,
    paths: Sequence[str | Path],
    left_out: tuple[LeftOut, ...] = (),
) -> Finished:
    """Sorts the outcomes by path and id, whichever thread was done first, and finds the exit code.

    A run that no file came out of with symbols is `NothingFound`.
    """
    ordered = tuple(sorted(outcomes, key=lambda outcome: (outcome.path, str(outcome.identity or ""))))
    if error is None and not allow_empty and not any(o.decision in _HELPFUL or o.exit_code for o in ordered):
        shown = ", ".join(str(path) for path in paths[:3]) + (", …" if len(paths) > 3 else "")
        error = NothingFound(
            f"nothing with symbols found in {shown}",
            remedy=f"{_what_to_look_at(ordered, left_out)} --allow-empty makes this no failure.",
        )
    code = exit_code(ordered, *([error.exit_code] if error else []))
    return Finished(
        outcomes=ordered,
        exit_code=code,
        extracted=extracted,
        unreached=unreached,
        left_out=left_out,
        error=error,
    )
