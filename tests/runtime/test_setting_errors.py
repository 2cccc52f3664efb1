from typing import Any, Literal

import pytest
from msgspec import Struct

from turnwire_agent.setting_errors import BadValueError, struct_of


class Shop(Struct, forbid_unknown_fields=True):
    """Settings of every kind."""

    name: str
    orders: int | None = None
    tax: float = 0.0
    is_open: bool = True
    goods: tuple[str, ...] = ()
    more: dict[str, str] = {}
    size: Literal["small", "large"] = "small"
    colour: Literal["red", "blue"] | None = None

    def __post_init__(self) -> None:
        """Refuse what no shop is called."""
        if self.name == "none":
            raise ValueError("this is no name")
        if self.name == "own":
            raise ValueError("shops.a.name: names itself")


def test_values_are_read_and_texts_are_numbers_where_numbers_are_meant() -> None:
    assert struct_of(Shop, {"name": "a", "orders": "3", "is_open": "false"}) == Shop(
        name="a", orders=3, is_open=False
    )


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({}, "shops.a.name: must be given"),
        (5, "shops.a: expected a table, got an integer"),
        ({"name": 5}, "shops.a.name: expected a string, got an integer"),
        ({"name": "a", "orders": "x"}, "shops.a.orders: expected an integer, got a string"),
        ({"name": "a", "tax": True}, "shops.a.tax: expected a number, got true or false"),
        ({"name": "a", "is_open": []}, "shops.a.is_open: expected true or false, got an array"),
        ({"name": "a", "goods": [1]}, "shops.a.goods[0]: expected a string, got an integer"),
        ({"name": "a", "more": {"b": 1.5}}, "shops.a.more[...]: expected a string, got a number"),
        ({"name": "a", "size": "huge"}, "shops.a.size: 'huge' is none of small, large"),
        ({"name": "a", "colour": "pink"}, "shops.a.colour: 'pink' is none of red, blue"),
        ({"name": "none"}, "shops.a: this is no name"),
        ({"name": "own"}, "shops.a.name: names itself"),
        ({"nam": "a"}, "shops.a.nam: there is no such setting; did you mean name?"),
        ({"x\ny": "a"}, "shops.a.x\\ny: there is no such setting"),
        ({"name": "a", "size": "x\ny"}, "shops.a.size: 'x\\ny' is none of small, large"),
    ],
)
def test_what_does_not_fit_is_a_line_that_begins_with_the_name(values: Any, line: str) -> None:
    with pytest.raises(BadValueError) as raised:
        struct_of(Shop, values, "shops.a")

    assert str(raised.value) == line


def test_the_whole_has_no_name() -> None:
    for values, line in (
        ({"name": 5}, "name: expected a string, got an integer"),
        ({"name": "none"}, "this is no name"),
        ({"nothing": 5}, "nothing: there is no such setting"),
    ):
        with pytest.raises(BadValueError) as raised:
            struct_of(Shop, values)
        assert str(raised.value) == line
