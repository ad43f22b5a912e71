"""Measures symup on many binaries that others built, and writes the table of docs/accuracy.md.

``python bench/accuracy.py [INPUT…]`` takes each input (the group ``accuracy`` of ``bench/inputs.py`` by default) through
``agreement.measure`` (llvm-gsymutil reading our GSYM against llvm-symbolizer reading the DWARF, elfutils as the third voice) and
``covered.measure`` (our GSYM against llvm-gsymutil's own). Results are kept in ``.cache/accuracy``; the page is written from all of
them, so that a few inputs can be measured anew.

llvm-symbolizer reads no DWARF that dwz moved to a supplementary file, and has places without names there. gdb, told where that file
lies, gives the names; they are compared without scopes and template arguments.

A relocatable file is linked first (``bench/linked.py``) with its code sections where symup lays them out: the reference reads that.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from uploader.objects.elf.elf_file import ElfFile

import agreement
import cores
import covered
import inputs
import linked
import page
from agreement import DISAGREEMENTS, GSYMUTIL

PAGE = inputs.ROOT / "docs" / "accuracy.md"
BEGIN, END = "<!-- table: begin (python bench/accuracy.py) -->", "<!-- table: end -->"
OBJCOPY = os.environ.get("LLVM_OBJCOPY", "llvm-objcopy-22")
ALTLINK = ".gnu_debugaltlink"
KINDS = {1: "relocatable", 2: "executable", 3: "shared"}
GOOD_PERCENT = 99.9
MISSING = re.compile(r" is missing: | not found")
"""In a warning that says what of a file's debug information isn't there."""
LACKING = {"lua-no-debug-str": ("lines", ".debug_str"), "lua-no-dwp": ("lines", "split units")}
"""Of inputs from which something was taken: the quality that is left, and what has to be named."""
BELOW_FOR_A_REASON = {
    ("lua-basic-blocks", "line_bytes"): "it has a function's declaration line for each block without a row"
}
"""Where llvm-gsymutil's file has more bytes covered than ours, and why that isn't better."""
COMPILERS = (
    (re.compile(r"^GNU (?:C|C\+\+|GIMPLE|Fortran)\S* (\d+\.\d+)"), "gcc"),
    (re.compile(r"clang version (\d+\.\d+)"), "clang"),
    (re.compile(r"rustc version (\d+\.\d+)"), "rustc"),
    (re.compile(r"^GNU AS (\d+\.\d+)"), "as"),
    (re.compile(r"^Go cmd/compile go(\d+\.\d+)"), "go"),
)


def measure(name: str, *, addresses: int, seed: int) -> dict[str, Any]:
    """All figures of one input; raises `RuntimeError` or `inputs.InputUnavailable` where that fails."""
    path = inputs.input_path(name)
    with ElfFile.open(path) as elf:
        layout = list(elf.layout)
        sections = sorted(
            (elf.address_of(one), elf.address_of(one) + one.size_bytes)
            for one in elf.sections
            if one.is_code and one.size_bytes
        )
        facts: dict[str, Any] = {
            "input": name,
            "size_bytes": elf.size_bytes,
            "kind": KINDS.get(elf.kind, str(elf.kind)),
            "machine": f"{elf.machine_name}{'' if elf.little_endian else ', big endian'}",
        }
    with tempfile.TemporaryDirectory(prefix="symup-accuracy.") as folder:
        ours, theirs, whole = Path(folder) / "ours.gsym", Path(folder) / "llvm.gsym", path
        agreement.convert(path, ours, converter="symup")
        if linked.is_relocatable(path):
            whole = Path(folder) / "linked"
            linked.link(path, layout, whole)
        facts |= origin(whole)
        report = agreement.measure(
            name,
            whole,
            ours,
            addresses=addresses,
            seed=seed,
            converter="symup",
            third=True,
            voices=addresses,
            supplemented=with_supplement(path, Path(folder) / "supplemented"),
        )
        facts["dwz"] = (Path(folder) / "supplemented").exists()
        facts["agreement"] = report.as_json()
        facts["ours"] = _coverage(ours, sections)
        facts["llvm"] = _llvm_coverage(path, theirs, sections)
        facts["told"] = told(path, Path(folder) / "told.gsym")
    return facts


def told(path: Path, out: Path) -> dict[str, Any]:
    """The quality that symup says a file has, and what it says is missing of it."""
    done = cores.installed().run("convert", str(path.resolve()), "-o", str(out), "--json")
    if not out.exists():
        raise RuntimeError(f"symup could not convert {path}: exit {done.returncode}")
    (outcome,) = json.loads(done.stdout)["outcomes"]
    # Places of this machine are nobody's matter.
    missing = [re.sub(r"/\S*/", "", warning) for warning in outcome["warnings"] if MISSING.search(warning)]
    return {"quality": outcome["quality"], "missing": missing}


def _coverage(gsym: Path, sections: Sequence[tuple[int, int]]) -> dict[str, Any]:
    found = covered.measure(gsym, sections)
    return {
        "functions": found.functions,
        "executable_bytes": found.executable_bytes,
        "function_bytes": found.function_bytes,
        "line_bytes": found.line_bytes,
        "function_percent": round(found.function_percent, 3),
        "line_percent": round(found.line_percent, 3),
        "gsym_bytes": gsym.stat().st_size,
    }


def _llvm_coverage(path: Path, out: Path, sections: Sequence[tuple[int, int]]) -> dict[str, Any]:
    command = [GSYMUTIL, "--convert", str(path), "--out-file", str(out), "--num-threads=2", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if not out.exists() or not out.stat().st_size:
        return {"error": _reason(done.stderr) or f"exit {done.returncode}"}
    return _coverage(out, sections)


def _reason(complaint: str) -> str:
    lines = [line for line in complaint.splitlines() if line.startswith("error:")] or complaint.splitlines()
    return re.sub(r"/\S*/", "", lines[-1])[:120] if lines else ""


def with_supplement(path: Path, out: Path) -> Path | None:
    """A copy of a file that refers to one that dwz made, with that one's real place in it; None where a file refers to none."""
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(ALTLINK)
        if section is None:
            return None
        name, _, build_id = section.data().partition(b"\0")
    below = PurePosixPath(name.decode()).relative_to("/")
    found = next((root / below for root in path.resolve().parents if (root / below).exists()), None)
    if found is None:
        raise RuntimeError(f"{path.name} refers to {name.decode()}, which is not here")
    link = out.with_suffix(".altlink")
    link.write_bytes(str(found).encode() + b"\0" + build_id)
    subprocess.run([OBJCOPY, f"--update-section={ALTLINK}={link}", str(path), str(out)], check=True)
    return out


