"""discover and identify: from paths to artifacts, each with every file that speaks for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from uploader.errors import ExitCode, InputError, NotElf
from uploader.inputs.build_internals import PROCEDURAL_MACROS, is_procedural_macro
from uploader.inputs.companions import Companions, build_id_of, names_of
from uploader.inputs.missing import insist, is_missing
from uploader.inputs.port import Found, PassedOver, Trouble
from uploader.inputs.walk import BUILD_INTERNALS_REMEDY, walk
from uploader.model import Concern, Decision, IdScheme, LeftOut, Outcome, Role, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import ET_CORE, ET_REL
from uploader.objects.elf.identity import code_digest, prelinked
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.fingerprint import content_sha256, ids_of_their_own
from uploader.pipeline.outcomes import failed, skipped, skipped_for
from uploader.pipeline.pair import by_base_name, completed, paired
from uploader.pipeline.plan import Plan
from uploader.progress import Progress
from uploader.sources.identify import Identified, identify
from uploader.values import frozen

LEFT_OUT_EXAMPLES = 3


@frozen
class Gathered:
    """What the paths hold: artifacts in the order they were found, and the files that already have their outcome."""

    artifacts: tuple[Artifact, ...]
    outcomes: tuple[Outcome, ...]
    elsewhere: int = 0
    """Ids that were found and belong to other shards."""
    left_out: tuple[LeftOut, ...] = ()
    """What the paths hold beside, and wasn't looked at."""


def gather(plan: Plan, *, progress: Progress) -> Gathered:
    """Walks the plan's paths, identifies what it finds and puts files of one id together.

    Files of one id are one artifact where their code is the same: a stripped binary and its debug file, say. What adds to the
    binary is read with it, the others are skipped with a reason that names it. An id with two different contents is a failure of
    all its files; under a file id, which is made of a part of a file's bytes, any difference makes them so.
    For what still lacks debug information its debug file is looked for where the plan says and where debuggers look.
    Of a shard only the artifacts whose id belongs to it are given; what has no id at all is told in every shard.
    A file's trouble is its outcome; this raises `UsageError` only, for paths, patterns and folders that can't be: a path that is
    not there, too, before anything is looked at, unless the plan has it skipped.
    """
    if not plan.allow_missing:
        insist(plan.paths, may_allow=True)
    met = _meet(plan, progress)
    here = {primary for primary in met.by_id if plan.shard is None or plan.shard.holds(primary)}
    artifacts, parts = _put_together(met.by_id, here, plan)
    for part in parts:
        met.outcomes.append(part)
        progress.finished(part)
    return Gathered(
        artifacts=tuple(artifacts),
        outcomes=tuple(met.outcomes),
        elsewhere=len(met.by_id) - len(here),
        left_out=_left_out(met.passed),
    )


