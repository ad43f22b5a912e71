"""JSON as peers write it: one spelling of a value, no text that UTF-8 can't spell, nothing parsed that nests without end."""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]

SURROGATE = re.compile("[\ud800-\udfff]")
"""The characters of a Python text that stand for bytes which are no UTF-8, or for halves of a character."""
SHA256_HEX = re.compile(r"[0-9a-f]{64}")


class MalformedMessage(ValueError):
    """JSON that is not what the protocol says; the text names the member."""


class NotUnicode(MalformedMessage):
    """A text that no UTF-8 can spell."""


def dumps(value: object) -> bytes:
    r"""Compact JSON with sorted keys: the same value gives the same bytes. Escapes tell what UTF-8 can't spell, `bad\xff`."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return SURROGATE.sub(lambda found: "\\" + _escape(found), text).encode("utf-8")


def loads(data: bytes) -> object:
    """Any JSON value; `ValueError` for bytes that are no JSON, or nest too deep."""
    try:
        return json.loads(data)
    except RecursionError:
        raise MalformedMessage("JSON nested too deep") from None


def values_in(data: bytes) -> int:
    """How many values JSON may hold at most, but for the outermost: told without parsing it."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def unicode_text(text: str) -> str:
    r"""The text with escapes for what UTF-8 can't spell: a file name's stray byte is `\xff`."""
    return SURROGATE.sub(_escape, text)


def all_unicode(value: object) -> object:
    """A JSON value with `unicode_text` for all its texts."""
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, list):
        return [all_unicode(one) for one in value]
    if isinstance(value, dict):
        return {unicode_text(name): all_unicode(one) for name, one in value.items()}
    return value


def is_sha256(text: str) -> bool:
    """Whether ``text`` is a SHA-256 digest in lowercase hex."""
    return SHA256_HEX.fullmatch(text) is not None


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
