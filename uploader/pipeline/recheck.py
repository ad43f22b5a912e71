"""Reads what a destination holds of an artifact, all of it, believing nothing."""

from __future__ import annotations

from uploader.errors import ArtifactMismatch, MalformedGsym, NothingFound, StoreDamaged
from uploader.model import IdScheme, SymbolId
from uploader.net.spool import spooled
from uploader.protocol.words import Destination


def damage(destination: Destination, symbol_id: SymbolId) -> str | None:
    """What is wrong with the stored bytes: a chunk that is lost or has other bytes, no sound GSYM, another binary's; None if nothing is.

    Raises what says nothing of the artifact: no login, no network, no room for it here.
    """
    from uploader.gsym.decode import decode

    try:
        header, table = decode(spooled(destination.fetch(symbol_id)))
    except (StoreDamaged, ArtifactMismatch, NothingFound) as error:
        return error.message
    except MalformedGsym as error:
        return f"not a sound GSYM file: {error.message}"
    manifest = destination.manifest(symbol_id)
    if manifest is None:
        return "it was taken away meanwhile"
    primary = manifest.identity.primary
    if primary.scheme is IdScheme.GNU and bytes(header.uuid).hex() != primary.value:
        return f"the file's UUID {bytes(header.uuid).hex()} is not the build-id {primary.value}"
    return None if len(table) else "it holds no function"