@dataclass(slots=True, kw_only=True)
class _Met:
    """What the walk came by."""

    by_id: dict[SymbolId, list[Identified]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    passed: list[PassedOver] = field(default_factory=list)


def _meet(plan: Plan, progress: Progress) -> _Met:
    """Walks the paths, and identifies each file."""
    named = {os.fspath(path) for path in plan.paths}
    met = _Met()
    progress.stage("identify")
    for item in walk(plan.paths, include=plan.include, exclude=plan.exclude, build_internals=plan.build_internals):
        told: Identified | PassedOver | Outcome
        if isinstance(item, PassedOver):
            told = item
        elif isinstance(item, Trouble):
            gone = plan.allow_missing and item.path in named and is_missing(item.path)
            told = _allowed(item.path) if gone else failed(item.path, item.reason)
        else:
            told = _identified(item, build_internals=plan.build_internals)
            progress.advance("identify")
        if isinstance(told, PassedOver):
            met.passed.append(told)
        elif isinstance(told, Outcome):
            met.outcomes.append(told)
            progress.finished(told)
        else:
            met.by_id.setdefault(told.identity.primary, []).append(told)
    return met


def _put_together(
    by_id: Mapping[SymbolId, Sequence[Identified]], here: set[SymbolId], plan: Plan
) -> tuple[list[Artifact], list[Outcome]]:
    """The artifacts of this shard with all that belongs to them, and the outcomes of files that are none themselves.

    ``here`` are the ids of this shard: a file that turns out to be another's part goes with that one.
    """
    conversion = plan.conversion
    artifacts = []
    settled: list[Outcome] = []
    tied = _tied_by_name(by_id) if plan.shard is not None else set()
    for primary, files in by_id.items():
        if primary not in here and primary not in tied:
            continue
        artifact, parts = _together(list(files), dwarf=conversion.dwarf)
        if primary in here:
            settled.extend(parts)
        if artifact is not None:
            artifacts.append(artifact)
    companions = Companions(
        roots=[os.fspath(path) for path in plan.paths],
        debug_dirs=conversion.debug.debug_dirs,
        system_dirs=conversion.debug.system_dirs,
        met=by_base_name([file for files in by_id.values() for file in files]),
    )
    complete, companion_parts = completed(artifacts, companions, conversion.debug, dwarf=conversion.dwarf)
    mine = [artifact for artifact in complete if artifact.identity.primary in here]
    for part in companion_parts:
        if part.artifact_id in here:
            here.add(part.own_id)
            settled.append(part.outcome)
        else:
            here.discard(part.own_id)
    return mine, settled


def _allowed(path: str) -> Outcome:
    """The outcome of a path that is not there and need not be."""
    return Outcome(path=path, decision=Decision.SKIPPED, reason="does not exist, and --allow-missing is set")


def _tied_by_name(by_id: Mapping[SymbolId, Sequence[Identified]]) -> set[SymbolId]:
    """The ids of files that may belong together by name and CRC, not by build-id: whoever looks at one must look at both."""
    linking: dict[str, list[SymbolId]] = {}
    called: dict[str, list[SymbolId]] = {}
    without_id: set[SymbolId] = set()
    for primary, files in by_id.items():
        for file in files:
            called.setdefault(os.path.basename(file.path), []).append(primary)
            if not build_id_of(file):
                without_id.add(primary)
            if file.debug_link is not None:
                for name in names_of(file):
                    linking.setdefault(name, []).append(primary)
    found: set[SymbolId] = set()
    for name, binaries in linking.items():
        # All of one name, not pair by pair: a build may have thousands of each.
        together = {*binaries, *called.get(name, ())}
        if len(together) > 1 and not without_id.isdisjoint(together):
            found |= together
    return found


def _left_out(passed: Iterable[PassedOver]) -> tuple[LeftOut, ...]:
    """One for each kind, in the order of their names."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for one in passed:
        kinds.setdefault((one.what, one.remedy), []).append(one.path)
    return tuple(
        LeftOut(what=what, number=len(paths), examples=tuple(paths[:LEFT_OUT_EXAMPLES]), remedy=remedy)
        for (what, remedy), paths in sorted(kinds.items())
    )


def _identified(found: Found, *, build_internals: bool) -> Identified | PassedOver | Outcome:
    """What a file is, or its outcome."""
    path = found.path
    try:
        with ElfFile.of(found.input, mapped=False) as elf:
            file = identify(elf)
            if not (build_internals or found.explicit) and is_procedural_macro(elf):
                return PassedOver(path=path, what=PROCEDURAL_MACROS, remedy=BUILD_INTERNALS_REMEDY)
    except NotElf as error:
        reason, kind = error.reason, found.container
        if kind is not None:
            reason = f"{kind.one}, which symup does not look into: {kind.remedy}"
        return Outcome(path=path, decision=Decision.SKIPPED, reason=reason)
    except InputError as error:
        return failed(path, error.reason, remedy=error.remedy)
    if file.kind == ET_CORE:
        return skipped(file, "a core dump, which has no symbols of its own")
    if file.kind == ET_REL and file.identity.primary.scheme is not IdScheme.GNU and not found.explicit:
        return skipped(
            file, "an object file without a build-id: what is linked of it has its symbols; name the file to convert it"
        )
    return file


_MOVED = "its code was moved by prelink, so that their addresses differ"
_UNDO = "Undo that in a copy of the binary with prelink -u, and give the copy."


def _together(files: list[Identified], *, dwarf: bool) -> tuple[Artifact | None, list[Outcome]]:
    """One artifact from the files of one id, and the outcomes of those that it does not need."""
    if len(files) == 1:
        return paired(files, dwarf=dwarf)
    settled: list[Outcome] = []
    by_content: dict[tuple[int, str], Identified] = {}
    sizes = Counter(file.size_bytes for file in files)
    for file in files:
        try:
            # What has a size of its own differs from the others, and need not be read to know it.
            digest = content_sha256(file.input) if sizes[file.size_bytes] > 1 else ""
        except InputError as error:
            settled.append(failed(file.path, error.reason, remedy=error.remedy))
            continue
        first = by_content.setdefault((file.size_bytes, digest), file)
        if first is not file:
            settled.append(skipped_for(file, Role.COPY, first.path))
    distinct = list(by_content.values())
    if not distinct:
        return None, settled
    # No binary shares a file id with its debug file: it is made of a file's own bytes, though not of all.
    by_file_id = len(distinct) > 1 and distinct[0].identity.primary.scheme is IdScheme.FILE
    if by_file_id or _in_conflict(distinct):
        what = "contents" if by_file_id else "code"
        moved = not by_file_id and _moved(distinct)
        remedy = _UNDO if moved else ids_of_their_own(distinct, instead="leave one out with --exclude")
        for file in distinct:
            others = ", ".join([other.path for other in distinct if other is not file][:3])
            settled.append(
                Outcome(
                    path=file.path,
                    decision=Decision.FAILED,
                    reason=f"has the id {file.identity} of {others}, but {_MOVED if moved else f'different {what}'}",
                    identity=file.identity,
                    input_size_bytes=file.size_bytes,
                    remedy=remedy,
                    concern=Concern.CONFLICT,
                    exit_code=ExitCode.SOME_FAILED,
                )
            )
        return None, settled
    artifact, parts = paired(distinct, dwarf=dwarf)
    return artifact, settled + parts


def _moved(files: Sequence[Identified]) -> bool:
    """Whether files of one id are one program that prelink moved."""
    shapes = list(dict.fromkeys(file.code_sections for file in files if file.code_sections))
    return len(shapes) > 1 and all(prelinked(shapes[0], shape) for shape in shapes[1:])


def _in_conflict(files: Iterable[Identified]) -> bool:
    """Whether files of one id are different programs: other code sections, or other bytes in them.

    A file without section headers tells nothing of its code, and speaks for no conflict.
    """
    shapes = set()
    digests = set()
    for file in files:
        if not file.code_sections:
            continue
        shapes.add(file.code_sections)
        if file.has_code_bytes:
            try:
                with ElfFile.of(file.input, mapped=False) as elf:
                    digests.add(code_digest(elf))
            except InputError:
                digests.add(f"unreadable {file.path}")
    return len(shapes) > 1 or len(digests) > 1
