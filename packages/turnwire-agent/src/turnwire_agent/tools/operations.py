"""Tools from operations: what an application offers under names like `orders.cancel`.

An operation has one input of a type that msgspec knows (a struct, a dataclass, a `TypedDict`), and
so one schema for whoever calls it, a model or a program.
"""

import inspect
import re
import typing
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct

from turnwire_agent.tools.arguments import schema_of, typed
from turnwire_agent.tools.contract import (
    TIMEOUT_S,
    Approval,
    BadToolError,
    Context,
    Effect,
    Tool,
    Tools,
)

_NAME: Final = re.compile(r"[^\s.]+(?:\.[^\s.]+)+")


class Operation(Struct, frozen=True, kw_only=True):
    """One typed operation."""

    name: str
    """`namespace.name`. A namespace may have several parts."""
    input: Any
    """The type of the input, whose values are JSON objects."""
    run: Callable[..., Any]
    """Called with an input, and with a `Context` if a second parameter is annotated so."""
    description: str = ""
    effect: Effect = Effect.ONCE
    key: Callable[[Any], str] | None = None
    """From the input to a key: see `Tool.key`."""
    approval: Approval = "never"
    timeout_s: float = TIMEOUT_S
    sequential: bool = False
    secrets: frozenset[str] = frozenset()


def operation_tools(operations: Iterable[Operation]) -> Tools:
    """Make a tool of each operation.

    Raises:
        BadToolError: an operation has no such name, its input has no schema, or two meet.

    """
    return Tools(_tool(operation) for operation in operations)


def _tool(operation: Operation) -> Tool:
    name = operation.name
    if not _NAME.fullmatch(name):
        raise BadToolError(f"operation {name!r}: a name is `namespace.name`")
    try:
        schema = schema_of(operation.input)
        validate = typed(operation.input, schema)
        wants_context = _wants_context(operation.run)
    except (NameError, TypeError, ValueError) as exc:
        problem = " ".join(str(exc).split())
        raise BadToolError(f"operation {name!r}: its input has no schema: {problem}") from exc
    if operation.effect is Effect.KEYED and not wants_context:
        raise BadToolError(f"operation {name!r}: effect KEYED needs a parameter of type Context")

    def call(value: Any, context: Context) -> Any:
        return operation.run(value, context) if wants_context else operation.run(value)

    return Tool(
        name=name,
        description=operation.description or inspect.getdoc(operation.run) or "",
        schema=schema,
        validate=validate,
        call=call,
        effect=operation.effect,
        key=operation.key,
        approval=operation.approval,
        timeout_s=operation.timeout_s,
        sequential=operation.sequential,
        secrets=operation.secrets,
    )


def _wants_context(run: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(run).parameters)
    return len(parameters) > 1 and typing.get_type_hints(run).get(parameters[1]) is Context
