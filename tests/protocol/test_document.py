"""A value's fields are its document's members: a field that is added is read, written and published without a line anywhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from tests.protocol.test_wire import answers, questions
from tests.writers.artifact_writer import make_artifact
from uploader.protocol.wire.artifacts import MANIFEST
from uploader.protocol.wire.document import Document
from uploader.protocol.wire.json_text import MalformedMessage
from uploader.protocol.wire.kinds import SHA256, Several
from uploader.protocol.wire.pages import ANSWER, DOCUMENTS, QUESTION
from uploader.protocol.words import Answer, Question
from uploader.values import frozen


@frozen
class Toy:
    """A toy."""

    name: str
    wheels: int = 4


@frozen
class ToyWithAField:
    """A toy."""

    name: str
    wheels: int = 4
    painted: bool = False
    """The field that is added."""


@frozen
class Box:
    """Toys."""

    toys: tuple[ToyWithAField, ...]
    digests: tuple[str, ...] = ()


TOY, TOY_WITH_A_FIELD = Document("Toy", Toy), Document("Toy", ToyWithAField)
BOX = Document("Box", Box, toys=Several(TOY_WITH_A_FIELD, limit=2), digests=Several(SHA256))


def test_a_field_that_is_added_is_written_read_and_described() -> None:
    toy = ToyWithAField(name="car", painted=True)
    assert TOY_WITH_A_FIELD.write(toy) == {"name": "car", "wheels": 4, "painted": True}
    assert TOY_WITH_A_FIELD.read(TOY_WITH_A_FIELD.write(toy)) == toy
    before, after = TOY.described(), TOY_WITH_A_FIELD.described()
    assert after["properties"].pop("painted") == {"type": "boolean", "default": False}
    assert after == before


def test_peers_with_and_without_it_understand_each_other() -> None:
    assert TOY.read(TOY_WITH_A_FIELD.write(ToyWithAField(name="car"))) == Toy(name="car")
    assert TOY_WITH_A_FIELD.read(TOY.write(Toy(name="car"))) == ToyWithAField(name="car")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "toywithafield: an object is needed"),
        ({}, "name: a text is needed"),
        ({"name": "x" * 5000}, "name: longer than 4096 characters"),
        ({"name": "car", "painted": 1}, "painted: true or false is needed"),
        ({"name": "car", "painted": None}, "painted: true or false is needed"),
        ({"name": "car", "wheels": True}, "wheels: a count is needed"),
    ],
)
def test_a_fault_names_the_member(value: object, told: str) -> None:
    with pytest.raises(MalformedMessage, match=told):
        TOY_WITH_A_FIELD.read(value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"toys": [{"name": "car"}] * 3}, "toys: more than 2 entries"),
        ({"toys": {}}, "toys: a list is needed"),
        ({"toys": [{}]}, "name: a text is needed"),
        ({"toys": [], "digests": ["A" * 64]}, "digests: a SHA-256 in lowercase hex is needed"),
    ],
)
def test_values_within_values_are_read_as_strictly(value: object, told: str) -> None:
    with pytest.raises(MalformedMessage, match=told):
        BOX.read(value)


def published() -> dict[str, Any]:
    return {"components": {"schemas": {document.title: document.described() for document in DOCUMENTS}}}


def validate(value: object, document: Document[Any]) -> None:
    jsonschema.validate(json.loads(json.dumps(value)), published() | document.schema())


@given(questions, answers)
def test_what_is_written_is_what_is_published(question: Question, answer: Answer) -> None:
    validate(QUESTION.write(question), QUESTION)
    validate(ANSWER.write(answer), ANSWER)


def test_manifests_are_as_published() -> None:
    manifest = make_artifact("aa11", chunks=3, aliases=("go:x",)).manifest
    validate(MANIFEST.write(manifest), MANIFEST)
    assert set(MANIFEST.described()["properties"]) == set(MANIFEST.write(manifest))


def test_every_document_is_published_under_a_name_of_its_own() -> None:
    titles = [document.title for document in DOCUMENTS]
    assert len(set(titles)) == len(titles)
    referred = {part.partition('"')[0] for part in json.dumps(published()).split("#/components/schemas/")[1:]}
    assert referred <= set(titles)


def test_every_member_stands_in_the_protocols_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
    missing = {name for document in DOCUMENTS for name in document.described()["properties"] if f'"{name}"' not in page}
    assert missing == set()
