"""What others' code must have to be a dialect: `problem_of` says what it lacks, in a few words."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from turnwire.config.values import SECONDS_MAX
from turnwire.core.agent import AgentProtocol, Feature
from turnwire.core.operations import OperationName
from turnwire.core.wire.schema import WireSchema

NEEDS: Final = frozenset({"agent_auth", "agent_model", "agent_cwd"})
"""The settings that a dialect may need."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 < value <= SECONDS_MAX


def _are(kind: type) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return isinstance(value, frozenset) and all(isinstance(each, kind) for each in value)

    return check


def _are_needs(value: Any) -> bool:
    return isinstance(value, frozenset) and value <= NEEDS


_ATTRIBUTES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "name": (_is_text, "a str"),
    "transport": (_is_text, "a str"),
    "operations": (_are(OperationName), "a frozenset of OperationName"),
    "features": (_are(Feature), "a frozenset of Feature"),
    "idle_s": (_is_time, f"a number of seconds above 0, at most {SECONDS_MAX}"),
    "schema": (lambda value: isinstance(value, WireSchema), "a WireSchema"),
    "keeps_history": (_is_bool, "a bool"),
    "names_sessions": (_is_bool, "a bool"),
    "needs": (_are_needs, f"a frozenset of some of {', '.join(sorted(NEEDS))}"),
    "request_fields": (_are(str), "a frozenset of str"),
}
_METHODS: Final[Mapping[str, Sequence[int]]] = {
    "write_message": (1,),
    "prompt": (1, 2),
    "resume": (1, 2),
    "stop": (1,),
    "answer": (1,),
    "read_history": (1,),
}
"""How many arguments each is called with."""

_OF_A_PROTOCOL: Final = tuple(
    name
    for name in (*AgentProtocol.__annotations__, *vars(AgentProtocol))
    if not name.startswith("_")
)


def problem_of(dialect: Any) -> str | None:
    """Return why this is no `core.agent.Dialect`; None if it is one, as far as can be seen."""
    for name, (is_right, wanted) in _ATTRIBUTES.items():
        if not hasattr(dialect, name):
            return f"`{name}` is missing"
        if not is_right(getattr(dialect, name)):
            return f"`{name}` must be {wanted}"
    for name, counts in _METHODS.items():
        method = getattr(dialect, name, None)
        if method is None:
            return f"`{name}` is missing"
        if inspect.iscoroutinefunction(method):
            return f"`{name}` must be a method that is not async"
        if not callable(method) or not all(_takes(method, count) for count in counts):
            wanted = " or ".join(map(str, counts))
            return f"`{name}` must be a method that takes {wanted} argument{'s' * (counts != (1,))}"
    return None


def lacking(protocol: Any) -> list[str]:
    """Return the members of `core.agent.AgentProtocol` that a protocol does not have.

    A method that cannot be called is missing, too.
    """
    return [
        name
        for name in _OF_A_PROTOCOL
        if not hasattr(protocol, name)
        or (
            inspect.isfunction(vars(AgentProtocol).get(name))
            and not callable(getattr(protocol, name))
        )
    ]


def _takes(method: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(method).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a function in C has no signature
        return True
    return True
