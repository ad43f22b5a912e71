"""A token that was given for this run: by the command line, or by the environment."""

from __future__ import annotations

from uploader.credentials.port import Asked
from uploader.credentials.token import Token
from uploader.errors import UsageError

TOKEN_VARIABLE = "SYMUP_TOKEN"  # noqa: S105  # a name, no secret


class Flag:
    """``--token``."""

    name = "--token"
    made_out_to_servers = False

    def token(self, asked: Asked) -> Token | None:
        """See `CredentialSource`."""
        return None if asked.flag is None else _given(asked.flag, self.name)


class Environment:
    """``SYMUP_TOKEN``, unless the command line gives one."""

    name = TOKEN_VARIABLE
    made_out_to_servers = False

    def token(self, asked: Asked) -> Token | None:
        """See `CredentialSource`."""
        text = asked.env.get(TOKEN_VARIABLE, "").strip()
        return _given(text, self.name) if text and asked.flag is None else None


def _given(text: str, origin: str) -> Token:
    try:
        return Token(text.strip(), origin=origin)
    except ValueError:
        pass
    raise UsageError(
        f"{origin} can't be a token: it is empty, or holds spaces or characters beyond ASCII",
        remedy="Copy the token again, as a whole and on one line.",
    )
