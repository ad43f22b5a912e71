"""Compares what a reader finds in a GSYM file with what llvm-symbolizer finds in the DWARF that it was made from.

``python bench/agreement.py [INPUT…]`` converts each input (a name of ``bench/inputs.py`` or a path) with symup, draws addresses
uniformly from its executable sections, and compares for each the whole inline chain (function, base name of the file, line, innermost
first) that llvm-gsymutil reads from the GSYM with the one that llvm-symbolizer reads from the DWARF.

What counts as the same:

- a function under two names: both are symbols at one address, and that is the start of the function that holds the address
  (``@VERSION`` is no part of a name); or the reference only knows the last component of a scope-qualified name of ours; or the
  reference tells the label of one of the function's basic blocks (``f.__part.7``, from ``-fbasic-block-sections``);
- a place without a file, or with line 0: no line is known there.

A bare name of a data object (STT_OBJECT) is no function's: on the reference's side it counts as none, and is told apart. Tables within
code sections are the usual case.

A symbol ends with its section. llvm-symbolizer and llvm-gsymutil stretch a symbol without a size over the sections behind it (``_init``
over all of ``.plt``); on either side, such a name without a line counts as none, and is told apart.

llvm-symbolizer knows no names of PLT stubs: where ours is ``NAME@plt`` in a ``.plt`` section and it is silent, the address is put aside
and told apart, too.

An address where neither side names a function says nothing about the conversion: such addresses are told apart and not counted.
Padding between functions is the usual case, where line tables run on and functions don't.
"""

from __future__ import annotations

import argparse
import enum
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

import cores
import inputs

GSYMUTIL = os.environ.get("LLVM_GSYMUTIL", "llvm-gsymutil-22")
SYMBOLIZER = os.environ.get("LLVM_SYMBOLIZER", "llvm-symbolizer-22")
GDB = os.environ.get("GDB", "gdb")
EU_ADDR2LINE = os.environ.get("EU_ADDR2LINE", "eu-addr2line")
DEFAULT_INPUTS = ("python3.11", "libc6", "librados2")
EXAMPLES_PER_CLASS = 5

SHF_ALLOC, SHF_EXECINSTR = 0x2, 0x4
OBJECT, FUNC = 1, 2
BLOCK_LABEL = re.compile(r"\.__part\.[0-9]+")
SYMBOL_TYPES_OF_CODE = {0: "NOTYPE", FUNC: "FUNC", 10: "GNU_IFUNC"}


@dataclass(frozen=True, slots=True)
class Frame:
    """One level of an inline chain. ``file`` is a base name; an unknown place is an empty file and line 0."""

    function: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else "?"
        return f"{self.function or '?'} {place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one reader says of one address: the chain, innermost first, and where the outermost function starts."""

    frames: tuple[Frame, ...] = ()
    start: int | None = None
    error: str = ""

    @property
    def names_function(self) -> bool:
        """Whether any frame has a function name."""
        return any(frame.function for frame in self.frames)

    def __str__(self) -> str:
        return " < ".join(map(str, self.frames)) or self.error or "nothing"


NOTHING = Answer()


class Verdict(enum.StrEnum):
    """How the two answers for one address relate. In a disagreement, the first of these that applies."""

    AGREE = "agree"
    NO_FUNCTION = "no function on either side"
    OURS_LACKS = "ours lacks the function"
    REFERENCE_LACKS = "reference lacks the function"
    DEPTH = "depth differs"
    NAME = "name differs"
    FILE = "file differs"
    LINE = "line differs"


DISAGREEMENTS = tuple(verdict for verdict in Verdict if verdict not in {Verdict.AGREE, Verdict.NO_FUNCTION})


