"""All that symup says: text for people on stderr, results on stdout, and the progress of a run as each setting shows it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from uploader import __version__
from uploader.cli import colour
from uploader.core import which
from uploader.errors import SymupError
from uploader.model import Outcome
from uploader.progress import Progress, Silent
from uploader.words import count, printable, size

if TYPE_CHECKING:
    from tqdm import tqdm

LINE_EVERY_SECONDS = 15.0
"""How often a run without a terminal tells how far it is."""

WAIT_EVERY_SECONDS = 5.0
"""How often it is told that a server is being waited for."""

_DOING = {
    "extract": "extracting",
    "send": "sending",
    "identify": "looking",
    "ask": "asking",
    "push": "pushing",
    "verify": "verifying",
}


_lost: list[OSError] = []
"""The reason why stdout did not take the whole result."""


def say(line: str) -> None:
    """One line for a person, on stderr."""
    write(sys.stderr, line + "\n")


def result(line: str, *, at_once: bool = False) -> bool:
    """One line of what was asked for, on stdout. False where nobody reads any more (``| head``), which is no error."""
    return write(sys.stdout, line + "\n", at_once=at_once)


def announce(url: str) -> None:
    """Writes a server's URL as a line of its own to stdout, at once, for programs that wait for it."""
    result(url, at_once=True)


def document(value: Mapping[str, Any]) -> None:
    """The one JSON document of a run, on stdout. Names that aren't UTF-8 are escaped, so that it always is."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=True)
    # A CI runner takes ##[…] for a command wherever it stands in a line; only texts can hold it.
    write(sys.stdout, text.replace("##[", "#\\u0023[") + "\n")


def raw(data: bytes) -> None:
    """Bytes that were asked for, on stdout."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _note_lost(sys.stdout, error)


def write(stream: TextIO, text: str, *, at_once: bool = False) -> bool:
    """Writes what the stream's encoding can't hold as escapes. False where it can't take more: the run goes on without it.

    A reader that went away is no trouble; what else stdout does not take, `undelivered` tells at the end.
    """
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        if at_once:
            stream.flush()
    except OSError as error:
        _note_lost(stream, error)
        return False
    return True


