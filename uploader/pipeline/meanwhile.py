"""What other clients stored while this one was at work: ten jobs of one build would otherwise convert and send the same files."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence

from uploader.errors import SymupError
from uploader.pipeline.artifact import Artifact
from uploader.protocol.words import Answer, Destination, Holding, Question

ASKED_EVERY_SECONDS = 2.0
_ASKED_AT_ONCE = 500


def own_order(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The largest first, and those of about one size in an order of this client's own: others begin with others."""
    shuffled = list(artifacts)
    random.SystemRandom().shuffle(shuffled)
    return sorted(shuffled, key=lambda artifact: -artifact.size_bytes.bit_length())


class Meanwhile:
    """Asks now and then about all files that are not begun. May be called from any thread."""

    def __init__(
        self,
        destination: Destination,
        artifacts: Sequence[Artifact],
        question: Callable[[Artifact], Question],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``artifacts`` were asked about just now."""
        self._destination = destination
        self._question = question
        self._monotonic = monotonic
        self._left = {id(artifact): artifact for artifact in artifacts}
        self._present: dict[int, Answer] = {}
        self._asked_at = monotonic()
        self._guard = threading.Lock()

    def answer(self, artifact: Artifact) -> Answer | None:
        """Says that the file begins; gives the answer that it need not, since it is there by now."""
        with self._guard:
            if self._monotonic() - self._asked_at >= ASKED_EVERY_SECONDS:
                self._ask([artifact, *(one for one in self._left.values() if one is not artifact)][:_ASKED_AT_ONCE])
            self._left.pop(id(artifact), None)
            return self._present.pop(id(artifact), None)

    def _ask(self, artifacts: Sequence[Artifact]) -> None:
        try:
            answers = self._destination.negotiate([self._question(artifact) for artifact in artifacts])
        except SymupError:
            # It only spares work: who sends the file meets the same trouble, and tells of it.
            answers = []
        for artifact, answer in zip(artifacts, answers, strict=False):
            if answer.holding is Holding.PRESENT:
                self._present[id(artifact)] = answer
                self._left.pop(id(artifact), None)
        self._asked_at = self._monotonic()
