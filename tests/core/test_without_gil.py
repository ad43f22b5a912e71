"""Functions of the core that run without the GIL don't take it at every call.

Cython lets a ``with cython.gil`` block stand in such a function; but a Python object in a variable of the function's own, or a closure,
has to be given up when the function ends, so that every call takes the GIL, whether it ran the block or not: threads then wait for each
other half of the time. What needs Python objects belongs into a method that the block calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = sorted(
    path
    for path in (ROOT / "uploader").rglob("*.py")
    if re.search(r"^import cython$", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def is_gil_block(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(ast.unparse(item.context_expr) == "cython.gil" for item in node.items)


def typed_names(function: ast.FunctionDef) -> set[str]:
    """Arguments and variables that are declared with a C type."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    declared = [(each.arg, each.annotation) for each in arguments if each.annotation is not None]
    declared += [
        (node.target.id, node.annotation)
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return {name for name, annotation in declared if "cython." in ast.unparse(annotation)}


def offences(source: str) -> Iterator[str]:
    """What in functions with a GIL block makes every call take the GIL."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        typed = typed_names(function)
        for block in filter(is_gil_block, ast.walk(function)):
            for node in ast.walk(block):
                if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.Lambda):
                    yield f"{function.name}:{node.lineno}: a closure"
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in typed:
                    yield f"{function.name}:{node.lineno}: {node.id} is an object"


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_no_gil_block_keeps_objects_in_the_function_around_it(path: Path) -> None:
    assert list(offences(path.read_text(encoding="utf-8"))) == []


def test_the_rule_sees_what_it_is_there_for() -> None:
    source = """
def reserve(self, size: cython.Py_ssize_t) -> cython.int:
    n: cython.Py_ssize_t
    with cython.gil:
        n = 1
        bigger = bytearray(size)
        pairs = sorted(x for x in self.a)
"""
    assert [each.split(": ")[1] for each in offences(source)] == [
        "bigger is an object",
        "pairs is an object",
        "a closure",
        "x is an object",
    ]
