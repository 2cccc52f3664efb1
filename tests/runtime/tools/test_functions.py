"""A function is a tool: its signature is the schema, its docstring the description."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from runtime.tools.schema_words import TEXT, of
from turnwire_agent.tools.arguments import Invalid, Valid
from turnwire_agent.tools.contract import BadToolError, Context, Effect, Tool
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.schema.normalise import normalise

CONTEXT = Context(call_id="c1", key="k1", deadline=5.0)


class Place(msgspec.Struct):
    city: str


@tool
def forecast(
    place: Place,
    days: Annotated[int, Meta(ge=1, le=7, description="How many days")] = 3,
    unit: Literal["C", "F"] = "C",
    tags: list[str] = ["now"],  # noqa: B006 (a new one for each call is what is tested)
) -> dict[str, Any]:
    """Say what the weather will be.

    It may be wrong.

    Args:
        place: not read: it has a type.

    """
    tags.append(unit)
    return {"city": place.city, "days": days, "tags": tags}


def called(tool: Tool, text: str) -> Any:
    """What a tool returns for the arguments of a model."""
    read = tool.validate(text)
    assert isinstance(read, Valid)
    return tool.call(read.value, CONTEXT)


def test_a_signature_is_a_schema() -> None:
    assert forecast.schema == {
        "type": "object",
        "properties": {
            "place": {"$ref": "#/$defs/Place"},
            "days": {
                "type": "integer",
                "minimum": 1,
                "maximum": 7,
                "description": "How many days",
                "default": 3,
            },
            "unit": {"enum": ["C", "F"], "default": "C"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["place"],
        "additionalProperties": False,
        "$defs": {
            "Place": {
                "title": "Place",
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            }
        },
    }
    assert normalise(forecast.schema, "chat").strict


def test_a_docstring_is_a_description() -> None:
    assert forecast.name == "forecast"
    assert forecast.description == "Say what the weather will be.\n\nIt may be wrong."


def test_a_function_is_called_with_typed_arguments() -> None:
    assert called(forecast, '{"place": {"city": "Oslo"}, "days": 2}') == {
        "city": "Oslo",
        "days": 2,
        "tags": ["now", "C"],
    }


def test_a_default_is_a_new_one_for_each_call() -> None:
    for _ in range(2):
        assert called(forecast, '{"place": {"city": "A"}}')["tags"] == ["now", "C"]


def test_what_strict_mode_sends_for_nothing_is_the_default() -> None:
    sent = '{"place": {"city": "A"}, "days": null, "unit": null, "tags": null}'

    assert called(forecast, sent) == {"city": "A", "days": 3, "tags": ["now", "C"]}


def test_arguments_of_a_wrong_type_are_a_sentence() -> None:
    assert forecast.validate('{"place": {"city": "A"}, "days": 9}') == Invalid(
        "The arguments are not valid: Expected `int` <= 7 - at `$.days`."
    )


async def test_an_async_function_returns_what_is_awaited() -> None:
    @tool
    async def double(n: int) -> int:
        return 2 * n

    result = called(double, '{"n": 4}')

    assert inspect.isawaitable(result)
    assert await result == 8


def test_a_context_is_given_to_who_wants_it_and_is_no_argument() -> None:
    @tool(effect=Effect.KEYED)
    def pay(amount: int, call: Context) -> tuple[int, Context]:
        return amount, call

    assert [*pay.schema["properties"]] == ["amount"]
    assert called(pay, '{"amount": 3}') == (3, CONTEXT)
    assert isinstance(pay.validate('{"amount": 3, "call": null}'), Invalid)


def test_what_a_tool_may_say_of_itself() -> None:
    @tool(
        name="bank.pay",
        description="Pay.",
        effect=Effect.SAFE,
        approval="always",
        timeout_s=2.5,
        sequential=True,
        secrets=["iban"],
    )
    def pay(iban: str) -> None:
        """Something else."""
        del iban

    assert (pay.name, pay.description, pay.effect) == ("bank.pay", "Pay.", Effect.SAFE)
    assert (pay.approval, pay.timeout_s, pay.sequential) == ("always", 2.5, True)
    assert pay.secrets == {"iban"}


def test_a_function_without_parameters_is_a_tool() -> None:
    @tool
    def now() -> int:
        return 5

    assert now.description == ""
    assert now.schema["properties"] == {}
    assert called(now, "") == 5


def test_with_a_schema_a_function_takes_a_dict() -> None:
    schema = of({"a": TEXT}, "a")

    @tool(schema=schema)
    def lookup(arguments: dict[str, Any], context: Context) -> Any:
        return arguments, context

    @tool(schema=schema)
    def bare(given):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 (as people write it)
        return given

    assert lookup.schema is schema
    assert called(lookup, '{"a": "x"}') == ({"a": "x"}, CONTEXT)
    assert called(bare, '{"a": "x"}') == {"a": "x"}
    assert isinstance(lookup.validate("{}"), Invalid)


def test_a_method_is_a_tool() -> None:
    class Shop:
        def buy(self, item: str) -> str:
            return f"{item} bought"

    assert called(tool(Shop().buy), '{"item": "tea"}') == "tea bought"


def test_a_key_is_made_of_the_arguments_that_it_names() -> None:
    @tool(effect=Effect.KEYED, key=lambda *, to, order: f"{order}-{to.city}")
    def ship(order: str, to: Place, context: Context, note: str = "") -> None: ...

    @tool(effect=Effect.KEYED, schema=of({"a": TEXT}, "a"), key=lambda given: given["a"])
    def raw(arguments: dict[str, Any], context: Context) -> None: ...

    assert key_of(ship, '{"order": "o7", "to": {"city": "Oslo"}, "note": "x"}') == "o7-Oslo"
    assert key_of(raw, '{"a": "x"}') == "x"


def key_of(tool: Tool, text: str) -> str:
    """The key that a tool makes of the arguments of a model."""
    read = tool.validate(text)
    assert isinstance(read, Valid)
    assert tool.key
    return tool.key(read.value)


class Unknown:
    """A type that msgspec does not know."""


def no_annotation(a) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def any_number(*a: int) -> None: ...
def any_names(**a: int) -> None: ...
def by_position(a: int, /) -> None: ...
def unknown_type(a: Unknown) -> None: ...
def unknown_name(a: "Nothing") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def unknown_default(a: int = Unknown()) -> None: ...  # type: ignore[assignment]
def two_contexts(a: Context, b: Context) -> None: ...
def two_arguments(a: int, b: int) -> None: ...
def keyed(a: int, context: Context) -> None: ...
def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_annotation, "tool 'no_annotation': 'a' has no annotation"),
        (any_number, r"tool 'any_number': \*a is no argument that a model can name"),
        (any_names, r"tool 'any_names': \*\*a is no argument that a model can name"),
        (by_position, "tool 'by_position': 'a' cannot be given by name"),
        (unknown_type, "tool 'unknown_type': its parameters have no schema: .* is not supported"),
        (unknown_name, "tool 'unknown_name': its parameters cannot be read: name 'Nothing'"),
        (unknown_default, "tool 'unknown_default': its parameters have no schema"),
        (two_contexts, "tool 'two_contexts': two parameters are of type Context"),
        (generator, "tool 'generator': it is a generator"),
        (async_generator, "tool 'async_generator': it is a generator"),
        (lambda: 1, "<lambda> needs a name"),
        (Unknown(), "a callable needs a name"),
    ],
)
def test_what_is_no_tool_is_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(BadToolError, match=words) as refused:
        tool(function)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "function", "words"),
    [
        ({"effect": Effect.KEYED}, by_position, "cannot be given by name"),
        ({"effect": Effect.KEYED}, two_arguments, "KEYED needs a parameter of type Context"),
        ({"effect": Effect.KEYED, "key": lambda b: b}, keyed, "takes 'b', which is no argument"),
        ({"effect": Effect.KEYED, "key": by_position}, keyed, "takes 'a', which is no argument"),
        ({"effect": Effect.KEYED, "key": any_number}, keyed, "takes 'a', which is no argument"),
        ({"effect": Effect.KEYED, "key": "a"}, keyed, "the parameters of its key cannot be read"),
        ({"key": str.lower, "schema": of()}, any_one := lambda a: a, "a key is for effect KEYED"),
        ({"schema": of()}, two_arguments, "with a schema, a function takes its arguments as one"),
        ({"schema": {"type": "array"}}, any_one, "the arguments of a tool"),
        ({"schema": of({"a": {"type": "any"}})}, any_one, "`type` must be one of"),
        ({"schema": of({"a": {"pattern": "("}})}, any_one, 'is not a "regex"'),
        ({"name": "a\nb"}, two_arguments, "is no name of a tool"),
    ],
)
def test_what_fits_no_function_is_refused(
    options: dict[str, Any], function: Callable[..., Any], words: str
) -> None:
    with pytest.raises(BadToolError, match=words) as refused:
        tool(**{"name": "t", **options})(function)

    assert "\n" not in str(refused.value)
