"""The errors that the refusals of a symbol server stand for."""

from __future__ import annotations

from typing import NoReturn
from urllib.parse import unquote

from uploader.errors import NotAllowed, Refused, TooLarge
from uploader.protocol.refusals import NOT_FOUND, REFUSALS
from uploader.protocol.wire import json_text
from uploader.protocol.wire.pages import TROUBLE

LOGIN_REMEDY = "Give a token that may do this in this project: with SYMUP_TOKEN, or once with symup login."

_ERRORS = {refusal.code: refusal.error for refusal in REFUSALS if issubclass(refusal.error, Refused)}


class Absent(Refused):
    """The server says that it holds no such thing."""


def raise_refusal(url: str, path: str, status: int, data: bytes, *, sent_size_bytes: int) -> NoReturn:
    """Raises the error that a server's refusal stands for, by its status and its error document."""
    said = error_in(data)
    reason = said.get("reason") or f"status {status}"
    remedy = said.get("remedy")
    if status == 401:
        raise NotAllowed(f"{url} wants a valid token: {reason}", remedy=remedy or LOGIN_REMEDY)
    if status == 403:
        raise NotAllowed(f"{url} does not allow this{_in_project(path)}: {reason}", remedy=remedy or LOGIN_REMEDY)
    if status == 413:
        limit = said.get("limit_size_bytes", "")
        named = f"its limit is {limit} bytes" if limit else "a proxy in between has a lower limit than the server"
        raise TooLarge(
            f"{url} refused a request of {sent_size_bytes} bytes as too large (413); {named}",
            remedy="Raise that limit (nginx: client_max_body_size).",
            limit_size_bytes=int(limit) if limit.isascii() and limit.isdigit() else None,
        )
    if status == NOT_FOUND.status and said.get("error") == NOT_FOUND.code:
        raise Absent(f"{url} declined: {reason}", remedy=remedy)
    if status == 404 and not said:
        raise Refused(f"{url} knows no such page (404)", remedy="Check that the destination's URL is a symup server's.")
    raise _ERRORS.get(said.get("error", ""), Refused)(f"{url} declined: {reason}", remedy=remedy)


def error_in(data: bytes) -> dict[str, str]:
    """The members of the server's error document, cleaned for a terminal; empty where it is none."""
    try:
        value = json_text.loads(data)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        name: "".join(character for character in str(value[name])[:1000] if character.isprintable())
        for name in TROUBLE.names
        if value.get(name) is not None
    }


def _in_project(path: str) -> str:
    """The project that a request is about, as an error tells it; empty where there is none."""
    _, found, rest = path.partition("/projects/")
    return f" in project {unquote(rest.partition('/')[0])}" if found else ""
