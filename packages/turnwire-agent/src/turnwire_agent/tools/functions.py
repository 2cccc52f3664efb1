"""Tools from functions: `@tool`.

The signature of a typed function is its schema and its validation. A description of a parameter is
written as `Annotated[int, msgspec.Meta(description="…")]`, with its bounds.
"""

import copy
import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, overload

import msgspec
from msgspec import Struct

from turnwire_agent.tools.arguments import Validate, schema_of, typed, untyped
from turnwire_agent.tools.contract import (
    TIMEOUT_S,
    Approval,
    BadToolError,
    Context,
    Effect,
    Tool,
)
from turnwire_agent.tools.schema.form import check

Function = Callable[..., Any]

_SECTIONS: Final = ("args:", "arguments:", "parameters:", "returns:", "raises:", "yields:")
_VARIADIC: Final = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    schema: dict[str, Any] | None = None,
    effect: Effect = Effect.ONCE,
    key: Function | None = None,
    approval: Approval = "never",
    timeout_s: float = TIMEOUT_S,
    sequential: bool = False,
    secrets: Iterable[str] = (),
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    schema: dict[str, Any] | None = None,
    effect: Effect = Effect.ONCE,
    key: Function | None = None,
    approval: Approval = "never",
    timeout_s: float = TIMEOUT_S,
    sequential: bool = False,
    secrets: Iterable[str] = (),
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function, async or not.

    The name is the function's, the description its docstring up to its sections. Without `schema`,
    each parameter needs an annotation of a type that msgspec knows. With it, the function takes
    one parameter, the arguments as a dict: see `arguments.untyped` for what is checked of them. A
    parameter of type `Context` is given the context of the call, and is no argument. `key` is
    called with those arguments that it has parameters for, or with the dict: see `Tool.key`.

    Raises:
        BadToolError: in one line, for the first thing that does not fit.

    """

    def make(function: Function) -> Tool:
        called = _name(function) if name is None else name
        _check_kind(function, called)
        parameters, context = _parameters(function, called)
        if effect is Effect.KEYED and context is None:
            raise BadToolError(f"tool {called!r}: effect KEYED needs a parameter of type Context")
        made = (
            _typed(function, called, parameters, context)
            if schema is None
            else _raw(function, called, parameters, context, schema)
        )
        return Tool(
            name=called,
            description=_description(function) if description is None else description,
            schema=made.schema,
            validate=made.validate,
            call=made.call,
            effect=effect,
            key=None if key is None else _key(key, called, parameters, is_raw=schema is not None),
            approval=approval,
            timeout_s=timeout_s,
            sequential=sequential,
            secrets=frozenset(secrets),
        )

    return make if function is None else make(function)


class _Made(Struct, frozen=True):
    """What a function gives to its tool."""

    schema: dict[str, Any]
    validate: Validate
    call: Callable[[Any, Context], Any]


def _name(function: Function) -> str:
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise BadToolError(f"{name or 'a callable'} needs a name: tool(name=…)")
    return name


def _check_kind(function: Function, name: str) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadToolError(f"tool {name!r}: it is a generator, and a tool has one result")


def _description(function: Function) -> str:
    """The docstring up to the first of its sections."""
    lines = (inspect.getdoc(function) or "").splitlines()
    end = next((at for at, line in enumerate(lines) if line.strip().lower() in _SECTIONS), None)
    return "\n".join(lines[:end]).strip()


def _parameters(function: Function, name: str) -> tuple[Sequence[inspect.Parameter], str | None]:
    """The parameters that are arguments, with their types, and the name of that of the context."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as exc:
        raise BadToolError(f"tool {name!r}: its parameters cannot be read: {exc}") from exc
    arguments, contexts = list[inspect.Parameter](), list[str]()
    for parameter in parameters:
        if parameter.kind in _VARIADIC:
            stars = f"{_VARIADIC[parameter.kind]}{parameter.name}"
            raise BadToolError(f"tool {name!r}: {stars} is no argument that a model can name")
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise BadToolError(f"tool {name!r}: {parameter.name!r} cannot be given by name")
        if hints.get(parameter.name) is Context:
            contexts.append(parameter.name)
        else:
            hint = hints.get(parameter.name, inspect.Parameter.empty)
            arguments.append(parameter.replace(annotation=hint))
    if len(contexts) > 1:
        raise BadToolError(f"tool {name!r}: two parameters are of type Context")
    return arguments, contexts[0] if contexts else None


def _key(
    key: Function, name: str, parameters: Sequence[inspect.Parameter], *, is_raw: bool
) -> Callable[[Any], str]:
    """From the validated arguments to the key that a function makes of some of them."""
    if is_raw:
        return key
    try:
        wanted = inspect.signature(key).parameters.values()
    except (TypeError, ValueError) as exc:
        raise BadToolError(f"tool {name!r}: the parameters of its key cannot be read") from exc
    arguments = {each.name for each in parameters}
    by_name = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    for each in wanted:
        if each.name not in arguments or each.kind not in by_name:
            raise BadToolError(f"tool {name!r}: its key takes {each.name!r}, which is no argument")
    names = [each.name for each in wanted]
    return lambda value: key(**{each: getattr(value, each) for each in names})


def _typed(
    function: Function,
    name: str,
    parameters: Sequence[inspect.Parameter],
    context: str | None,
) -> _Made:
    for parameter in parameters:
        if parameter.annotation is inspect.Parameter.empty:
            raise BadToolError(f"tool {name!r}: {parameter.name!r} has no annotation")
    try:
        kind = msgspec.defstruct(
            "arguments",
            [(each.name, each.annotation, _default(each)) for each in parameters],
            forbid_unknown_fields=True,
            frozen=True,
            kw_only=True,
        )
        schema = schema_of(kind)
        validate = typed(kind, schema)
    except (TypeError, ValueError, NameError) as exc:
        problem = " ".join(str(exc).split())
        raise BadToolError(f"tool {name!r}: its parameters have no schema: {problem}") from exc

    def call(value: Any, given: Context) -> Any:
        arguments = {each.name: getattr(value, each.name) for each in parameters}
        return function(**arguments, **({} if context is None else {context: given}))

    return _Made(schema, validate, call)


def _default(parameter: inspect.Parameter) -> Any:
    """The default of a parameter, as a struct has it: a list or a dict is a new one each time."""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return msgspec.NODEFAULT
    if isinstance(value, list | dict | set | bytearray):
        return msgspec.field(default_factory=lambda: copy.deepcopy(value))
    return value


def _raw(
    function: Function,
    name: str,
    parameters: Sequence[inspect.Parameter],
    context: str | None,
    schema: dict[str, Any],
) -> _Made:
    if len(parameters) != 1:
        raise BadToolError(f"tool {name!r}: with a schema, a function takes its arguments as one")
    only = parameters[0].name
    try:
        check(schema)
        validate = untyped(schema)
    except ValueError as exc:
        problem = str(exc).partition("\n")[0]
        raise BadToolError(f"tool {name!r}: {problem}") from exc

    def call(value: Any, given: Context) -> Any:
        return function(**{only: value}, **({} if context is None else {context: given}))

    return _Made(schema, validate, call)
