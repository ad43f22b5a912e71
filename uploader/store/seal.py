"""The bytes that a store keeps of a manifest, with a digest of them: what a disk or a hand changed in it is told from what was stored."""

from __future__ import annotations

import hashlib

from uploader.protocol.wire import json_text
from uploader.protocol.wire.artifacts import MANIFEST, manifest_value, stored_manifest
from uploader.protocol.wire.json_text import MalformedMessage
from uploader.protocol.words import Manifest

_SEAL = "seal"


def sealed(manifest: Manifest) -> bytes:
    """The bytes to keep."""
    members = MANIFEST.write(manifest)
    return json_text.dumps({**members, _SEAL: _digest(members)})


def opened(data: bytes) -> Manifest:
    """The manifest in what was kept; one without a seal, from a store of an earlier symup, is believed.

    Raises `ValueError` for what is none, and for one that isn't what was sealed.
    """
    value = manifest_value(data)
    if isinstance(value, dict) and _SEAL in value and value.pop(_SEAL) != _digest(value):
        raise MalformedMessage("the manifest is not the one that was stored")
    return stored_manifest(value)


def _digest(members: object) -> str:
    return hashlib.sha256(json_text.dumps(members)).hexdigest()