@dataclass(slots=True, kw_only=True)
class Report:
    """The count of one comparison."""

    name: str
    addresses: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    same_functions: int = 0
    same_lines: int = 0
    same_leaf_lines: int = 0
    ours_covers: int = 0
    reference_covers: int = 0
    by_alias: int = 0
    by_scope: int = 0
    by_block: int = 0
    only_line_known: int = 0
    ours_stretched: int = 0
    reference_stretched: int = 0
    stubs: int = 0
    reference_objects: int = 0
    reader_errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    disagreeing: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    third: dict[str, Counter[str]] = field(default_factory=dict)
    third_absent: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """The addresses where at least one side names a function."""
        return self.addresses - self.verdicts[Verdict.NO_FUNCTION]

    @property
    def chains_percent(self) -> float:
        """The share of counted addresses whose whole chains agree."""
        return self._share(self.verdicts[Verdict.AGREE])

    def _share(self, count: int) -> float:
        return 100.0 * count / self.counted if self.counted else 0.0

    def as_json(self) -> dict[str, Any]:
        """The whole report as plain values."""
        return {
            "input": self.name,
            "addresses": self.addresses,
            "counted": self.counted,
            "chains_percent": round(self.chains_percent, 3),
            "functions_percent": round(self._share(self.same_functions), 3),
            "lines_percent": round(self._share(self.same_lines), 3),
            "innermost_lines_percent": round(self._share(self.same_leaf_lines), 3),
            "coverage_percent": round(100.0 * self.ours_covers / max(self.addresses, 1), 3),
            "reference_coverage_percent": round(100.0 * self.reference_covers / max(self.addresses, 1), 3),
            "same_by_alias": self.by_alias,
            "same_by_scope": self.by_scope,
            "same_by_block": self.by_block,
            "verdicts": {verdict: self.verdicts[verdict] for verdict in Verdict},
            "reference_knows_only_a_line": self.only_line_known,
            "names_stretched_over_sections": {"ours": self.ours_stretched, "reference": self.reference_stretched},
            "plt_stubs_that_only_ours_names": self.stubs,
            "data_objects_that_the_reference_names": self.reference_objects,
            "reader_errors": dict(self.reader_errors),
            "examples": dict(self.examples),
            "third": {verdict: dict(votes) for verdict, votes in self.third.items()},
            "seconds": {step: round(value, 2) for step, value in self.seconds.items()},
        }

    def as_text(self) -> str:
        """The report for people: the shares, then each class of disagreement with examples."""
        figures = self.as_json()
        shares = ", ".join(
            f"{what} {figures[f'{key}_percent']:.2f} %"
            for what, key in (
                ("chains", "chains"),
                ("functions", "functions"),
                ("lines", "lines"),
                ("innermost lines", "innermost_lines"),
            )
        )
        coverage = f"{figures['coverage_percent']:.2f} % (reference {figures['reference_coverage_percent']:.2f} %)"
        silent = self.verdicts[Verdict.NO_FUNCTION]
        lines = [
            f"{self.name}: {shares}",
            (
                f"  of {self.counted} addresses with a function; the same by alias {self.by_alias}, by scope {self.by_scope}, "
                f"by block {self.by_block}"
            ),
            f"  coverage of {self.addresses} addresses drawn: {coverage}",
            f"  no function on either side: {silent}, of which the reference knows a line: {self.only_line_known}",
            f"  names stretched over sections: ours {self.ours_stretched}, reference {self.reference_stretched}",
            f"  PLT stubs that only ours names: {self.stubs}",
            f"  data objects that the reference names: {self.reference_objects}",
            "  seconds: " + ", ".join(f"{step} {value:.1f}" for step, value in self.seconds.items()),
        ]
        lines += [f"  READER ERROR {count}: {text}" for text, count in self.reader_errors.most_common(5)]
        if self.third_absent:
            lines.append(f"  third voice: {self.third_absent}")
        for verdict in DISAGREEMENTS:
            if count := self.verdicts[verdict]:
                lines.append(f"  {verdict}: {count} ({100.0 * count / self.counted:.3f} %)")
                if votes := self.third.get(verdict):
                    lines.append("    third voice: " + ", ".join(f"{vote} {n}" for vote, n in votes.most_common()))
                lines += [f"    {example}" for example in self.examples[verdict]]
        return "\n".join(lines)


_LOOKUP = re.compile(r"0x([0-9a-f]{16}): (.*)")
_WITH_OFFSET = re.compile(r"(?P<name>.*?) \+ (?P<offset>\d+)(?: @ (?P<path>.*):(?P<line>\d+))?")
_PLACE = re.compile(r"(?P<path>.*):(?P<line>\d+)")
_ROOTED = re.compile(r"\.{0,2}[/\\]|[A-Za-z]:[/\\]")
_CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv|llvm)(\.\d+)?)+\Z")
_BASE_NAME = re.compile(r"[^/\\]*\Z")


