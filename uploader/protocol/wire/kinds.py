"""The kinds of members that documents have: how each is read from JSON, written as JSON and described in an OpenAPI document.

Reading is strict about what is there: types, forms, lengths. Every fault raises `ValueError` with the member's name.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from uploader.model import Quality, SymbolId
from uploader.protocol.wire.json_text import SHA256_HEX, SURROGATE, Json, MalformedMessage, NotUnicode

KIND_FORM = re.compile(r"[a-z][a-z0-9-]{0,31}")
MAX_ENTRIES = 64
_MAX_INTEGER = (1 << 63) - 1
_MAX_TEXT_CHARACTERS = 4096
_MAX_ID_CHARACTERS = 256
_MAX_SOURCE_CHARACTERS = 64


class Kind(Protocol):
    """One kind of member. `read` raises `ValueError`, and reads ``absent`` where a member isn't there and no default stands for it."""

    @property
    def absent(self) -> object:
        """The JSON value that a member is taken for where it is missing; None where it is needed."""

    def read(self, value: object, name: str) -> Any:
        """The value that the JSON value of the member ``name`` stands for."""

    def write(self, value: Any) -> object:
        """The JSON value for it."""

    def schema(self) -> Json:
        """Its JSON schema."""


class Text:
    """A text, of some length at most."""

    absent: object = None

    def __init__(self, form: re.Pattern[str] | None = None, told_form: str = "", **schema: object) -> None:
        """``told_form`` says what ``form`` takes; ``schema`` describes it."""
        self._form = form
        self._told_form = told_form
        self._schema = schema

    def read(self, value: object, name: str) -> str:
        """The text, if it is one that UTF-8 can spell."""
        if not isinstance(value, str):
            raise MalformedMessage(f"{name}: a text is needed")
        if len(value) > _MAX_TEXT_CHARACTERS:
            raise MalformedMessage(f"{name}: longer than {_MAX_TEXT_CHARACTERS} characters")
        check_unicode(value, name)
        if self._form is not None and not self._form.fullmatch(value):
            raise MalformedMessage(f"{name}: {self._told_form}")
        return value

    def write(self, value: str) -> object:
        """As it is."""
        return value

    def schema(self) -> Json:
        """Its length, or its form."""
        if self._form is None:
            return {"type": "string", "maxLength": _MAX_TEXT_CHARACTERS, **self._schema}
        return {"type": "string", "pattern": f"^{self._form.pattern}$", **self._schema}


class Count:
    """A number of something, from ``least`` on."""

    def __init__(self, least: int = 0) -> None:
        self._least = least
        self.absent: object = None if least else 0

    def read(self, value: object, name: str) -> int:
        """The number. JSON's true and false are none."""
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_INTEGER:
            raise MalformedMessage(f"{name}: a count is needed")
        if value < self._least:
            raise MalformedMessage(f"{name}: at least {self._least} is needed")
        return value

    def write(self, value: int) -> object:
        """As it is."""
        return value

    def schema(self) -> Json:
        """Its bounds."""
        return {"type": "integer", "minimum": self._least, "maximum": _MAX_INTEGER}


class Flag:
    """True or false."""

    absent: object = False

    def read(self, value: object, name: str) -> bool:
        """Nothing else is either."""
        if not isinstance(value, bool):
            raise MalformedMessage(f"{name}: true or false is needed")
        return value

    def write(self, value: bool) -> object:  # a kind writes whatever its members hold
        """As it is."""
        return value

    def schema(self) -> Json:
        """Its type."""
        return {"type": "boolean"}


class Choice:
    """One of an enumeration's values."""

    absent: object = None

    def __init__(self, choices: type[enum.StrEnum]) -> None:
        self._choices = choices

    def read(self, value: object, name: str) -> enum.StrEnum:
        """The one of that value."""
        return self._choices(TEXT.read(value, name))

    def write(self, value: enum.StrEnum) -> object:
        """Its value."""
        return value.value

    def schema(self) -> Json:
        """All values."""
        return {"type": "string", "enum": [choice.value for choice in self._choices]}


