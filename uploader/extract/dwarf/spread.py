"""Gives inlined subroutines that state no code the code of those inlined into them: GCC leaves out what strict DWARF 2 can't say."""

from __future__ import annotations

from array import array

import cython

MAX_RANGES = 256
"""What one such inline may be made of; more of it is not worth its cost."""


def spread(
    function: memoryview, depth: memoryview, first: array[int], start: array[int], end: array[int]
) -> tuple[array[int], array[int], array[int]]:
    """The range columns of nodes (first, start, end) with those of nodes that have none filled in from their children.

    Nodes are in preorder, those of one function together. The columns are given back as they are where nothing is to be filled.
    """
    wanted = _wanted(function, depth, first)
    if not wanted:
        return first, start, end
    filled: dict[int, list[tuple[int, int]]] = {}
    done = len(depth)
    for node in reversed(wanted):
        if node < done:
            done = _fill(node, function, depth, first, start, end, filled)
    new_first, new_start, new_end = array("I", [0]), array("Q"), array("Q")
    copied = 0
    for node in sorted(filled):
        for each in range(copied, node):
            new_first.append(len(new_start) + first[each + 1] - first[copied])
        new_start.extend(start[first[copied] : first[node]])
        new_end.extend(end[first[copied] : first[node]])
        new_start.extend(low for low, _ in filled[node])
        new_end.extend(high for _, high in filled[node])
        new_first.append(len(new_start))
        copied = node + 1
    for each in range(copied, len(depth)):
        new_first.append(len(new_start) + first[each + 1] - first[copied])
    new_start.extend(start[first[copied] :])
    new_end.extend(end[first[copied] :])
    return new_first, new_start, new_end


def _wanted(function: memoryview, depth: memoryview, first: array[int]) -> list[int]:
    """The nodes without ranges that have children."""
    n: cython.Py_ssize_t = len(depth)
    if n < 2:
        return []
    of: cython.uint[::1] = function
    level: cython.uint[::1] = depth
    at: cython.uint[::1] = first
    candidate = array("B", bytes(n))
    mark: cython.uchar[::1] = candidate
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n - 1):
            if at[i] == at[i + 1] and level[i + 1] > level[i] and of[i + 1] == of[i]:
                mark[i] = 1
    return [node for node, marked in enumerate(candidate) if marked] if 1 in candidate else []


def _fill(
    last: int,
    function: memoryview,
    depth: memoryview,
    first: array[int],
    start: array[int],
    end: array[int],
    filled: dict[int, list[tuple[int, int]]],
) -> int:
    """Fills the nodes of the function that ``last`` belongs to, from its end to its start; gives its first node."""
    stop = last
    while stop < len(function) and function[stop] == function[last]:
        stop += 1
    below: dict[int, list[tuple[int, int]]] = {}
    node = stop
    while node > 0 and function[node - 1] == function[last]:
        node -= 1
        inside = below.pop(depth[node] + 1, [])
        own = [(start[at], end[at]) for at in range(first[node], first[node + 1])]
        if not own and 0 < len(inside) <= MAX_RANGES:
            own = filled[node] = _joined(inside)
        beside = below.setdefault(depth[node], [])
        if len(beside) <= MAX_RANGES:
            beside.extend(own)
    return node


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges ascending, those that touch or overlap as one."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return result