def undelivered() -> OSError | None:
    """Writes out what is still held back, and gives why stdout did not take all that was meant for it; None where it did."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            _note_lost(stream, error)
    return _lost[0] if _lost else None


def _note_lost(stream: TextIO, error: OSError) -> None:
    if stream is sys.stdout and not isinstance(error, BrokenPipeError):
        _lost.append(error)


def error(problem: SymupError) -> None:
    """Tells of an error, and of its remedy."""
    say(f"{colour.painted('symup: error:', colour.RED, sys.stderr)} {printable(problem.message)}")
    if problem.remedy:
        say(f"  {colour.painted('try:', colour.CYAN, sys.stderr)} {printable(problem.remedy)}")


def lines(text: Iterable[str]) -> None:
    """Several lines for a person."""
    for line in text:
        say(line)


def tell_version() -> None:
    """The version, and which core runs, as a result."""
    result(f"symup {__version__} (core: {which.description()})")


def tell_core() -> None:
    """Says once a run that the core is not compiled, and what to do; says nothing where it is."""
    if not which.compiled():
        say("symup: the core runs as plain Python, up to 40 times slower than compiled")
        say(f"  try: {which.REMEDY}")


def progress(*, quiet: bool) -> Progress:
    """Bars on a terminal; a line now and then where there is none, or in CI; nothing when quiet."""
    if quiet:
        return Silent()
    if sys.stderr.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb":
        return Bars()
    return Lines()


def close(observer: Progress) -> None:
    """Leaves the terminal as it was."""
    if isinstance(observer, Bars):
        observer.close()


class Bars:
    """Progress bars that vanish when the run ends. Implements `uploader.progress.Progress`."""

    def __init__(self) -> None:
        self._bars: dict[str, tqdm[Any]] = {}
        self._waiting: tqdm[Any] | None = None
        self._lock = threading.Lock()

    def stage(self, name: str, total: int | None = None) -> None:
        """A bar for the stage; those that come before extracting give way to it."""
        from tqdm import tqdm

        # A thread of its own, for bars that nobody moves: with it, worker processes could not be forked.
        tqdm.monitor_interval = 0
        with self._lock:
            if name in ("ask", "extract", "push", "verify"):
                self._close()
            self._bars[name] = tqdm(
                total=total,
                desc=f"{_DOING.get(name, name):10}",
                unit="B" if name == "send" else " files",
                unit_scale=name == "send",
                leave=False,
                dynamic_ncols=True,
                file=sys.stderr,
                position=len(self._bars),
                bar_format=None if total else "{desc} files: {n_fmt} {elapsed}",
            )

    def advance(self, name: str, amount: int = 1) -> None:
        """Moves the stage's bar."""
        with self._lock:
            bar = self._bars.get(name)
            if bar is not None:
                bar.update(amount)

    def finished(self, outcome: Outcome) -> None:
        """Nothing: the report tells it."""

    def note(self, message: str) -> None:
        """A line above the bars."""
        from tqdm import tqdm

        with self._lock:
            tqdm.write(message, file=sys.stderr)

    def waiting(self, message: str) -> None:
        """A line below the bars, as long as it lasts."""
        from tqdm import tqdm

        with self._lock:
            if message and self._waiting is None:
                self._waiting = tqdm(
                    bar_format="{desc}", leave=False, dynamic_ncols=True, file=sys.stderr, position=len(self._bars)
                )
            if message and self._waiting is not None:
                self._waiting.set_description_str(printable(message))
            elif self._waiting is not None:
                self._waiting.close()
                self._waiting = None

    def close(self) -> None:
        """Takes the bars away."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None
        for bar in reversed(list(self._bars.values())):
            bar.close()
        self._bars.clear()


class Waits:
    """Tells what is waited for: at once, and then now and then for as long as it lasts."""

    def __init__(self, *, every_seconds: float = WAIT_EVERY_SECONDS) -> None:
        self._every_seconds = every_seconds
        self._next = 0.0
        self._lock = threading.Lock()

    def __call__(self, message: str) -> None:
        """One line, or none where one was told just now; an empty message says that it is over."""
        with self._lock:
            now = time.monotonic()
            if not message or now < self._next:
                return
            self._next = now + self._every_seconds
        say(f"symup: {printable(message)}")


class Lines:
    """Plain lines, few of them: what CI logs are made for. Implements `uploader.progress.Progress`."""

    def __init__(self, *, every_seconds: float = LINE_EVERY_SECONDS) -> None:
        self.waiting = Waits()
        self._every_seconds = every_seconds
        self._next = time.monotonic() + every_seconds
        self._done: dict[str, int] = {}
        self._total: dict[str, int | None] = {}
        self._lock = threading.Lock()

    def stage(self, name: str, total: int | None = None) -> None:
        """Remembers the total."""
        with self._lock:
            self._done[name], self._total[name] = 0, total

    def advance(self, name: str, amount: int = 1) -> None:
        """Tells how far it is, when it is time again."""
        with self._lock:
            self._done[name] = self._done.get(name, 0) + amount
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + self._every_seconds
            told = self._told()
        say(f"symup: {told}")

    def finished(self, outcome: Outcome) -> None:
        """Nothing: the report tells it."""

    def note(self, message: str) -> None:
        """One line."""
        say(f"symup: {message}")

    def _told(self) -> str:
        working = next((name for name in ("extract", "push", "verify") if name in self._done), None)
        if working is None:
            return f"looked at {count(self._done.get('identify', 0), 'file')} so far"
        total = self._total.get(working)
        done = {"verify": "verified"}.get(working, f"{working}ed")
        told = f"{done} {self._done[working]:,} of {count(total, 'file')}" if total else _DOING[working]
        sent = self._done.get("send", 0)
        return f"{told}, {size(sent)} sent" if sent else told
