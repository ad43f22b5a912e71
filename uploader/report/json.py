"""A run as one JSON document: the schema ``symup.report/1``, published in ``docs/report.schema.json``.

Within version 1 members are only ever added. Outcomes stand in the order of their paths.
"""

from __future__ import annotations

from typing import Any

from uploader.errors import SymupError
from uploader.judgement import concerns
from uploader.model import Identity, Outcome, Provenance
from uploader.protocol.wire.artifacts import FIGURES
from uploader.report.groups import remedy_of
from uploader.report.model import RunReport

SCHEMA = "symup.report/1"

_SUMS = (
    "input_size_bytes",
    "gsym_size_bytes",
    "compressed_size_bytes",
    "sent_size_bytes",
    "chunks_total",
    "chunks_sent",
)


def report(run: RunReport) -> dict[str, Any]:
    """The document for one run."""
    return {
        "schema": SCHEMA,
        "command": run.command,
        "tool": run.tool,
        "core": run.core,
        "destination": run.destination,
        "project": run.project,
        "shard": run.shard,
        "provenance": provenance_members(run.provenance),
        "ended_at": run.ended_at or None,
        "exit_code": int(run.exit_code),
        "error": error_object(run.error),
        "seconds": round(run.seconds, 3),
        "worst_quality": None if run.worst_quality is None else run.worst_quality.label,
        "counts": {decision.value: number for decision, number in run.counts.items()},
        "totals": {
            "files": len(run.outcomes),
            "extracted": run.extracted,
            "unreached": run.unreached,
            **{member: run.total(member) for member in _SUMS},
        },
        "left_out": [
            {"what": kind.what, "number": kind.number, "examples": list(kind.examples), "remedy": kind.remedy}
            for kind in run.left_out
        ],
        "outcomes": [outcome_object(outcome) for outcome in run.outcomes],
    }


def outcome_object(outcome: Outcome) -> dict[str, Any]:
    """One file's outcome."""
    return {
        "path": outcome.path,
        "decision": outcome.decision.value,
        "reason": outcome.reason,
        "remedy": remedy_of(outcome),
        "exit_code": int(outcome.exit_code),
        **identity_members(outcome.identity),
        "quality": None if outcome.quality is None else outcome.quality.label,
        "concerns": sorted(concern.value for concern in concerns(outcome)),
        "figures": None if outcome.figures is None else FIGURES.write(outcome.figures),
        "input_size_bytes": outcome.input_size_bytes,
        "gsym_size_bytes": outcome.gsym_size_bytes,
        "compressed_size_bytes": outcome.compressed_size_bytes,
        "sent_size_bytes": outcome.sent_size_bytes,
        "chunks_total": outcome.chunks_total,
        "chunks_sent": outcome.chunks_sent,
        "seconds": round(outcome.seconds, 3),
        "warnings": list(outcome.warnings),
    }


def provenance_members(provenance: Provenance) -> dict[str, Any]:
    """The repository and CI run of the files; null where that is not known."""
    return {
        "repository": provenance.repository or None,
        "branch": provenance.branch or None,
        "source_revision": provenance.revision or None,
        "run_url": provenance.run_url or None,
    }


def identity_members(identity: Identity | None) -> dict[str, Any]:
    """``id`` and ``aliases``, written as users write ids: bare hex is a GNU build-id."""
    if identity is None:
        return {"id": None, "aliases": []}
    return {"id": str(identity.primary), "aliases": [str(alias) for alias in identity.aliases]}


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
