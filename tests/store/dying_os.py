"""An ``os`` module for a process that is killed at a chosen step of writing: nothing that comes after touches the disk."""

import os
from typing import Any


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the code under test may survive it."""


class DyingOs:
    """Counts the calls that change a file system, and dies before, or in the middle of, call number ``dies_at`` (from 0)."""

    CHANGING = frozenset({"open", "write", "fsync", "replace", "unlink", "utime", "mkdir", "makedirs"})

    def __init__(self, dies_at: int | None = None) -> None:
        self.dies_at = dies_at
        self.steps = 0

    @property
    def dead(self) -> bool:
        return self.dies_at is not None and self.steps > self.dies_at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.CHANGING:
            return real

        def step(*arguments: Any, **keywords: Any) -> Any:
            dying = self.steps == self.dies_at
            if self.dead:
                raise Killed
            self.steps += 1
            if dying:
                if name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise Killed
            if name == "fsync":
                # A kill loses nothing that the kernel has; what must be synced when is checked by the order of the calls.
                return None
            return real(*arguments, **keywords)

        return step
