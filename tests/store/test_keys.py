import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import UsageError
from uploader.model import IdScheme, SymbolId
from uploader.store.keys import alias_key, checked_project, chunk_key, manifest_key

PROJECTS = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?", fullmatch=True).filter(lambda name: ".." not in name)
IDS = st.one_of(
    st.binary(min_size=1, max_size=20).map(lambda data: SymbolId(scheme=IdScheme.GNU, value=data.hex())),
    st.binary(min_size=16, max_size=16).map(lambda data: SymbolId(scheme=IdScheme.FILE, value=data.hex())),
    st.from_regex(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]{0,30}", fullmatch=True).map(
        lambda value: SymbolId(scheme=IdScheme.GO, value=value)
    ),
)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "../a",
        "a/../b",
        "a\\b",
        "-a",
        "a-",
        ".a",
        "a.",
        "A",
        "a b",
        "a\n",
        "a\0",
        "ä",
        "a..b",
        "x" * 65,
        "%2e%2e",
    ],
)
def test_names_that_could_leave_the_store_are_no_projects(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_project(name)
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["a", "0", "web", "my-app_2.0", "x" * 64])
def test_plain_names_are_projects(name: str) -> None:
    assert checked_project(name) == name


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n"])
def test_only_a_digest_names_a_chunk(digest: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        chunk_key("p", digest)


@pytest.mark.parametrize("kind", ["", "..", "a/b", "Gsym", "gsym.json", "-x"])
def test_only_a_plain_word_is_a_kind(kind: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        manifest_key("p", SymbolId.parse("aa"), kind)


def test_the_stored_layout_is_the_designs() -> None:
    assert chunk_key("p", "ab" + "0" * 62) == "p/chunks/ab/ab" + "0" * 62
    assert manifest_key("p", SymbolId.parse("c0ffee"), "gsym") == "p/artifacts/c0/c0ffee/gsym.json"
    assert manifest_key("p", SymbolId.parse("go:abc~d"), "gsym") == "p/artifacts/ab/go-abc~d/gsym.json"
    assert alias_key("p", SymbolId.parse("file:" + "0" * 32)) == "p/aliases/file/" + "0" * 32


@given(PROJECTS, IDS, PROJECTS, IDS)
def test_different_artifacts_have_different_keys(
    project: str, one: SymbolId, other_project: str, other: SymbolId
) -> None:
    first, second = manifest_key(project, one, "gsym"), manifest_key(other_project, other, "gsym")
    assert (first == second) == ((project, one) == (other_project, other))
    for key in (first, alias_key(project, one)):
        assert key.startswith(project + "/")
        assert not any(name in ("", ".", "..") or name.startswith(".") for name in key.split("/"))
