"""Takes out or turns conditions of the package, one at a time, and tells which of them no test holds.

    python bench/mutants.py uploader/store uploader/server            # one condition of each module
    python bench/mutants.py uploader/sources/dwarf --each 2 --seed 7  # two of each, others than by default
    python bench/mutants.py uploader/gsym/layout.py --each 99 --tests tests/gsym

Each mutant is one changed condition in a copy of what is committed or would be; its tests have passed there without it.
First the tests beside its module run, then, where these stay green, those of `--also`; the first failure ends it. Modules
of the core are compiled anew for it, so that the copy runs what users run. It ends with 1 if a mutant lived. A mutant that
changes nothing that can be seen (a faster way to the same answer) lives, too: each is a place to look.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from uploader.values import frozen

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 600
COMPILE = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
TURNED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


@frozen
class Mutant:
    """One changed condition: where it stands in the module's bytes, and what stands there instead."""

    module: Path
    line: int
    start: int
    end: int
    was: str
    now: str

    def apply(self, root: Path) -> None:
        """Writes the changed module below ``root``."""
        data = (root / self.module).read_bytes()
        (root / self.module).write_bytes(data[: self.start] + self.now.encode() + data[self.end :])


@frozen
class Kept:
    """A module as it was before its mutant: the source, and what was compiled of it."""

    contents: dict[Path, bytes]

    @classmethod
    def of(cls, root: Path, module: Path) -> Kept:
        """Reads the files of ``module`` below ``root``."""
        path = root / module
        return cls(contents={file: file.read_bytes() for file in (path, *path.parent.glob(f"{path.stem}.*.so"))})

    def put_back(self) -> None:
        """Writes them as they were; the next build compiles the module again, since its source is the newest."""
        for file, data in self.contents.items():
            file.unlink(missing_ok=True)
            file.write_bytes(data)


def mutants(module: Path, source: bytes) -> Iterator[Mutant]:
    """Every mutant of a module: guards taken out, other conditions turned, borders moved by one, alternatives dropped."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def mutant(node: ast.expr, now: str) -> Mutant:
        start, end = (
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
        )
        return Mutant(module=module, line=node.lineno, start=start, end=end, was=source[start:end].decode(), now=now)

    def text(node: ast.expr) -> str:
        return mutant(node, "").was

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If | ast.IfExp) and "TYPE_CHECKING" not in text(node.test):
            guard = isinstance(node, ast.If) and isinstance(node.body[-1], LEAVES)
            yield mutant(node.test, "False" if guard else f"(not ({text(node.test)}))")
        if isinstance(node, ast.BoolOp):
            for dropped in node.values:
                yield mutant(dropped, "True" if isinstance(node.op, ast.And) else "False")
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            turned = TURNED[type(node.ops[0])]
            yield mutant(node, f"({text(node.left)} {turned} {text(node.comparators[0])})")
        if isinstance(node, ast.comprehension):
            for condition in node.ifs:
                yield mutant(condition, "True")


def chosen(modules: Sequence[Path], each: int, seed: int) -> list[Mutant]:
    """``each`` mutants of every module, drawn by ``seed``: the same for the same source."""
    picked: list[Mutant] = []
    for module in modules:
        draw = random.Random(f"{seed} {module}")
        every = list(mutants(module, (ROOT / module).read_bytes()))
        picked += sorted(draw.sample(every, min(each, len(every))), key=lambda one: one.start)
    return picked


def beside(module: Path) -> list[str]:
    """The tests that mirror a module: those of its room, from the innermost folder that has some."""
    folder = Path("tests", *module.parts[1:-1])
    while not any((ROOT / folder).glob("**/test_*.py")):
        folder = folder.parent
    if folder == Path("tests"):
        named = sorted((ROOT / "tests").glob(f"test_{module.stem}*.py"))
        return [str(path.relative_to(ROOT)) for path in named] or ["tests/test_architecture.py"]
    return [str(folder)]


def copy_to(target: Path) -> None:
    """What is committed or would be, with what is compiled."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    names += [str(path.relative_to(ROOT)) for path in (ROOT / "uploader").rglob("*.so")]
    names += [str(path.relative_to(ROOT)) for path in (ROOT / "build" / "cython").rglob("*") if path.is_file()]
    for name in names:
        if not (ROOT / name).exists():
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def run(root: Path, group: Sequence[str]) -> str:
    """Why the tests of ``group`` fail on the copy as it is; an empty text where they don't."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *group]
    environ = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environ, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return "the tests don't end"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if not done.returncode:
        return ""
    return failed[0].split(" - ")[0] if failed else f"pytest ended with {done.returncode}"


def survives(root: Path, mutant: Mutant, tests: Sequence[Sequence[str]]) -> str:
    """Why the mutant died, or an empty text if it lives through all groups of ``tests``."""
    compiled = any((root / mutant.module).parent.glob(mutant.module.stem + ".*.so"))
    if compiled:
        built = subprocess.run(
            COMPILE,
            cwd=root,
            env=os.environ | {"SYMUP_COMPILE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            return "Cython: " + built.stderr.strip().rpartition("\n")[2]
    return next((died for group in tests if (died := run(root, group))), "")


def main() -> int:
    """Tries the mutants of the modules that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="MODULE-or-FOLDER")
    parser.add_argument("--each", type=int, default=1, help="mutants of each module (default 1)")
    parser.add_argument("--seed", type=int, default=1, help="which of them (default 1)")
    parser.add_argument("--tests", action="append", default=[], help="the tests to run, not those beside the module")
    parser.add_argument("--also", action="append", default=[], help="more tests for those that live through the first")
    parser.add_argument("--list", action="store_true", help="only tell what would be tried")
    options = parser.parse_args()
    modules = sorted(
        {
            file.resolve().relative_to(ROOT)
            for path in options.paths
            for file in ([path] if path.is_file() else path.rglob("*.py"))
        }
    )
    lived = 0
    sound: set[str] = set()
    picked = chosen(modules, options.each, options.seed)
    with tempfile.TemporaryDirectory(prefix="symup-mutants-") as folder:
        root = Path(folder)
        if not options.list:
            copy_to(root)
            if any(root.rglob("*.so")):
                subprocess.run(COMPILE, cwd=root, env=os.environ | {"SYMUP_COMPILE": "1"}, check=True)
        for number, mutant in enumerate(picked, 1):
            where = f"{mutant.module}:{mutant.line}"
            print(f"[{number}/{len(picked)}] {where}: {mutant.was}  ->  {mutant.now}", flush=True)
            if options.list:
                continue
            groups = [group for group in (options.tests or beside(mutant.module), options.also) if group]
            for name in {name for group in groups for name in group} - sound:
                if failed := run(root, [name]):
                    sys.exit(f"{name} fails without any mutant, too: {failed}")
                sound.add(name)
            kept = Kept.of(root, mutant.module)
            mutant.apply(root)
            died = survives(root, mutant, groups)
            kept.put_back()
            lived += not died
            print(f"    {died or 'LIVED'}", flush=True)
    if not options.list:
        print(f"{len(picked)} mutants, {lived} lived")
    return 1 if lived else 0


if __name__ == "__main__":
    sys.exit(main())
