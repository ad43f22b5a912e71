"""Numbers that loops of the core ask for stand twice, for Python and for C, and are the same."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECLARED = re.compile(r"^    (\w+) = (-?\w+)$", re.MULTILINE)
ENUMS = sorted(
    path for path in (ROOT / "uploader").rglob("*.pxd") if "\ncdef enum:" in "\n" + path.read_text(encoding="utf-8")
)

SHIFTED = re.compile(r"<< (?:\w+\.)?([A-Z]\w+)")


def test_there_are_some() -> None:
    assert {"constants", "relocation_types"} <= {path.stem for path in ENUMS}


@pytest.mark.parametrize("path", ENUMS, ids=lambda path: path.stem)
def test_constants_of_c_are_those_of_python(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    declared = {name: int(value, 0) for name, value in DECLARED.findall(path.read_text(encoding="utf-8"))}
    assert declared == {name: getattr(module, name) for name in declared}
    assert all(-(1 << 31) <= value < 1 << 31 for value in declared.values()), "C takes them for int"


@pytest.mark.parametrize("path", ENUMS, ids=lambda path: path.stem)
def test_a_shift_by_one_stays_in_an_int_of_c(path: Path) -> None:
    """``1 << constant`` is 32 bits wide where both are constants of C, and what leaves them would be lost without a word."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for source in sorted(path.parent.glob("*.py")):
        text = source.read_text(encoding="utf-8")
        if re.search(r"^import cython$", text, re.MULTILINE):
            for name in SHIFTED.findall(text):
                assert getattr(module, name, 0) < 31, f"{source.name} shifts by {name}"