def base_name(path: str) -> str:
    """The last component of a path with either separator; empty for the marks of an unknown file."""
    match = _BASE_NAME.search(path)
    name = match.group() if match else path
    return "" if name in {"??", "<invalid-file>"} else name


def frame(function: str, path: str, line: int) -> Frame:
    """A frame in its comparable form: without a file or with line 0, the place is unknown; ``??`` is no name."""
    function = "" if function == "??" else function
    file = base_name(path)
    return Frame(function, file, line) if file and line else Frame(function)


MakeFrame = Callable[[str, str, int], Frame]
"""What makes a comparable frame of a function, a path and a line."""


def parse_location(text: str, made: MakeFrame = frame) -> tuple[Frame, int]:
    """Reads ``NAME[ + OFFSET][ @ PATH:LINE]`` as llvm-gsymutil prints it; gives the frame and the offset.

    A name may hold spaces and " @ ": the offset tells where it ends, else the first " @ " with a rooted path behind it, else the last.
    """
    if match := _WITH_OFFSET.fullmatch(text):
        return made(match["name"], match["path"] or "", int(match["line"] or 0)), int(match["offset"])
    splits = [(text[: at.start()], text[at.end() :]) for at in re.finditer(" @ ", text)]
    places = [(name, place) for name, rest in splits if (place := _PLACE.fullmatch(rest))]
    if not places:
        return made(text, "", 0), 0
    name, place = next((pair for pair in places if _ROOTED.match(pair[1]["path"])), places[-1])
    return made(name, place["path"], int(place["line"])), 0


def parse_gsymutil(lines: Iterable[str], made: MakeFrame = frame) -> Iterator[tuple[int, Answer]]:
    """Reads what ``llvm-gsymutil --addresses-from-stdin`` prints: a block of lines for each address, innermost frame first."""
    address: int | None = None
    locations: list[str] = []
    for line in lines:
        text = line.rstrip("\n")
        if match := _LOOKUP.fullmatch(text):
            if address is not None:
                yield address, _gsym_answer(address, locations, made)
            address, locations = int(match[1], 16), [match[2]]
        elif text.strip() and address is not None:
            locations.append(text.strip())
    if address is not None:
        yield address, _gsym_answer(address, locations, made)


def _gsym_answer(address: int, locations: Sequence[str], made: MakeFrame) -> Answer:
    if locations[0].startswith("error: "):
        error = locations[0].removeprefix("error: ")
        return NOTHING if error.endswith("is not in GSYM") else Answer(error=error.replace(f"{address:#x}", "ADDRESS"))
    parsed = [parse_location(text.removesuffix(" [inlined]"), made) for text in locations[:-1]]
    outermost, offset = parse_location(locations[-1], made)
    return Answer(frames=(*(one for one, _ in parsed), outermost), start=address - offset)


def parse_symbolizer(lines: Iterable[str], made: MakeFrame = frame) -> Iterator[tuple[int, Answer]]:
    """Reads what ``llvm-symbolizer --output-style=JSON --inlines`` prints: a document on each line."""
    for line in lines:
        if not line.strip():
            continue
        document = json.loads(line)
        address = int(document["Address"], 16)
        if "Error" in document:
            yield address, Answer(error=str(document["Error"].get("Message", "error")))
            continue
        symbols = document["Symbol"]
        frames = tuple(
            made(without_version(symbol["FunctionName"].replace("??", "")), symbol["FileName"], symbol["Line"])
            for symbol in symbols
        )
        if not any(one.function or one.file for one in frames):
            yield address, NOTHING
            continue
        start = symbols[-1].get("StartAddress") or ""
        yield address, Answer(frames=frames, start=int(start, 16) if start else None)


