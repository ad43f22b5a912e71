"""A value as a JSON document: its fields are the members. How it is read, written and described follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from uploader.protocol.wire.json_text import Json
from uploader.protocol.wire.kinds import COUNT, FLAG, QUALITY, TEXT, TEXTS, Counts, Kind, Optional, an_object
from uploader.values import defaults_of, frozen

T = TypeVar("T")

_USUAL_KINDS: Mapping[str, Kind] = {
    "str": TEXT,
    "str | None": Optional(TEXT),
    "int": COUNT,
    "int | None": Optional(COUNT),
    "bool": FLAG,
    "Quality": QUALITY,
    "Quality | None": Optional(QUALITY),
    "tuple[str, ...]": TEXTS,
    "Mapping[str, int]": Counts(),
}
"""By the annotation of a field."""


@frozen
class _Member:
    name: str
    field: str
    kind: Kind
    has_default: bool


class Document(Generic[T]):
    """The documents of one class of values; also a kind of member, for values that hold another.

    A member bears its field's name, and is of the kind that is usual for the field's annotation. Members that aren't known are passed
    over, so that a newer peer can say more.
    """

    absent: object = None

    def __init__(
        self,
        title: str,
        value: type[T],
        *,
        apart: tuple[str, ...] = (),
        needed: tuple[str, ...] = (),
        renamed: Mapping[str, str] | None = None,
        **kinds: Kind,
    ) -> None:
        """``title`` is its name in the OpenAPI document; ``kinds`` are those of fields that aren't of the usual one.

        Fields ``apart`` are no members of their own, ``renamed`` ones have another name as members. The default of fields ``needed``
        does not stand for a member that is missing.
        """
        self.title = title
        self._value = value
        self._defaults = {field: default for field, default in defaults_of(value).items() if field not in needed}
        self._members = tuple(
            _Member(
                name=(renamed or {}).get(field, field),
                field=field,
                kind=kinds[field] if field in kinds else _USUAL_KINDS[annotation],
                has_default=field in self._defaults,
            )
            for field, annotation in value.__annotations__.items()
            if field not in apart
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Its members' names."""
        return tuple(member.name for member in self._members)

    def read(self, value: object, name: str | None = None) -> T:
        """The value that a JSON object stands for. Raises `ValueError`."""
        return self._value(**self.fields_in(an_object(value, name or self._value.__name__.lower())))

    def fields_in(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that the members tell; those with a default of which there is no member are left out."""
        return {
            member.field: member.kind.read(members.get(member.name, member.kind.absent), member.name)
            for member in self._members
            if not member.has_default or member.name in members
        }

    def write(self, value: T) -> Json:
        """The JSON object for a value."""
        return {member.name: member.kind.write(getattr(value, member.field)) for member in self._members}

    def schema(self) -> Json:
        """A reference to its description in the OpenAPI document."""
        return {"$ref": f"#/components/schemas/{self.title}"}

    def described(self) -> Json:
        """Its JSON schema."""
        return {
            "type": "object",
            "title": self.title,
            "description": (self._value.__doc__ or "").partition("\n")[0],
            "properties": {
                member.name: member.kind.schema()
                | ({"default": member.kind.write(self._defaults[member.field])} if member.has_default else {})
                for member in self._members
            },
            "required": [member.name for member in self._members if not member.has_default],
        }
