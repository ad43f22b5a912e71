"""Compares what symup reads from Go programs that others ship with what Go's own packages read, and counts the code that it names.

No such program has DWARF. ``debug/gosym``, asked by ``bench/programs/functions.go``, tells every function, and a function and the innermost
line of single addresses; so does ``go tool addr2line``, but for programs with cgo: it counts from ``.text``, where C code stands first.
Neither knows inlined calls. Where Go's code begins is what symup found, and has to be right for any of these to agree.

Between functions stands padding, which nobody's line is: bytes of the machine's filler ahead of a function's start are not counted.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import go_builds

from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.go.find import find_table

import agreement
import covered
import inputs
import page
from agreement import Answer, Frame

READER = "functions.go"
INT3 = 0xCC
FILLERS = {"386": INT3, "x86-64": INT3}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoText:
    """Go's code in a program: where it begins, and its bytes as far as its section goes; ``filler`` stands between functions."""

    start: int
    data: bytes
    filler: int
    machine: str
    is_section: bool

    def padding(self, starts: Sequence[int]) -> list[tuple[int, int]]:
        """Where filler stands ahead of the functions that start there, ascending."""
        found = []
        for before, start in zip(starts, starts[1:], strict=False):
            code = self.data[before - self.start : start - self.start]
            found.append((before + len(code.rstrip(bytes([self.filler]))), start))
        return found


def read_text(path: Path) -> GoText:
    """Finds Go's code; raises `RuntimeError` where there is no table, or it begins in no section."""
    with ElfFile.open(path) as elf:
        table = find_table(elf)
        if table is None:
            raise RuntimeError(f"{path} has no table of Go")
        start = table.code[0][1]
        for one in elf.sections:
            if one.is_code and elf.address_of(one) <= start < elf.address_of(one) + one.size_bytes:
                return GoText(
                    start=start,
                    data=bytes(elf.contents(one))[start - elf.address_of(one) :],
                    filler=FILLERS.get(elf.machine_name, 0),
                    machine=elf.machine_name,
                    is_section=start == elf.address_of(one),
                )
    raise RuntimeError(f"{path}: no section of code has {start:#x}")


def ask_gosym(path: Path, start: int, addresses: Sequence[int]) -> tuple[dict[int, str], int, dict[int, Frame]]:
    """Every function's name by its start, where the last one ends, and the function and the innermost place of each address."""
    newest = go_builds.TOOLCHAINS[-1]
    reader = inputs.cache_folder().resolve() / "go-programs" / f"functions-{newest}"
    reader.parent.mkdir(parents=True, exist_ok=True)
    go_builds.run_go(newest, "build", "-o", str(reader), READER)
    functions: dict[int, str] = {}
    places: dict[int, Frame] = {}
    end = 0
    for line in agreement.ask([str(reader), str(path), hex(start)], map(hex, addresses)):
        kind, address, rest = line.rstrip("\n").split(" ", 2)
        if kind == "function":
            last, _, functions[int(address, 16)] = rest.partition(" ")
            end = max(end, int(last, 16))
        else:
            number, file, name = rest.split("\t")
            places[int(address, 16)] = Frame(name, file, int(number)) if int(number) > 0 else Frame(name)
    return functions, end, places


def ask_addr2line(path: Path, addresses: Iterable[int]) -> dict[int, Frame]:
    """The function and the innermost place that ``go tool addr2line`` tells for each address."""
    command, root = go_builds.go_command(go_builds.TOOLCHAINS[-1])
    told = [f"GOROOT={root}", "GOTOOLCHAIN=local", "GO111MODULE=off"]
    asked = list(addresses)
    answers = agreement.ask(["env", *told, str(command), "tool", "addr2line", str(path)], map(hex, asked))
    lines = [line.rstrip("\n") for line in answers]
    places = {}
    for address, name, place in zip(asked, lines[::2], lines[1::2], strict=True):
        file, _, line = place.rpartition(":")
        places[address] = Frame(name, file, int(line)) if line.isdigit() and int(line) else Frame(name)
    return places