def origin(path: Path) -> dict[str, Any]:
    """Who made the debug information: the compilers by number of units, and the DWARF versions."""
    makers: Counter[str] = Counter()
    versions: set[int] = set()
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        try:
            if elf.has_dwarf_info(strict=True):
                for unit in elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False).iter_CUs():
                    versions.add(unit["version"])
                    producer = unit.get_top_DIE().attributes.get("DW_AT_producer")
                    if producer and not isinstance(producer.value, int):
                        makers[_maker(producer.value)] += 1
        except (DWARFError, ELFError, AssertionError, AttributeError, KeyError, ValueError, zlib.error) as error:
            # pyelftools asserts that the sections are there which the others refer to.
            has_strings = elf.get_section_by_name(".debug_str") is not None
            makers[f"unread ({type(error).__name__})" if has_strings else "not told: no .debug_str"] += 1
    if versions and not makers:
        makers = _makers_of_split(path)
    return {"compilers": [maker for maker, _ in makers.most_common() if maker], "dwarf": sorted(versions)}


def _makers_of_split(path: Path) -> Counter[str]:
    """The compilers that the strings of split units tell of; pyelftools does not read these files."""
    makers: Counter[str] = Counter()
    for part in (path.with_name(path.name + ".dwp"), *sorted(path.parent.glob("*.dwo"))):
        for raw in part.read_bytes().split(b"\0") if part.exists() else ():
            text = raw.decode("utf-8", "replace")
            makers.update(f"{name} {match[1]}" for pattern, name in COMPILERS if (match := pattern.search(text)))
    return makers


def _maker(producer: Any) -> str:
    text = producer.decode("utf-8", "replace") if isinstance(producer, bytes) else str(producer)
    for pattern, name in COMPILERS:
        if match := pattern.search(text):
            return f"{name} {match[1]}"
    return re.split(r"[,;(]", text)[0].strip()[:30]


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The page's table, with the sums above it and the classes of differences below."""
    chains = sorted(one["agreement"]["chains_percent"] for one in results)
    large = [one["agreement"]["chains_percent"] for one in results if one["size_bytes"] > 1_000_000]
    settled = sorted(map(_settled_percent, results))
    big = sum(one["size_bytes"] > 50_000_000 for one in results)
    lines = [
        (
            f"{len(results)} files, {big} of them over 50 MB. Chains: median {statistics.median(chains):.3f} % (of the {len(large)} "
            f"over 1 MB {statistics.median(large or chains):.3f} %), lowest "
            f"{chains[0]:.3f} %; {sum(share >= GOOD_PERCENT for share in chains)} files at {GOOD_PERCENT} % or above. "
            f"Where elfutils side with one of the two readers, too: lowest {settled[0]:.3f} %."
        ),
        "",
        (
            "| file | what | made by | DWARF | MB | addresses | chains % | after the third voice % | functions % | lines % "
            "| code covered, ours / LLVM % | with a line, ours / LLVM % |"
        ),
        "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *map(_row, results),
        "",
        f"Differences of the files below {GOOD_PERCENT} %, with whom elfutils, the third voice, side in each:",
        "",
    ]
    below = [one for one in results if one["agreement"]["chains_percent"] < GOOD_PERCENT]
    for one in below:
        figures = one["agreement"]
        for verdict in DISAGREEMENTS:
            if count := figures["verdicts"][verdict]:
                votes = figures["third"].get(verdict, {})
                told = ", ".join(f"{vote} {n}" for vote, n in sorted(votes.items())) or "no answer"
                lines.append(f"- {one['input']}: {verdict}: {count} ({told})")
    if not below:
        lines[-2:] = ["No file is below."]
    lacking = [(one["input"], one["told"]) for one in results if one.get("told", {}).get("missing")]
    if lacking:
        lines += ["", "What symup says of files from which something is missing:", ""]
        lines += [f"- {name}: {said['quality']}; {'; '.join(said['missing'])}" for name, said in lacking]
    return "\n".join(lines)


