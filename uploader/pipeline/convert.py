"""From binaries to GSYM files on disk; no network at all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from uploader.errors import Interrupted, UsageError
from uploader.model import Decision, Outcome
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.crew import Crew
from uploader.pipeline.gather import gather
from uploader.pipeline.make import make
from uploader.pipeline.outcomes import Finished, conclude, empty
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.run import Run
from uploader.pipeline.schedule import Schedule, threads_for
from uploader.pipeline.whole_file import write_whole
from uploader.progress import Progress

SUFFIX = ".gsym"


def convert(plan: Plan, output: Path, *, progress: Progress, to_folder: bool = False) -> Finished:
    """Writes one GSYM file for each artifact that the plan's paths hold: to ``output``, or into it where it is a folder.

    It is one where ``to_folder`` says so, where it exists as one, where an input is a folder, or where there are several inputs.
    In a folder the files are named after their inputs. A file appears whole or not at all. Raises `UsageError`; a file's trouble is its
    outcome; an interruption is answered as `upload` does.
    """
    gathered = gather(plan, progress=progress)
    artifacts = gathered.artifacts
    run = Run(progress=progress, outcomes=list(gathered.outcomes), unreached=len(artifacts))
    folder = to_folder or output.is_dir() or len(plan.paths) > 1 or any(Path(path).is_dir() for path in plan.paths)
    if artifacts:
        _make_folder(output if folder else output.parent)
    targets = _targets(artifacts, output) if folder else [output for _ in artifacts]
    target_of = dict(zip(map(id, artifacts), targets, strict=True))
    total_size_bytes = sum(artifact.size_bytes for artifact in artifacts)

    def carry(artifact: Artifact, crew: Crew, _: Schedule) -> Outcome:
        threads = threads_for(artifact, total_size_bytes, plan.jobs)
        target = target_of[id(artifact)]
        try:
            return crew.call(_converted, artifact, target, conversion=plan.conversion, threads=threads)
        finally:
            progress.advance("extract")

    with run.interruptible(lambda: _interrupted(run.unreached, len(artifacts))):
        progress.stage("extract", len(artifacts))
        run.convert_each(artifacts, plan, carry)
    return conclude(
        run.outcomes,
        error=run.error,
        extracted=sum(outcome.decision is Decision.CONVERTED for outcome in run.outcomes),
        unreached=run.unreached,
        allow_empty=plan.allow_empty or gathered.elsewhere > 0,
        paths=plan.paths,
        left_out=gathered.left_out,
    )


def _interrupted(left: int, count: int) -> Interrupted:
    return Interrupted(f"interrupted: {left} of {count} files were not converted", remedy="Run the same command again.")


def _targets(artifacts: Sequence[Artifact], folder: Path) -> list[Path]:
    """A file name for each artifact: its input's, and the id with it where several inputs have one name."""
    names = Counter(os.path.basename(artifact.path) for artifact in artifacts)
    targets = []
    for artifact in artifacts:
        name = os.path.basename(artifact.path)
        if names[name] > 1:
            name += f"-{artifact.identity.primary.value[:16]}"
        targets.append(folder / (name + SUFFIX))
    return targets


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't write to {folder}: {error.strerror or error}") from error


def _converted(artifact: Artifact, target: Path, *, conversion: Conversion, threads: int) -> Outcome:
    """Converts one artifact and writes its file. Raises what either does."""
    started = time.monotonic()
    if target.exists() and any(file.input.place and target.samefile(file.input.place) for file in artifact.inputs):
        raise UsageError(f"{target} is the input itself", remedy="Name another file with -o.")
    made = make(artifact, conversion=conversion, threads=threads)
    if not made.gsym:
        return empty(artifact, warnings=made.warnings)
    write_whole(target, made.gsym)
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.CONVERTED,
            reason=f"written to {target}",
            quality=made.figures.quality,
            figures=made.figures,
            gsym_size_bytes=len(made.gsym),
            seconds=time.monotonic() - started,
            warnings=made.warnings,
            remedy=made.remedy,
            lacks_files=made.lacks_files,
        )
    )
