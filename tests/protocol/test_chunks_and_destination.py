import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from uploader.credentials.token import Token
from uploader.destinations.folder import FolderDestination
from uploader.destinations.open import default_folder, open_destination
from uploader.destinations.server import HttpDestination
from uploader.errors import UsageError
from uploader.places import server_url
from uploader.protocol.chunks import compress

SECRET = Token("s3cr3t")


@given(st.binary(max_size=5000), st.integers(min_value=1, max_value=3000), st.integers(0, 6000))
def test_chunks_put_together_are_the_content(content: bytes, limit: int, head: int) -> None:
    file = compress(content, max_chunk_size_bytes=limit, head_size_bytes=head)
    whole = b"".join(chunk.data for chunk in file.chunks)
    with zstandard.ZstdDecompressor().stream_reader(whole, read_across_frames=True) as reader:
        assert reader.read() == content
    assert all(0 < len(chunk.data) <= limit for chunk in file.chunks)
    assert (file.compressed_size_bytes, file.content_size_bytes) == (len(whole), len(content))
    assert compress(memoryview(content), max_chunk_size_bytes=limit, head_size_bytes=head) == file


@given(st.binary(min_size=20, max_size=3000), st.binary(min_size=48, max_size=48), st.integers(20, 3000))
def test_files_that_differ_in_their_heads_alone_differ_in_one_chunk(rest: bytes, head: bytes, limit: int) -> None:
    one, other = (
        compress(begin + rest, max_chunk_size_bytes=max(limit, 100), head_size_bytes=48) for begin in (bytes(48), head)
    )
    assert one.chunks[1:] == other.chunks[1:]
    assert len(other.chunks[0].data) < 100


@pytest.mark.parametrize("dest", ["/srv/symbols", "file:///srv/symbols", "file://localhost/srv/symbols"])
def test_paths_and_file_urls_are_folders(dest: str) -> None:
    destination = open_destination(dest, project="web", env={"CI": "true"})
    assert isinstance(destination, FolderDestination)
    assert destination.url == "/srv/symbols"


def test_a_file_url_may_be_escaped() -> None:
    assert open_destination("file:///srv/a%20b", project="web", env={}).url == "/srv/a b"


def test_without_a_destination_it_is_the_users_own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    destination = open_destination(None, project="web", env={})
    assert destination.url == str(default_folder())
    assert default_folder().is_relative_to(tmp_path)
    assert not default_folder().exists()


@pytest.mark.parametrize("ci", ["true", "1", "yes", "woodpecker"])
def test_in_ci_a_missing_destination_is_an_error(ci: str) -> None:
    with pytest.raises(UsageError, match="CI") as caught:
        open_destination(None, project="web", env={"CI": ci})
    assert "SYMUP_TO" in str(caught.value.remedy)


def test_a_server_is_asked_with_its_own_token() -> None:
    asked = []

    def find(url: str) -> Token | None:
        asked.append(url)
        return SECRET

    destination = open_destination("HTTPS://Symbols.Example.com:8443/base/", project="web", env={}, token=find)
    assert isinstance(destination, HttpDestination)
    assert asked == ["https://symbols.example.com:8443/base"] == [destination.url]
    destination.close()


@pytest.mark.parametrize(
    "dest",
    [
        "s3://",
        "gs:///x",
        "az://c/x",
        "ftp://host",
        "https://",
        "https://h/?a=1",
        "https://h#x",
        "file://host/x",
        "http://h:x/",
    ],
)
def test_what_is_no_destination_is_told_with_a_remedy(dest: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_destination(dest, project="web", env={})
    assert caught.value.remedy


def test_a_credential_in_the_url_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        server_url("https://me:s3cr3t@host/base")
    assert "s3cr3t" not in caught.value.message + str(caught.value.remedy)


def test_a_bad_project_is_told_before_anything_else() -> None:
    with pytest.raises(UsageError):
        open_destination("https://host", project="../x", env={})


@pytest.mark.parametrize(
    "dest",
    ["http://symbols.example.com", "http://10.0.0.1:80", "http://127.0.0.1.example.com", "http://localhost.evil.com"],
)
def test_plain_http_carries_a_token_to_loopback_only_unless_told(dest: str) -> None:
    with pytest.raises(UsageError, match="plain http"):
        open_destination(dest, project="web", env={}, token=lambda _url: SECRET)
    open_destination(dest, project="web", env={}, token=lambda _url: SECRET, allow_insecure=True).close()
    open_destination(dest, project="web", env={}).close()


@pytest.mark.parametrize("dest", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "http://127.8.8.8"])
def test_loopback_may_have_it(dest: str) -> None:
    open_destination(dest, project="web", env={}, token=lambda _url: SECRET).close()


def test_the_http_library_is_loaded_only_for_servers() -> None:
    program = "import sys, uploader.destinations.open, uploader.destinations.send; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
