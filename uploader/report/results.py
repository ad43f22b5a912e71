"""The few figures of a run that another step or job goes on with: GitHub's step outputs, GitLab's dotenv variables."""

from __future__ import annotations

from uploader.report.model import RunReport
from uploader.words import printable

DOTENV_PREFIX = "SYMUP_RESULT_"


def results(run: RunReport, *, report_json: str | None = None, report_html: str | None = None) -> dict[str, str]:
    """Name and value of each, names with hyphens; values are one line and empty where there is nothing to say."""
    values = {
        "exit-code": str(int(run.exit_code)),
        "files": str(len(run.outcomes)),
        **{decision.value: str(number) for decision, number in run.counts.items()},
        "chunks-sent": str(run.total("chunks_sent")),
        "bytes-sent": str(run.total("sent_size_bytes")),
        "bytes-in": str(run.total("input_size_bytes")),
        "bytes-out": str(run.total("compressed_size_bytes") or run.total("gsym_size_bytes")),
        "worst-quality": "" if run.worst_quality is None else run.worst_quality.label,
        "store-url": run.destination or "",
        "project": run.project or "",
        "report-json": report_json or "",
        "report-html": report_html or "",
    }
    return {name: printable(value) for name, value in values.items()}


def github_outputs(values: dict[str, str]) -> str:
    """The lines for the file that ``GITHUB_OUTPUT`` names."""
    return "".join(f"{name}={value}\n" for name, value in values.items())


def dotenv(values: dict[str, str]) -> str:
    """The lines of a dotenv report: GitLab takes no quotes and no line breaks."""
    return "".join(f"{DOTENV_PREFIX}{name.upper().replace('-', '_')}={value}\n" for name, value in values.items())
