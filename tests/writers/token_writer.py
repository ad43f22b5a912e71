"""New tokens, and the lines of a server's tokens file that know them."""

import secrets

from uploader.credentials.token import Token
from uploader.server.tokens import Scope, digest_of


def mint(*, name: str, scopes: frozenset[Scope], project: str) -> tuple[Token, str]:
    """A token of 256 random bits, and its lines."""
    token = Token(f"symup_{secrets.token_urlsafe(32)}", origin="new")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    shown = ", ".join(f'"{scope}"' for scope in sorted(scopes))
    lines = f'[[token]]\nname = "{quoted}"\nsha256 = "{digest_of(token.reveal())}"\nscopes = [{shown}]\nproject = "{project}"\n'
    return token, lines
