"""Where a redirection may lead."""

from __future__ import annotations

import httpx

MAX_REDIRECTS = 5


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """What a token belongs to: scheme, host and port."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def may_follow(url: httpx.URL, target: httpx.URL) -> bool:
    """Whether a GET may go from one to the other: never from https to http."""
    return target.scheme == "https" or (target.scheme == "http" and url.scheme != "https")
