"""JSON and values: what goes out comes back, and nothing that comes in is more than a value or a ValueError."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.artifact_writer import make_artifact
from uploader.model import Build, Figures, Identity, Provenance, Quality, Shortfall, SymbolId
from uploader.protocol.wire import artifacts, json_text, pages
from uploader.protocol.words import Answer, Capabilities, Committed, Holding, Question
from uploader.store.seal import opened
from uploader.values import replace

texts = st.text(max_size=50)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
ids = st.binary(min_size=1, max_size=32).map(lambda data: SymbolId.parse(data.hex()))
identities = st.builds(
    Identity,
    primary=ids,
    aliases=st.lists(digests.map(lambda text: SymbolId.parse(f"go:{text}")), max_size=3).map(tuple),
)
qualities = st.sampled_from(Quality)
chunk_lists = st.lists(digests, max_size=5).map(tuple)
counts = st.integers(min_value=0, max_value=2**62)
shortfalls = st.builds(Shortfall, promised=qualities, evidence=st.lists(texts, max_size=4).map(tuple))
questions = st.builds(
    Question,
    identity=identities,
    quality=qualities,
    kind=st.just("gsym"),
    chunks=chunk_lists,
    force=st.booleans(),
    evidence=st.lists(texts, max_size=4).map(tuple),
)
answers = st.builds(
    Answer,
    identity=identities,
    holding=st.sampled_from(Holding),
    reason=texts,
    stored_quality=st.none() | qualities,
    stored_warnings=st.lists(texts, max_size=4).map(tuple),
    stored_shortfall=st.none() | shortfalls,
    missing_chunks=chunk_lists,
)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
READERS = (
    artifacts.IDENTITY.read,
    pages.QUESTION.read,
    pages.ANSWER.read,
    artifacts.FIGURES.read,
    artifacts.MANIFEST.read,
    pages.COMMITTED.read,
    pages.CAPABILITIES.read,
)


def back(value: object) -> object:
    return json_text.loads(json_text.dumps(value))


@given(questions)
def test_questions_come_back(question: Question) -> None:
    assert pages.QUESTION.read(back(pages.QUESTION.write(question))) == question


@given(answers)
def test_answers_come_back(answer: Answer) -> None:
    assert pages.ANSWER.read(back(pages.ANSWER.write(answer))) == answer


@given(
    st.builds(
        Figures,
        functions=counts,
        line_rows=counts,
        line_bytes=counts,
        inline_bytes=counts,
        by_source=st.dictionaries(texts, counts, max_size=3),
        dropped_ranges=counts,
        cut_ranges=counts,
        widened_ranges=counts,
    )
)
def test_figures_come_back(figures: Figures) -> None:
    assert artifacts.FIGURES.read(back(artifacts.FIGURES.write(figures))) == figures


def test_manifests_capabilities_and_results_come_back() -> None:
    manifest = make_artifact(functions=50, max_chunk_size_bytes=1500, aliases=("go:x",)).manifest
    manifest = replace(
        manifest,
        warnings=("a", "b"),
        shortfall=Shortfall(promised=Quality.FULL, evidence=("x",)),
        lacks_files=True,
        provenance=Provenance(repository="https://h/r", branch="b", revision="c", run_url="https://h/r/1"),
        build=Build(toolchain="go1.27.3", module="m", module_version="v1", revision="d", modified=True),
    )
    assert artifacts.MANIFEST.read(back(artifacts.MANIFEST.write(manifest))) == manifest
    committed = Committed(stored=True, reason="new")
    assert pages.COMMITTED.read(back(pages.COMMITTED.write(committed))) == committed
    capabilities = Capabilities(features=("b",), server="c")
    assert pages.CAPABILITIES.read(back(pages.CAPABILITIES.write(capabilities))) == capabilities


def test_a_manifest_of_an_older_symup_is_read_and_has_no_shortfall() -> None:
    told = artifacts.MANIFEST.write(make_artifact().manifest)
    told["figures"] = {"functions": 4, "function_bytes": 40, "line_bytes": 40, "by_source": {"dwarf": 4}}
    for member in ("warnings", "shortfall", "repository", "branch", "run_url", "build"):
        del told[member]
    manifest = artifacts.MANIFEST.read(back(told))
    assert (manifest.warnings, manifest.shortfall, manifest.provenance) == ((), None, Provenance())
    assert manifest.build is None
    assert manifest.figures.quality is Quality.FULL


@given(st.lists(st.text(max_size=2 * artifacts.MAX_WARNING_CHARACTERS), max_size=40))
def test_kept_warnings_are_few_and_short_and_kept_again_as_they_are(warnings: list[str]) -> None:
    kept = artifacts.bounded_warnings(warnings)
    assert len(kept) <= artifacts.MAX_WARNINGS
    assert all(len(warning) <= artifacts.MAX_WARNING_CHARACTERS for warning in kept)
    assert artifacts.bounded_warnings(kept) == kept
    assert kept[: artifacts.MAX_WARNINGS - 1][:1] == tuple(
        one if len(one) <= artifacts.MAX_WARNING_CHARACTERS else kept[0] for one in warnings[:1]
    )


def test_the_same_manifest_has_the_same_bytes() -> None:
    manifest = make_artifact().manifest
    data = json_text.dumps(artifacts.MANIFEST.write(manifest))
    assert json_text.dumps(artifacts.MANIFEST.write(artifacts.MANIFEST.read(json_text.loads(data)))) == data


def test_members_of_a_newer_peer_are_passed_over() -> None:
    manifest = make_artifact().manifest
    assert artifacts.MANIFEST.read(artifacts.MANIFEST.write(manifest) | {"newer": [1]}) == manifest


@pytest.mark.parametrize("read", READERS)
@given(value=any_json)
def test_any_json_is_a_value_or_a_value_error(read: Any, value: object) -> None:
    with contextlib.suppress(ValueError):
        read(value)


@given(path=st.lists(st.integers(min_value=0, max_value=20), max_size=4), value=any_json)
def test_any_change_of_a_manifest_is_a_value_or_a_value_error(path: list[int], value: object) -> None:
    document: Any = json.loads(json_text.dumps(artifacts.MANIFEST.write(make_artifact(aliases=("go:x",)).manifest)))
    place, key = [document], 0
    for step in path:
        if isinstance(place[key], (dict, list)) and place[key]:
            place = place[key]
            key = list(place)[step % len(place)] if isinstance(place, dict) else step % len(place)
    place[key] = value
    with contextlib.suppress(ValueError):
        artifacts.MANIFEST.read(document)


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_a_value_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        json_text.loads(data)


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 200_000, b"9" * 10_000])
def test_deep_or_long_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # which one is the parser's business
        json_text.loads(data)


@pytest.mark.parametrize("read", [opened, artifacts.manifest_from_bytes])
def test_a_manifest_of_more_values_than_one_can_hold_is_not_even_parsed(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(_data: bytes) -> object:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(json_text, "loads", parsed)
    for filler in (b"[],", b"{},", b"1,", b"[" * 3):
        with pytest.raises(ValueError, match="values are too many for"):
            read(b'{"more":[' + filler * 200_000 + b"1]}")


@given(st.integers(1, 400), st.lists(st.text(st.sampled_from(",[{"), max_size=300), max_size=12))
def test_a_sound_manifest_is_never_one_of_too_many_values(chunks: int, warnings: list[str]) -> None:
    manifest = replace(
        make_artifact().manifest,
        chunks=("0" * 64,) * chunks,
        chunk_sizes_bytes=(1 << 16,) * chunks,
        compressed_size_bytes=chunks << 16,
        warnings=tuple(warnings),
    )
    assert opened(json_text.dumps(artifacts.MANIFEST.write(manifest))) == manifest


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_whatever_text_is_sent_arrives_as_text_that_can_be_told(text: str) -> None:
    manifest = replace(make_artifact("aa11").manifest, file_name=text, warnings=(text,))
    read = artifacts.MANIFEST.read(back(artifacts.MANIFEST.write(manifest)))
    assert read.file_name == json_text.unicode_text(text)
    assert read.warnings == (json_text.unicode_text(text),)
    assert json_text.unicode_text(text).encode().decode() == json_text.unicode_text(text)


def test_a_stray_byte_of_a_file_name_is_told_as_the_shell_would() -> None:
    assert json_text.unicode_text("bad\udcff") == r"bad\xff"
