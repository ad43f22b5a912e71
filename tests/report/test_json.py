"""The JSON report: valid against its published schema, whatever came of a run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import ExitCode, Refused
from uploader.model import Concern, Decision, Figures, Identity, IdScheme, Outcome, Quality, Source, SymbolId
from uploader.report.json import SCHEMA, report
from uploader.report.run import Run

PUBLISHED = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
sizes = st.integers(0, 1 << 40)
gnu_ids = st.binary(min_size=1, max_size=20).map(lambda data: SymbolId(scheme=IdScheme.GNU, value=data.hex()))
file_ids = st.binary(min_size=16, max_size=16).map(lambda data: SymbolId(scheme=IdScheme.FILE, value=data.hex()))
outcomes = st.builds(
    Outcome,
    path=st.text(st.characters()),
    decision=st.sampled_from(Decision),
    reason=st.text(min_size=1),
    identity=st.none() | st.builds(Identity, primary=gnu_ids, aliases=st.lists(file_ids, max_size=2).map(tuple)),
    quality=st.none() | st.sampled_from(Quality),
    figures=st.none()
    | st.builds(Figures, functions=sizes, by_source=st.dictionaries(st.sampled_from(Source), sizes, max_size=3)),
    input_size_bytes=sizes,
    seconds=st.floats(0, 1e6),
    warnings=st.lists(st.text(), max_size=3).map(tuple),
    remedy=st.none() | st.text(),
    concern=st.none() | st.sampled_from([Concern.CONFLICT, Concern.DECLINED]),
    exit_code=st.sampled_from(ExitCode),
)


@given(st.lists(outcomes, max_size=5), st.sampled_from(ExitCode), st.booleans())
def test_every_run_gives_a_valid_document(files: list[Outcome], code: ExitCode, with_error: bool) -> None:
    error = Refused("no", remedy="ask") if with_error else None
    document = report(Run(command="upload", outcomes=tuple(files), exit_code=code, seconds=1.5, error=error))
    back = json.loads(json.dumps(document))
    jsonschema.validate(back, PUBLISHED)
    assert back["schema"] == SCHEMA == PUBLISHED["$id"]
    assert sum(back["counts"].values()) == back["totals"]["files"] == len(files)
