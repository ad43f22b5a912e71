"""One file from a foreign server, as debuginfod servers give them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import IO

import httpx

from uploader import __version__
from uploader.errors import NetworkGaveOut, Refused
from uploader.net.loopback import is_loopback
from uploader.net.network import MIN_PROGRESS_BYTES, Allowance, BoundedTransport, bounded
from uploader.net.redirect import MAX_REDIRECTS, may_follow, origin


def download(
    url: str,
    target: IO[bytes],
    *,
    headers: Mapping[str, str],
    stall_seconds: float,
    deadline: float | None,
    max_size_bytes: int,
) -> int:
    """One GET of a foreign server, its body written to ``target`` from the start; gives the status, and the body only for 200.

    ``headers`` go to the server asked and not to where it redirects. Raises `NetworkGaveOut` where the connection fails, where
    less than `MIN_PROGRESS_BYTES` arrive in ``stall_seconds``, and past ``deadline`` (of `time.monotonic`); `Refused` for
    an answer of more than ``max_size_bytes``, or a redirection that makes no sense.
    """
    asked_of = origin(httpx.URL(url))
    host = asked_of[1]
    allowance = Allowance(
        stall_seconds,
        max_received_bytes=max_size_bytes,
        bytes_per_second=MIN_PROGRESS_BYTES / stall_seconds,
        deadline=deadline,
    )
    target.seek(0)
    target.truncate()
    own = {"User-Agent": f"symup/{__version__}", "Accept-Encoding": "identity"}
    try:
        transport = BoundedTransport(trust_env=not is_loopback(host), max_connections=1)
        with bounded(allowance), httpx.Client(timeout=stall_seconds, headers=own, transport=transport) as client:
            at = httpx.URL(url)
            for _ in range(MAX_REDIRECTS + 1):
                sent = dict(headers) if origin(at) == asked_of else {}
                with client.stream("GET", at, headers=sent) as response:
                    if response.has_redirect_location:
                        following = at.join(response.headers["Location"])
                        if not may_follow(at, following):
                            raise Refused(f"{host} redirects to {following.scheme}://{following.host}")
                        at = following
                        continue
                    if response.status_code == 200:
                        _save(response, target, stall_seconds, deadline, max_size_bytes)
                    return response.status_code
    except httpx.ReadTimeout as error:
        if deadline is not None and time.monotonic() >= deadline:
            raise NetworkGaveOut("it took longer than allowed") from error
        raise NetworkGaveOut(f"less than {MIN_PROGRESS_BYTES} bytes came in {stall_seconds:g} s") from error
    except httpx.TransportError as error:
        raise NetworkGaveOut(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Refused(f"{host} gave an answer that can't be read: {error}") from error
    raise Refused(f"{host} redirects without end")


def _save(
    response: httpx.Response, target: IO[bytes], stall_seconds: float, deadline: float | None, max_size_bytes: int
) -> None:
    declared = response.headers.get("Content-Length", "")
    if declared.isdigit() and int(declared) > max_size_bytes:
        raise Refused(f"the answer is of {declared} bytes, over the limit of {max_size_bytes}")
    size_bytes = 0
    window, window_size_bytes = time.monotonic(), 0
    for piece in response.iter_raw():
        size_bytes += len(piece)
        if size_bytes > max_size_bytes:
            raise Refused(f"the answer is over the limit of {max_size_bytes} bytes")
        target.write(piece)
        now = time.monotonic()
        if deadline is not None and now > deadline:
            raise NetworkGaveOut("it took longer than allowed")
        if now - window > stall_seconds:
            if size_bytes - window_size_bytes < MIN_PROGRESS_BYTES:
                raise NetworkGaveOut(f"less than {MIN_PROGRESS_BYTES} bytes came in {stall_seconds:g} s")
            window, window_size_bytes = now, size_bytes
    target.flush()
