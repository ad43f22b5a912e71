"""The HTTP face of a store: every page of the protocol. ``docs/protocol.md`` is the authority."""

import os
from typing import Annotated

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.responses import JSONResponse, Response

from uploader import __version__
from uploader.errors import NothingFound
from uploader.model import SymbolId
from uploader.protocol.wire.artifacts import MANIFEST
from uploader.protocol.wire.json_text import is_sha256
from uploader.protocol.wire.kinds import KIND_FORM
from uploader.protocol.wire.pages import (
    ANSWERS,
    CAPABILITIES,
    COMMIT,
    COMMITTED,
    HEALTH,
    NEGOTIATION,
    STORED_CHUNK,
    Answers,
    Health,
    StoredChunk,
    questions_in,
)
from uploader.protocol.words import FRAMES_FEATURE, GSYM_KIND, TOKENS_FEATURE, Capabilities, Manifest
from uploader.server.access import Access
from uploader.server.body import MAX_BODIES_SIZE_BYTES, BodyRoom, parsed
from uploader.server.describe import DescribedApp, declines, gives, takes
from uploader.server.download import MEDIA_TYPE, download
from uploader.server.edge import Edge
from uploader.server.limit import BodyLimit
from uploader.server.tokens import Scope, Tokens
from uploader.server.trouble import MalformedRequest, answer_errors
from uploader.store.blobs import Blobs
from uploader.store.store import SymbolStore
from uploader.values import replace

_PROJECT = "/v1/projects/{project}"
_ERRORS = declines(400, 401, 403, 404, 409, 413, 422, 507)
KindQuery = Annotated[str, Query(pattern=f"^{KIND_FORM.pattern}$")]


def create_app(
    blobs: Blobs,
    *,
    tokens: Tokens | None,
    capabilities: Capabilities,
    max_bodies_size_bytes: int = MAX_BODIES_SIZE_BYTES,
) -> FastAPI:
    """The application over the store in ``blobs``. Without ``tokens`` it lets in all requests for localhost.

    ``capabilities`` are the limits that it names and keeps; ``max_bodies_size_bytes`` is for all bodies that it holds at a time.
    """
    app = DescribedApp(
        title="symup symbol server",
        version=__version__,
        description="Keeps symbol files as immutable chunks and small manifests.",
        docs_url=None,
        redoc_url=None,
        # A redirection would name the host that the request names, whoever wrote that.
        redirect_slashes=False,
    )
    answer_errors(app)
    app.add_middleware(BodyLimit, max_size_bytes=capabilities.max_request_size_bytes)
    app.add_middleware(Edge)
    access = Access(tokens)
    app.include_router(_public(access, capabilities, with_tokens=tokens is not None))
    app.include_router(_uploading(blobs, access, capabilities, BodyRoom(max_bodies_size_bytes)))
    app.include_router(_reading(blobs, access))
    return app


def _public(access: Access, capabilities: Capabilities, *, with_tokens: bool) -> APIRouter:
    router = APIRouter(responses=declines(401, 403))
    features = tuple(
        dict.fromkeys((*capabilities.features, FRAMES_FEATURE, *((TOKENS_FEATURE,) if with_tokens else ())))
    )
    told = replace(capabilities, features=features, server=capabilities.server or f"symup {__version__}")

    @router.get("/healthz", responses=gives(HEALTH))
    async def healthz() -> Response:
        """Says that the server answers."""
        return JSONResponse(HEALTH.write(Health()))

    @router.get("/v1/capabilities", responses=gives(CAPABILITIES), dependencies=[Depends(access.optional)])
    async def get_capabilities() -> Response:
        """Limits and features. Needs no token, but a wrong one is told."""
        return JSONResponse(CAPABILITIES.write(told))

    return router


