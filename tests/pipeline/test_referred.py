"""Where the files are looked for that DWARF refers to, beside what `uploader.inputs.linked` finds: on debuginfod servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.writers import split_debug
from tests.writers.debuginfod_server import scripted
from uploader.inputs.debuginfod import DebugInfod, DebugInfodSettings
from uploader.pipeline.gather import gather
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.referred import ReferredFiles
from uploader.progress import Silent


@pytest.mark.parametrize(("build_id", "paths"), [(b"", []), (b"\1", []), (b"\1\2", ["/buildid/0102/debuginfo"])])
def test_a_server_is_asked_for_an_id_of_two_bytes_or_more(tmp_path: Path, build_id: bytes, paths: list[str]) -> None:
    split_debug.build(tmp_path / "app")
    (artifact,) = gather(
        Plan(paths=[tmp_path / "app"], conversion=Conversion(debug=DebugSources(system_dirs=()))), progress=Silent()
    ).artifacts
    with scripted(lambda request: request.answer(404)) as server:
        environ = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
        debuginfod = DebugInfod(DebugInfodSettings.from_environment(environ), sleep=lambda _: None)
        files = ReferredFiles(artifact, DebugSources(system_dirs=(), debuginfod=debuginfod))
        found = files.supplementary(b"/nowhere/common.debug", build_id)
    assert [request.path for request in server.requests] == paths
    assert str(tmp_path / "cache") not in "".join(found)
