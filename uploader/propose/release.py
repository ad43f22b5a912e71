"""The commit that a release of symup itself stands for: what a pipeline pins, since a tag can be moved."""

from __future__ import annotations

import os
import re
import subprocess

REPOSITORY = "https://github.com/symup/symup"
ASK_SECONDS = 15


def commit_of(tag: str) -> str | None:
    """The commit behind ``tag``, as git tells it of the remote repository; None where git or the network gives no answer."""
    environ = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
    try:
        asked = subprocess.run(
            ["git", "ls-remote", REPOSITORY, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=ASK_SECONDS,
            env=environ,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    commits = {name: commit for commit, name in re.findall(r"^([0-9a-f]{40})\t(\S+)$", asked.stdout, re.MULTILINE)}
    # An annotated tag is an object of its own: what it stands for is told behind ^{}.
    return commits.get(f"refs/tags/{tag}^{{}}") or commits.get(f"refs/tags/{tag}")
