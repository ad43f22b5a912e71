"""Errors as HTTP answers: one document with a stable code, a reason and a remedy."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from uploader.errors import NotAllowed, Refused, SymupError
from uploader.protocol.refusals import REFUSALS, Refusal
from uploader.protocol.wire.pages import TROUBLE, Trouble
from uploader.server.limit import BodyTooLarge

_log = logging.getLogger(__name__)


class NotLoggedIn(NotAllowed):
    """No token, or one that this server doesn't know."""


class MalformedRequest(Refused):
    """A request that is not what the protocol says."""


_ANSWERS = (
    Refusal(error=NotLoggedIn, status=401, code="not_logged_in"),
    Refusal(error=MalformedRequest, status=400, code="malformed"),
    *REFUSALS,
)
_HTTP_CODES = {
    404: "no_such_page",
    405: "no_such_method",
    408: "too_slow",
    413: "too_large",
    400: "malformed",
    503: "busy",
}
_HTTP_REASONS = {
    404: "there is no such page",
    405: "the page knows no such method",
    408: "the request's body stalled",
    400: "the request can't be read",
    503: "the server holds as many requests as it has memory for; ask again in a moment",
}


def answer_errors(app: FastAPI) -> None:
    """Makes ``app`` answer every error with a `Trouble` document."""
    app.add_exception_handler(SymupError, _on_symup_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_bug)


def trouble(
    status: int,
    error: str,
    reason: str,
    remedy: str | None = None,
    *,
    limit_size_bytes: int | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The answer that tells of one error."""
    document = TROUBLE.write(Trouble(error=error, reason=reason, remedy=remedy, limit_size_bytes=limit_size_bytes))
    return JSONResponse(
        {name: value for name, value in document.items() if value is not None}, status_code=status, headers=headers
    )


def _on_symup_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SymupError)
    for answer in _ANSWERS:
        if isinstance(error, answer.error):
            headers = {"WWW-Authenticate": 'Bearer realm="symup"'} if answer.status == 401 else None
            return trouble(answer.status, answer.code, error.message, error.remedy, headers=headers)
    # The rest is the store's own trouble: its text names the server's folders, which are the server's business.
    _log.error("%s %s: %s", request.method, request.url.path, error.message)
    return trouble(507, "store_unusable", "the server can't use its store at present", "Tell who runs the server.")


def _on_invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0] if error.errors() else {"loc": (), "msg": "not readable"}
    where = ".".join(str(part) for part in first["loc"])
    return trouble(400, "malformed", f"{where[:200]}: {str(first['msg'])[:200]}")


def _on_http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers) if error.headers else None
    if isinstance(error, BodyTooLarge):
        return trouble(
            413,
            "too_large",
            f"a request has at most {error.limit_size_bytes} bytes here",
            "Send chunks of the size that /v1/capabilities names.",
            limit_size_bytes=error.limit_size_bytes,
            headers=headers,
        )
    status = error.status_code
    return trouble(
        status, _HTTP_CODES.get(status, "refused"), _HTTP_REASONS.get(status, f"status {status}"), headers=headers
    )


def _on_bug(_request: Request, _error: Exception) -> JSONResponse:
    return trouble(500, "internal", "the server failed at this; its log says more")
