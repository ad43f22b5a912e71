"""The protocol's values as JSON: one spelling for stored manifests, the HTTP client and the server.

Reading is strict about what is there (types, id and digest forms, sizes that can't be negative) and lenient about what is not known:
unknown members are ignored, so that a newer peer can say more. Every fault raises `ValueError` with the member's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from uploader.model import Figures, Identity, Provenance, Quality, Shortfall, Source, SymbolId
from uploader.protocol.words import (
    GSYM_KIND,
    MAX_CHUNK_SIZE_BYTES,
    Answer,
    Capabilities,
    Committed,
    Holding,
    Manifest,
    Question,
    max_chunks,
)

SHA256_HEX = re.compile(r"[0-9a-f]{64}")
KIND = re.compile(r"[a-z][a-z0-9-]{0,31}")

Json = dict[str, Any]

_MAX_INTEGER = (1 << 63) - 1
_MAX_TEXT_CHARACTERS = 4096
_MAX_ALIASES = 8
_MAX_ENTRIES = 64
# The largest symbol file has 4 GiB, and compressing never makes a hundredth more of it.
_MAX_DIGESTS = max_chunks(4 * 1024**3 * 101 // 100)
MAX_WARNINGS = 12
"""How many warnings of an artifact are kept and told again."""
MAX_WARNING_CHARACTERS = 300
"""How long one of them may be: an answer of 500 artifacts is to stay a small document."""
MAX_EVIDENCE = 64
MAX_DESCRIPTION_SIZE_BYTES = 64 * 1024
"""What a manifest may hold besides its chunks."""
_CHUNK_BYTES_PER_VALUE = 16
"""A chunk of a manifest is an object of two members, of 64 digits and more."""
_MAX_SOURCE_CHARACTERS = 64
_MAX_EXTRA_CHARACTERS = 128
_SURROGATE = re.compile("[\ud800-\udfff]")


class MalformedMessage(ValueError):
    """JSON that is not what the protocol says; the text names the member."""


class _NotUnicode(MalformedMessage):
    """A text that no UTF-8 can spell."""


def dumps(value: object) -> bytes:
    r"""Compact JSON with sorted keys: the same value gives the same bytes. What UTF-8 can't spell is told by escapes, `bad\xff`."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _SURROGATE.sub(lambda found: "\\" + _escape(found), text).encode("utf-8")


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
    return _SURROGATE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def is_sha256(text: str) -> bool:
    """Whether ``text`` is a SHA-256 digest in lowercase hex."""
    return SHA256_HEX.fullmatch(text) is not None


def identity_to_json(identity: Identity) -> Json:
    """``{"primary": "…", "aliases": ["…"]}`` with ids as `SymbolId.parse` reads them."""
    return {"primary": str(identity.primary), "aliases": [str(alias) for alias in identity.aliases]}


def identity_from_json(value: object) -> Identity:
    """The inverse of `identity_to_json`."""
    members = _object(value, "identity")
    aliases = _texts(members, "aliases", limit=_MAX_ALIASES)
    return Identity(
        primary=SymbolId.parse(_text(members, "primary")), aliases=tuple(SymbolId.parse(alias) for alias in aliases)
    )


def question_to_json(question: Question) -> Json:
    """One line of a negotiation."""
    return {
        "identity": identity_to_json(question.identity),
        "quality": question.quality.label,
        "kind": question.kind,
        "chunks": list(question.chunks),
        "force": question.force,
        "evidence": list(question.evidence),
    }


def question_from_json(value: object) -> Question:
    """The inverse of `question_to_json`."""
    members = _object(value, "question")
    return Question(
        identity=identity_from_json(members.get("identity")),
        quality=_quality(members, "quality"),
        kind=_kind(members),
        chunks=_digests(members, "chunks"),
        force=_flag(members, "force"),
        evidence=_texts(members, "evidence", limit=MAX_EVIDENCE),
    )


def questions_from_json(value: object, limits: Capabilities) -> list[Question]:
    """The questions of one request, at most as many as ``limits`` allow."""
    questions = _array(_object(value, "negotiation"), "questions")
    if len(questions) > limits.max_batch:
        raise MalformedMessage(f"questions: at most {limits.max_batch} at once")
    return [question_from_json(question) for question in questions]


