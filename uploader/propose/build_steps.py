"""Finds the binaries that the steps of one CI job build together, and the last step that builds; reads text, runs nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uploader.propose import cargo_profile
from uploader.propose.build_commands import WHEELS, Built, builds, built_by_action, joined, strips
from uploader.values import frozen, replace

MAX_MANIFEST_BYTES = 256 * 1024

_STRIPS_AT_ONCE = "The step strips what it built: move that behind the new step, or what is stored is stripped, too."
_STRIPS_BETWEEN = (
    "A step before the new one strips what was built: move that behind it, or what is stored is stripped, too."
)


@frozen
class JobBuild:
    """All that one job builds."""

    last_step: int
    """The last step that builds, counted from 0."""
    built: Built
    """As one; its paths are from the folder in which the job starts."""
    wheels: tuple[str, ...]
    """Those of the paths that hold wheels."""
    may_miss: bool
    """Some of the paths need not be there in every run."""


@frozen
class _StepBuild:
    step: int
    built: Built
    conditional: bool
    """It isn't said that the step, or the command in it, runs."""


def of_job(steps: Sequence[Any], folder: str, repository: Path) -> JobBuild | None:
    """The binaries that a job of GitHub's builds, whose steps run in ``folder`` where they name none; None where it builds none."""
    found: list[_StepBuild] = []
    stripping = []
    for number, step in enumerate(steps):
        if not isinstance(step, Mapping) or _elsewhere(str(step.get("if", ""))):
            continue
        run, uses = step.get("run"), step.get("uses")
        conditional = "if" in step
        if isinstance(run, str):
            where = folder_of(step) or folder
            conditional = conditional or _branches(run)
            found += [
                _StepBuild(step=number, built=_from(where, one, repository), conditional=conditional)
                for one in builds(run)
            ]
            if strips(run):
                stripping.append(number)
        elif isinstance(uses, str):
            given = step.get("with")
            given = given if isinstance(given, Mapping) else {}
            built = built_by_action(uses, {str(key): str(value) for key, value in given.items()})
            if built is not None:
                found.append(_StepBuild(step=number, built=_from("", built, repository), conditional=conditional))
    return _together(found, stripping)


def of_script(script: str, repository: Path) -> JobBuild | None:
    """The binaries that a shell script builds, which runs in the repository's folder; None where it builds none."""
    found = [
        _StepBuild(step=0, built=_with_profile(one, "", repository), conditional=_branches(script))
        for one in builds(script)
    ]
    return _together(found, [0] if strips(script) else [])


def folder_of(step: Mapping[str, Any]) -> str:
    """The folder that a step, or the defaults for steps, name."""
    folder = step.get("working-directory")
    return folder if isinstance(folder, str) else ""


def _together(found: Sequence[_StepBuild], stripping: Sequence[int]) -> JobBuild | None:
    kept = _that_ship(_that_build(found))
    if not kept:
        return None
    steps = [one.step for one in kept]
    hints = [one.built.hint for one in kept if one.built.hint]
    if set(stripping) & set(steps):
        hints.append(_STRIPS_AT_ONCE)
    elif any(steps[0] < number < steps[-1] for number in stripping):
        hints.append(_STRIPS_BETWEEN)
    every = [one.built for one in kept]
    paths = tuple(dict.fromkeys(path for built in every for path in built.paths))
    return JobBuild(
        last_step=steps[-1],
        built=replace(
            every[-1],
            name=" and ".join(dict.fromkeys(built.name for built in every)),
            paths=paths,
            ships=any(built.ships for built in every),
            debug_build=all(built.debug_build for built in every),
            hint="\n".join(dict.fromkeys(hint[0].upper() + hint[1:] for hint in hints)),
        ),
        wheels=tuple(dict.fromkeys(path for built in every if built.packed == WHEELS for path in built.paths)),
        may_miss=len(paths) > 1 and any(one.conditional or one.built.guessed for one in kept),
    )


def _that_build(found: Sequence[_StepBuild]) -> list[_StepBuild]:
    """Those that build and leave it in sight, each with what its configuring told; where none builds, those that configure."""
    building = []
    for number, one in enumerate(found):
        if one.built.configures:
            continue
        before = [other.built for other in found[:number] if other.built.configures]
        building.append(replace(one, built=_configured(one.built, before)))
    in_sight = [one for one in building if one.built.paths]
    configuring = [one for one in found if one.built.configures]
    return in_sight or configuring or building


def _configured(built: Built, before: Sequence[Built]) -> Built:
    same_folder = [one for one in before if set(one.paths) & set(built.paths)]
    same_tool = [one for one in before if one.name == built.name]
    configuring = next(reversed(same_folder or same_tool), None)
    if configuring is None:
        return built
    told = "" if configuring.guessed else configuring.hint
    return replace(
        built,
        ships=built.ships or configuring.ships,
        debug_build=built.debug_build or configuring.debug_build,
        hint=built.hint or told,
    )


def _that_ship(building: list[_StepBuild]) -> list[_StepBuild]:
    """Without the debug builds of what a tool also builds to ship."""
    shipped = {one.built.name for one in building if one.built.ships}
    return [one for one in building if not (one.built.debug_build and one.built.name in shipped)]


def _from(folder: str, built: Built, repository: Path) -> Built:
    placed = replace(built, paths=tuple(joined(folder, path) for path in built.paths))
    return _with_profile(placed, folder, repository)


def _with_profile(built: Built, folder: str, repository: Path) -> Built:
    if not built.profile:
        return built
    return replace(built, hint=cargo_profile.hint(_manifest(folder, repository), built.profile))


def _manifest(folder: str, repository: Path) -> str:
    """The Cargo.toml of the folder, or of the repository where that has none."""
    within = folder if not folder.startswith("/") and ".." not in folder.split("/") else "."
    for path in (repository / within / "Cargo.toml", repository / "Cargo.toml"):
        try:
            if path.is_file():
                with path.open("rb") as file:
                    return file.read(MAX_MANIFEST_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
    return ""


def _branches(script: str) -> bool:
    return re.search(r"^\s*(if|case)\s", script, re.MULTILINE) is not None


def _elsewhere(condition: str) -> bool:
    """Whether a step runs on other systems than Linux only."""
    return bool(
        re.search(r"windows|macos|darwin", condition, re.IGNORECASE)
        and not re.search(r"!|\|\||linux|ubuntu", condition, re.IGNORECASE)
    )
