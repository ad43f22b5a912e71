"""`symup status --verify` reads what is stored, and tells damage of the one artifact that has it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from tests.server.running_server import RunningServer


def stored_chunk(store: Path, symup: Symup, program: Path) -> Path:
    (entry,) = symup("status", program, "--to", store, "--json").document["entries"]
    manifest = store / "default/artifacts" / entry["id"][:2] / entry["id"] / "gsym.json"

    sha256: str = json.loads(manifest.read_text())["chunks"][0]["sha256"]
    return store / "default/chunks" / sha256[:2] / sha256


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("over_http", [False, True])
def test_damage_is_told_of_the_one_that_has_it_and_healed_by_the_remedy(
    symup: Symup, programs: Path, tmp_path: Path, over_http: bool
) -> None:
    store = tmp_path / "store"
    good, bad = programs / "program-01", programs / "program-02"
    assert symup("upload", good, bad, "--to", store).code == 0
    flip(stored_chunk(store, symup, bad))
    with RunningServer(store) as server:
        to = server.url if over_http else str(store)
        told = symup("status", good, bad, "--to", to, "--verify", "--json")
        assert told.code == 1
        assert [entry["state"] for entry in told.document["entries"]] == ["stored", "damaged"]
        assert told.document["counts"] | {"failed": 0} == {
            "stored": 1,
            "missing": 0,
            "damaged": 1,
            "other": 0,
            "empty": 0,
            "failed": 0,
        }
        assert "chunk" in told.document["entries"][1]["reason"]
        people = symup("status", good, bad, "--to", to, "--verify")
        assert people.code == 1
        assert "1 damaged" in people.err and "symup upload --force PATHS" in people.err
        assert symup("upload", "--force", good, bad, "--to", to).code == 0
        healed = symup("status", good, bad, "--to", to, "--verify", "--json")
        assert healed.code == 0, healed.err
        assert {entry["reason"] for entry in healed.document["entries"]} == {"stored, and all bytes are sound"}


def test_the_next_upload_mends_what_a_reader_found_damaged_and_says_so(
    symup: Symup, programs: Path, tmp_path: Path
) -> None:
    store, bad = tmp_path / "store", programs / "program-02"
    assert symup("upload", bad, "--to", store).code == 0
    flip(stored_chunk(store, symup, bad))
    assert symup("status", bad, "--to", store, "--verify").code == 1
    mended = symup("upload", bad, "--to", store, "--json")
    (outcome,) = mended.document["outcomes"]
    assert (mended.code, outcome["decision"], outcome["chunks_sent"]) == (0, "present", 1)
    assert outcome["reason"].endswith("what was missing or damaged of it there was sent anew")
    assert symup("status", bad, "--to", store, "--verify").code == 0


def test_a_file_that_is_sound_but_of_another_binary_is_damage(symup: Symup, programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    good, bad = programs / "program-01", programs / "program-02"
    assert symup("upload", good, bad, "--to", store).code == 0
    ids = [symup("status", one, "--to", store, "--json").document["entries"][0]["id"] for one in (good, bad)]
    paths = [store / "default/artifacts" / one[:2] / one / "gsym.json" for one in ids]
    # As a store of an earlier symup, which sealed nothing.
    members = json.loads(paths[0].read_text().replace(ids[0], ids[1]))
    del members["seal"]
    paths[1].write_text(json.dumps(members))
    told = symup("status", bad, "--to", store, "--verify", "--json")
    assert told.code == 1
    assert f"UUID {ids[0]} is not the build-id {ids[1]}" in told.document["entries"][0]["reason"]


def test_who_reads_what_is_damaged_is_told_that_it_is_taken_out(symup: Symup) -> None:
    told = " ".join(symup("status", "--help").out.replace("\u2502", " ").split())
    assert "A damaged chunk is taken out of a store in a folder" in told


class Busy(BaseHTTPRequestHandler):
    """Asks everybody to come back much later."""

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.rfile.read(length)
        self.send_response(503)
        self.send_header("Retry-After", "99999")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def busy_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_only_commands_that_carry_something_say_that_they_resume(symup: Symup, programs: Path) -> None:
    program = programs / "program-01"
    with busy_server() as url:
        for asking in (("status", program, "--to", url), ("lookup", program, "0x1", "--from", url)):
            told = symup(*asking)
            assert told.code == 6
            assert "Run the same command again in" in told.err
            assert "resumes" not in told.err
        carrying = symup("upload", program, "--to", url)
        assert carrying.code == 6
        assert "it resumes where it stopped" in carrying.err
