"""Decides what a request may do, by its token and the project in its path."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request

from uploader.errors import NotAllowed
from uploader.server.tokens import Grant, Scope, Tokens
from uploader.server.trouble import MalformedRequest, NotLoggedIn
from uploader.store.keys import PROJECT

_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}


class Access:
    """The rules of one server; without tokens it allows everything to requests that name the machine itself as the host."""

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens

    def needs(self, *scopes: Scope) -> Callable[[Request, str], str]:
        """A dependency that lets in tokens with one of the scopes in the path's project; gives the project's name.

        The answer to a stranger is the same whether the project exists or not: nothing is looked up before.
        """

        def check(request: Request, project: str) -> str:
            grant = self.grant(request)
            if grant is not None and not grant.allows(frozenset(scopes), project):
                # The same for every project: a name that is echoed in one case only would tell which there are.
                wanted = " or ".join(f'"{scope}"' for scope in sorted(scopes))
                raise NotAllowed(
                    f"this token may not do this in this project: that takes the scope {wanted} there",
                    remedy=f"Ask who runs the server for a token with the scope {wanted} in this project; "
                    "symup whoami tells what yours may do.",
                )
            if not PROJECT.fullmatch(project) or ".." in project:
                raise MalformedRequest("project: 1 to 64 lowercase letters, digits, dots, hyphens and underscores")
            return project

        return check

    def grant(self, request: Request) -> Grant | None:
        """The grant of the request's token; None on a server without tokens. Raises `NotLoggedIn`."""
        if self._tokens is None:
            self._check_host(request)
            return None
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        grant = self._tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
        if grant is None:
            raise NotLoggedIn("a valid token is needed", remedy="Give one with SYMUP_TOKEN.")
        return grant

    def optional(self, request: Request) -> None:
        """Lets in requests without any token, but none with a wrong one: a client hears early that its login fails."""
        if self._tokens is None or "Authorization" in request.headers:
            self.grant(request)

    @staticmethod
    def _check_host(request: Request) -> None:
        # A web page can make a browser ask loopback under a name of its own (DNS rebinding); it can't forge the host.
        host = request.headers.get("Host", "").strip().lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in _LOOPBACK_HOSTS:
            raise NotAllowed("a server without tokens answers to localhost only")
