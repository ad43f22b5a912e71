"""Redirections, and the places that they may lead to."""

from __future__ import annotations

import httpx

MAX_REDIRECTS = 5


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port: a token belongs to these."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def may_follow(url: httpx.URL, target: httpx.URL) -> bool:
    """Whether a GET may go from one to the other: never from https to http."""
    return target.scheme == "https" or (target.scheme == "http" and url.scheme != "https")
