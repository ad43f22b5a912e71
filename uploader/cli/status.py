"""``symup status``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader.cli import colour, options, terminal
from uploader.errors import NothingFound, UsageError
from uploader.inputs.missing import remedy_for
from uploader.model import SymbolId
from uploader.report.text import left_out as left_out_line
from uploader.words import count, printable, size

if TYPE_CHECKING:
    from uploader.config.settings import Settings
    from uploader.pipeline.status import Questions, Standing, Stock
    from uploader.protocol.words import Manifest

SCHEMA = "symup.status/1"


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
    wanted = _questions(what, chosen)
    destination = options.open_destination(chosen)
    if not wanted.asked and not wanted.troubles:
        raise NothingFound("nothing with symbols found", remedy="Check the paths and patterns.")

    from uploader.pipeline.status import status

    observer = terminal.progress(quiet=not verify)
    try:
        stock = status(wanted, destination, verify=verify, progress=observer)
    finally:
        terminal.close(observer)
        destination.close()
    if as_json:
        terminal.document(_document(stock, destination.url, chosen.project))
    else:
        _tell(stock, destination.url)
    return stock.exit_code


def _questions(words: list[str], chosen: Settings) -> Questions:
    """The paths and ids that the words stand for. Raises `UsageError` for a word that is neither."""
    from uploader.pipeline.plan import Plan
    from uploader.pipeline.status import Asked, questions

    ids, paths, gone = [], [], []
    for word in words:
        if os.path.lexists(word):
            paths.append(word)
            continue
        try:
            ids.append(Asked(label=word, symbol_id=SymbolId.of_word(word)))
        except ValueError:
            if chosen.allow_missing:
                terminal.say(f"symup: {printable(word)} does not exist, and --allow-missing is set: skipped")
            else:
                gone.append(word)
    if gone:
        named = f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} neither a file nor an id"
        raise UsageError(named, remedy=f"{remedy_for(gone)} symup inspect FILE tells a file's ids.")
    plan = Plan(
        paths=paths,
        include=chosen.include,
        exclude=chosen.exclude,
        allow_missing=chosen.allow_missing,
        build_internals=chosen.build_internals,
    )
    return questions(plan, ids)


def _tell(stock: Stock, url: str) -> None:
    from uploader.pipeline.status import State

    for one in stock.standings:
        terminal.result(colour.state_first(_line(one), sys.stdout))
    for kind in stock.left_out:
        terminal.say(left_out_line(kind))
    for trouble in stock.troubles:
        terminal.say(f"symup: {printable(trouble.path)}: {printable(trouble.reason)}")
    counts = {state: stock.count(state) for state in State}
    told = f"{count(len(stock.standings), 'id')} at {url}: {counts[State.STORED]:,} stored, {counts[State.MISSING]:,} missing"
    if counts[State.DAMAGED]:
        told += f", {counts[State.DAMAGED]:,} damaged"
    if counts[State.OTHER]:
        told += f", {counts[State.OTHER]:,} of other programs"
    if counts[State.EMPTY]:
        told += f", {counts[State.EMPTY]:,} without symbols to store"
    terminal.say(f"symup: {printable(told)}")
    if counts[State.DAMAGED]:
        terminal.say("  try: symup upload --force PATHS, with the same --to: it sends what is damaged anew")
    elif counts[State.MISSING]:
        terminal.say("  try: symup upload PATHS, with the same --to")


def _document(stock: Stock, url: str, project: str) -> dict[str, Any]:
    from uploader.pipeline.status import State

    return {
        "schema": SCHEMA,
        "destination": url,
        "project": project,
        "exit_code": int(stock.exit_code),
        "counts": {str(state): stock.count(state) for state in State} | {"failed": len(stock.troubles)},
        "entries": [
            {
                "what": one.label,
                "id": str(one.symbol_id),
                "state": str(one.state),
                "reason": one.reason,
                "manifest": None if one.manifest is None else _manifest_object(one.manifest),
            }
            for one in stock.standings
        ],
        "troubles": [{"path": one.path, "reason": one.reason} for one in stock.troubles],
    }


def _manifest_object(manifest: Manifest) -> dict[str, Any]:
    from uploader.protocol.wire.artifacts import BUILD, FIGURES
    from uploader.report.json import identity_members, provenance_members

    return {
        **identity_members(manifest.identity),
        "quality": manifest.quality.label,
        "figures": FIGURES.write(manifest.figures),
        "sources": list(manifest.sources),
        "file_name": manifest.file_name,
        "tool": manifest.tool,
        **provenance_members(manifest.provenance),
        "build": None if manifest.build is None else BUILD.write(manifest.build),
        "created_at": manifest.created_at,
        "gsym_size_bytes": manifest.content_size_bytes,
        "compressed_size_bytes": manifest.compressed_size_bytes,
        "content_sha256": manifest.content_sha256,
        "chunks": len(manifest.chunks),
        "warnings": list(manifest.warnings),
    }


def _line(one: Standing) -> str:
    manifest = one.manifest
    label = printable(one.label)
    if manifest is None or one.state != "stored":
        shown_id = "" if str(one.symbol_id) == label else f"{one.symbol_id}  "
        return f"{one.state:9} {'':9} {label}  {shown_id}{printable(one.reason)}"
    told = f"{count(manifest.figures.functions, 'function')}, {size(manifest.compressed_size_bytes)}, {_made(manifest)}"
    return f"stored    {manifest.quality.label:9} {label}  {printable(told)}"


def _made(manifest: Manifest) -> str:
    made = f"{manifest.created_at} by {manifest.tool}"
    origin = manifest.provenance
    revision = origin.revision or (manifest.build.revision if manifest.build else "")
    if revision:
        made += f" from {revision[:12]}"
    if origin.branch:
        made += f" of {origin.branch}"
    if origin.run_url or origin.repository:
        made += f", {origin.run_url or origin.repository}"
    return made
