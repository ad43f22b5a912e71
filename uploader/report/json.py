"""A run as one JSON document: the schema ``symup.report/1``, published in ``docs/report.schema.json``.

Within version 1 members are only ever added. Outcomes stand in the order of their paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from uploader import __version__, core
from uploader.errors import ExitCode, SymupError
from uploader.model import Decision, Figures, Identity, Outcome

SCHEMA = "symup.report/1"


def report(
    command: str,
    outcomes: Sequence[Outcome],
    *,
    exit_code: ExitCode,
    seconds: float,
    destination: str | None = None,
    project: str | None = None,
    extracted: int = 0,
    unreached: int = 0,
    error: SymupError | None = None,
) -> dict[str, Any]:
    """The document for one run of ``command``. ``error`` is what concerned the run as a whole."""
    decisions = Counter(outcome.decision for outcome in outcomes)
    return {
        "schema": SCHEMA,
        "command": command,
        "tool": f"symup {__version__}",
        "core": "compiled" if core.compiled() else "python",
        "destination": destination,
        "project": project,
        "exit_code": int(exit_code),
        "error": error_object(error),
        "seconds": round(seconds, 3),
        "counts": {decision.value: decisions[decision] for decision in Decision},
        "totals": {
            "files": len(outcomes),
            "extracted": extracted,
            "unreached": unreached,
            "input_size_bytes": sum(outcome.input_size_bytes for outcome in outcomes),
            "gsym_size_bytes": sum(outcome.gsym_size_bytes for outcome in outcomes),
            "compressed_size_bytes": sum(outcome.compressed_size_bytes for outcome in outcomes),
            "sent_size_bytes": sum(outcome.sent_size_bytes for outcome in outcomes),
            "chunks_total": sum(outcome.chunks_total for outcome in outcomes),
            "chunks_sent": sum(outcome.chunks_sent for outcome in outcomes),
        },
        "outcomes": [outcome_object(outcome) for outcome in outcomes],
    }


def outcome_object(outcome: Outcome) -> dict[str, Any]:
    """One file's outcome."""
    return {
        "path": outcome.path,
        "decision": outcome.decision.value,
        "reason": outcome.reason,
        "remedy": outcome.remedy,
        "exit_code": int(outcome.exit_code),
        **identity_members(outcome.identity),
        "quality": None if outcome.quality is None else outcome.quality.label,
        "figures": None if outcome.figures is None else figures_object(outcome.figures),
        "input_size_bytes": outcome.input_size_bytes,
        "gsym_size_bytes": outcome.gsym_size_bytes,
        "compressed_size_bytes": outcome.compressed_size_bytes,
        "sent_size_bytes": outcome.sent_size_bytes,
        "chunks_total": outcome.chunks_total,
        "chunks_sent": outcome.chunks_sent,
        "seconds": round(outcome.seconds, 3),
        "warnings": list(outcome.warnings),
    }


def identity_members(identity: Identity | None) -> dict[str, Any]:
    """``id`` and ``aliases``, written as users write ids: bare hex is a GNU build-id."""
    if identity is None:
        return {"id": None, "aliases": []}
    return {"id": str(identity.primary), "aliases": [str(alias) for alias in identity.aliases]}


def figures_object(figures: Figures) -> dict[str, Any]:
    """The numbers behind a quality."""
    return {
        "executable_bytes": figures.executable_bytes,
        "function_bytes": figures.function_bytes,
        "line_bytes": figures.line_bytes,
        "functions": figures.functions,
        "inlines": figures.inlines,
        "line_rows": figures.line_rows,
        "by_source": {str(source): count for source, count in sorted(figures.by_source.items())},
    }


def error_object(error: SymupError | None) -> dict[str, Any] | None:
    """An error with its exit code and remedy; None for none."""
    if error is None:
        return None
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "remedy": error.remedy,
        "exit_code": int(error.exit_code),
    }
