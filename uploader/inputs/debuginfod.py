"""Debug files from debuginfod servers, as elfutils' client gets them: its environment variables, its cache, its web API.

Asked for is ``GET /buildid/<hex>/debuginfo`` and nothing else, so all that a server learns is a build-id. What it answers is
believed only once it proves to be that binary's. See debuginfod(8) "WEBAPI" and debuginfod-client-config(7).
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import IO

from uploader.errors import InputError, NetworkGaveOut, SymupError, UsageError
from uploader.inputs.companions import Rejected, build_id_of, check
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.input import FileInput, Input
from uploader.sources.identify import Identified, identify
from uploader.values import frozen

DEFAULT_TIMEOUT_SECONDS = 90
DEFAULT_RETRIES = 2
DEFAULT_MISS_SECONDS = 600
"""How long elfutils believes that nobody has a file, unless the cache's ``cache_miss_s`` says otherwise."""

MAX_SIZE_BYTES = 16 << 30
"""What is downloaded at most where DEBUGINFOD_MAXSIZE sets no limit: a server must not fill the disk without end."""

MAX_HEADERS_FILE_BYTES = 1 << 16

_URL = re.compile(r"https?://(?:[^/?#@]*@)?[^/?#@]+(?:/[^?#]*)?", re.IGNORECASE)

_Check = Callable[[Input], Identified | Rejected]


@frozen
class DebugInfodSettings:
    """What the environment says. Times in seconds; ``max_seconds`` 0 is no limit."""

    urls: tuple[str, ...] = field(repr=False)
    cache: Path
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    """Within so many seconds at least 100 kB must arrive."""
    max_seconds: float = 0
    max_size_bytes: int = MAX_SIZE_BYTES
    retries: int = DEFAULT_RETRIES
    verbose: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; they may hold secrets."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> DebugInfodSettings:
        """Reads DEBUGINFOD_URLS, _CACHE_PATH, _TIMEOUT, _MAXTIME, _MAXSIZE, _RETRY_LIMIT, _VERBOSE and _HEADERS_FILE.

        Raises `UsageError` without a URL, for one that isn't http or https, and for numbers that are none.
        """
        # elfutils 0.192 knows policies (ima:enforcing) between the URLs; they are about signatures of files, which servers can't fake here.
        urls = [word.rstrip("/") for word in environ.get("DEBUGINFOD_URLS", "").split() if not word.startswith("ima:")]
        if not urls:
            raise UsageError(
                "--debuginfod needs a server, and DEBUGINFOD_URLS names none",
                remedy='For example: export DEBUGINFOD_URLS="https://debuginfod.debian.net"',
            )
        for url in urls:
            if not _URL.fullmatch(url):
                raise UsageError(f"DEBUGINFOD_URLS: {shown(url)!r} is not an http or https URL")
        return cls(
            urls=tuple(dict.fromkeys(urls)),
            cache=_cache_folder(environ),
            timeout_seconds=_number(environ, "DEBUGINFOD_TIMEOUT", DEFAULT_TIMEOUT_SECONDS) or DEFAULT_TIMEOUT_SECONDS,
            max_seconds=_number(environ, "DEBUGINFOD_MAXTIME", 0),
            max_size_bytes=_number(environ, "DEBUGINFOD_MAXSIZE", 0) or MAX_SIZE_BYTES,
            retries=_number(environ, "DEBUGINFOD_RETRY_LIMIT", DEFAULT_RETRIES),
            verbose="DEBUGINFOD_VERBOSE" in environ,
            headers=_headers(environ.get("DEBUGINFOD_HEADERS_FILE", "")),
        )


@frozen
class Fetched:
    """A debug file on disk that has proven to be the binary's; or none, and why."""

    file: Identified | None = None
    reason: str = ""