def measure(name: str, *, addresses: int, seed: int) -> dict[str, Any]:
    """All figures of one shipped program; raises `RuntimeError` or `inputs.InputUnavailable` where that fails."""
    path = inputs.input_path(name)
    text = read_text(path)
    functions, end, _ = ask_gosym(path, text.start, ())
    code = (text.start, end)
    drawn = agreement.Code(ranges=(code,), aliases={}).draw(addresses, seed)
    _, _, gosym = ask_gosym(path, text.start, [*drawn, *functions])
    with tempfile.TemporaryDirectory(prefix="symup-go.") as folder:
        gsym = Path(folder) / "ours.gsym"
        agreement.convert(path, gsym, converter="symup")
        _, with_function, with_line = covered.spoken_for(gsym, [code])
        ours = agreement.ask_gsymutil(gsym, [*drawn, *functions], whole_frame)
    padding = text.padding(sorted(functions))
    pairs = {one: _ends(ours[one]) for one in drawn if not _lies_in(padding, one)}
    voices = {"gosym": gosym}
    if text.is_section:
        voices["addr2line"] = ask_addr2line(path, drawn)
    same = sum(_ends(ours[start]) == gosym[start] for start in functions)
    return {
        "program": name,
        "machine": text.machine,
        "cgo": not text.is_section,
        "size_bytes": path.stat().st_size,
        "functions_of_table": len(functions),
        "functions_same": same,
        "function_percent": _share(code, with_function, padding),
        "line_percent": _share(code, with_line, padding),
        "voices": {voice: _sides(pairs, places) for voice, places in voices.items()},
    }


def _ends(answer: Answer) -> Frame:
    """The outermost function of an answer, with its innermost place."""
    if not answer.frames:
        return Frame("")
    return Frame(answer.frames[-1].function, answer.frames[0].file, answer.frames[0].line)


def _lies_in(ranges: Sequence[tuple[int, int]], address: int) -> bool:
    at = bisect_right(ranges, address, key=itemgetter(0)) - 1
    return at >= 0 and address < ranges[at][1]


def _share(code: tuple[int, int], spoken_for: covered.Ranges, padding: covered.Ranges) -> float:
    """How much of the code that is no padding is spoken for, in percent."""
    known = covered.union_bytes(spoken_for)
    unknown = covered.union_bytes([code]) - covered.union_bytes([*spoken_for, *padding])
    return round(100 * known / (known + unknown), 3)


def whole_frame(function: str, path: str, line: int) -> Frame:
    """A frame with its whole path."""
    return Frame(function, path, line) if path and line else Frame(function)


def _sides(ours: Mapping[int, Frame], places: Mapping[int, Frame]) -> dict[str, Any]:
    """How many of our answers for code a voice tells too: functions, and innermost places."""
    differing = [one for one, frame in ours.items() if frame != places[one]]
    return {
        "addresses": len(ours),
        "functions": sum(frame.function == places[one].function for one, frame in ours.items()),
        "lines": sum((frame.file, frame.line) == (places[one].file, places[one].line) for one, frame in ours.items()),
        "examples": [f"{one:#x}  ours: {ours[one]}  |  theirs: {places[one]}" for one in differing[:3]],
    }


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The page's table of shipped programs."""
    head = (
        *(
            "program",
            "machine",
            "MB",
            "functions",
            "with name, file and first line as in gosym",
            "code with a function %",
            "with a line %",
        ),
        *("addresses", "functions as in gosym", "lines", "functions as in addr2line", "lines"),
    )
    return page.table(head, map(row, results))


def row(one: Mapping[str, Any]) -> list[str]:
    """A program's row of the table."""
    voices = [one["voices"].get(voice) for voice in ("gosym", "addr2line")]
    return [
        one["program"] + (" (cgo)" if one["cgo"] else ""),
        one["machine"],
        f"{one['size_bytes'] / 1e6:.1f}",
        str(one["functions_of_table"]),
        str(one["functions_same"]),
        f"{one['function_percent']:.3f}",
        f"{one['line_percent']:.3f}",
        str(one["voices"]["gosym"]["addresses"]),
        *(str(voice[what]) if voice else page.NOTHING for voice in voices for what in ("functions", "lines")),
    ]