def _uploading(blobs: Blobs, access: Access, capabilities: Capabilities, room: BodyRoom) -> APIRouter:
    router = APIRouter(responses=_ERRORS)
    may_upload = Depends(access.needs(Scope.UPLOAD))
    # A commit reads a whole artifact back, a batch is parsed whole: a few at once keep the machine busy, more would only take its
    # memory.
    committing, asking = (CapacityLimiter(max(2, os.cpu_count() or 2)) for _ in range(2))

    # FastAPI parses a body that it knows of before it asks who sent it: so these pages read theirs themselves.
    @router.post(f"{_PROJECT}/artifacts:negotiate", responses=gives(ANSWERS), openapi_extra=takes(NEGOTIATION))
    async def negotiate(project: Annotated[str, may_upload], request: Request) -> Response:
        """Tells what the store lacks of the files that a client could send. Changes nothing."""

        def answered(body: bytes) -> Response:
            try:
                questions = questions_in(
                    parsed(body, max_batch=capabilities.max_batch), max_batch=capabilities.max_batch
                )
            except ValueError as error:
                raise MalformedRequest(str(error)) from error
            answers = SymbolStore(blobs, project).negotiate(questions)
            return JSONResponse(ANSWERS.write(Answers(answers=tuple(answers))))

        async with room.body(request, max_size_bytes=capabilities.max_request_size_bytes) as body:
            return await anyio.to_thread.run_sync(answered, body, limiter=asking)

    @router.put(
        f"{_PROJECT}/chunks/{{sha256}}",
        responses=gives(STORED_CHUNK),
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
        },
    )
    async def put_chunk(project: Annotated[str, may_upload], sha256: str, request: Request) -> Response:
        """Stores one chunk. Doing it again changes nothing."""
        if not is_sha256(sha256):
            raise MalformedRequest("a chunk's name is a SHA-256 in lowercase hex")
        async with room.body(request, max_size_bytes=capabilities.max_chunk_size_bytes) as data:
            if not data:
                raise MalformedRequest("a chunk has at least one byte")
            await anyio.to_thread.run_sync(SymbolStore(blobs, project).put_chunk, sha256, data)
            return JSONResponse(STORED_CHUNK.write(StoredChunk(sha256=sha256, size_bytes=len(data))))

    @router.post(f"{_PROJECT}/artifacts:commit", responses=gives(COMMITTED), openapi_extra=takes(COMMIT))
    async def commit(project: Annotated[str, may_upload], request: Request) -> Response:
        """Checks an artifact whole and makes it visible. Doing it again changes nothing."""

        def committed(body: bytes) -> Response:
            try:
                asked = COMMIT.read(parsed(body, max_batch=capabilities.max_batch))
            except ValueError as error:
                raise MalformedRequest(str(error)) from error
            result = SymbolStore(blobs, project).commit(asked.manifest, force=asked.force)
            return JSONResponse(COMMITTED.write(result))

        async with room.body(request, max_size_bytes=capabilities.max_request_size_bytes) as body:
            return await anyio.to_thread.run_sync(committed, body, limiter=committing)

    return router


def _reading(blobs: Blobs, access: Access) -> APIRouter:
    router = APIRouter(responses=_ERRORS)
    may_read = Depends(access.needs(Scope.READ))
    may_describe = Depends(access.needs(Scope.READ, Scope.UPLOAD))

    @router.get(f"{_PROJECT}/symbols/{{symbol_id}}/manifest", responses=gives(MANIFEST))
    def get_manifest(project: Annotated[str, may_describe], symbol_id: str, kind: KindQuery = GSYM_KIND) -> Response:
        """The manifest of the artifact that is stored for an id or an alias."""
        return JSONResponse(MANIFEST.write(_found(SymbolStore(blobs, project), symbol_id, kind)))

    @router.api_route(
        f"{_PROJECT}/symbols/{{symbol_id}}",
        methods=["GET"],
        response_class=Response,
        responses={200: {"content": {MEDIA_TYPE: {}}}, 206: {"content": {MEDIA_TYPE: {}}}, 304: {}, 416: {}},
    )
    @router.head(f"{_PROJECT}/symbols/{{symbol_id}}", include_in_schema=False)
    def get_symbols(
        project: Annotated[str, may_read], symbol_id: str, request: Request, kind: KindQuery = GSYM_KIND
    ) -> Response:
        """The symbol file: ranges, entity tags, and zstd as Content-Encoding where accepted."""
        store = SymbolStore(blobs, project)
        return download(request, store, _found(store, symbol_id, kind))

    @router.get(
        f"{_PROJECT}/chunks/{{sha256}}",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    def get_chunk(project: Annotated[str, may_read], sha256: str) -> Response:
        """One chunk's bytes, as they were sent."""
        if not is_sha256(sha256):
            raise MalformedRequest("a chunk's name is a SHA-256 in lowercase hex")
        data = SymbolStore(blobs, project).chunk(sha256)
        if data is None:
            raise NothingFound("there is no such chunk in this project")
        return Response(data, media_type="application/octet-stream", headers={"ETag": f'"{sha256}"'})

    return router


def _found(store: SymbolStore, symbol_id: str, kind: str) -> Manifest:
    try:
        wanted = SymbolId.parse(symbol_id)
    except ValueError as error:
        raise MalformedRequest(str(error)) from error
    manifest = store.manifest(wanted, kind)
    if manifest is None:
        raise NothingFound(f"there are no symbols for {wanted} in this project")
    return manifest
