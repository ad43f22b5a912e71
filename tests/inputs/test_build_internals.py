"""What build systems leave for themselves, where its place does not tell: libraries that run in the compiler."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.writers.elf_writer import Section, elf
from uploader.inputs.build_internals import is_procedural_macro
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.gather import gather
from uploader.pipeline.plan import Plan
from uploader.progress import Silent

NAMES = Section(".dynstr", b"\0__rustc_proc_macro_decls_0123__\0")
SOURCES = {
    "proc-macro": "extern crate proc_macro; #[proc_macro] pub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream "
    '{ "42".parse().unwrap() }',
    "dylib": "pub fn answer() -> i32 { 42 }",
    "cdylib": '#[no_mangle] pub extern "C" fn answer() -> i32 { 42 }',
}


@pytest.fixture
def libraries(peer: Callable[[str], str], tmp_path: Path) -> Path:
    for kind, source in SOURCES.items():
        (tmp_path / "source.rs").write_text(source)
        name = tmp_path / f"lib{kind}-0123456789abcdef.so"
        words = ["--crate-type", kind, "--crate-name", "answers", "-o", str(name), str(tmp_path / "source.rs")]
        subprocess.run([peer("rustc"), *words], check=True, capture_output=True)
    return tmp_path


@pytest.mark.parametrize(
    ("sections", "is_macro"),
    [
        ([Section(".rustc", b"x"), NAMES], True),
        ([NAMES], False),
        ([Section(".rustc", b"x")], False),
        ([Section(".rustc", b"x"), Section(".dynstr", b"\0main\0")], False),
        ([], False),
    ],
)
def test_a_macro_has_both_the_metadata_of_rust_and_the_symbol(
    tmp_path: Path, sections: list[Section], is_macro: bool
) -> None:
    (tmp_path / "lib.so").write_bytes(elf(sections))
    with ElfFile.open(tmp_path / "lib.so") as file:
        assert is_procedural_macro(file) is is_macro


def test_procedural_macros_are_left_out_and_other_libraries_of_rust_are_not(libraries: Path) -> None:
    gathered = gather(Plan(paths=[libraries]), progress=Silent())
    assert [os.path.basename(one.path).partition("-")[0] for one in gathered.artifacts] == ["libcdylib", "libdylib"]
    assert [(one.what, one.number) for one in gathered.left_out] == [
        ("Rust's procedural macros, which run in the compiler", 1)
    ]
    assert len(gather(Plan(paths=[libraries], build_internals=True), progress=Silent()).artifacts) == 3
    macro = next(libraries.glob("libproc-macro*"))
    for paths in ([libraries, macro], [macro, libraries]):
        assert len(gather(Plan(paths=paths), progress=Silent()).artifacts) == 3
