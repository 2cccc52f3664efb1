"""What `turnwire.dialect` hands out is whole, and all of it is documented."""

import inspect
import typing

import pytest
from msgspec import Struct

from turnwire import dialect
from turnwire.core import agent, events, operations, requests
from turnwire.core.body import conversation
from turnwire.dialects import DIALECTS

WHOLE: typing.Final = [*typing.get_args(events.Event), *typing.get_args(conversation.Message)]

PORTS: typing.Final = [
    *(agent.Dialect, agent.AgentProtocol, agent.Decoded, operations.Operation),
    *(kind for kind in vars(requests).values() if isinstance(kind, type)),
]


def test_a_version_names_it() -> None:
    assert dialect.SURFACE == "1"


def test_all_that_is_listed_is_there_once() -> None:
    listed = dialect.__all__

    assert sorted(set(listed)) == sorted(listed)
    assert all(hasattr(dialect, name) for name in listed)
    # pytest may add names with an @, if it rewrites asserts of the package.
    imported = {name for name in vars(dialect) if name[0] not in "_@"}
    assert imported - set(listed) == {"bases", "calls", "frames", "surface"}, (
        "the modules of the package"
    )


@pytest.mark.parametrize("kind", WHOLE, ids=lambda kind: str(kind.__name__))
def test_no_event_and_no_message_is_missing(kind: type) -> None:
    assert getattr(dialect, kind.__name__) is kind


@pytest.mark.parametrize("kind", PORTS, ids=lambda kind: str(kind.__name__))
def test_whatever_a_port_names_is_handed_out(kind: type) -> None:
    """Its author needs each type for an annotation."""
    functions = filter(inspect.isfunction, vars(kind).values())
    hints = [typing.get_type_hints(kind), *map(typing.get_type_hints, functions)]
    named = {each for hint in hints for value in hint.values() for each in _classes(value)}

    assert {each.__name__ for each in named} <= set(dialect.__all__)


def _classes(hint: object) -> set[type]:
    """The classes of ours in an annotation."""
    found = {each for part in typing.get_args(hint) for each in _classes(part)}
    if isinstance(hint, type) and hint.__module__.startswith("turnwire."):
        found.add(hint)
    return found


def test_our_own_wires_are_dialects_of_the_surface() -> None:
    assert all(isinstance(each.schema, dialect.WireSchema) for each in DIALECTS.values())
    assert issubclass(dialect.Decoded, Struct)