def parse_eu_addr2line(lines: Iterable[str]) -> Iterator[tuple[int, Answer]]:
    """Reads what ``eu-addr2line -a -f -i`` prints: the address, then a line for the function and one for the place of each frame."""
    address: int | None = None
    pending: list[str] = []
    for line in lines:
        text = line.rstrip("\n")
        if re.fullmatch(r"0x[0-9a-f]{8,16}", text):
            if address is not None:
                yield address, _eu_answer(pending)
            address, pending = int(text, 16), []
        else:
            pending.append(text)
    if address is not None:
        yield address, _eu_answer(pending)


def _eu_answer(lines: Sequence[str]) -> Answer:
    frames = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        parts = re.sub(r" \(.*\)\Z", "", place).split(":")
        numbers = [int(part) for part in parts[1:] if part.isdigit()]
        name = re.sub(r"\A(.*) inlined at .*\Z", r"\1", function)
        frames.append(frame(without_version(name.replace("??", "")), parts[0], numbers[0] if numbers else 0))
    return Answer(frames=tuple(frames))


def without_version(name: str) -> str:
    """The symbol's name without ``@VERSION`` or ``@@VERSION``; a name that starts with ``@`` is left alone."""
    at = name.find("@")
    return name[:at] if at > 0 else name


def same_function(
    ours: str, reference: str, starts: Sequence[int | None], aliases: Mapping[int, frozenset[str]]
) -> str | None:
    """How two names stand for one function: ``exact``, ``alias``, ``scope``, ``block``, or None where they don't."""
    ours, reference = without_version(ours), without_version(reference)
    if ours == reference:
        return "exact"
    if any({ours, reference} <= aliases.get(start, frozenset()) for start in starts if start is not None):
        return "alias"
    if reference and ours.endswith("::" + reference):
        return "scope"
    if BLOCK_LABEL.fullmatch(reference.removeprefix(ours)):
        return "block"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The relation of two answers, attribute by attribute."""

    verdict: Verdict
    functions: bool
    lines: bool
    leaf_line: bool
    how: frozenset[str] = frozenset()


def compare(ours: Answer, reference: Answer, aliases: Mapping[int, frozenset[str]]) -> Comparison:
    """Compares two answers for one address; ``aliases`` gives the symbols at each address."""
    if not ours.names_function or not reference.names_function:
        if ours.names_function:
            verdict = Verdict.REFERENCE_LACKS
        elif reference.names_function:
            verdict = Verdict.OURS_LACKS
        else:
            verdict = Verdict.NO_FUNCTION
        places = [[(one.file, one.line) for one in answer.frames] or [("", 0)] for answer in (ours, reference)]
        return Comparison(
            verdict=verdict, functions=False, lines=places[0] == places[1], leaf_line=places[0][0] == places[1][0]
        )
    starts = (ours.start, reference.start)
    same_depth = len(ours.frames) == len(reference.frames)
    pairs = list(zip(ours.frames, reference.frames, strict=False))
    matches = [same_function(a.function, b.function, starts, aliases) for a, b in pairs]
    functions = same_depth and all(matches)
    lines = same_depth and all((a.file, a.line) == (b.file, b.line) for a, b in pairs)
    a, b = pairs[0]
    if not same_depth:
        verdict = Verdict.DEPTH
    elif not functions:
        verdict = Verdict.NAME
    elif lines:
        verdict = Verdict.AGREE
    elif any(a.file != b.file for a, b in pairs):
        verdict = Verdict.FILE
    else:
        verdict = Verdict.LINE
    return Comparison(
        verdict=verdict,
        functions=functions,
        lines=lines,
        leaf_line=(a.file, a.line) == (b.file, b.line),
        how=frozenset(match for match in matches if match),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What the comparison needs of an ELF file: where code lies, and the names of each code address."""

    ranges: tuple[tuple[int, int], ...]
    aliases: Mapping[int, frozenset[str]]
    stubs: tuple[tuple[int, int], ...] = ()
    objects: frozenset[tuple[int, str]] = frozenset()

    def names_object(self, answer: Answer) -> bool:
        """Whether the answer is nothing but the name of a data object."""
        if answer.start is None or len(answer.frames) != 1 or answer.frames[0].line:
            return False
        return (answer.start, answer.frames[0].function) in self.objects

    def stretched(self, address: int, answer: Answer) -> bool:
        """Whether the answer is the bare name of a symbol that starts in another section than the one of ``address``."""
        if answer.start is None or len(answer.frames) != 1 or answer.frames[0].line:
            return False
        return not any(low <= address < high and low <= answer.start < high for low, high in self.ranges)

    def names_stub(self, address: int, answer: Answer) -> bool:
        """Whether the answer is nothing but the name of a PLT stub, at an address in a PLT."""
        named = len(answer.frames) == 1 and answer.frames[0].function.endswith("@plt") and not answer.frames[0].line
        return named and any(low <= address < high for low, high in self.stubs)

    def draw(self, count: int, seed: int) -> list[int]:
        """``count`` different addresses (or all there are), drawn uniformly from the executable sections, ascending."""
        total = sum(end - start for start, end in self.ranges)
        offsets = iter(sorted(random.Random(seed).sample(range(total), min(count, total))))
        drawn: list[int] = []
        below, ranges = 0, iter(self.ranges)
        start, end = next(ranges, (0, 0))
        for offset in offsets:
            while offset - below >= end - start:
                below += end - start
                start, end = next(ranges)
            drawn.append(start + offset - below)
        return drawn


