"""How warnings say that a file was not found which the debug information refers to: stores keep them, and runs read them again."""

from __future__ import annotations

from collections.abc import Iterable

SPLIT_UNITS_LACK = "split units were not found"
SUPPLEMENTARY_LACKS = "the supplementary debug file"


def tell_of_lacking_files(warnings: Iterable[str]) -> bool:
    """Whether one of the warnings says so."""
    return any(SPLIT_UNITS_LACK in warning or warning.startswith(SUPPLEMENTARY_LACKS) for warning in warnings)
