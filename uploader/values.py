"""Values: classes that only hold what they were given, and never change.

They are what ``@dataclass(frozen=True, slots=True, kw_only=True)`` makes, and type checkers take them for that. But a dataclass writes
and compiles methods of its own, which takes half a millisecond a class, and a run imports dozens of classes before it reads a file.
Values share theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform

__all__ = ["defaults_of", "frozen", "replace"]

T = TypeVar("T")

_set = object.__setattr__


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Makes a value of a class without a base: its annotated names are the fields, with a default or a `dataclasses.field` or neither.

    Fields are given by name. Values are equal, and hash alike, if they are of one class and their fields are equal. A method that the
    class has itself stays; ``__post_init__`` is called where there is one. `replace` makes copies with other fields.
    """
    members = dict(vars(cls))
    names = tuple(cls.__annotations__)
    given = {name: members.pop(name) for name in names if name in members}
    described = {name: default for name, default in given.items() if isinstance(default, Field)}
    defaults = given | {name: one.default for name, one in described.items()}
    # A class's slots are fixed when it is made: it is made again.
    del members["__dict__"], members["__weakref__"]
    members |= {
        "__slots__": names,
        "__qualname__": cls.__qualname__,
        "_names": frozenset(names),
        "_defaults": {name: default for name, default in defaults.items() if default is not MISSING},
        "_factories": {
            name: one.default_factory for name, one in described.items() if one.default_factory is not MISSING
        },
        "_shown": tuple(name for name in names if name not in described or described[name].repr),
    }
    made: type[T] = type(cls.__name__, (_Value,), members)
    return made


class _Value:
    """The methods of all values."""

    __slots__ = ()
    _names: frozenset[str]
    _defaults: dict[str, object]
    _factories: dict[str, Callable[[], object]]
    _shown: tuple[str, ...]

    def __init__(self, **fields: object) -> None:
        if self._defaults:
            fields = self._defaults | fields
        for name, make in self._factories.items():
            if name not in fields:
                fields[name] = make()
        if fields.keys() != self._names:
            raise TypeError(
                f"{type(self).__name__} has the fields {', '.join(self.__slots__)}, not {', '.join(fields)}"
            )
        for name, value in fields.items():
            _set(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        pass

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(_values(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
        return f"{type(self).__qualname__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (type(self), _values(self))


def defaults_of(cls: type[object]) -> dict[str, Any]:
    """The defaults of a value's fields, for those that have one."""
    assert issubclass(cls, _Value)
    return cls._defaults | {name: make() for name, make in cls._factories.items()}


def _values(value: Any) -> tuple[object, ...]:
    return tuple([getattr(value, name) for name in value.__slots__])


def _made(cls: type[T], values: tuple[object, ...]) -> T:
    """A value from the fields of another, in their order."""
    made = cls.__new__(cls)
    for name, value in zip(cls.__slots__, values, strict=True):  # type: ignore[attr-defined]  # every value has them
        _set(made, name, value)
    return made


if TYPE_CHECKING:
    from dataclasses import replace
else:

    def replace(value: T, **changes: object) -> T:
        """The value with other fields. Raises `TypeError` for one that it does not have."""
        return type(value)(**dict(zip(value.__slots__, _values(value), strict=True)) | changes)
