"""``symup inspect``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader.cli import options, terminal
from uploader.cli.build_info import build_page, build_rows
from uploader.cli.files import mapped
from uploader.cli.symbols import GSYM_MAGICS
from uploader.errors import InputError, MalformedGsym, NotElf
from uploader.inputs.missing import insist, is_missing
from uploader.judgement import GO_TABLE_ADVICE
from uploader.model import Quality, Source
from uploader.progress import Silent
from uploader.sources.registry import expected
from uploader.words import count, printable, size

if TYPE_CHECKING:
    from uploader.objects.elf.describe import Description
    from uploader.pipeline.artifact import Artifact
    from uploader.pipeline.pair import DebugSources, Looked
    from uploader.sources.identify import Identified

SCHEMA = "symup.inspect/1"

ROWS = 48
"""How many of a kind are shown to people: a C++ object has hundreds of sections."""

ROW_CHARACTERS = 160
"""The part of one of them that is shown: a note may hold kilobytes."""

_KINDS = {1: "relocatable file", 2: "executable", 3: "shared object or position-independent executable", 4: "core dump"}


def command(
    files: Annotated[list[str], typer.Argument(help="Binaries and GSYM files.", metavar="FILE...")],
    debug_dir: options.DebugDir = None,
    debuginfod: options.DebugInfoD = False,
    allow_missing: options.AllowMissing = False,
    as_json: options.Json = False,
) -> int:
    """Show what a file is and holds: a binary's ids, sources of symbols, sections and notes, a GSYM file's counts and coverage.

    It also says why symup sees no more in a binary, and which debug files would be read with it.
    Nothing is sent and nothing written; with --debuginfod, servers are asked by build-id, and what they give is kept in its cache.
    A file that can't be read, or not all of it, is told, the others go on, and the exit code is 1.

    Example: symup inspect build/server server.gsym
    """
    told: list[dict[str, Any]] = []
    failures = 0
    chosen = options.settings(debug_dir=debug_dir, debuginfod=debuginfod or None, allow_missing=allow_missing or None)
    debug = options.debug_sources(chosen, _Notes())
    if not chosen.allow_missing:
        insist(files, may_allow=False)
    for path in map(Path, files):
        if chosen.allow_missing and is_missing(str(path)):
            terminal.say(f"symup: {printable(str(path))} does not exist, and --allow-missing is set: skipped")
            continue
        try:
            page = _page(path, debug)
        except InputError as error:
            failures += 1
            page = {"file": str(path), "error": {"message": error.message, "remedy": error.remedy}}
        failures += "damage" in page
        told.append(page)
        if as_json:
            continue
        if "error" in page:
            terminal.say(f"symup: error: {printable(page['error']['message'])}")
        else:
            for line in _lines(page):
                terminal.result(line)
    if as_json:
        terminal.document({"schema": SCHEMA, "files": told})
    return 1 if failures else 0


class _Notes(Silent):
    """Says what DEBUGINFOD_VERBOSE asks to hear."""

    def note(self, message: str) -> None:
        terminal.say(f"symup: {printable(message)}")


def _page(path: Path, debug: DebugSources) -> dict[str, Any]:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the files in it")
    data = mapped(path)
    if bytes(data[:4]) in GSYM_MAGICS:
        return _gsym_page(path, data)
    return _binary_page(path, debug)


def _binary_page(path: Path, debug: DebugSources) -> dict[str, Any]:
    from uploader.inputs.archives import look_at
    from uploader.objects.elf.absent import absences
    from uploader.objects.elf.describe import describe
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.objects.elf.go_build_info import go_build_info
    from uploader.pipeline.missing import REMEDY_UNPACK, missing_build_id
    from uploader.pipeline.pair import look_for_companions
    from uploader.sources.go.foretold import Foretold, foretold
    from uploader.sources.identify import identify

    try:
        with ElfFile.open(path, mapped=False) as elf:
            found = identify(elf)
            executable_bytes = sum(end - start for start, end in elf.executable_ranges())
            bits, little_endian = elf.bits, elf.little_endian
            layout = elf.layout
            lacks = absences(elf)
            described = describe(elf)
            built = go_build_info(elf)
            table = foretold(elf) if Source.GO in found.sources else Foretold(readable=True)
    except NotElf as error:
        kind = look_at(path)
        if kind is not None:
            raise InputError(f"{path} is {kind.one}, which symup does not look into: {kind.remedy}") from error
        raise InputError(f"{path} is neither an ELF file nor a GSYM file") from error
    looked = look_for_companions(found, debug)
    id_troubles, id_remedy = missing_build_id(looked.artifact)
    companions = _companions(looked, debug)
    readable = [source for source in found.sources if table.readable or source != Source.GO]
    promised = expected(readable)
    if companions["missing"]:
        promised = min(promised, Quality.from_label(companions["expected_quality"]))
    if expected(readable, dwarf=False) is Quality.FULL:
        lacks = []
    remedy = REMEDY_UNPACK if found.packed else None if table.readable else GO_TABLE_ADVICE
    return {
        "file": str(path),
        "format": "elf",
        "size_bytes": found.size_bytes,
        "kind": _KINDS.get(found.kind, f"kind {found.kind}"),
        "machine": found.machine,
        "bits": bits,
        "byte_order": "little" if little_endian else "big",
        "id": str(found.identity.primary),
        "aliases": [str(alias) for alias in found.identity.aliases],
        "id_troubles": list(id_troubles),
        "id_remedy": id_remedy,
        "build": None if built is None else build_page(built),
        "executable_bytes": executable_bytes,
        "has_code_bytes": found.has_code_bytes,
        "sources": list(found.sources),
        "lacks_remedy": remedy,
        "lacks": lacks + [table.trouble] * bool(table.trouble),
        "expected_quality": promised.label,
        "debug_link": _debug_link(found),
        "companions": companions,
        "layout": [{"section": name, "address": f"{address:#x}"} for name, address in layout],
        "described": _described(described),
    }


def _debug_link(found: Identified) -> dict[str, str] | None:
    link = found.debug_link
    if link is None:
        return None
    return {"name": link.name.decode("utf-8", "backslashreplace"), "crc32": f"{link.crc32:08x}"}


def _described(told: Description) -> dict[str, Any]:
    return {
        "type": told.type,
        "machine": told.machine,
        "abi": told.abi,
        "interpreter": told.interpreter or None,
        "soname": told.soname or None,
        "needed": told.needed,
        "search_path": told.search_path,
        "notes": [{"owner": note.owner, "text": note.text} for note in told.notes],
        "sections": [
            {
                "name": section.name,
                "type": section.type,
                "flags": section.flags,
                "address": f"{section.address:#x}",
                "size_bytes": section.size_bytes,
                "inflated_size_bytes": section.inflated_size_bytes,
            }
            for section in told.sections
        ],
        "left_out": told.left_out,
    }


def _companions(looked: Looked, debug: DebugSources) -> dict[str, Any]:
    """The debug files that would be read with a binary; where none was found, where it was looked for and why files were not taken."""
    missing, quality = _left(looked.artifact, debug)
    search = looked.artifact.search
    return {
        "found": [
            {"path": file.path, "id": str(file.identity.primary), "sources": list(file.sources)}
            for file in looked.artifact.inputs[1:]
        ],
        "not_taken": [] if search is None else [{"path": one.path, "reason": one.reason} for one in search.rejected],
        "looked_in": [] if search is None else list(search.looked_in),
        "debuginfod": looked.debuginfod or None,
        "missing": list(missing),
        "expected_quality": quality.label,
    }


def _left(artifact: Artifact, debug: DebugSources) -> tuple[tuple[str, ...], Quality]:
    """The files that its debug information refers to and that would not be found, and the quality that is left."""
    from uploader.pipeline.foresee import foreseen
    from uploader.pipeline.make import holds_nothing

    if holds_nothing(artifact):
        return (), Quality.NONE
    # What is wrong with its DWARF is for conversion to tell.
    with contextlib.suppress(InputError):
        without = foreseen(artifact, debug, ask_servers=True)
        if without is not None:
            return without.missing, without.made.figures.quality
    return (), artifact.expected_quality


def _gsym_page(path: Path, data: memoryview) -> dict[str, Any]:
    from uploader.gsym.decode import decode
    from uploader.gsym.layout import parse_header
    from uploader.symbols.figures import line_coverage

    try:
        header = parse_header(data)
    except MalformedGsym as error:
        raise InputError(f"{path}: {error.message}") from error
    head = {
        "file": str(path),
        "format": "gsym",
        "size_bytes": len(data),
        "version": header.version,
        "byte_order": "little" if header.little_endian else "big",
        "uuid": header.uuid.hex(),
        "base_address": f"{header.base_address:#x}",
        "functions": header.function_count,
        "string_bytes": header.strings.size_bytes,
    }
    try:
        _, table = decode(data)
    except MalformedGsym as error:
        return head | {"damage": error.message}
    function_bytes = sum(table.end) - sum(table.start)
    return head | {
        "distinct_names": len(set(table.name)),
        "inlines": len(table.node_name),
        "line_rows": len(table.row_address),
        "names": max(len(table.names) - 1, 0),
        "files": max(len(table.files) - 1, 0),
        "function_bytes": function_bytes,
        "line_bytes": line_coverage(table).line_bytes,
        "first_address": f"{table.start[0]:#x}" if len(table) else None,
        "end_address": f"{table.end[-1]:#x}" if len(table) else None,
    }


def _lines(page: dict[str, Any]) -> Iterator[str]:
    yield printable(page["file"])
    rows = _binary_rows(page) if page["format"] == "elf" else _gsym_rows(page)
    for label, value in rows:
        yield f"  {label:18} {printable(value)}"


def _binary_rows(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "what", f"ELF {page['kind']}, {page['machine']}, {page['bits']} bit, {page['byte_order']} endian"
    yield "size", size(page["size_bytes"])
    yield "id", page["id"]
    for alias in page["aliases"]:
        yield "also known as", alias
    for trouble in page["id_troubles"]:
        yield "mind", trouble
    if page["id_remedy"]:
        yield "what to do", page["id_remedy"]
    if page["build"]:
        yield from _first(list(build_rows(page["build"])))
    yield (
        "code",
        size(page["executable_bytes"]) + ("" if page["has_code_bytes"] else " (its bytes are in another file)"),
    )
    yield from _first([("laid out", f"{placed['address']} {placed['section']}") for placed in page["layout"]])
    yield "sources", ", ".join(page["sources"]) or "none"
    for reason in page["lacks"]:
        yield "why not more", reason
    if page["lacks_remedy"]:
        yield "what to do", page["lacks_remedy"]
    promised = expected(page["sources"]).label
    if page["expected_quality"] == promised:
        yield "expected quality", f"{promised}, by what its headers promise"
    else:
        yield "expected quality", f"{page['expected_quality']}, without what is missing; its headers promise {promised}"
    if page["debug_link"]:
        yield "names debug file", f"{page['debug_link']['name']} (CRC {page['debug_link']['crc32']})"
    full = min(Quality.from_label(page["expected_quality"]), expected(page["sources"], dwarf=False)) is Quality.FULL
    yield from _companion_rows(page["companions"], needed=not full)
    yield from _described_rows(page["described"])


def _described_rows(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows on what the file says of itself; facts that most files lack have none."""
    whose = f"{told['type']}; {told['machine']}; {told['abi']}" if told["type"] else ""
    for label, value in (
        ("header", whose),
        ("interpreter", told["interpreter"]),
        ("soname", told["soname"]),
        ("needs", ", ".join(told["needed"])),
        ("searched in", ":".join(told["search_path"])),
    ):
        if value:
            yield label, value
    yield from _first([("note", f"{note['owner']}: {note['text']}") for note in told["notes"]])
    debug = [section for section in told["sections"] if section["name"].startswith((".debug_", ".zdebug_"))]
    if debug:
        stored = sum(section["size_bytes"] for section in debug)
        inflated = sum(section["inflated_size_bytes"] or section["size_bytes"] for section in debug)
        more = f", {size(inflated)} once inflated" if inflated != stored else ""
        yield "debug sections", f"{len(debug)}, {size(stored)}{more}"
    yield from _first([("section", _section(section)) for section in told["sections"] if section["type"] != "NULL"])
    for part in told["left_out"]:
        yield "can't be told", part