class QualityLabel:
    """A quality by its label."""

    absent: object = None

    def read(self, value: object, name: str) -> Quality:
        """The quality of that label."""
        return Quality.from_label(TEXT.read(value, name))

    def write(self, value: Quality) -> object:
        """Its label."""
        return value.label

    def schema(self) -> Json:
        """All labels."""
        return {"type": "string", "enum": [quality.label for quality in Quality]}


class Id:
    """An id as users write it."""

    absent: object = None

    def read(self, value: object, name: str) -> SymbolId:
        """The id that `SymbolId.parse` reads."""
        return SymbolId.parse(TEXT.read(value, name))

    def write(self, value: SymbolId) -> object:
        """Its text."""
        return str(value)

    def schema(self) -> Json:
        """Its length and its forms."""
        return {
            "type": "string",
            "maxLength": _MAX_ID_CHARACTERS,
            "description": "a GNU build-id in bare hex, else go:… or file:…",
        }


class Several:
    """A list of members of one kind, of ``limit`` at most."""

    absent: object = ()

    def __init__(self, kind: Kind, *, limit: int | None = MAX_ENTRIES) -> None:
        self._kind = kind
        self._limit = limit

    def read(self, value: object, name: str) -> tuple[Any, ...]:
        """All of them; none is read of a list that is too long."""
        values = an_array(value, name)
        if self._limit is not None and len(values) > self._limit:
            raise MalformedMessage(f"{name}: more than {self._limit} entries")
        return tuple([self._kind.read(one, name) for one in values])

    def write(self, value: Sequence[Any]) -> object:
        """A list."""
        return [self._kind.write(one) for one in value]

    def schema(self) -> Json:
        """Their kind, and how many there are at most."""
        bound = {} if self._limit is None else {"maxItems": self._limit}
        return {"type": "array", "items": self._kind.schema(), **bound}


class Optional:
    """A member of some kind, or null."""

    absent: object = None

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def read(self, value: object, name: str) -> Any:
        """None for null."""
        return None if value is None else self._kind.read(value, name)

    def write(self, value: Any) -> object:
        """Null for None."""
        return None if value is None else self._kind.write(value)

    def schema(self) -> Json:
        """Either."""
        return {"anyOf": [self._kind.schema(), {"type": "null"}]}


class Counts:
    """Counts by names of the peer's own."""

    absent: object = None

    def read(self, value: object, name: str) -> dict[str, int]:
        """Some of them, with names of some length."""
        table = an_object(value, name)
        if len(table) > MAX_ENTRIES:
            raise MalformedMessage(f"{name}: too many entries")
        for key in table:
            if len(key) > _MAX_SOURCE_CHARACTERS:
                raise MalformedMessage(f"{name}: a name is longer than {_MAX_SOURCE_CHARACTERS} characters")
            check_unicode(key, name)
        return {key: COUNT.read(count, key) for key, count in table.items()}

    def write(self, value: Mapping[str, int]) -> object:
        """In the order of the names."""
        return {str(key): count for key, count in sorted(value.items())}

    def schema(self) -> Json:
        """Any names, with counts."""
        return {"type": "object", "additionalProperties": COUNT.schema()}


def an_object(value: object, name: str) -> Mapping[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise MalformedMessage(f"{name}: an object is needed")
    return value


def an_array(value: object, name: str) -> Sequence[object]:
    """The value, if it is a list."""
    if not isinstance(value, (list, tuple)):
        raise MalformedMessage(f"{name}: a list is needed")
    return value


def check_unicode(text: str, name: str) -> None:
    """Raises `NotUnicode` for a text that no UTF-8 can spell."""
    if SURROGATE.search(text):
        raise NotUnicode(f"{name}: a text that UTF-8 can't spell")


TEXT = Text()
TEXTS = Several(TEXT)
COUNT = Count()
LIMIT = Count(least=1)
FLAG = Flag()
QUALITY = QualityLabel()
ID = Id()
SHA256 = Text(SHA256_HEX, "a SHA-256 in lowercase hex is needed", description="SHA-256 in lowercase hex")
KIND = Text(KIND_FORM, "lowercase letters, digits and hyphens are needed")
"""A kind of artifact: ``gsym`` is the only one so far."""
