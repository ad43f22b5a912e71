"""``symup gc``."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from uploader.cli import options, stores, terminal
from uploader.errors import UsageError
from uploader.words import count, duration, size

SCHEMA = "symup.gc/1"
_DAY_SECONDS = 24 * 3600.0


def command(
    store: Annotated[str, typer.Argument(help="The store: a folder, or a bucket (s3://…).", metavar="DEST")],
    project: options.Project = None,
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="DAYS", min=0, help="Leave younger chunks alone.")
    ] = 7,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be done, and do nothing.")] = False,
    as_json: options.Json = False,
) -> int:
    """Delete what no symbol file in a store needs: chunks that no manifest names, names that lead to nothing.

    It takes two runs. The first condemns what nothing needs; one that comes a day later or more deletes what nothing needs still. So it
    is safe beside uploads, in a folder and in a bucket, and may be run every day: it does both at once.

    Example: symup gc s3://symbols/web
    """
    from uploader.store.condemned import Terms

    chosen = options.settings(project=project)
    kept = stores.opened(store, chosen.project)
    if not math.isfinite(older_than):
        raise UsageError("--older-than takes a number of days", remedy="For example: --older-than 7")
    done = kept.gc(older_than_seconds=older_than * _DAY_SECONDS, dry=dry_run)
    if as_json:
        told: dict[str, Any] = {
            "schema": SCHEMA,
            "store": store,
            "project": chosen.project,
            "dry_run": dry_run,
            "deleted_chunks": done.chunks,
            "deleted_size_bytes": done.chunks_size_bytes,
            "deleted_names": done.names,
            "condemned": done.condemned,
            "leftovers": done.leftovers,
        }
        terminal.document(told)
        return 0
    would = "would be " if dry_run else ""
    terminal.result(
        f"{would}deleted: {count(done.chunks, 'chunk')}, {size(done.chunks_size_bytes)}; {count(done.names, 'name')}"
    )
    if done.leftovers:
        terminal.result(f"deleted: {count(done.leftovers, 'unfinished write')} of killed processes")
    if done.condemned:
        grace = duration(Terms().grace_seconds)
        terminal.result(
            f"{would}condemned: {count(done.condemned, 'chunk or name', 'chunks and names')} that nothing needs; "
            f"a run in {grace} or later deletes them"
        )
    return 0
