"""``symup status``."""

from __future__ import annotations

import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader.cli import colour, options, terminal
from uploader.errors import ExitCode, NothingFound, StoreDamaged, UsageError
from uploader.inputs.missing import remedy_for
from uploader.model import Decision, LeftOut, SymbolId
from uploader.report.text import left_out as left_out_line
from uploader.values import frozen
from uploader.words import count, printable, size

if TYPE_CHECKING:
    from uploader.config.settings import Settings
    from uploader.pipeline.artifact import Artifact
    from uploader.progress import Progress
    from uploader.protocol.words import Destination, Manifest

SCHEMA = "symup.status/1"
STATES = ("stored", "missing", "damaged", "empty")
ASKED_AT_ONCE = 8
VERIFIED_AT_ONCE = 4


def command(
    what: Annotated[
        list[str], typer.Argument(help="Files, folders, or ids as `inspect` tells them.", metavar="PATHS-or-IDS...")
    ],
    to: options.To = None,
    project: options.Project = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    build_internals: options.BuildInternals = False,
    allow_missing: options.AllowMissing = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Read all bytes of what is stored, too, and check that they are sound. A damaged chunk is taken out of a "
            "store in a folder, so that the next upload sends it anew.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Tell what the store holds for binaries or ids: the quality, when it was made, and by what.

    The exit code is 1 if anything is missing or damaged there.

    Example: symup status build/ --to https://symbols.example.com
    """
    chosen = options.settings(
        to=to,
        project=project,
        include=include,
        exclude=exclude,
        allow_missing=allow_missing or None,
        build_internals=build_internals or None,
    )
    asked, troubles, left_out = _asked(what, chosen)
    destination = options.open_destination(chosen)
    if not asked and not troubles:
        raise NothingFound("nothing with symbols found", remedy="Check the paths and patterns.")
    observer = terminal.progress(quiet=not verify)
    try:
        with ThreadPoolExecutor(ASKED_AT_ONCE) as workers:
            entries = list(workers.map(lambda one: _entry(one, destination), asked))
        if verify:
            _verify(entries, destination, observer)
    finally:
        terminal.close(observer)
        destination.close()
    counts = Counter(entry["state"] for entry in entries)
    missing = counts["missing"]
    damaged = counts["damaged"]
    code = ExitCode.SOME_FAILED if missing or damaged or troubles else ExitCode.DONE
    if as_json:
        terminal.document(
            {
                "schema": SCHEMA,
                "destination": destination.url,
                "project": chosen.project,
                "exit_code": int(code),
                "counts": {state: counts[state] for state in STATES} | {"failed": len(troubles)},
                "entries": entries,
                "troubles": [{"path": path, "reason": reason} for path, reason in troubles],
            }
        )
        return code
    for entry in entries:
        terminal.result(colour.state_first(_line(entry), sys.stdout))
    for kind in left_out:
        terminal.say(left_out_line(kind))
    for path, reason in troubles:
        terminal.say(f"symup: {printable(path)}: {printable(reason)}")
    told = f"{count(len(entries), 'id')} at {destination.url}: {counts['stored']:,} stored, {missing:,} missing"
    if damaged:
        told += f", {damaged:,} damaged"
    if counts["empty"]:
        told += f", {counts['empty']:,} without symbols to store"
    terminal.say(f"symup: {printable(told)}")
    if damaged:
        terminal.say("  try: symup upload --force PATHS, with the same --to: it sends what is damaged anew")
    elif missing:
        terminal.say("  try: symup upload PATHS, with the same --to")
    return code


@frozen
class _Asked:
    """One id to ask for, and the word or path that it stands for."""

    label: str
    symbol_id: SymbolId
    artifact: Artifact | None = None
    """What was met in a folder: where it holds no symbols itself, it is no loss that the store has none."""


def _asked(what: list[str], chosen: Settings) -> tuple[list[_Asked], list[tuple[str, str]], tuple[LeftOut, ...]]:
    """What to ask for, the files that can't be asked for, with the reason, and what was not looked at."""
    asked: list[_Asked] = []
    paths = []
    gone = []
    for word in what:
        if os.path.lexists(word):
            paths.append(word)
            continue
        try:
            asked.append(_Asked(label=word, symbol_id=SymbolId.parse(word)))
        except ValueError:
            if chosen.allow_missing:
                terminal.say(f"symup: {printable(word)} does not exist, and --allow-missing is set: skipped")
            else:
                gone.append(word)
    if gone:
        named = f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} neither a file nor an id"
        raise UsageError(named, remedy=f"{remedy_for(gone)} symup inspect FILE tells a file's ids.")
    if not paths:
        return asked, [], ()

    from uploader.pipeline.gather import gather
    from uploader.pipeline.plan import Plan
    from uploader.progress import Silent

    gathered = gather(
        Plan(
            paths=paths,
            include=chosen.include,
            exclude=chosen.exclude,
            allow_missing=chosen.allow_missing,
            build_internals=chosen.build_internals,
        ),
        progress=Silent(),
    )
    for artifact in gathered.artifacts:
        met = None if artifact.path in paths else artifact
        asked.append(_Asked(label=artifact.path, symbol_id=artifact.identity.primary, artifact=met))
    troubles = [(one.path, one.reason) for one in gathered.outcomes if one.decision is Decision.FAILED]
    return asked, troubles, gathered.left_out


