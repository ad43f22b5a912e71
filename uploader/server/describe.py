"""The OpenAPI document: every page with the documents of the protocol that it takes and gives, described by `uploader.protocol.wire`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from uploader.protocol.wire.document import Document
from uploader.protocol.wire.pages import DOCUMENTS, TROUBLE

Described = dict[int | str, dict[str, Any]]


class DescribedApp(FastAPI):
    """Names the protocol's documents, which FastAPI knows nothing of: pages read and write them themselves."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        document = super().openapi()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.update({each.title: each.described() for each in DOCUMENTS})
        return document


def gives(document: Document[Any]) -> Described:
    """The answer of a page when all is well."""
    return {200: _content(document)}


def takes(document: Document[Any]) -> dict[str, Any]:
    """The body that a page wants."""
    return {"requestBody": {"required": True, **_content(document)}}


def declines(*statuses: int) -> Described:
    """The errors that a page may answer with."""
    return {status: _content(TROUBLE) for status in statuses}


def _content(document: Document[Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": document.schema()}}}
