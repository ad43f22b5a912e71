"""What llvm-gsymutil answers from a GSYM file, in the form that our own answers are compared in."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from uploader.gsym.lookup import Gsym

Chain = list[tuple[str, int, str, int]]


Gsymutil = Callable[..., str]


def llvm_chains(gsymutil: Gsymutil, path: Path, addresses: list[int]) -> dict[int, Chain]:
    """What llvm-gsymutil prints for each address, as (name, offset, path, line); an address that it doesn't know has none."""
    frame = re.compile(r"(?:0x([0-9a-f]{16}): )?\s*(.*?)(?: \+ (\d+))?(?: @ (.*?):(\d+))?(?: \[inlined\])?$")
    chains: dict[int, Chain] = {}
    for begin in range(0, len(addresses), 500):
        address = -1
        for line in gsymutil(*(f"--address={a:#x}" for a in addresses[begin : begin + 500]), path).splitlines():
            if not line or line.startswith("Looking up"):
                continue
            matched = frame.match(line)
            assert matched, line
            if matched[1]:
                address = int(matched[1], 16)
                chains[address] = []
            if "error: " in line:
                assert "is not in GSYM" in line or "failed to extract" in line, line
                continue
            chains[address].append((matched[2], int(matched[3] or 0), matched[4] or "", int(matched[5] or 0)))
    return chains


def our_chain(gsym: Gsym, address: int) -> Chain:
    """Of a place without a file LLVM tells nothing."""
    return [
        (
            frame.name.decode(),
            frame.offset_bytes,
            (frame.directory + b"/" + frame.base).decode() if frame.base else "",
            frame.line if frame.base else 0,
        )
        for frame in gsym.lookup(address)
    ]