def _section(section: dict[str, Any]) -> str:
    inflated = section["inflated_size_bytes"]
    more = "" if inflated is None else f", {size(inflated)} once inflated"
    length = f"{size(section['size_bytes'])}{more}"
    return f"{section['name']:20} {section['type']:12} {section['flags']:5} {section['address']:>18} {length}"


def _first(rows: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """As many rows as people want to see, each cut to a line, and how many there are more."""
    for label, value in rows[:ROWS]:
        yield label, value if len(value) <= ROW_CHARACTERS else value[:ROW_CHARACTERS] + "…"
    if len(rows) > ROWS:
        yield rows[0][0], f"and {len(rows) - ROWS} more (--json tells all)"


def _companion_rows(companions: dict[str, Any], *, needed: bool) -> Iterator[tuple[str, str]]:
    from uploader.pipeline.missing import REMEDY_FILES

    for file in companions["found"]:
        yield "debug file", f"{file['path']}, with {', '.join(file['sources'])}"
    if companions["found"]:
        by = "without what is missing" if companions["missing"] else "by what the headers promise"
        yield "quality with it", f"{companions['expected_quality']}, {by}"
    elif companions["looked_in"] and needed:
        yield "debug file", f"none in {', '.join(companions['looked_in'])}"
    for trouble in companions["missing"]:
        yield "makes it less", trouble
    if companions["missing"]:
        yield "what to do", REMEDY_FILES
    for one in companions["not_taken"]:
        yield "not taken", f"{one['path']}: {one['reason']}"
    if companions["debuginfod"]:
        yield "debuginfod", companions["debuginfod"].removeprefix("debuginfod: ")


def _gsym_rows(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "what", f"GSYM version {page['version']}, {page['byte_order']} endian"
    yield "size", f"{size(page['size_bytes'])}, {size(page['string_bytes'])} of it strings"
    yield "uuid", page["uuid"] or "none"
    if "damage" in page:
        yield "functions", f"{page['functions']:,}, as the header says"
        yield "breaks the format", page["damage"]
        yield "what to do", "write it anew: symup convert; symup lookup still reads what is sound"
        return
    if page["functions"]:
        yield "addresses", f"{page['first_address']} to {page['end_address']}, base {page['base_address']}"
    parts = "; one in several parts counts for each" if page["distinct_names"] < page["functions"] else ""
    yield "functions", f"{page['functions']:,}, {size(page['function_bytes'])} of code{parts}"
    yield (
        "lines",
        f"{count(page['line_rows'], 'row')} in {count(page['files'], 'file')}, {size(page['line_bytes'])} of code",
    )
    yield "inlined calls", f"{page['inlines']:,}"