def _entry(asked: _Asked, destination: Destination) -> dict[str, Any]:
    try:
        manifest = destination.manifest(asked.symbol_id)
        reason = "stored" if manifest else "not in the store"
        state = "stored" if manifest else "empty" if _is_empty(asked.artifact) else "missing"
    except StoreDamaged as error:
        manifest, reason, state = None, error.message, "damaged"
    return {
        "what": asked.label,
        "id": str(asked.symbol_id),
        "state": state,
        "reason": "no function symbols in it, and none stored" if state == "empty" else reason,
        "manifest": None if manifest is None else _manifest_object(manifest),
    }


def _verify(entries: list[dict[str, Any]], destination: Destination, observer: Progress) -> None:
    """Reads all that is said to be stored, some side by side; what is damaged gets that state and the reason."""
    from uploader.pipeline.recheck import damage

    stored = [entry for entry in entries if entry["state"] == "stored"]
    observer.stage("verify", len(stored))

    def check(entry: dict[str, Any]) -> None:
        found = damage(destination, SymbolId.parse(entry["id"]))
        entry["reason"] = "stored, and all bytes are sound" if found is None else found
        if found is not None:
            entry["state"] = "damaged"
        observer.advance("verify")

    with ThreadPoolExecutor(VERIFIED_AT_ONCE) as workers:
        list(workers.map(check, stored))


def _is_empty(artifact: Artifact | None) -> bool:
    """Whether a binary holds no function at all: where its headers promise nothing but symbol tables, these are read."""
    from uploader.pipeline.make import holds_nothing

    return artifact is not None and holds_nothing(artifact)


def _manifest_object(manifest: Manifest) -> dict[str, Any]:
    from uploader.report.json import figures_object, identity_members, provenance_members

    return {
        **identity_members(manifest.identity),
        "quality": manifest.quality.label,
        "figures": figures_object(manifest.figures),
        "sources": list(manifest.sources),
        "file_name": manifest.file_name,
        "tool": manifest.tool,
        **provenance_members(manifest.provenance),
        "created_at": manifest.created_at,
        "gsym_size_bytes": manifest.content_size_bytes,
        "compressed_size_bytes": manifest.compressed_size_bytes,
        "content_sha256": manifest.content_sha256,
        "chunks": len(manifest.chunks),
        "warnings": list(manifest.warnings),
    }


def _line(entry: dict[str, Any]) -> str:
    manifest = entry["manifest"]
    label = printable(entry["what"])
    if manifest is None or entry["state"] == "damaged":
        shown_id = "" if entry["id"] == label else entry["id"] + "  "
        return f"{entry['state']:9} {'':9} {label}  {shown_id}{printable(entry['reason'])}"
    made = f"{manifest['created_at']} by {manifest['tool']}"
    if manifest["source_revision"]:
        made += f" from {manifest['source_revision'][:12]}"
    if manifest["branch"]:
        made += f" of {manifest['branch']}"
    if manifest["run_url"] or manifest["repository"]:
        made += f", {manifest['run_url'] or manifest['repository']}"
    told = f"{count(manifest['figures']['functions'], 'function')}, {size(manifest['compressed_size_bytes'])}, {made}"
    return f"stored    {manifest['quality']:9} {label}  {printable(told)}"
