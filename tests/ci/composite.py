"""A small runner of composite actions: real steps in a real bash, with inputs, variables and files as GitHub defines them.

It knows what this project's action uses, and refuses the rest: ``inputs.*`` and ``steps.*.outputs.*`` in expressions, and
steps with ``run``, ``shell: bash``, ``env`` and ``working-directory``.
https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
STEP_KEYS = {"name", "id", "run", "shell", "env", "working-directory"}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a use of the action came to, as the job that uses it sees it."""

    succeeded: bool
    outputs: Mapping[str, str]
    summary: str
    log: str
    """Both streams of all steps, as on the page of the job."""

    def annotations(self, kind: str) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(f"::{kind} ")]


@dataclass(frozen=True, kw_only=True)
class Runner:
    """A machine that runs jobs: its folders outlast a job, its variables are those that a hosted runner sets."""

    home: Path
    workspace: Path
    tool_cache: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables of the job."""

    def use(self, action: Path, inputs: Mapping[str, str], **job: str) -> Finished:
        """Runs ``uses: action`` with these inputs in a new job with these variables."""
        return _Use(self, action, dict(inputs), job).run()


def read_yaml(path: Path) -> Any:
    """One YAML document, by the rules of YAML 1.2 as GitHub reads it."""
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


class _Use:
    def __init__(self, runner: Runner, action: Path, inputs: dict[str, str], job: dict[str, str]) -> None:
        self._runner, self._action = runner, action
        self._page = read_yaml(action / "action.yml")
        known = self._page["inputs"]
        assert set(inputs) <= set(known), f"not inputs of this action: {set(inputs) - set(known)}"
        assert all(name in inputs for name, about in known.items() if about.get("required")), (
            "a required input is missing"
        )
        self._inputs = {name: inputs.get(name, str(about.get("default", ""))) for name, about in known.items()}
        self._steps: dict[str, dict[str, str]] = {}
        self._summary, self._log = "", ""
        number = len(list(runner.home.glob("job-*")))
        self._folder = runner.home / f"job-{number}"
        self._temp = self._folder / "temp"
        self._temp.mkdir(parents=True)
        self._job = {
            "PATH": os.environ["PATH"],
            "HOME": str(runner.home),
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(action),
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_REPOSITORY": "shop/orders",
            "GITHUB_RUN_ID": str(1000 + number),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": "5f2c1b1de6d7f3b9c60f4b35c9c2a1a3a5b6c7d8",
            "GITHUB_WORKSPACE": str(runner.workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self._temp),
            "RUNNER_TOOL_CACHE": str(runner.tool_cache),
            **runner.environ,
            **job,
        }

    def run(self) -> Finished:
        assert self._page["runs"]["using"] == "composite"
        succeeded = all(self._step(number, step) for number, step in enumerate(self._page["runs"]["steps"]))
        return Finished(
            succeeded=succeeded,
            outputs={name: self._evaluated(about["value"]) for name, about in self._page["outputs"].items()},
            summary=self._summary,
            log=self._log,
        )

    def _step(self, number: int, step: Mapping[str, Any]) -> bool:
        assert set(step) <= STEP_KEYS, f"this runner does not know {set(step) - STEP_KEYS}"
        assert step["shell"] == "bash"
        files = {
            name: self._folder / f"{number}-{name.lower()}" for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")
        }
        files["GITHUB_STEP_SUMMARY"] = self._folder / f"{number}-summary.md"
        for path in files.values():
            path.touch()
        script = self._folder / f"{number}.sh"
        script.write_text(self._evaluated(step["run"]), encoding="utf-8")
        own = {name: self._evaluated(str(value)) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self._runner.workspace / self._evaluated(step.get("working-directory", ".")),
            env=self._job | own | {name: str(path) for name, path in files.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=280,
            check=False,
        )
        self._log += done.stdout
        self._summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        if "id" in step:
            self._steps[step["id"]] = read_commands(files["GITHUB_OUTPUT"])
        self._job |= read_commands(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines():
            self._job["PATH"] = f"{line}{os.pathsep}{self._job['PATH']}"
        return done.returncode == 0

    def _evaluated(self, text: str) -> str:
        return EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def _value(self, expression: str) -> str:
        """A context's value; empty, as at GitHub, for an output that no step has set."""
        if match := re.fullmatch(r"inputs\.([\w-]+)", expression):
            return self._inputs[match[1]]
        match = re.fullmatch(r"steps\.([\w-]+)\.outputs\.([\w-]+)", expression)
        assert match, f"this runner does not know the expression {expression!r}"
        assert match[1] in {step.get("id") for step in self._page["runs"]["steps"]}, f"no step has the id {match[1]}"
        return self._steps.get(match[1], {}).get(match[2], "")


def read_commands(path: Path) -> dict[str, str]:
    """A file of ``name=value`` lines, or ``name<<END``, lines, ``END``, as steps write them for the runner."""
    values: dict[str, str] = {}
    lines = iter(path.read_text(encoding="utf-8").splitlines())
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals or "<<" in name:
            name, heredoc, end = line.partition("<<")
            assert heredoc, f"{line!r} sets nothing"
            body = []
            for text in lines:
                if text == end:
                    break
                body.append(text)
            else:
                raise AssertionError(f"{end!r} is missing")
            value = "\n".join(body)
        values[name] = value
    return values