def read_code(path: Path) -> Code:
    """Reads the executable sections and the symbols of code from an ELF file."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        wanted = SHF_ALLOC | SHF_EXECINSTR
        sections = [
            (section.name, (section["sh_addr"], section["sh_addr"] + section["sh_size"]))
            for section in elf.iter_sections()
            if section["sh_flags"] & wanted == wanted and section["sh_size"]
        ]
        names: dict[int, set[str]] = defaultdict(set)
        objects: set[tuple[int, str]] = set()
        for section in elf.iter_sections():
            if section["sh_type"] in {"SHT_SYMTAB", "SHT_DYNSYM"}:
                for address, name, kind in _code_symbols(elf, section):
                    if kind == OBJECT:
                        objects.add((address, without_version(name)))
                    else:
                        names[address].add(without_version(name))
    return Code(
        ranges=tuple(sorted(place for _, place in sections)),
        aliases={address: frozenset(found) for address, found in names.items()},
        objects=frozenset(objects - {(address, name) for address, found in names.items() for name in found}),
        stubs=tuple(place for name, place in sections if name.startswith((".plt", ".iplt"))),
    )


def _code_symbols(elf: ELFFile, section: Section) -> Iterator[tuple[int, str, int]]:
    order = "<" if elf.little_endian else ">"
    strings = elf.get_section(section["sh_link"]).data()
    entry = struct.Struct(order + ("IBBHQQ" if elf.elfclass == 64 else "IIIBBH"))
    table = section.data()
    thumb_bit = elf["e_machine"] == "EM_ARM"
    for fields in entry.iter_unpack(table[: len(table) // entry.size * entry.size]):
        if elf.elfclass == 64:
            name, info, _, index, value, _ = fields
        else:
            name, value, _, info, _, index = fields
        if name and index and (info & 0xF in SYMBOL_TYPES_OF_CODE or info & 0xF == OBJECT):
            if thumb_bit and info & 0xF == FUNC:
                value &= ~1
            yield value, strings[name : strings.index(b"\0", name)].decode("utf-8", "replace"), info & 0xF


def convert(path: Path, out: Path, *, converter: str) -> None:
    """Converts with symup, or with llvm-gsymutil for comparison; `RuntimeError` where that fails."""
    if converter == "llvm":
        command = [GSYMUTIL, "--convert", str(path), "--out-file", str(out), "--num-threads=1", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    else:
        done = cores.installed().run("convert", str(path.resolve()), "-o", str(out))
    if done.returncode or not out.exists():
        raise RuntimeError(
            f"{converter} could not convert {path}: exit {done.returncode}: {done.stderr.strip()[-2000:]}"
        )


def ask(command: Sequence[str], questions: Iterable[str], *, exits: Sequence[int] = (0,)) -> Iterator[str]:
    """The lines that one process answers to all the questions on its stdin; `RuntimeError` where it exits otherwise."""
    with tempfile.TemporaryFile("w+") as stdin:
        stdin.writelines(f"{question}\n" for question in questions)
        stdin.seek(0)
        with subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            assert process.stdout is not None
            yield from process.stdout
            complaint = process.stderr.read() if process.stderr else ""
        if process.returncode not in exits:
            raise RuntimeError(f"{command[0]} exited {process.returncode}: {complaint.strip()[-2000:]}")


def ask_gsymutil(gsym: Path, addresses: Sequence[int], made: MakeFrame = frame) -> dict[int, Answer]:
    """What llvm-gsymutil reads from a GSYM file for each address."""
    path = gsym.resolve()
    answers = ask([GSYMUTIL, "--addresses-from-stdin"], (f"{one:#x} {path}" for one in addresses))
    return dict(parse_gsymutil(answers, made))


def ask_symbolizer(binary: Path, addresses: Sequence[int], made: MakeFrame = frame) -> dict[int, Answer]:
    """What llvm-symbolizer reads from the DWARF and the symbol table of an ELF file for each address."""
    command = [SYMBOLIZER, f"--obj={binary}", "--output-style=JSON", "--inlines", "--no-demangle", "--relative-address"]
    return dict(parse_symbolizer(ask(command, (f"{one:#x}" for one in addresses)), made))


def ask_eu_addr2line(binary: Path, addresses: Sequence[int]) -> dict[int, Answer]:
    """What elfutils read from the DWARF and the symbol table of an ELF file for each address."""
    command = [EU_ADDR2LINE, "-e", str(binary), "-a", "-f", "-i"]
    return dict(parse_eu_addr2line(ask(command, (f"{one:#x}" for one in addresses), exits=(0, 1))))


GDB_PROGRAM = """
for line in open({questions!r}):
    block, names = gdb.block_for_pc(int(line)), []
    while block and not (block.is_global or block.is_static):
        if block.function:
            names.append(block.function.linkage_name)
        block = block.superblock
    print("chain", int(line), chr(9).join(names))
