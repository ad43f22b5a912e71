"""Puts many questions to a destination so that one which it can't answer keeps no other from its answer."""

from __future__ import annotations

from collections.abc import Sequence

from uploader.errors import Refused
from uploader.protocol.words import Answer, Destination, Question

MAX_REFUSED = 16
"""So many questions may be refused alone; then it isn't for the sake of a few."""


def ask_each(destination: Destination, questions: Sequence[Question]) -> list[Answer | Refused]:
    """The answers in the order of the questions, each its own or why the destination refused it.

    All go in one batch. One that is refused is halved until the questions are found that it is refused for: a few cost a few more
    batches each. Where hardly any is answered, raises `Refused` as the destination did; raises what else it raises at once.
    """
    answers: dict[int, Answer | Refused] = {}
    batches = [range(len(questions))]
    refused = 0
    while batches:
        batch = batches.pop()
        try:
            got = destination.negotiate([questions[number] for number in batch])
        except Refused as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                batches += [batch[middle:], batch[:middle]]
                continue
            refused += 1
            if refused > MAX_REFUSED or refused == len(questions):
                raise
            answers[batch[0]] = error
        else:
            answers.update(zip(batch, got, strict=True))
    return [answers[number] for number in range(len(questions))]