def answer_to_json(answer: Answer) -> Json:
    """The reply to one question."""
    return {
        "identity": identity_to_json(answer.identity),
        "kind": answer.kind,
        "holding": answer.holding.value,
        "reason": answer.reason,
        "stored_quality": None if answer.stored_quality is None else answer.stored_quality.label,
        "stored_figures": None if answer.stored_figures is None else figures_to_json(answer.stored_figures),
        "stored_size_bytes": answer.stored_size_bytes,
        "stored_warnings": list(answer.stored_warnings),
        "stored_shortfall": _shortfall_to_json(answer.stored_shortfall),
        "missing_chunks": list(answer.missing_chunks),
    }


def answer_from_json(value: object) -> Answer:
    """The inverse of `answer_to_json`."""
    members = _object(value, "answer")
    stored = members.get("stored_quality")
    figures = members.get("stored_figures")
    return Answer(
        identity=identity_from_json(members.get("identity")),
        kind=_kind(members),
        holding=Holding(_text(members, "holding")),
        reason=_text(members, "reason"),
        stored_quality=None if stored is None else _quality(members, "stored_quality"),
        stored_figures=None if figures is None else figures_from_json(figures),
        stored_size_bytes=_count(members, "stored_size_bytes"),
        stored_warnings=_warnings(members, "stored_warnings"),
        stored_shortfall=_shortfall(members, "stored_shortfall"),
        missing_chunks=_digests(members, "missing_chunks"),
    )


def figures_to_json(figures: Figures) -> Json:
    """The numbers behind a quality."""
    return {
        "executable_bytes": figures.executable_bytes,
        "function_bytes": figures.function_bytes,
        "line_bytes": figures.line_bytes,
        "inline_bytes": figures.inline_bytes,
        "functions": figures.functions,
        "inlines": figures.inlines,
        "line_rows": figures.line_rows,
        "by_source": {str(source): count for source, count in figures.by_source.items()},
        "dropped_ranges": figures.dropped_ranges,
        "cut_ranges": figures.cut_ranges,
        "widened_ranges": figures.widened_ranges,
    }


def figures_from_json(value: object) -> Figures:
    """The inverse of `figures_to_json`. A peer that doesn't tell ``inline_bytes`` took DWARF of any kind for a source of inlined calls."""
    members = _object(value, "figures")
    by_source = _table(members, "by_source", _MAX_SOURCE_CHARACTERS)
    line_bytes = _count(members, "line_bytes")
    told = members.get("inline_bytes") is not None
    believed = line_bytes if _count(by_source, Source.DWARF) or _count(members, "inlines") else 0
    return Figures(
        executable_bytes=_count(members, "executable_bytes"),
        function_bytes=_count(members, "function_bytes"),
        line_bytes=line_bytes,
        inline_bytes=_count(members, "inline_bytes") if told else believed,
        functions=_count(members, "functions"),
        inlines=_count(members, "inlines"),
        line_rows=_count(members, "line_rows"),
        by_source={source: _count(by_source, source) for source in by_source},
        dropped_ranges=_count(members, "dropped_ranges"),
        cut_ranges=_count(members, "cut_ranges"),
        widened_ranges=_count(members, "widened_ranges"),
    )


def manifest_to_json(manifest: Manifest) -> Json:
    """A manifest as it is stored and sent."""
    chunks = [
        {"sha256": sha256, "size_bytes": size_bytes}
        for sha256, size_bytes in zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True)
    ]
    return {**_description_to_json(manifest), "chunks": chunks}


def _description_to_json(manifest: Manifest) -> Json:
    return {
        "identity": identity_to_json(manifest.identity),
        "kind": manifest.kind,
        "compression": manifest.compression,
        "compressed_size_bytes": manifest.compressed_size_bytes,
        "content_size_bytes": manifest.content_size_bytes,
        "content_sha256": manifest.content_sha256,
        "quality": manifest.quality.label,
        "figures": figures_to_json(manifest.figures),
        "sources": list(manifest.sources),
        "file_name": manifest.file_name,
        "tool": manifest.tool,
        "source_revision": manifest.provenance.revision,
        "repository": manifest.provenance.repository,
        "branch": manifest.provenance.branch,
        "run_url": manifest.provenance.run_url,
        "warnings": list(manifest.warnings),
        "shortfall": _shortfall_to_json(manifest.shortfall),
        "created_at": manifest.created_at,
        "extra": dict(manifest.extra),
    }


