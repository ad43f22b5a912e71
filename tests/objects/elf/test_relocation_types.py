"""What relocations do is known by machine and type, and nothing is guessed."""

from __future__ import annotations

import pytest

from uploader.objects.elf.relocation_types import (
    ACTION_BITS,
    MOST_TYPES,
    NOTHING,
    OPERATIONS,
    STORE,
    UNKNOWN,
    WIDTH_BITS,
    operations_of,
)


@pytest.mark.parametrize("machine", OPERATIONS)
def test_every_type_has_an_operation_or_is_unknown(machine: int) -> None:
    operations = operations_of(machine)
    assert len(operations) == MOST_TYPES
    assert operations[0] == NOTHING
    known = {kind: operation for kind, operation in enumerate(operations) if operation != UNKNOWN and kind}
    assert known == OPERATIONS[machine]
    assert all(operation & WIDTH_BITS in (1, 2, 4, 8) for operation in known.values() if operation != NOTHING)


@pytest.mark.parametrize("machine", OPERATIONS)
def test_every_machine_stores_whole_words(machine: int) -> None:
    stored = {operation & WIDTH_BITS for operation in operations_of(machine) if operation & ACTION_BITS == STORE}
    assert 4 in stored
