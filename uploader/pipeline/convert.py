"""From binaries to GSYM files on disk; no network at all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from uploader.errors import Interrupted, SymupError, UsageError
from uploader.model import Decision, Outcome
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.crew import Crew
from uploader.pipeline.gather import gather
from uploader.pipeline.make import USUAL_FORM, GsymForm, make
from uploader.pipeline.memory import bounded_schedule
from uploader.pipeline.outcomes import (
    Finished,
    about,
    conclude,
    empty,
    failed,
    stumbled,
)
from uploader.pipeline.pair import USUAL_PLACES, DebugSources
from uploader.pipeline.processes import WorkerKilled
from uploader.pipeline.schedule import threads_for
from uploader.pipeline.shard import Shard
from uploader.pipeline.whole_file import write_whole
from uploader.progress import Progress

SUFFIX = ".gsym"


def convert(
    inputs: Sequence[str | Path],
    output: Path,
    *,
    progress: Progress,
    jobs: int,
    max_memory_bytes: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    dwarf: bool = True,
    allow_empty: bool = False,
    to_folder: bool = False,
    debug: DebugSources = USUAL_PLACES,
    form: GsymForm = USUAL_FORM,
    shard: Shard | None = None,
    allow_missing: bool = False,
    build_internals: bool = False,
) -> Finished:
    """Writes one GSYM file for each artifact that ``inputs`` hold: to ``output``, or into it where it is a folder.

    It is one where ``to_folder`` says so, where it exists as one, where an input is a folder, or where there are several inputs.
    In a folder the files are named after their inputs. A file appears whole or not at all. Up to ``jobs`` files are converted at once,
    as far as they are expected to fit into ``max_memory_bytes`` together (by default, into a share of what there is). Raises
    `UsageError`; a file's trouble is its outcome; an interruption is answered as `upload` does.
    """
    gathered = gather(
        inputs,
        progress=progress,
        include=include,
        exclude=exclude,
        dwarf=dwarf,
        debug=debug,
        shard=shard,
        allow_missing=allow_missing,
        build_internals=build_internals,
    )
    outcomes = list(gathered.outcomes)
    folder = to_folder or output.is_dir() or len(inputs) > 1 or any(Path(path).is_dir() for path in inputs)
    if gathered.artifacts:
        _make_folder(output if folder else output.parent)
    targets = _targets(gathered.artifacts, output) if folder else [output for _ in gathered.artifacts]
    total_size_bytes = sum(artifact.size_bytes for artifact in gathered.artifacts)
    target_of = dict(zip(map(id, gathered.artifacts), targets, strict=True))
    error: SymupError | None = None
    left = len(gathered.artifacts)
    progress.stage("extract", len(gathered.artifacts))
    schedule = bounded_schedule(gathered.artifacts, jobs=jobs, max_memory_bytes=max_memory_bytes, progress=progress)

    def carry(artifact: Artifact) -> Outcome:
        threads = threads_for(artifact, total_size_bytes, jobs)
        target = target_of[id(artifact)]
        try:
            return crew.call(_converted, artifact, target, dwarf=dwarf, threads=threads, debug=debug, form=form)
        except WorkerKilled as error:
            return about(artifact, stumbled(artifact.path, error))

    try:
        # A run that asks debuginfod tells of it while it waits, and so keeps to one process.
        with Crew(
            gathered.artifacts,
            jobs=jobs,
            processes=debug.debuginfod is None,
            max_memory_bytes=schedule.max_memory_bytes,
        ) as crew:
            for outcome in crew.carried(schedule, carry, threads=jobs):
                left -= 1
                outcomes.append(outcome)
                progress.advance("extract")
                progress.finished(outcome)
    except KeyboardInterrupt:
        error = Interrupted(
            f"interrupted: {left} of {len(gathered.artifacts)} files were not converted",
            remedy="Run the same command again.",
        )
    return conclude(
        outcomes,
        error=error,
        extracted=sum(outcome.decision is Decision.CONVERTED for outcome in outcomes),
        unreached=left,
        allow_empty=allow_empty or gathered.elsewhere > 0,
        paths=inputs,
        left_out=gathered.left_out,
    )


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


def _converted(
    artifact: Artifact, target: Path, *, dwarf: bool, threads: int, debug: DebugSources, form: GsymForm
) -> Outcome:
    started = time.monotonic()
    try:
        if target.exists() and any(file.input.place and target.samefile(file.input.place) for file in artifact.inputs):
            raise UsageError(f"{target} is the input itself", remedy="Name another file with -o.")
        made = make(artifact, dwarf=dwarf, threads=threads, debug=debug, form=form)
        if not made.gsym:
            return empty(artifact, warnings=made.warnings)
        write_whole(target, made.gsym)
    except SymupError as error:
        return about(
            artifact,
            failed(artifact.path, error.message, remedy=error.remedy, code=error.exit_code),
        )
    except Exception as error:  # noqa: BLE001  # one file must not take the others with it
        return about(artifact, stumbled(artifact.path, error))
    return Outcome(
        path=artifact.path,
        decision=Decision.CONVERTED,
        reason=f"written to {target}",
        identity=artifact.identity,
        quality=made.figures.quality,
        figures=made.figures,
        input_size_bytes=artifact.size_bytes,
        gsym_size_bytes=len(made.gsym),
        seconds=time.monotonic() - started,
        warnings=made.warnings,
        remedy=made.remedy,
    )