def manifest_from_json(value: object) -> Manifest:
    """The inverse of `manifest_to_json`; checks that the chunks are sound and add up to the compressed size."""
    members = _object(value, "manifest")
    compressed_size_bytes = _count(members, "compressed_size_bytes")
    named = _array(members, "chunks")
    if len(named) > max_chunks(compressed_size_bytes):
        raise MalformedMessage(f"chunks: {len(named)} are too many for {compressed_size_bytes} compressed bytes")
    chunks = [_object(chunk, "chunks") for chunk in named]
    digests = tuple(_digest(_text(chunk, "sha256"), "chunks") for chunk in chunks)
    sizes = tuple(_count(chunk, "size_bytes") for chunk in chunks)
    if not digests:
        raise MalformedMessage("chunks: an artifact has at least one")
    if any(not 0 < size <= MAX_CHUNK_SIZE_BYTES for size in sizes):
        raise MalformedMessage(f"chunks: a chunk has 1 to {MAX_CHUNK_SIZE_BYTES} bytes")
    if sum(sizes) != compressed_size_bytes:
        raise MalformedMessage("compressed_size_bytes: is not the sum of the chunks")
    extra = _table(members, "extra", _MAX_EXTRA_CHARACTERS)
    manifest = Manifest(
        identity=identity_from_json(members.get("identity")),
        kind=_kind(members),
        chunks=digests,
        chunk_sizes_bytes=sizes,
        compression=_text(members, "compression"),
        compressed_size_bytes=compressed_size_bytes,
        content_size_bytes=_count(members, "content_size_bytes"),
        content_sha256=_digest(_text(members, "content_sha256"), "content_sha256"),
        quality=_quality(members, "quality"),
        figures=figures_from_json(members.get("figures")),
        sources=_texts(members, "sources", limit=_MAX_ENTRIES),
        file_name=_text(members, "file_name", ""),
        tool=_text(members, "tool", ""),
        provenance=Provenance(
            repository=_text(members, "repository", ""),
            branch=_text(members, "branch", ""),
            revision=_text(members, "source_revision", ""),
            run_url=_text(members, "run_url", ""),
        ),
        warnings=_warnings(members, "warnings"),
        shortfall=_shortfall(members, "shortfall"),
        created_at=_text(members, "created_at", ""),
        extra={name: _text(extra, name) for name in extra},
    )
    if len(dumps(_description_to_json(manifest))) > MAX_DESCRIPTION_SIZE_BYTES:
        raise MalformedMessage(f"manifest: more than {MAX_DESCRIPTION_SIZE_BYTES} bytes besides its chunks")
    return manifest


def manifest_from_bytes(data: bytes) -> Manifest:
    """A manifest as a server gives it. Raises `ValueError`."""
    return manifest_from_json(manifest_value(data))


def manifest_value(data: bytes) -> object:
    """The JSON value in ``data``, which is not parsed where it holds more values than a manifest can: one of two bytes takes a hundred.

    Raises `ValueError`.
    """
    values = values_in(data)
    if values > MAX_DESCRIPTION_SIZE_BYTES + len(data) // _CHUNK_BYTES_PER_VALUE:
        raise MalformedMessage(f"manifest: {values} values are too many for {len(data)} bytes")
    return loads(data)


def stored_manifest(value: object) -> Manifest:
    """The manifest in a `manifest_value` that a store kept, which may have texts that no UTF-8 can spell. Raises `ValueError`."""
    try:
        return manifest_from_json(value)
    except _NotUnicode:
        return manifest_from_json(_all_unicode(value))


def _all_unicode(value: object) -> object:
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, list):
        return [_all_unicode(one) for one in value]
    if isinstance(value, dict):
        return {unicode_text(name): _all_unicode(one) for name, one in value.items()}
    return value


def commit_from_json(value: object) -> tuple[Manifest, bool]:
    """What is to be committed, and whether it is forced."""
    members = _object(value, "commit")
    return manifest_from_json(members.get("manifest")), _flag(members, "force")


def bounded_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """The warnings as a manifest keeps them: the first, each cut to a length, and how many more there were."""
    cut = [
        warning if len(warning) <= MAX_WARNING_CHARACTERS else warning[: MAX_WARNING_CHARACTERS - 1] + "…"
        for warning in warnings
    ]
    if len(cut) <= MAX_WARNINGS:
        return tuple(cut)
    return (*cut[: MAX_WARNINGS - 1], f"and {len(cut) - MAX_WARNINGS + 1} more warnings, told when it was made")


