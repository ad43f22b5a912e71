"""Asking: a question that a destination refuses keeps no other from its answer, and costs few batches more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.destinations.folder import FolderDestination
from uploader.errors import NetworkGaveOut, Refused
from uploader.model import Identity, IdScheme, Quality, SymbolId
from uploader.pipeline.asking import MAX_REFUSED, ask_each
from uploader.protocol.words import Answer, Question


class Choosy(FolderDestination):
    """A store that refuses a whole batch for the sake of some of its questions, as a server with one unreadable entry may."""

    def __init__(self, root: Path, *refused: SymbolId) -> None:
        super().__init__(root, "default")
        self.refused = frozenset(refused)
        self.batches = 0

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        self.batches += 1
        if any(question.identity.primary in self.refused for question in questions):
            raise Refused("an entry can't be read")
        return super().negotiate(questions)


def question(number: int) -> Question:
    return Question(
        identity=Identity(primary=SymbolId(scheme=IdScheme.GNU, value=f"{number:040x}")),
        quality=Quality.FULL,
        force=False,
    )


@given(count=st.integers(1, 60), data=st.data())
def test_each_question_has_its_answer_or_its_refusal(
    tmp_path_factory: pytest.TempPathFactory, count: int, data: st.DataObject
) -> None:
    questions = [question(number) for number in range(count)]
    bad = data.draw(st.sets(st.integers(0, count - 1), max_size=min(count - 1, 5)))
    store = Choosy(tmp_path_factory.getbasetemp(), *(questions[number].identity.primary for number in bad))
    answers = ask_each(store, questions)
    assert {number for number, answer in enumerate(answers) if isinstance(answer, Refused)} == bad
    assert len(answers) == count
    assert store.batches <= 1 + 2 * 6 * len(bad)


def test_a_store_that_refuses_everything_is_not_asked_for_each(tmp_path: Path) -> None:
    questions = [question(number) for number in range(4000)]
    store = Choosy(tmp_path, *(each.identity.primary for each in questions))
    with pytest.raises(Refused):
        ask_each(store, questions)
    assert store.batches < 4 * MAX_REFUSED
    with pytest.raises(Refused):
        ask_each(store, questions[:1])


@pytest.mark.parametrize("more", [0, 1])
def test_as_many_are_refused_each_for_itself_as_is_said(tmp_path: Path, more: int) -> None:
    questions = [question(number) for number in range(2 * MAX_REFUSED)]
    bad = [each.identity.primary for each in questions[: MAX_REFUSED + more]]
    store = Choosy(tmp_path, *bad)
    if more:
        with pytest.raises(Refused):
            ask_each(store, questions)
    else:
        assert sum(isinstance(answer, Refused) for answer in ask_each(store, questions)) == MAX_REFUSED


def test_what_concerns_the_whole_run_is_raised_at_once(tmp_path: Path) -> None:
    class Gone(FolderDestination):
        def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
            raise NetworkGaveOut(f"the host is gone, with {len(questions)} questions")

    with pytest.raises(NetworkGaveOut):
        ask_each(Gone(tmp_path, "default"), [question(1), question(2)])
