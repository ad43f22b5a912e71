"""``symup logout``."""

from __future__ import annotations

import os

from uploader.cli import options, servers, terminal
from uploader.words import printable


def command(dest: options.Dest) -> int:
    """Delete the token of a symbol server from this machine's keyring. Doing it again is no failure.

    Example: symup logout https://symbols.example.com
    """
    url = servers.checked_url(dest)

    from uploader.credentials.find import find_token
    from uploader.credentials.keep import forget

    gone = forget(url)
    told = "is deleted from the keyring" if gone else "was not in the keyring"
    terminal.say(f"symup: the token of {printable(url)} {told}")
    other = find_token(url, env=os.environ, keyring=False)
    if other is not None:
        terminal.say(f"  there is still one from {other.origin}")
    return 0
