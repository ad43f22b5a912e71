"""``symup status``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader.cli import options, terminal
from uploader.errors import ExitCode, NothingFound, SymupError, UsageError
from uploader.model import Decision, SymbolId
from uploader.report.words import count, printable, size

if TYPE_CHECKING:
    from uploader.transfer.protocol import Destination, Manifest

SCHEMA = "symup.status/1"


def command(
    what: Annotated[
        list[str], typer.Argument(help="Files, folders, or ids as `inspect` tells them.", metavar="PATHS-or-IDS...")
    ],
    to: options.To = None,
    project: options.Project = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    as_json: options.Json = False,
) -> int:
    """Tell what the store holds for binaries or ids: the quality, when it was made, and by what.

    The exit code is 1 if anything is missing there.

    Example: symup status build/ --to https://symbols.example.com
    """
    chosen = options.settings(to=to, project=project, include=include, exclude=exclude)
    wanted, troubles = _wanted(what, include=chosen.include, exclude=chosen.exclude)
    destination = options.open_destination(chosen)
    if not wanted and not troubles:
        raise NothingFound("nothing with symbols found", remedy="Check the paths and patterns.")
    try:
        entries = [_entry(label, symbol_id, destination) for label, symbol_id in wanted]
    finally:
        destination.close()
    missing = sum(entry["manifest"] is None for entry in entries)
    code = ExitCode.SOME_FAILED if missing or troubles else ExitCode.DONE
    if as_json:
        terminal.document(
            {
                "schema": SCHEMA,
                "destination": destination.url,
                "project": chosen.project,
                "exit_code": int(code),
                "counts": {"stored": len(entries) - missing, "missing": missing, "failed": len(troubles)},
                "entries": entries,
                "troubles": [{"path": path, "reason": reason} for path, reason in troubles],
            }
        )
        return code
    for entry in entries:
        terminal.result(_line(entry))
    for path, reason in troubles:
        terminal.say(f"symup: {printable(path)}: {printable(reason)}")
    told = f"{count(len(entries), 'id')} at {destination.url}: {len(entries) - missing:,} stored, {missing:,} missing"
    terminal.say(f"symup: {printable(told)}")
    if missing:
        terminal.say("  try: symup upload the files of the missing ones")
    return code


def _wanted(
    what: list[str], *, include: tuple[str, ...], exclude: tuple[str, ...]
) -> tuple[list[tuple[str, SymbolId]], list[tuple[str, str]]]:
    """(label, id) pairs of what was asked for, and the files that can't be asked for, with the reason."""
    wanted: list[tuple[str, SymbolId]] = []
    troubles: list[tuple[str, str]] = []
    paths = []
    for word in what:
        if os.path.lexists(word):
            paths.append(word)
            continue
        try:
            wanted.append((word, SymbolId.parse(word)))
        except ValueError as error:
            raise UsageError(
                f"{word!r} is neither a file nor an id", remedy="symup inspect FILE tells a file's ids."
            ) from error
    if paths:
        from uploader.pipeline.gather import gather
        from uploader.progress import Silent

        gathered = gather(paths, progress=Silent(), include=include, exclude=exclude)
        wanted += [(artifact.path, artifact.identity.primary) for artifact in gathered.artifacts]
        troubles += [(o.path, o.reason) for o in gathered.outcomes if o.decision is Decision.FAILED]
    return wanted, troubles


def _entry(label: str, symbol_id: SymbolId, destination: Destination) -> dict[str, Any]:
    try:
        manifest = destination.manifest(symbol_id)
        reason = "stored" if manifest else "not in the store"
    except SymupError as error:
        if error.exit_code is not ExitCode.REFUSED:
            raise
        manifest, reason = None, error.message
    return {
        "what": label,
        "id": str(symbol_id),
        "reason": reason,
        "manifest": None if manifest is None else _manifest_object(manifest),
    }


def _manifest_object(manifest: Manifest) -> dict[str, Any]:
    from uploader.report.json import figures_object, identity_members

    return {
        **identity_members(manifest.identity),
        "quality": manifest.quality.label,
        "figures": figures_object(manifest.figures),
        "sources": list(manifest.sources),
        "file_name": manifest.file_name,
        "tool": manifest.tool,
        "source_revision": manifest.source_revision or None,
        "created_at": manifest.created_at,
        "gsym_size_bytes": manifest.content_size_bytes,
        "compressed_size_bytes": manifest.compressed_size_bytes,
        "content_sha256": manifest.content_sha256,
        "chunks": len(manifest.chunks),
    }


def _line(entry: dict[str, Any]) -> str:
    manifest = entry["manifest"]
    label = printable(entry["what"])
    if manifest is None:
        return f"missing   {'':9} {label}  {entry['id'] if entry['id'] != label else ''}  {printable(entry['reason'])}"
    made = f"{manifest['created_at']} by {manifest['tool']}"
    if manifest["source_revision"]:
        made += f" from {manifest['source_revision'][:12]}"
    told = f"{count(manifest['figures']['functions'], 'function')}, {size(manifest['compressed_size_bytes'])}, {made}"
    return f"stored    {manifest['quality']:9} {label}  {printable(told)}"
