"""The table of transports: what a dialect names is in it, under its own name."""

from turnwire.dialects import DIALECTS
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.transports import TRANSPORTS


def test_each_transport_goes_by_its_own_name_and_scheme() -> None:
    schemes = [transport.scheme.name for transport in TRANSPORTS.values()]

    assert {name: made.name for name, made in TRANSPORTS.items()} == {n: n for n in TRANSPORTS}
    assert len({*schemes, *(f"{name}s" for name in schemes)}) == 2 * len(schemes)


def test_every_dialect_names_a_transport() -> None:
    assert {dialect.transport for dialect in DIALECTS.values()} <= set(TRANSPORTS)


def test_a_transport_is_made_of_a_dialler() -> None:
    for transport in TRANSPORTS.values():
        assert transport(Dialler(user_timeout_s=1), frame_bytes=1_000).name == transport.name
