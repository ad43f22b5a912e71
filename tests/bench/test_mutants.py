"""`bench/mutants.py` changes one condition at a time, each in its own way."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants import beside, chosen, mutants

MODULE = Path("uploader/values.py")


def changed(source: str) -> set[str]:
    found = set()
    for mutant in mutants(MODULE, source.encode()):
        data = source.encode()
        found.add((data[: mutant.start] + mutant.now.encode() + data[mutant.end :]).decode())
    return found


def test_a_guard_is_taken_out_and_its_border_moved() -> None:
    assert changed("if size > limit:\n    raise Error\n") == {
        "if False:\n    raise Error\n",
        "if (size >= limit):\n    raise Error\n",
    }


def test_a_condition_that_guards_nothing_is_turned() -> None:
    assert changed("if ready:\n    go()\n") == {"if (not (ready)):\n    go()\n"}


def test_each_alternative_of_a_condition_is_dropped() -> None:
    assert changed("é = a and b\n") == {"é = True and b\n", "é = a and True\n"}
    assert changed("é = a or b\n") == {"é = False or b\n", "é = a or False\n"}


def test_a_filter_lets_everything_through() -> None:
    assert changed("kept = [one for one in all if one.good]\n") == {"kept = [one for one in all if True]\n"}


def test_imports_for_type_checkers_are_left_alone() -> None:
    assert changed("if TYPE_CHECKING:\n    import os\n") == set()


def test_the_same_seed_draws_the_same_and_every_mutant_still_compiles() -> None:
    drawn = chosen([MODULE], each=5, seed=3)
    assert drawn == chosen([MODULE], each=5, seed=3)
    assert len(drawn) == 5
    source = MODULE.read_text()
    for one in changed(source):
        compile(one, str(MODULE), "exec")


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("uploader/protocol/verify.py", ["tests/protocol"]),
        ("uploader/sources/dwarf/walk.py", ["tests/sources/dwarf"]),
        ("uploader/values.py", ["tests/test_values.py"]),
    ],
)
def test_a_module_is_tried_by_the_tests_that_mirror_it(module: str, tests: list[str]) -> None:
    assert beside(Path(module)) == tests
