"""Trouble between a client and a server, told to people: connections that fail, certificates that are not believed."""

from __future__ import annotations

import ssl

import httpx

from uploader.errors import NetworkGaveOut

_TROUBLES = {
    httpx.ConnectError: "no connection",
    httpx.ConnectTimeout: "no connection in time",
    httpx.ReadTimeout: "no whole answer in time",
    httpx.WriteTimeout: "the request was not taken in time",
    httpx.ReadError: "the connection broke",
    httpx.WriteError: "the connection broke",
    httpx.RemoteProtocolError: "the answer broke off",
}

# OpenSSL's X509_V_ERR codes.
_HOSTNAME_MISMATCH, _IP_MISMATCH = 62, 64
_NOT_YET_VALID, _EXPIRED = 9, 10


def in_words(error: httpx.TransportError) -> str:
    """The trouble in words."""
    kind = _TROUBLES.get(type(error), type(error).__name__)
    return f"{kind}: {error}" if str(error) else kind


def raise_distrust(error: httpx.TransportError, url: str) -> None:
    """Raises `NetworkGaveOut` for a server's certificate that isn't believed; does nothing for any other trouble."""
    distrust = _distrust(error)
    if distrust is None:
        return
    host = httpx.URL(url).host
    if distrust.verify_code in (_HOSTNAME_MISMATCH, _IP_MISMATCH):
        raise NetworkGaveOut(
            f"the certificate of {url} is for another host than {host}: {distrust.verify_message}",
            remedy=f"Name the server as its certificate does, or give it a certificate for {host}.",
        ) from error
    if distrust.verify_code in (_NOT_YET_VALID, _EXPIRED):
        raise NetworkGaveOut(
            f"the certificate of {url} is not valid now: {distrust.verify_message}",
            remedy="Have the server's certificate renewed, or set this machine's clock.",
        ) from error
    raise NetworkGaveOut(
        f"the certificate of {url} is not trusted: {distrust.verify_message}",
        remedy="Point SSL_CERT_FILE at the certificates of the authority that signed it.",
    ) from error


def _distrust(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None