"""


def ask_gdb(binary: Path, addresses: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The names along the inline chain of each address, innermost first, as gdb reads them from the DWARF of an ELF file."""
    with tempfile.TemporaryDirectory(prefix="symup-gdb.") as folder:
        questions, program = Path(folder) / "questions", Path(folder) / "program.py"
        questions.write_text("\n".join(map(str, addresses)))
        program.write_text(GDB_PROGRAM.format(questions=str(questions)))
        command = [GDB, "-nx", "-batch", "-iex", "set auto-load off", "-x", str(program), str(binary)]
        lines = [line.rstrip("\n").split(" ", 2) for line in ask(command, ()) if line.startswith("chain ")]
    return {int(address): tuple(names.split("\t")) if names else () for _, address, names in lines}


def named_by(names: Mapping[int, Sequence[str]], answers: Mapping[int, Answer]) -> dict[int, Answer]:
    """The answers with another reader's name in each frame without one, where both see the same number of frames."""

    def named(answer: Answer, chain: Sequence[str]) -> Answer:
        if len(answer.frames) != len(chain):
            return answer
        pairs = zip(answer.frames, chain, strict=True)
        frames = tuple(Frame(one.function or name, one.file, one.line) for one, name in pairs)
        return Answer(frames=frames, start=answer.start)

    return {address: named(answer, names.get(address, ())) for address, answer in answers.items()}


def without_scopes(answers: Mapping[int, Answer]) -> dict[int, Answer]:
    """The answers with each name demangled, and without its scope, its template arguments and what cloning added to it."""
    mangled = sorted({one.function for answer in answers.values() for one in answer.frames})
    plain = subprocess.run(["c++filt", "-p"], input="\n".join(mangled), capture_output=True, text=True, check=True)
    names = {name: last_component(text) for name, text in zip(mangled, plain.stdout.split("\n"), strict=True)}
    return {
        address: Answer(
            frames=tuple(Frame(names[one.function], one.file, one.line) for one in answer.frames),
            start=answer.start,
            error=answer.error,
        )
        for address, answer in answers.items()
    }