class DebugInfod:
    """One client for a run. Safe for several threads; two processes may share a cache, with each other and with elfutils."""

    def __init__(
        self,
        settings: DebugInfodSettings,
        *,
        note: Callable[[str], object] = lambda _: None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """``note`` hears of every request where DEBUGINFOD_VERBOSE is set. Contacts nothing yet."""
        self._settings = settings
        self._note = note if settings.verbose else lambda _: None
        self._sleep = sleep

    def cached(self, binary: Identified) -> Identified | None:
        """The binary's debug file, where the cache has it. Asks nobody."""
        return self._cached(build_id_of(binary), _companion_of(binary))

    def may_have(self, binary: Identified) -> bool:
        """Whether asking makes sense: the binary has a build-id, and no server said lately that it has nothing for it."""
        build_id = build_id_of(binary)
        return bool(build_id) and not self._known_missing(self._path(build_id))

    def fetch(self, binary: Identified) -> Fetched:
        """The binary's debug file, from the cache or the first server that has it. Trouble is the reason given, never raised."""
        build_id = build_id_of(binary)
        if not build_id:
            return Fetched(reason="debuginfod knows files by their build-id, and this one has none")
        return self._fetch(build_id, _companion_of(binary))

    def fetch_id(self, build_id: str) -> Fetched:
        """The file of debug information with this very build-id (lowercase hex), as `fetch` gets it: what dwz made, say."""
        return self._fetch(build_id, _of_id(build_id))

    def _fetch(self, build_id: str, check_file: _Check) -> Fetched:
        path = self._path(build_id)
        found = self._cached(build_id, check_file)
        if found is not None:
            return Fetched(file=found)
        if self._known_missing(path):
            return Fetched(reason="debuginfod: no server had it lately")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self._ask_all(build_id, check_file)
        except OSError as error:
            return Fetched(reason=f"debuginfod: {path.parent}: {error.strerror or error}")

    def _cached(self, build_id: str, check_file: _Check) -> Identified | None:
        path = self._path(build_id)
        if not build_id or not _size(path):
            return None
        met = check_file(FileInput(path=str(path)))
        return None if isinstance(met, Rejected) else met

    def _path(self, build_id: str) -> Path:
        return self._settings.cache / build_id / "debuginfo"

    def _known_missing(self, path: Path) -> bool:
        """Whether a lasting 404 is noted: elfutils marks what nobody has by an empty file, and believes that for a while."""
        try:
            status = path.stat()
        except OSError:
            return False
        if status.st_size:
            return False
        try:
            believed_seconds = int((self._settings.cache / "cache_miss_s").read_text()[:20])
        except (OSError, ValueError):
            believed_seconds = DEFAULT_MISS_SECONDS
        return time.time() - status.st_mtime <= believed_seconds

    def _ask_all(self, build_id: str, check_file: _Check) -> Fetched:
        reasons = []
        for url in self._settings.urls:
            met = self._ask(url, build_id, check_file)
            if isinstance(met, Identified):
                return Fetched(file=met)
            if met:
                reasons.append(f"{shown(url)}: {met}")
        if reasons:
            return Fetched(reason=f"debuginfod: {'; '.join(reasons)}")
        _mark_missing(self._path(build_id))
        return Fetched(reason=f"debuginfod: {', '.join(map(shown, self._settings.urls))} have no debug file for it")

    def _ask(self, url: str, build_id: str, check_file: _Check) -> Identified | str:
        """The file; or why not, empty where the server knows of none."""
        path = self._path(build_id)
        descriptor, temporary = tempfile.mkstemp(prefix="debuginfo.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w+b") as target:
                reason = self._download(f"{url}/buildid/{build_id}/debuginfo", target)
            if reason is not None:
                return reason
            met = check_file(FileInput(path=temporary))
            if isinstance(met, Rejected):
                return f"its answer was not taken: {met.reason}"
            os.chmod(temporary, 0o400)
            os.replace(temporary, path)
            found = self._cached(build_id, check_file)
            return found if found is not None else f"{path} was changed at once"
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _download(self, url: str, target: IO[bytes]) -> str | None:
        """Fills the file, trying again where that may help. None where it worked, empty where there is nothing, else why it didn't."""
        from uploader.net.download import download
        from uploader.net.patience import TRY_AGAIN

        settings = self._settings
        headers = dict(settings.headers)
        if settings.max_size_bytes != MAX_SIZE_BYTES:
            headers["X-DEBUGINFOD-MAXSIZE"] = str(settings.max_size_bytes)
        deadline = time.monotonic() + settings.max_seconds if settings.max_seconds else None
        reason = ""
        for attempt in range(settings.retries + 1):
            if attempt:
                pause = min(0.25 * 2**attempt, 8.0)
                if deadline is not None and time.monotonic() + pause >= deadline:
                    break
                self._sleep(pause)
            try:
                status = download(
                    url,
                    target,
                    headers=headers,
                    stall_seconds=settings.timeout_seconds,
                    deadline=deadline,
                    max_size_bytes=settings.max_size_bytes,
                )
            except NetworkGaveOut as error:
                reason = error.message
            except SymupError as error:
                return error.message
            else:
                self._note(f"debuginfod: GET {shown(url)}: {status}")
                if status == 200:
                    return None
                if status == 404:
                    return ""
                reason = "its file is over DEBUGINFOD_MAXSIZE" if status == 406 else f"answered {status}"
                if status not in TRY_AGAIN:
                    return reason
            self._note(f"debuginfod: GET {shown(url)}: {reason}")
        return reason


def _companion_of(binary: Identified) -> _Check:
    return lambda file: check(binary, file, build_id_only=True)


def _of_id(build_id: str) -> _Check:
    def check_file(candidate: Input) -> Identified | Rejected:
        try:
            with ElfFile.of(candidate, mapped=False) as elf:
                file = identify(elf)
        except InputError as error:
            return Rejected(path=candidate.path, reason=error.reason)
        has = build_id_of(file)
        return (
            file if has == build_id else Rejected(path=candidate.path, reason=f"its build-id is {has or 'not there'}")
        )

    return check_file


def shown(url: str) -> str:
    """The URL for people: without the name and password that it may carry."""
    return re.sub(r"//[^/?#]*@", "//", re.split(r"[?#]", url, maxsplit=1)[0])


def _mark_missing(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        pass


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _cache_folder(environ: Mapping[str, str]) -> Path:
    if environ.get("DEBUGINFOD_CACHE_PATH"):
        return Path(environ["DEBUGINFOD_CACHE_PATH"])
    home = Path(environ.get("HOME") or Path.home())
    old = home / ".debuginfod_client_cache"
    if old.is_dir():
        return old
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "debuginfod_client"


def _number(environ: Mapping[str, str], variable: str, default: int) -> int:
    text = environ.get(variable, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UsageError(f"{variable} must be a whole number, not {text[:40]!r}")
    return int(text)


def _headers(path: str) -> dict[str, str]:
    """One ``Name: value`` a line; what isn't is passed over, as elfutils does. Raises `UsageError` where the file can't be read."""
    if not path:
        return {}
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_HEADERS_FILE_BYTES).decode("latin-1")
    except OSError as error:
        raise UsageError(f"DEBUGINFOD_HEADERS_FILE {path} can't be read: {error.strerror or error}") from error
    headers = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name and name.isascii() and name.replace("-", "").replace("_", "").isalnum() and value.strip():
            headers[name] = value.strip()
    return headers