def misjudged(name: str, said: Mapping[str, Any]) -> str:
    """What is wrong with what is said of an input from which something was taken; empty where nothing is."""
    quality, named = LACKING.get(name, ("", ""))
    if not named or (said["quality"] == quality and any(named in warning for warning in said["missing"])):
        return ""
    return f"{quality} is expected with a word of {named}, not {said['quality']} with {said['missing'] or 'none'}"


def _settled_percent(one: Mapping[str, Any]) -> float:
    """The share of chains that agree, with those where the third voice tells the same chain as ours."""
    figures = one["agreement"]
    ours = sum(int(votes.get("ours", 0)) for votes in figures["third"].values())
    return 100.0 * (int(figures["verdicts"]["agree"]) + ours) / max(int(figures["counted"]), 1)


def _row(one: Mapping[str, Any]) -> str:
    figures, ours, llvm = one["agreement"], one["ours"], one["llvm"]
    shares = [f"{figures[key]:.3f}" for key in ("chains_percent", "functions_percent", "lines_percent")]
    shares.insert(1, f"{_settled_percent(one):.3f}")

    def pair(key: str) -> str:
        return f"{ours[key]:.2f} / " + ("fails" if "error" in llvm else f"{llvm[key]:.2f}")

    cells = [
        one["input"] + (" (dwz)" if one.get("dwz") else ""),
        f"{one['kind']}, {one['machine']}",
        ", ".join(one["compilers"][:3]) or "no DWARF",
        ", ".join(map(str, one["dwarf"])) or "–",
        f"{one['size_bytes'] / 1e6:.1f}",
        str(figures["counted"]),
        *shares,
        pair("function_percent"),
        pair("line_percent"),
    ]
    return "| " + " | ".join(cells) + " |"


def write_page(results: Sequence[Mapping[str, Any]]) -> None:
    """Puts the table between the page's markers."""
    PAGE.write_text(page.put(PAGE.read_text() if PAGE.exists() else "", table(results), BEGIN, END))


def main() -> int:
    """Measures, writes the page, and gives 1 where an input fails, is misjudged, or has fewer bytes covered than by llvm-gsymutil."""
    parser = argparse.ArgumentParser(description="Measure agreement and coverage, and write docs/accuracy.md.")
    parser.add_argument("inputs", nargs="*", default=["accuracy"], help="names of bench/inputs.py, groups, or paths")
    parser.add_argument("--addresses", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="measure only what no earlier run has left a result of")
    parser.add_argument("--no-page", action="store_true", help="print, and leave the page alone")
    options = parser.parse_args()
    kept = inputs.ROOT / ".cache" / "accuracy"
    kept.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in inputs.expand(options.inputs):
        result = kept / f"{name.replace('/', '_')}.json"
        if options.keep and result.exists():
            continue
        try:
            found = measure(name, addresses=options.addresses, seed=options.seed)
        except (inputs.InputUnavailable, RuntimeError) as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            result.unlink(missing_ok=True)
            failed = True
            continue
        result.write_text(json.dumps(found, indent=1))
        print(_row(found), flush=True)
        if wrong := misjudged(name, found["told"]):
            print(f"{name}: MISJUDGED: {wrong}", flush=True)
            failed = True
        ours, theirs = found["ours"], found["llvm"]
        for key in ("function_bytes", "line_bytes"):
            if key in theirs and ours[key] < theirs[key] and (name, key) not in BELOW_FOR_A_REASON:
                print(f"{name}: BELOW llvm-gsymutil: {key} {ours[key]} < {theirs[key]}", flush=True)
                failed = True
    known = inputs.expand(["accuracy"])
    results = [json.loads(path.read_text()) for name in known if (path := kept / f"{name}.json").exists()]
    if results and not options.no_page:
        write_page(results)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
