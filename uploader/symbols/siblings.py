"""Makes inlined siblings disjoint: of two that overlap, the later one speaks, as in LLVM's symbolizer."""

from __future__ import annotations

from collections.abc import Sequence

Range = tuple[int, int]


def part_siblings(nodes: Sequence[tuple[int, list[Range]]]) -> list[list[Range]] | None:
    """New ranges for (depth, ascending ranges) nodes in preorder, each inside its parent's; None where none overlap.

    A node that comes out empty is to be left out, and so are all below it, which come out empty too.
    """
    if not _overlap(nodes):
        return None
    parted: list[list[Range]] = [[] for _ in nodes]
    claimed: dict[int, list[Range]] = {}
    for index in range(len(nodes) - 1, -1, -1):
        depth, ranges = nodes[index]
        for deeper in [level for level in claimed if level > depth]:
            del claimed[deeper]
        taken = claimed.get(depth, [])
        parted[index] = _without(ranges, taken)
        claimed[depth] = _union(taken, ranges)
    stack: list[list[Range]] = []
    for index, (depth, _) in enumerate(nodes):
        del stack[depth - 1 :]
        if stack:
            parted[index] = _common(parted[index], stack[-1])
        stack.append(parted[index])
    return parted


def _overlap(nodes: Sequence[tuple[int, list[Range]]]) -> bool:
    by_depth: dict[int, list[Range]] = {}
    for depth, ranges in nodes:
        by_depth.setdefault(depth, []).extend(ranges)
    for level in by_depth.values():
        level.sort()
        for index in range(1, len(level)):
            if level[index][0] < level[index - 1][1]:
                return True
    return False


def _union(one: list[Range], other: list[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, end in sorted(one + other):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _without(ranges: list[Range], taken: list[Range]) -> list[Range]:
    left: list[Range] = []
    for start, end in ranges:
        at = start
        for low, high in taken:
            if high <= at:
                continue
            if low >= end:
                break
            if at < low:
                left.append((at, low))
            at = max(at, high)
        if at < end:
            left.append((at, end))
    return left


def _common(ranges: list[Range], within: list[Range]) -> list[Range]:
    return [
        (max(start, low), min(end, high))
        for start, end in ranges
        for low, high in within
        if max(start, low) < min(end, high)
    ]
