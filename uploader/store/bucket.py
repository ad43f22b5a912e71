"""Blobs in object storage: S3 and all that speaks it, Google Cloud Storage, Azure.

A write is one request, and atomic; that it depends on what lies there (RFC 9110 §13.1: ``If-None-Match``, ``If-Match``) is for the store to
keep. Some say nothing and ignore it: so it is tried out before the first such write, and a store that ignores it is told as `unguarded`.
Two that replace one artifact there at once leave one of the two, whole; nothing is collected there.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from uploader.errors import NetworkGaveOut, NotAllowed, Refused, UsageError
from uploader.store.blobs import Blob, BlobInfo

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 48
"""Requests, and tasks of several requests, that are under way side by side."""

_TRIAL = "symup-trial-"
_TIMEOUT = timedelta(seconds=60)
_RETRY_TIMEOUT = timedelta(seconds=150)
"""For one request with all its attempts: far less than a sentence lasts (`uploader.store.condemned.Terms`)."""
MAX_RETRIES = 8

_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's role",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or the machine's account",
    "az": "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY, or the machine's identity",
}
_PLACE = {
    "s3": "AWS_REGION, and AWS_ENDPOINT_URL where it isn't AWS",
    "gs": "the bucket's name",
    "az": "AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ENDPOINT where it isn't Azure",
}
_METADATA_SERVICE = "169.254.169.254"
"""Where a cloud's machines ask for their own credentials: the last resort."""