def _warnings(members: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A peer that keeps more of them than this one is no fault of the artifact: what is too much is left out."""
    return bounded_warnings(_texts(members, name, limit=_MAX_ENTRIES))


def _shortfall_to_json(shortfall: Shortfall | None) -> Json | None:
    if shortfall is None:
        return None
    return {
        "promised": shortfall.promised.label,
        "evidence": list(shortfall.evidence),
        "lacks_files": shortfall.lacks_files,
    }


def _shortfall(members: Mapping[str, Any], name: str) -> Shortfall | None:
    value = members.get(name)
    if value is None:
        return None
    told = _object(value, name)
    return Shortfall(
        promised=_quality(told, "promised"),
        evidence=_texts(told, "evidence", limit=MAX_EVIDENCE),
        lacks_files=_flag(told, "lacks_files"),
    )


def committed_to_json(committed: Committed) -> Json:
    """The result of a commit."""
    return {"stored": committed.stored, "reason": committed.reason}


def committed_from_json(value: object) -> Committed:
    """The inverse of `committed_to_json`."""
    members = _object(value, "committed")
    return Committed(stored=_flag(members, "stored"), reason=_text(members, "reason"))


def capabilities_to_json(capabilities: Capabilities) -> Json:
    """Limits and features."""
    return {
        "max_chunk_size_bytes": capabilities.max_chunk_size_bytes,
        "max_batch": capabilities.max_batch,
        "max_request_size_bytes": capabilities.max_request_size_bytes,
        "audiences": list(capabilities.audiences),
        "features": list(capabilities.features),
        "server": capabilities.server,
    }


def capabilities_from_json(value: object) -> Capabilities:
    """The inverse of `capabilities_to_json`; limits that leave no room for work are faults."""
    members = _object(value, "capabilities")
    capabilities = Capabilities(
        max_chunk_size_bytes=_count(members, "max_chunk_size_bytes"),
        max_batch=_count(members, "max_batch"),
        max_request_size_bytes=_count(members, "max_request_size_bytes"),
        audiences=_texts(members, "audiences", limit=_MAX_ENTRIES),
        features=_texts(members, "features", limit=_MAX_ENTRIES),
        server=_text(members, "server", ""),
    )
    if not capabilities.max_chunk_size_bytes or not capabilities.max_batch or not capabilities.max_request_size_bytes:
        raise MalformedMessage("capabilities: a limit of zero")
    return capabilities


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise MalformedMessage(f"{name}: an object is needed")
    return value


def _table(members: Mapping[str, Any], name: str, max_characters: int) -> Mapping[str, Any]:
    """An object with names of the peer's own."""
    table = _object(members.get(name, {}), name)
    if len(table) > _MAX_ENTRIES:
        raise MalformedMessage(f"{name}: too many entries")
    for key in table:
        if len(key) > max_characters:
            raise MalformedMessage(f"{name}: a name is longer than {max_characters} characters")
        _check_unicode(key, name)
    return table


def _check_unicode(text: str, name: str) -> None:
    if _SURROGATE.search(text):
        raise _NotUnicode(f"{name}: a text that UTF-8 can't spell")


def _array(members: Mapping[str, Any], name: str) -> Sequence[object]:
    value = members.get(name, [])
    if not isinstance(value, list):
        raise MalformedMessage(f"{name}: a list is needed")
    return value


def _text(members: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = members.get(name, default)
    if not isinstance(value, str):
        raise MalformedMessage(f"{name}: a text is needed")
    if len(value) > _MAX_TEXT_CHARACTERS:
        raise MalformedMessage(f"{name}: longer than {_MAX_TEXT_CHARACTERS} characters")
    _check_unicode(value, name)
    return value


def _texts(members: Mapping[str, Any], name: str, *, limit: int) -> tuple[str, ...]:
    values = _array(members, name)
    if len(values) > limit:
        raise MalformedMessage(f"{name}: more than {limit} entries")
    return tuple(_text({name: value}, name) for value in values)


def _count(members: Mapping[str, Any], name: str) -> int:
    value = members.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_INTEGER:
        raise MalformedMessage(f"{name}: a count is needed")
    return value


def _flag(members: Mapping[str, Any], name: str) -> bool:
    value = members.get(name, False)
    if not isinstance(value, bool):
        raise MalformedMessage(f"{name}: true or false is needed")
    return value


def _quality(members: Mapping[str, Any], name: str) -> Quality:
    return Quality.from_label(_text(members, name))


def _kind(members: Mapping[str, Any]) -> str:
    kind = _text(members, "kind", GSYM_KIND)
    if not KIND.fullmatch(kind):
        raise MalformedMessage("kind: lowercase letters, digits and hyphens are needed")
    return kind


def _digest(text: str, name: str) -> str:
    if not is_sha256(text):
        raise MalformedMessage(f"{name}: a SHA-256 in lowercase hex is needed")
    return text


def _digests(members: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = _array(members, name)
    if len(values) > _MAX_DIGESTS:
        raise MalformedMessage(f"{name}: more than {_MAX_DIGESTS} entries")
    return tuple(_digest(_text({name: value}, name), name) for value in values)
