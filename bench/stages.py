"""Shows where the time of one conversion goes: the stages of each thread, with their time, CPU time and page faults.

``python bench/stages.py INPUT [--threads 2]`` converts an input (a name of ``bench/inputs.py`` or a file) in this process, without the
command line around it, and prints the stages in the order in which they began. Stages of one thread may lie in each other.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inputs

STAGES = (
    ("uploader.sources.dwarf.sections:SectionLoader.load", "inflate"),
    ("uploader.sources.dwarf.read:read_line_tables", "run line programs"),
    ("uploader.sources.extract:read_tables", "read symbols"),
    ("uploader.sources.dwarf.read:read_units", "read unit headers"),
    ("uploader.sources.dwarf.batches:Walker.walk", "walk"),
    ("uploader.sources.dwarf.read:join_named", "walk, name and join"),
    ("uploader.sources.extract:merge", "merge"),
    ("uploader.symbols.shape:_sort_names", "sort names"),
    ("uploader.symbols.shape:_shape", "shape"),
    ("uploader.symbols.shape:_number_files", "number files"),
    ("uploader.gsym.encode:_collect", "string table"),
    ("uploader.gsym.encode:encode_line_tables", "encode lines"),
    ("uploader.gsym.encode:encode_inline_trees", "encode inlines"),
    ("uploader.gsym.encode:share_records", "share records"),
)
"""Where each stage is called by name, and what it does. Stages of the compiled core can't be told apart from the inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One call of a stage; times in seconds from the beginning of the conversion."""

    name: str
    thread: str
    begin: float
    end: float
    cpu: float
    page_faults: int


def watch(place: str, name: str, began: float, seen: list[Stage]) -> None:
    """Has every call of the function at a place (``module:attribute.path``) noted."""
    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(module)
    *owners, attribute = path.split(".")
    for each in owners:
        owner = getattr(owner, each)
    function: Callable[..., Any] = getattr(owner, attribute)

    @functools.wraps(function)
    def noted(*arguments: Any, **named: Any) -> Any:
        begin, cpu, faults = time.perf_counter(), time.thread_time(), _faults()
        try:
            return function(*arguments, **named)
        finally:
            detail = f" {arguments[1]}" if name == "inflate" else ""
            seen.append(
                Stage(
                    name=name + detail,
                    thread=threading.current_thread().name,
                    begin=begin - began,
                    end=time.perf_counter() - began,
                    cpu=time.thread_time() - cpu,
                    page_faults=_faults() - faults,
                )
            )

    setattr(owner, attribute, noted)


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def convert(source: Path, threads: int) -> list[Stage]:
    """Converts a file and gives the stages, in the order in which they began."""
    from uploader.gsym.encode import encode
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.extract import build

    seen: list[Stage] = []
    began = time.perf_counter()
    for place, name in STAGES:
        watch(place, name, began, seen)
    with ElfFile.open(str(source)) as elf:
        extracted = build(elf, threads=threads)
        encode(extracted.table, base_address=elf.base_address, uuid=b"", threads=threads)
        seen.append(
            Stage(
                name="all",
                thread=threading.current_thread().name,
                begin=0.0,
                end=time.perf_counter() - began,
                cpu=time.process_time(),
                page_faults=resource.getrusage(resource.RUSAGE_SELF).ru_minflt,
            )
        )
    return sorted(seen, key=lambda stage: (stage.begin, -stage.end))


def main() -> None:
    """Prints the stages of one conversion."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="a name of bench/inputs.py, or a file")
    parser.add_argument("--threads", type=int, default=2, help="how many (default 2)")
    options = parser.parse_args()
    source = Path(options.input) if Path(options.input).exists() else inputs.input_path(options.input)
    print(f"{'begin':>7} {'end':>7} {'wall':>7} {'CPU':>7} {'faults':>7}  thread / stage")
    for stage in convert(source, options.threads):
        print(
            f"{stage.begin:7.3f} {stage.end:7.3f} {stage.end - stage.begin:7.3f} {stage.cpu:7.3f} {stage.page_faults:7}"
            f"  {stage.thread:<16} {stage.name}"
        )


if __name__ == "__main__":
    main()
