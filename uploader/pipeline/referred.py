"""Where the files lie that an artifact's DWARF refers to: beside each of its files, and for what dwz made on debuginfod servers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain

from uploader.inputs.linked import FilesBeside
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.pair import DebugSources


class ReferredFiles:
    """`uploader.sources.dwarf.linked.LinkedFiles` for all the files of an artifact together."""

    def __init__(self, artifact: Artifact, debug: DebugSources) -> None:
        # DWARF lies in the last that was found, if any was: its own surroundings come first.
        paths = dict.fromkeys(file.input.place for file in reversed(artifact.inputs))
        self._places = [FilesBeside(path, debug.debug_dirs) for path in paths if path is not None]
        self._debuginfod = debug.debuginfod
        self._fetched = ""

    def packages(self) -> Sequence[str]:
        """Where a ``.dwp`` file may lie."""
        return _once(chain.from_iterable(place.packages() for place in self._places))

    def split(self, directory: bytes, name: bytes) -> Sequence[str]:
        """Where a ``.dwo`` file may lie."""
        return _once(chain.from_iterable(place.split(directory, name) for place in self._places))

    def supplementary(self, name: bytes, build_id: bytes) -> Sequence[str]:
        """Where the file may lie that dwz made; a debuginfod server is asked only where none of the places has a file."""
        paths = _once(chain.from_iterable(place.supplementary(name, build_id) for place in self._places))
        if self._debuginfod is None or len(build_id) < 2 or any(map(os.path.exists, paths)):
            return paths
        fetched = self._debuginfod.fetch_id(build_id.hex())
        if fetched.file is None:
            return paths
        self._fetched = fetched.file.path
        return [*paths, self._fetched]

    def may_tell_of(self, path: str) -> bool:
        """Of what lies beside one of the artifact's files, in a debug folder, or came from a debuginfod server."""
        return any(place.may_tell_of(path) for place in self._places) or path == self._fetched


def _once(paths: chain[str]) -> list[str]:
    return list(dict.fromkeys(paths))