class BucketBlobs:
    """`uploader.store.blobs.Blobs` over a bucket, or what lies below a prefix in it."""

    def __init__(self, store: ObjectStore, *, scheme: str = "s3") -> None:
        """Contacts nothing yet."""
        self._store = store
        self._scheme = scheme
        self._guarded: bool | None = None
        self._trial = threading.Lock()
        self._requests = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="symup-request")
        self._tasks = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="symup-task")

    def check(self) -> None:
        """Sees that the bucket is there and can be listed. Raises `Refused`, `NotAllowed`, `NetworkGaveOut`."""
        next(self.list(_TRIAL), None)

    def get(self, key: str) -> Blob | None:
        """See `Blobs.get`."""
        import obstore

        try:
            with self._translated(key):
                found = obstore.get(self._store, key)
                return Blob(data=bytes(found.bytes()), tag=found.meta["e_tag"] or "")
        except FileNotFoundError:
            return None

    def size_bytes(self, key: str) -> int | None:
        """See `Blobs.size_bytes`."""
        import obstore

        try:
            with self._translated(key):
                return obstore.head(self._store, key)["size"]
        except FileNotFoundError:
            return None

    def sizes_bytes(self, keys: Sequence[str]) -> list[int | None]:
        """See `Blobs.sizes_bytes`."""
        if len(keys) < 2:
            return [self.size_bytes(key) for key in keys]
        return list(self._requests.map(self.size_bytes, keys))

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See `Blobs.map`. A few more than can be under way are taken from ``items`` ahead."""
        ahead: deque[Future[R]] = deque()
        try:
            for item in items:
                ahead.append(self._tasks.submit(task, item))
                if len(ahead) >= 2 * AT_ONCE:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """See `Blobs.put_if_absent`."""
        if not self.guarded and self.size_bytes(key) is not None:
            return False
        return self._put(key, data, mode="create")

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        """See `Blobs.swap`."""
        if not self.guarded:
            current = self.get(key)
            if (None if current is None else current.tag) != tag:
                return False
            self.replace(key, data)
            return True
        if self._put(key, data, mode="create" if tag is None else {"e_tag": tag}):
            return True
        # An attempt whose answer was lost is tried again, and then finds its own work there.
        current = self.get(key)
        return current is not None and current.data == data

    def replace(self, key: str, data: bytes) -> None:
        """See `Blobs.replace`."""
        self._put(key, data, mode="overwrite")

    def delete(self, keys: Sequence[str]) -> None:
        """See `Blobs.delete`."""
        import obstore

        if not keys:
            return
        try:
            with self._translated(keys[0]):
                obstore.delete(self._store, list(keys))
        except FileNotFoundError:
            # Some stores end at the first that isn't there.
            for key in keys if len(keys) > 1 else ():
                self.delete([key])

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """See `Blobs.list`."""
        import obstore

        listing = iter(obstore.list(self._store, prefix.removesuffix("/")))
        while True:
            try:
                with self._translated(prefix):
                    batch = next(listing, ())
            except FileNotFoundError as error:
                raise self._no_bucket() from error
            if not batch:
                return
            for one in batch:
                yield BlobInfo(key=one["path"], size_bytes=one["size"], modified_at=one["last_modified"].timestamp())

    def sweep(self, *, unmodified_since: float) -> int:  # noqa: ARG002  # the port's signature
        """See `Blobs.sweep`. A write that was cut short leaves nothing: it is one request."""
        return 0

    def now(self) -> float:
        """See `Blobs.now`: the time of a write that is made for that."""
        import obstore

        key = _TRIAL + secrets.token_hex(8)
        self.replace(key, b"")
        try:
            with self._translated(key):
                return obstore.head(self._store, key)["last_modified"].timestamp()
        finally:
            self.delete([key])

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        """See `Blobs.scratch`: it lies on this machine."""
        return tempfile.TemporaryFile()

    @property
    def guarded(self) -> bool:
        """Whether writes can be made to depend on what lies there; tried out once."""
        with self._trial:
            if self._guarded is None:
                self._guarded = self._tried_out()
            return self._guarded

    def _tried_out(self) -> bool:
        key = _TRIAL + secrets.token_hex(8)
        self._put(key, b"one", mode="create")
        try:
            return not (
                self._put(key, b"two", mode="create")
                or self._put(key, b"two", mode={"e_tag": '"00000000000000000000000000000000"'})
            )
        finally:
            self.delete([key])

    def _put(self, key: str, data: bytes, *, mode: Any) -> bool:
        """Writes; false where what lies there isn't what it was to depend on."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            with self._translated(key):
                obstore.put(self._store, key, data, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except FileNotFoundError as error:
            if mode in ("create", "overwrite"):
                raise self._no_bucket() from error
            return False
        return True

    def _no_bucket(self) -> Refused:
        return Refused("there is no such bucket", remedy=f"Look at its name: {_PLACE[self._scheme]}.")

    def _translated(self, key: str) -> _Translated:
        return _Translated(self._scheme, key)


class _Translated:
    """Turns the errors of the library, but for those that are answers, into ours."""

    def __init__(self, scheme: str, key: str) -> None:
        self._scheme = scheme
        self._key = key

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from obstore import exceptions

        if isinstance(error, (exceptions.AlreadyExistsError, exceptions.PreconditionError, FileNotFoundError)):
            return
        reason = "" if error is None else _reason(error)
        credentials = f"Look at the bucket's policy and at the credentials: {_CREDENTIALS[self._scheme]}."
        if isinstance(error, (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)):
            raise NotAllowed(f"object storage does not let this account at {self._key}: {reason}", remedy=credentials)
        if not isinstance(error, exceptions.BaseError):
            return
        if _METADATA_SERVICE in reason:
            raise NotAllowed("no credentials for object storage were found", remedy=credentials) from error
        if _LOST in reason:
            raise NetworkGaveOut(f"object storage can't be reached: {reason}") from error
        raise Refused(
            f"object storage can't be used: {reason}", remedy=f"Look at the bucket: {_PLACE[self._scheme]}."
        ) from error


_LOST = "error sending request"


def _reason(error: BaseException) -> str:
    """The library's message on one line, without what it says for its own developers."""
    return " ".join(str(error).partition("\n\nDebug source:")[0].split())[:400]


def open_bucket(dest: str, *, env: Mapping[str, str], allow_http: bool = False) -> BucketBlobs:
    """The bucket of a URL: ``s3://bucket/prefix``, ``gs://bucket/prefix``, ``az://container/prefix``. Contacts nothing yet.

    Credentials are those that the providers' own tools find in ``env`` and on the machine. Raises `UsageError`.
    """
    scheme, _, rest = dest.partition("://")
    bucket, _, prefix = rest.partition("/")
    if not bucket:
        raise UsageError(f"{dest} names no bucket", remedy=f"It looks like {scheme}://bucket/prefix.")
    try:
        import obstore.store as stores
        from obstore.exceptions import BaseError
    except ImportError as error:
        raise UsageError(
            f"{scheme}:// needs a part of symup that isn't installed", remedy="Install it: pip install 'symup[cloud]'."
        ) from error
    common: dict[str, Any] = {
        "prefix": prefix.strip("/") or None,
        "client_options": {"timeout": _TIMEOUT, "allow_http": allow_http},
        "retry_config": {"max_retries": MAX_RETRIES, "retry_timeout": _RETRY_TIMEOUT},
    }
    try:
        if scheme == "s3":
            return BucketBlobs(stores.S3Store(bucket, **common, **_profile(env)), scheme=scheme)
        if scheme == "gs":
            return BucketBlobs(stores.GCSStore(bucket, **common), scheme=scheme)
        return BucketBlobs(stores.AzureStore(bucket, **common), scheme=scheme)
    except BaseError as error:
        raise UsageError(
            f"{scheme}://{bucket} can't be used: {_reason(error)}", remedy=f"It takes {_CREDENTIALS[scheme]}."
        ) from error


def _profile(env: Mapping[str, str]) -> dict[str, Any]:
    """The credentials of a profile in AWS's own files, through AWS's own library."""
    if env.get("AWS_ACCESS_KEY_ID") or not (env.get("AWS_PROFILE") or Path("~/.aws/credentials").expanduser().exists()):
        return {}
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise UsageError(
            "AWS_PROFILE needs AWS's own library, which isn't installed", remedy="Install it: pip install boto3."
        ) from error
    return {"credential_provider": Boto3CredentialProvider()}
