"""Values are what frozen, slotted, keyword-only dataclasses are, so that nobody need know the difference."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from uploader.values import frozen, replace


@frozen
class Point:
    """A value with every kind of field."""

    x: int
    y: int = 2
    names: Mapping[str, int] = field(default_factory=dict)
    secret: str = field(default="", repr=False)

    @property
    def sum(self) -> int:
        return self.x + self.y


@frozen
class Other:
    """Has the fields of `Point`, and is another class."""

    x: int
    y: int = 2
    names: Mapping[str, int] = field(default_factory=dict)
    secret: str = field(default="", repr=False)


@frozen
class Even:
    """A value that refuses some."""

    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The dataclass that `Point` behaves like."""

    x: int
    y: int = 2
    names: Mapping[str, int] = field(default_factory=dict)
    secret: str = field(default="", repr=False)


def test_fields_have_their_defaults_and_methods_stay() -> None:
    point = Point(x=1)
    assert (point.x, point.y, point.names, point.secret, point.sum) == (1, 2, {}, "", 3)
    assert Point(x=1).names is not point.names
    assert Point.__doc__ == "A value with every kind of field."
    assert (Point.__name__, Point.__qualname__, Point.__module__) == ("Point", "Point", __name__)


@pytest.mark.parametrize("fields", [{}, {"y": 1}, {"x": 1, "z": 2}])
def test_a_field_too_many_or_too_few_is_refused(fields: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Model(**fields)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Point has the fields x, y, names, secret"):
        Point(**fields)  # type: ignore[arg-type]


def test_fields_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[call-arg]


@pytest.mark.parametrize("cls", [Point, Model])
def test_nothing_changes_a_value(cls: type[Point]) -> None:
    point = cls(x=1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_values_are_equal_by_their_fields_within_one_class() -> None:
    assert Point(x=1) == Point(x=1, y=2, names={})
    assert Point(x=1) != Point(x=2)
    other: object = Other(x=1)
    assert Point(x=1) != other
    assert len({Even(number=2), Even(number=2), Even(number=4)}) == 2


def test_a_value_is_shown_as_a_dataclass_is() -> None:
    shown = repr(Point(x=1, secret="token"))
    assert shown == repr(Model(x=1, secret="token")).replace("Model", "Point")
    assert "token" not in shown


def test_a_copy_with_other_fields_is_checked_as_any_value() -> None:
    assert replace(Point(x=1, secret="a"), y=5) == Point(x=1, y=5, secret="a")
    with pytest.raises(TypeError):
        replace(Point(x=1), z=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="3 is odd"):
        replace(Even(number=2), number=3)


def test_values_travel_between_processes() -> None:
    point = Point(x=1, names={"a": 1}, secret="s")
    assert pickle.loads(pickle.dumps(point)) == point
    assert copy.deepcopy(point) == copy.copy(point) == point
