"""What a program says of its own build: told by `inspect`, kept with its symbols, told by `status`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from tests.writers.go_build_info_writer import modules, texts_behind

FACTS = modules(
    ("path", "example.com/rocket/cmd/fly"),
    ("mod", "example.com/rocket", "v1.2.3"),
    ("dep", "example.com/fuel", "v0.1.0"),
    ("build", "-trimpath=true"),
    ("build", "CGO_CFLAGS="),
    ("build", "-ldflags=-X main.token=hunter2"),
    ("build", "vcs.revision=0123456789abcdef"),
    ("build", "vcs.time=2026-10-13T16:42:50Z"),
    ("build", "vcs.modified=true"),
)
SOURCE = """
__asm__(".section .go.buildinfo,\\"aw\\"\\n.balign 16\\n.incbin \\"info\\"\\n.previous");
int main(void) { return 0; }
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "info").write_bytes(texts_behind(b"go1.27.3", FACTS))
    command = ["cc", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", "app"]
    subprocess.run(command, input=SOURCE, text=True, check=True, cwd=tmp_path)
    return tmp_path / "app"


def test_inspect_tells_people_and_programs(symup: Symup, program: Path) -> None:
    told = symup("inspect", program).out
    for row in (
        "built by           go1.27.3",
        "module             example.com/rocket v1.2.3",
        "main package       example.com/rocket/cmd/fly",
        "revision           0123456789abcdef, of 2026-10-13T16:42:50Z, with changes that are in no commit",
        "setting            -trimpath=true",
        "made of            1 module besides (--json names them)",
    ):
        assert f"  {row}\n" in told
    assert "CGO_CFLAGS" not in told
    (page,) = symup("inspect", program, "--json").document["files"]
    assert page["build"] == {
        "toolchain": "go1.27.3",
        "package": "example.com/rocket/cmd/fly",
        "module": {"path": "example.com/rocket", "version": "v1.2.3", "replaced_by": None},
        "revision": "0123456789abcdef",
        "revision_time": "2026-10-13T16:42:50Z",
        "modified": True,
        "settings": {
            "-trimpath": "true",
            "CGO_CFLAGS": "",
            "-ldflags": "-X main.token=hunter2",
            "vcs.revision": "0123456789abcdef",
            "vcs.time": "2026-10-13T16:42:50Z",
            "vcs.modified": "true",
        },
        "dependencies": [{"path": "example.com/fuel", "version": "v0.1.0", "replaced_by": None}],
    }


def test_the_store_keeps_module_and_revision_and_none_of_the_flags(symup: Symup, program: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert symup("upload", program, "--to", store).code == 0
    (entry,) = symup("status", program, "--to", store, "--json").document["entries"]
    assert entry["manifest"]["build"] == {
        "toolchain": "go1.27.3",
        "module": "example.com/rocket",
        "module_version": "v1.2.3",
        "revision": "0123456789abcdef",
        "modified": True,
    }
    assert " from 0123456789ab" in symup("status", program, "--to", store).out
    assert "hunter2" not in "".join(path.read_text("latin-1") for path in store.rglob("*") if path.is_file())


def test_a_program_that_has_no_id_is_told_so(symup: Symup, program: Path) -> None:
    subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", "app"], check=True, cwd=program.parent)
    (page,) = symup("inspect", program, "--json").document["files"]
    assert page["id"].startswith("file:")
    assert "for this very file only" in page["id_troubles"][0]
    told = symup("inspect", program).out
    assert "  mind               no build-id: these symbols are found for this very file only" in told
    assert "  what to do         Build it without -buildid= among -ldflags" in told
