"""The report files that a run was asked for, and those that GitHub asks every step for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from uploader.errors import NotWritten, SymupError, UsageError
from uploader.pipeline.whole_file import write_whole
from uploader.report.model import RunReport
from uploader.values import frozen

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
OUTPUT_VARIABLE = "GITHUB_OUTPUT"


@frozen
class Reports:
    """The file of each form; None where it isn't wanted."""

    json: str | None = None
    html: str | None = None
    code_quality: str | None = None
    junit: str | None = None
    dotenv: str | None = None

    def prepare(self, others: Sequence[str | Path] = ()) -> Reports:
        """Makes the folders, before there is anything to lose.

        Raises `UsageError` where a file can't be, or is another report's, or one of the ``others`` that the run reads or writes.
        """
        taken = {os.path.realpath(other) for other in others}
        for path in (self.json, self.html, self.code_quality, self.junit, self.dotenv):
            if path is None:
                continue
            place = os.path.realpath(path)
            if place in taken and (Path(path).is_file() or not Path(path).exists()):
                raise UsageError(
                    f"a report can't be written to {path}: this run reads or writes that file",
                    remedy="Name a file of its own for each report.",
                )
            taken.add(place)
            if path == "-":
                raise UsageError(
                    "- is no file for a report", remedy="--json writes the JSON report to stdout; name a file else."
                )
            try:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"can't write to {Path(path).parent}: {error.strerror or error}") from error
            if not path or Path(path).is_dir():
                raise UsageError(f"can't write the report to {path!r}: a file name is needed")
        return self

    def write(self, run: RunReport, *, environ: Mapping[str, str]) -> None:
        """Writes all of them, whole or not at all, and adds to GitHub's own files where the environment names them.

        Raises `UsageError` or `NotWritten` for the last that can't be written, after the others.
        """
        trouble: SymupError | None = None
        read = {os.path.realpath(outcome.path) for outcome in run.outcomes if outcome.path}
        for path, text in self._texts(run):
            if os.path.realpath(path) in read:
                trouble = UsageError(
                    f"the report was not written to {path}: this run read that file", remedy="Name a file of its own."
                )
                continue
            try:
                write_whole(Path(path), text.encode("utf-8"))
            except (NotWritten, UsageError) as error:
                trouble = error
        for path, text in self._github(run, environ):
            try:
                _append(Path(path), text)
            except OSError as error:
                trouble = UsageError(f"can't write {path}: {error.strerror or error}")
        if trouble is not None:
            raise trouble

    def _texts(self, run: RunReport) -> Iterator[tuple[str, str]]:
        if self.json is not None:
            import json

            from uploader.report.json import report

            yield self.json, json.dumps(report(run), indent=2) + "\n"
        if self.html is not None:
            from uploader.report.html import page

            yield self.html, page(run)
        if self.code_quality is not None:
            import json

            from uploader.report.gitlab import code_quality

            yield self.code_quality, json.dumps(code_quality(run), indent=2) + "\n"
        if self.junit is not None:
            from uploader.report.gitlab import junit

            yield self.junit, junit(run)
        if self.dotenv is not None:
            from uploader.report.results import dotenv, results

            yield self.dotenv, dotenv(results(run, report_json=self.json, report_html=self.html))

    def _github(self, run: RunReport, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        summary_path, output_path = environ.get(SUMMARY_VARIABLE), environ.get(OUTPUT_VARIABLE)
        if summary_path:
            from uploader.report.github import SUMMARY_LIMIT_BYTES, summary

            held = os.path.getsize(summary_path) if os.path.exists(summary_path) else 0
            yield summary_path, summary(run, limit_bytes=SUMMARY_LIMIT_BYTES - held)
        if output_path:
            from uploader.report.results import github_outputs, results

            yield output_path, github_outputs(results(run, report_json=self.json, report_html=self.html))


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)
