"""Typed operations of an application are tools by one call."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from turnwire_agent.tools.arguments import Invalid, Valid
from turnwire_agent.tools.contract import BadToolError, Context, Effect
from turnwire_agent.tools.operations import Operation, operation_tools

CONTEXT = Context(call_id="c1", key="k1", deadline=5.0)


class Cancel(msgspec.Struct):
    order: str
    reason: str = ""


@dataclass
class Lookup:
    order: str


def cancel(input: Cancel, context: Context) -> str:  # noqa: A002 (the word of the field)
    """Cancel an order."""
    return f"{input.order} {context.key}"


def lookup(input: Lookup) -> str:  # noqa: A002
    return input.order


OPERATIONS = [
    Operation(
        name="orders.cancel",
        input=Cancel,
        run=cancel,
        effect=Effect.KEYED,
        key=lambda input: f"cancel-{input.order}",  # noqa: A006 (the word of the field)
    ),
    Operation(
        name="orders.archive.lookup",
        input=Lookup,
        run=lookup,
        description="Look an order up.",
        effect=Effect.SAFE,
        approval="always",
        timeout_s=3.0,
        sequential=True,
        secrets=frozenset({"order"}),
    ),
]


def test_operations_are_tools() -> None:
    first, second = operation_tools(OPERATIONS)

    assert (first.name, first.description) == ("orders.cancel", "Cancel an order.")
    assert first.schema["properties"]["reason"] == {"type": "string", "default": ""}
    assert (second.name, second.description) == ("orders.archive.lookup", "Look an order up.")
    assert (second.effect, second.approval, second.timeout_s) == (Effect.SAFE, "always", 3.0)
    assert first.key
    assert first.key(Cancel("o1")) == "cancel-o1"
    assert (second.sequential, second.secrets) == (True, frozenset({"order"}))


def test_an_operation_is_run_with_its_input() -> None:
    first, second = operation_tools(OPERATIONS)
    to_cancel, to_look_up = first.validate('{"order": "o1"}'), second.validate('{"order": "o2"}')

    assert isinstance(to_cancel, Valid)
    assert isinstance(to_look_up, Valid)
    assert first.call(to_cancel.value, CONTEXT) == "o1 k1"
    assert second.call(to_look_up.value, CONTEXT) == "o2"
    assert isinstance(first.validate("{}"), Invalid)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "cancel"}, "a name is `namespace.name`"),
        ({"name": "orders. cancel"}, "a name is `namespace.name`"),
        ({"input": object}, "operation 'orders.lookup': its input has no schema"),
        ({"input": int}, "tool 'orders.lookup': #: the arguments of a tool are an object"),
        ({"run": 5}, "operation 'orders.lookup': its input has no schema"),
        ({"effect": Effect.KEYED}, "effect KEYED needs a parameter of type Context"),
        ({"secrets": frozenset({"x"})}, "'x' is secret, but no argument"),
    ],
)
def test_what_is_no_operation_is_refused(changed: dict[str, Any], words: str) -> None:
    operation = {"name": "orders.lookup", "input": Lookup, "run": lookup, **changed}

    with pytest.raises(BadToolError, match=words):
        operation_tools([Operation(**operation)])


def test_two_operations_of_one_name_are_refused() -> None:
    with pytest.raises(BadToolError, match="two tools are called"):
        operation_tools([OPERATIONS[0], OPERATIONS[0]])
