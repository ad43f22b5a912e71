"""llvm-gsymutil reads what we write, and we read what it writes: the same answers from both."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gsym.llvm_answers import Gsymutil, llvm_chains, our_chain
from tests.gsym.tables import random_table
from uploader.gsym.encode import encode
from uploader.gsym.lookup import Gsym

PROGRAM = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
static inline int square(int x) { return x * x + 1; }
static inline int twice(int x) { return square(x) + square(x + 1); }
struct Counts {
  std::map<std::string, int> of;
  int get(const std::string &name) { return of[name]; }
};
int work(int n) {
  std::vector<int> all;
  for (int i = 0; i < n; i++) all.push_back(twice(i));
  std::sort(all.begin(), all.end());
  return all.empty() ? 0 : all.back();
}
int main(int count, char **words) {
  Counts counts;
  for (int i = 0; i < count; i++) counts.of[words[i]] = work(i);
  std::string first = words[0];
  return std::printf("%d\\n", counts.get(first)) > 3;
}
"""


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("seed", range(6))
def test_llvm_answers_from_our_file_as_we_do(
    tmp_path: Path, gsymutil: Gsymutil, seed: int, little_endian: bool
) -> None:
    rng = random.Random(seed)
    table = random_table(rng, pieces=60, far=seed % 2 == 0, for_llvm=True)
    path = tmp_path / "ours.gsym"
    path.write_bytes(encode(table, base_address=table.start[0], uuid=bytes(20), little_endian=little_endian))
    gsym = Gsym(path.read_bytes())
    edges = {*table.start, *table.end, *table.row_address, *table.range_start, *table.range_end}
    addresses = sorted(rng.sample(sorted({edge + step for edge in edges for step in (-1, 0, 1)} - {-1}), 1000))
    answers = llvm_chains(gsymutil, path, addresses)
    assert {address: our_chain(gsym, address) for address in addresses} == answers
    assert sum(map(len, answers.values())) > 1000


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_llvm_dumps_our_file_whole_without_a_complaint(tmp_path: Path, gsymutil: Gsymutil, little_endian: bool) -> None:
    table = random_table(random.Random(9), pieces=60)
    path = tmp_path / "ours.gsym"
    path.write_bytes(encode(table, base_address=0, uuid=bytes(range(20)), little_endian=little_endian))
    dump = gsymutil(path)
    assert "error" not in dump and "warning" not in dump
    assert dump.count("FunctionInfo @") == 60
    assert dump.count("LineTable:") == sum(map(int.__lt__, table.row_first, table.row_first[1:]))
    assert dump.count("InlineInfo:") == sum(map(int.__lt__, table.node_first, table.node_first[1:]))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-22"])
def test_we_answer_from_llvms_file_as_it_does(
    tmp_path: Path, gsymutil: Gsymutil, peer: Callable[[str], str], compiler: str, level: str
) -> None:
    source, binary, path = tmp_path / "program.cc", tmp_path / "program", tmp_path / "llvm.gsym"
    source.write_text(PROGRAM)
    subprocess.run([peer(compiler), "-g", level, source, "-o", binary], check=True, timeout=120)
    subprocess.run(
        [peer("llvm-gsymutil-22"), f"--convert={binary}", f"--out-file={path}", "--num-threads=1"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    gsym = Gsym(path.read_bytes())
    functions = [int(a, 16) for a in re.findall(r"\(0x([0-9a-f]{16})\)", gsymutil(path))]
    addresses = sorted(random.Random(0).sample(range(min(functions), max(functions) + 64), 2000))
    answers = llvm_chains(gsymutil, path, addresses)
    assert {address: our_chain(gsym, address) for address in addresses} == answers
    assert sum(map(len, answers.values())) > 1500