def last_component(name: str) -> str:
    """The bare name in a demangled one: no scope, no template arguments, no ``.cold`` or `` [clone .cold]``."""
    name = re.sub(r"( \[clone [^]]*\]|(?<=\w)\.[a-z_]+(\.\d+)*)+\Z", "", name)
    name = re.sub(
        r"\boperator(<=>|<<=?|>>=?|->\*?|<=?|>=?)", lambda match: f"operator{len(match[1])}{ord(match[1][0])}", name
    )
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    name = re.sub(r"\[abi:[^]]*\]|\(anonymous namespace\)::", "", name)
    return re.sub(r"(?<!operator)\(.*\)( const)?\Z", "", name).rsplit("::", 1)[-1].strip()


def measure(
    name: str,
    binary: Path,
    gsym: Path | None,
    *,
    addresses: int,
    seed: int,
    converter: str,
    third: bool,
    voices: int = 200,
    supplemented: Path | None = None,
) -> Report:
    """Converts (unless a GSYM file is given), asks both readers, and counts; the third reader is asked about ``voices`` of each class.

    ``supplemented`` is a file that refers to one that dwz made, whose names llvm-symbolizer can't read: they are gdb's then, compared
    without their scopes, and there is no third voice.
    """
    report = Report(name=name)
    clock = time.perf_counter()

    def lap(step: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        report.seconds[step], clock = now - clock, now

    with tempfile.TemporaryDirectory(prefix="symup-agreement.") as folder:
        if gsym is None:
            gsym = Path(folder) / "converted.gsym"
            convert(binary, gsym, converter=converter)
            lap("convert")
        code = read_code(binary)
        drawn = code.draw(addresses, seed)
        lap("draw")
        ours = ask_gsymutil(gsym, drawn)
        lap("gsymutil")
    reference = ask_symbolizer(binary, drawn)
    lap("symbolizer")
    if supplemented:
        nameless = [address for address, one in reference.items() if any(not frame.function for frame in one.frames)]
        reference |= named_by(ask_gdb(supplemented, nameless), {one: reference[one] for one in nameless})
        ours, reference = without_scopes(ours), without_scopes(reference)
        lap("gdb")
    for address in drawn:
        if address not in ours or address not in reference:
            raise RuntimeError(f"a reader left out {address:#x} of {name}")
        if code.stretched(address, ours[address]):
            ours[address] = NOTHING
            report.ours_stretched += 1
        if code.stretched(address, reference[address]):
            reference[address] = NOTHING
            report.reference_stretched += 1
        if code.names_object(reference[address]):
            reference[address] = NOTHING
            report.reference_objects += 1
        if not reference[address].frames and code.names_stub(address, ours[address]):
            ours[address] = NOTHING
            report.stubs += 1
        _count(report, address, ours[address], reference[address], code.aliases)
    _choose_examples(report, ours, reference)
    if third and not supplemented:
        _arbitrate(report, binary, ours, reference, code.aliases, voices)
        lap("third")
    return report


def _count(
    report: Report, address: int, ours: Answer, reference: Answer, aliases: Mapping[int, frozenset[str]]
) -> None:
    result = compare(ours, reference, aliases)
    report.addresses += 1
    report.verdicts[result.verdict] += 1
    report.ours_covers += ours.names_function
    report.reference_covers += reference.names_function
    if ours.error:
        report.reader_errors[ours.error] += 1
    if result.verdict is Verdict.NO_FUNCTION:
        report.only_line_known += bool(reference.frames)
        return
    report.same_functions += result.functions
    report.same_lines += result.lines
    report.same_leaf_lines += result.leaf_line
    report.by_alias += result.verdict is Verdict.AGREE and "alias" in result.how
    report.by_scope += result.verdict is Verdict.AGREE and "scope" in result.how
    report.by_block += result.verdict is Verdict.AGREE and "block" in result.how
    if result.verdict is not Verdict.AGREE:
        report.disagreeing[result.verdict].append(address)


def _choose_examples(report: Report, ours: Mapping[int, Answer], reference: Mapping[int, Answer]) -> None:
    """Keeps examples from all over each class, and of chains equally deep only the frames that differ."""
    for verdict, found in report.disagreeing.items():
        step = max(len(found) // EXAMPLES_PER_CLASS, 1)
        for address in found[::step][:EXAMPLES_PER_CLASS]:
            a, b = ours[address], reference[address]
            if verdict in {Verdict.NAME, Verdict.FILE, Verdict.LINE}:
                pairs = [(x, y) for x, y in zip(a.frames, b.frames, strict=True) if x != y]
                a, b = (Answer(frames=tuple(pair[side] for pair in pairs)) for side in (0, 1))
            report.examples[verdict].append(f"{address:#x}  ours: {a}  |  reference: {b}")


def _arbitrate(
    report: Report,
    binary: Path,
    ours: Mapping[int, Answer],
    reference: Mapping[int, Answer],
    aliases: Mapping[int, frozenset[str]],
    sample: int,
) -> None:
    """Asks a third reader about a sample of each class of disagreement, and counts with whom it sides.

    It sides with an answer where the whole chain is the same; failing that, where the innermost line is.
    """
    chosen = {verdict: found[:sample] for verdict, found in report.disagreeing.items()}
    wanted = sorted({address for found in chosen.values() for address in found})
    if not wanted:
        return
    try:
        voices = ask_eu_addr2line(binary, wanted)
    except (RuntimeError, FileNotFoundError) as error:
        report.third_absent = f"{EU_ADDR2LINE} has no answer: {error}"
        return
    for verdict, found in chosen.items():
        votes: Counter[str] = Counter()
        for address in found:
            voice = voices.get(address, NOTHING)
            pair = [compare(side[address], as_cloned(voice, side[address]), aliases) for side in (ours, reference)]
            chains = tuple(one.verdict in {Verdict.AGREE, Verdict.NO_FUNCTION} for one in pair)
            leaves = tuple(one.leaf_line for one in pair)
            votes[_vote(chains) or _vote(leaves, " (innermost line)") or "undecided"] += 1
        report.third[verdict] = votes


def as_cloned(voice: Answer, answer: Answer) -> Answer:
    """The third reader's answer with DWARF's names, which know of no clones, replaced by those of clones where ``answer`` has these."""
    if len(voice.frames) != len(answer.frames):
        return voice
    pairs = list(zip(voice.frames, answer.frames, strict=True))
    frames = tuple(
        Frame(b.function, a.file, a.line) if a.function and _CLONE.sub("", b.function) == a.function else a
        for a, b in pairs
    )
    return Answer(frames=frames, start=voice.start)


def _vote(sides: tuple[bool, ...], suffix: str = "") -> str:
    return {(True, False): "ours" + suffix, (False, True): "reference" + suffix}.get((sides[0], sides[1]), "")


def main() -> int:
    """Measures each input, prints the reports, and gives 1 where one fails or lies below the gate."""
    parser = argparse.ArgumentParser(description="Compare GSYM answers with llvm-symbolizer's answers from DWARF.")
    parser.add_argument("inputs", nargs="*", default=list(DEFAULT_INPUTS), help="names of bench/inputs.py, or paths")
    parser.add_argument("--addresses", type=int, default=20_000, help="how many to draw (default 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gsym", type=Path, help="measure this GSYM file of the one input instead of converting")
    parser.add_argument("--converter", choices=("symup", "llvm"), default="symup")
    parser.add_argument("--third", choices=("eu-addr2line",), help="ask a third reader about the disagreements")
    parser.add_argument("--gate", type=float, default=0.0, help="fail where fewer chains agree, in percent")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    options = parser.parse_args()
    if options.gsym and len(options.inputs) != 1:
        parser.error("--gsym goes with exactly one input")
    failed = False
    documents: list[dict[str, Any]] = []
    for name in inputs.expand(options.inputs):
        try:
            report = measure(
                name,
                inputs.input_path(name),
                options.gsym,
                addresses=options.addresses,
                seed=options.seed,
                converter=options.converter,
                third=bool(options.third),
            )
        except (inputs.InputUnavailable, RuntimeError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        below = report.chains_percent < options.gate or bool(options.gate and report.reader_errors)
        failed |= below
        documents.append({**report.as_json(), "passed": not below})
        if not options.json:
            print(report.as_text() + (f"\n  BELOW THE GATE of {options.gate} %" if below else ""), flush=True)
    if options.json:
        print(json.dumps(documents, indent=2))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
