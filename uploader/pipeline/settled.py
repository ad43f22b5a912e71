"""Outcomes of artifacts that are not sent: they are there already, or the run is a dry one."""

from __future__ import annotations

from uploader.model import Decision, Outcome, Quality
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.foresee import foreseen
from uploader.pipeline.make import Made, holds_nothing
from uploader.pipeline.missing import missing_build_id, missing_debug_info, remedy_of_lacking
from uploader.pipeline.outcomes import empty
from uploader.pipeline.plan import Conversion
from uploader.protocol.words import Answer


def present(artifact: Artifact, answer: Answer, *, reason: str = "") -> Outcome:
    """The outcome of an artifact that the destination holds; the answer's reason, where no better one is given."""
    poor = answer.stored_quality is not None and answer.stored_quality <= Quality.FUNCTIONS
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.PRESENT,
            reason=reason or answer.reason,
            quality=answer.stored_quality,
            figures=answer.stored_figures,
            compressed_size_bytes=answer.stored_size_bytes,
            warnings=answer.stored_warnings,
            remedy=_remedy_of_present(artifact, answer, poor=poor),
            lacks_files=answer.stored_lacks_files,
        ),
    )


def as_good_as_it_gets(answer: Answer) -> str:
    """The reason why a poorer file than was hoped for stays as it is."""
    label = "" if answer.stored_quality is None else answer.stored_quality.label
    return f"already stored with all that these files give, {label}"


def _remedy_of_present(artifact: Artifact, answer: Answer, *, poor: bool) -> str | None:
    """What the run that stored it told to do, as far as the same is missing now."""
    remedy = missing_debug_info(artifact)[1] if poor else None
    remedy = remedy or remedy_of_lacking(lacks_files=answer.stored_lacks_files)
    return remedy or missing_build_id(artifact)[1]


def planned(artifact: Artifact, *, answer: Answer, conversion: Conversion) -> Outcome:
    """The outcome of an artifact that would be sent, as far as that can be told without converting it. Raises what reading it raises."""
    missing, remedy = missing_debug_info(artifact) if conversion.dwarf else ((), None)
    if holds_nothing(artifact):
        return empty(artifact, warnings=missing)
    left = foreseen(artifact, conversion.debug, ask_servers=False) if conversion.dwarf else None
    if left is not None:
        return _planned_without(artifact, answer, left.made)
    unmatched, how_to_match = missing_build_id(artifact)
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.PLANNED,
            reason=f"would be sent, {artifact.expected_quality.label} by what its headers promise: {answer.reason}",
            quality=artifact.expected_quality,
            warnings=(*missing, *unmatched),
            remedy=remedy or how_to_match,
        ),
    )


def _planned_without(artifact: Artifact, answer: Answer, made: Made) -> Outcome:
    """What is left of an artifact without files that its debug information refers to."""
    if not made.gsym:
        return empty(artifact, warnings=made.warnings)
    quality = made.figures.quality
    promised = artifact.expected_quality
    less = f", where its headers promise {promised.label}" if quality < promised else ""
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.PLANNED,
            reason=f"would be sent, {quality.label} by what was found of its debug information{less}: {answer.reason}",
            quality=quality,
            figures=made.figures,
            warnings=made.warnings,
            remedy=made.remedy,
            lacks_files=made.lacks_files,
        ),
    )
