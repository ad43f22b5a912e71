"""action.yml, its steps run for real: a built example goes to a real server, once, and only what was asked for fails."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.ci.composite import EXPRESSION, Finished, Runner, read_yaml
from tests.ci.conftest import EXAMPLES, ROOT, Store, locked, way_to_the_network
from uploader import __version__
from uploader.gsym.layout import MAGIC

ACTION = read_yaml(ROOT / "action.yml")
Use = Callable[..., Finished]


@pytest.fixture
def workspace(tmp_path: Path, monorepo: Path) -> Path:
    """A job's checkout after its build: three services."""
    folder = tmp_path / "workspace"
    shutil.copytree(monorepo, folder)
    return folder


@pytest.fixture(scope="session")
def monorepo(shared: Path, peer: Callable[[str], str]) -> Path:
    folder = shared / "monorepo"
    peer("cc")
    with locked(shared / "monorepo.lock"):
        if not folder.exists():
            shutil.copytree(EXAMPLES / "monorepo", folder, ignore=shutil.ignore_patterns("build"))
            for service in ("billing", "search", "users"):
                subprocess.run(["sh", folder / "build.sh", service], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def tool_cache(shared: Path, checkout: Path) -> Path:
    """The tool cache of the machine, with symup installed by the action itself, once."""
    folder = shared / "tools"
    with locked(shared / "tools.lock"):
        if not folder.exists():
            runner = Runner(
                home=_made(shared / "installing"),
                workspace=_made(shared / "installing" / "workspace"),
                tool_cache=_made(folder),
                environ={"SYMUP_COMPILE": "0", **way_to_the_network()},
            )
            finished = runner.use(checkout, {"command": "install", "version": "source"})
            assert finished.succeeded, finished.log
            assert Path(finished.outputs["symup"]).is_file()
    return folder


@pytest.fixture
def use(tmp_path: Path, workspace: Path, tool_cache: Path, checkout: Path, store: Store) -> Use:
    """Uses the action in a job of its own: the built services to the server, unless inputs say otherwise."""
    runner = Runner(
        home=_made(tmp_path / "home"),
        workspace=workspace,
        tool_cache=tool_cache,
        environ={"SYMUP_COMPILE": "0", **way_to_the_network()},
    )

    def run(inputs: dict[str, str] | None = None, **job: str) -> Finished:
        usual = {"paths": "build/bin", "to": store.url, "token": store.token, "version": "source"}
        finished = runner.use(checkout, usual | (inputs or {}), **job)
        assert store.token not in finished.log + finished.summary + str(finished.outputs)
        return finished

    return run


def test_stores_the_symbols_and_tells_what_it_did(use: Use, store: Store) -> None:
    finished = use()
    assert finished.succeeded, finished.log
    assert "symup is installed already" in finished.log
    outputs = finished.outputs
    assert (outputs["exit-code"], outputs["stored"], outputs["present"], outputs["failed"]) == ("0", "3", "0", "0")
    assert int(outputs["bytes-sent"]) > 0
    assert outputs["worst-quality"] == "full"
    assert outputs["store-url"] == store.url
    report = json.loads(Path(outputs["report"]).read_text())
    assert sorted(Path(outcome["path"]).name for outcome in report["outcomes"]) == ["billing", "search", "users"]
    assert "billing" in finished.summary


def test_a_wheel_of_the_actions_own_version_is_preferred(use: Use, wheel: Path, tmp_path: Path) -> None:
    """As from PyPI, with its index page in a folder. Nothing is built, and what is installed is taken over by the next job."""
    job = {"RUNNER_TOOL_CACHE": str(tmp_path / "other tools"), "PIP_FIND_LINKS": str(wheel.parent)}
    first = use({"version": "", "command": "install"}, **job)
    assert first.succeeded, first.log
    assert f"symup {__version__}" in first.log
    assert "installed already" not in first.log
    assert "own sources" not in first.log
    assert "installed already" in use({"version": "", "command": "install"}, **job).log


def test_a_second_run_sends_nothing(use: Use) -> None:
    use()
    finished = use()
    assert finished.succeeded, finished.log
    assert finished.outputs["stored"] == "0"
    assert finished.outputs["present"] == "3"
    assert finished.outputs["bytes-sent"] == "0"


def test_a_later_job_checks_what_the_store_holds(use: Use) -> None:
    missing = use({"command": "status"})
    assert not missing.succeeded
    assert missing.outputs["exit-code"] == "1"
    use()
    assert use({"command": "status"}).succeeded


@pytest.mark.parametrize(
    ("gate", "stopped"),
    [
        ({}, False),
        ({"require": "full"}, False),
        ({"fail-on": "missing-debug"}, True),
        ({"fail-on": "none,missing-debug"}, False),
        ({"fail-on": "failed"}, True),
    ],
)
def test_a_broken_binary_fails_as_the_gate_says_and_only_then(
    use: Use, workspace: Path, gate: dict[str, str], stopped: bool
) -> None:
    whole = workspace / "build" / "bin" / "billing"
    whole.write_bytes(whole.read_bytes()[:4096])
    finished = use(gate)
    assert finished.succeeded is not stopped, finished.log
    assert finished.outputs["failed"] == "1"
    assert finished.outputs["stored"] == "2"
    assert any("billing" in line for line in finished.annotations("error") + finished.annotations("warning"))


def test_a_mistyped_path_fails_the_step_and_sends_nothing(use: Use) -> None:
    finished = use({"paths": "build/bin\nbuild/bim/billing"})
    assert not finished.succeeded
    assert finished.outputs["exit-code"] == "2"
    assert not finished.outputs["stored"]
    assert any("Did you mean build/bin/billing?" in line for line in finished.annotations("error")), finished.log
    allowed = use({"paths": "build/bin\nbuild/bim/billing", "allow-missing": "true"})
    assert allowed.succeeded, allowed.log
    assert (allowed.outputs["stored"], allowed.outputs["skipped"]) == ("3", "1")


def test_too_poor_symbols_fail_as_the_gate_says(use: Use, workspace: Path) -> None:
    poor = workspace / "build" / "bin" / "billing"
    subprocess.run(["strip", "--strip-debug", poor], check=True)
    assert use({"require": "functions"}).succeeded
    finished = use({"require": "full"})
    assert not finished.succeeded
    assert finished.outputs["exit-code"] == "7"
    assert finished.outputs["worst-quality"] == "functions"
    assert use({"min-line-coverage": "5"}).outputs["exit-code"] == "7"


def test_a_gate_of_the_project_holds_without_an_input(use: Use, workspace: Path) -> None:
    (workspace / "symup.toml").write_text('fail_on = ["failed"]\n')
    broken = workspace / "build" / "bin" / "billing"
    broken.write_bytes(broken.read_bytes()[:4096])
    finished = use()
    assert not finished.succeeded
    assert (finished.outputs["exit-code"], finished.outputs["stored"]) == ("1", "2")


def test_a_store_in_trouble_breaks_no_build_unless_asked_to(use: Use, no_store: str) -> None:
    warned = use({"to": no_store})
    assert warned.succeeded, warned.log
    assert warned.outputs["exit-code"] in ("5", "6")
    assert warned.annotations("warning")
    assert not use({"to": no_store, "store-trouble": "fail"}).succeeded


def test_a_wrong_token_is_a_mistake_that_shows(use: Use) -> None:
    finished = use({"token": "symup_wrong"})
    assert not finished.succeeded
    assert finished.outputs["exit-code"] == "4"


def test_a_pull_request_of_a_fork_has_no_token_and_goes_on(use: Use) -> None:
    finished = use({"token": ""}, GITHUB_EVENT_NAME="pull_request")
    assert finished.succeeded, finished.log
    assert finished.annotations("notice")
    assert not use({"token": ""}, GITHUB_EVENT_NAME="push").succeeded


def test_inputs_are_words_never_code(use: Use, workspace: Path) -> None:
    sly = "$(touch taken) `touch taken` ;touch taken; \"'"
    (workspace / "build" / "bin" / "users").rename(workspace / "build" / sly.replace("/", ""))
    finished = use({"paths": f"  build/bin/sea*  \n\nbuild/{sly}\n", "exclude": sly, "include": "*\n" + sly})
    assert finished.succeeded, finished.log
    assert finished.outputs["stored"] == "2"
    assert not list(workspace.rglob("taken"))


def test_paths_start_from_the_working_directory(use: Use, workspace: Path) -> None:
    finished = use({"working-directory": "build", "paths": "bin", "report-html": "report.html"})
    assert finished.succeeded, finished.log
    assert finished.outputs["stored"] == "3"
    assert (workspace / "build" / "report.html").read_text().startswith("<!")


def test_shards_of_a_matrix_store_everything_together(use: Use) -> None:
    shards = [use({"shard": f"{number}/3", "allow-empty": "true"}) for number in (1, 2, 3)]
    assert all(shard.succeeded for shard in shards)
    assert sum(int(shard.outputs["stored"]) for shard in shards) == 3


def test_a_dry_run_stores_nothing(use: Use) -> None:
    assert use({"dry-run": "true"}).succeeded
    assert use().outputs["stored"] == "3"


def test_symbol_files_have_the_form_that_was_asked_for(use: Use, workspace: Path) -> None:
    finished = use({"to": "symbols", "gsym-version": "2", "keep-aliases": "true", "max-memory": "500M", "token": ""})
    assert finished.succeeded, finished.log
    chunks = [path.read_bytes() for path in workspace.glob("symbols/*/chunks/*/*")]
    forms = [zstandard.ZstdDecompressor().decompressobj().decompress(chunk)[:6] for chunk in chunks]
    assert forms == [struct.pack("<IH", MAGIC, 2)] * 3


def test_a_later_job_pushes_what_an_earlier_one_put_into_a_folder(use: Use, workspace: Path) -> None:
    assert use({"to": "symbols"}).succeeded
    pushed = use({"command": "push", "paths": "symbols"})
    assert pushed.succeeded, pushed.log
    assert pushed.outputs["stored"] == "3"
    assert use({"command": "status"}).succeeded


@pytest.mark.parametrize(
    "inputs",
    [
        {"paths": ""},
        {"command": "download"},
        {"dry-run": "yes"},
        {"store-trouble": "ignore"},
        {"version": "newest"},
        {"python": "no-such-python"},
    ],
)
def test_a_mistake_in_the_inputs_is_told(use: Use, inputs: dict[str, str]) -> None:
    finished = use(inputs)
    assert not finished.succeeded
    (name,) = inputs
    assert any(name in line or inputs[name] in line for line in finished.annotations("error"))


@pytest.mark.parametrize(
    ("name", "value"), [("max-memory", "plenty"), ("gsym-version", "3"), ("keep-aliases", "some"), ("jobs", "all")]
)
def test_a_setting_that_symup_does_not_take_stops_the_step_whatever_the_gates(use: Use, name: str, value: str) -> None:
    finished = use({name: value, "fail-on": "none"})
    assert not finished.succeeded
    assert finished.outputs["exit-code"] == "2"
    assert f"SYMUP_{name.upper().replace('-', '_')}" in finished.log


def test_every_input_is_used_and_none_within_a_script() -> None:
    steps = ACTION["runs"]["steps"]
    used = set()
    for step in steps:
        assert not EXPRESSION.search(step["run"])
        for text in (*step["env"].values(), step.get("working-directory", "")):
            used |= {match[1].removeprefix("inputs.") for match in EXPRESSION.finditer(text)}
    assert set(ACTION["inputs"]) <= used


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
