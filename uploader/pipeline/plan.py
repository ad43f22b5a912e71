"""What a run goes by, resolved once from flags, environment and files: nothing below looks at settings again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from uploader.pipeline.pair import USUAL_PLACES, DebugSources
from uploader.pipeline.shard import Shard
from uploader.values import frozen


@frozen
class GsymForm:
    """How GSYM files are written."""

    version: int | None = None
    """None: 1, and 2 by itself where v1 can't hold the file."""
    keep_aliases: bool = False
    """All names of a function's start, not only the best one."""


USUAL_FORM = GsymForm()


@frozen
class Conversion:
    """How an artifact's files become a GSYM file. It travels to the process that converts them."""

    dwarf: bool = True
    """Whether debug information is read."""
    debug: DebugSources = USUAL_PLACES
    form: GsymForm = USUAL_FORM


USUAL = Conversion()


@frozen
class Plan:
    """What a run over files is asked for."""

    paths: Sequence[str | Path]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    build_internals: bool = False
    """What build systems leave for themselves is taken in."""
    allow_missing: bool = False
    """A path that isn't there is skipped."""
    allow_empty: bool = False
    """That nothing with symbols is found is no failure."""
    shard: Shard | None = None
    """The part of all ids that this run takes; None for all."""
    conversion: Conversion = USUAL
    jobs: int = 1
    """Files that are converted at once."""
    max_memory_bytes: int | None = None
    """What the files under way may take together, as far as that can be told before; None for a share of what there is."""
