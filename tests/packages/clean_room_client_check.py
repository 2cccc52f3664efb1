"""The wheel of the client for Python, installed without an index. By `make clean-room`."""

from typing import Final

import pytest

from packages.clean_room import Room, names

pytestmark = [pytest.mark.sockets, pytest.mark.long]

ALONE: Final = names(
    "anyio certifi h11 httpcore httpx idna msgspec turnwire-client typing-extensions"
)
"""All that an install has: the client, its two libraries, and what httpx needs."""


def test_an_install_has_what_belongs_into_it_and_works(room: Room) -> None:
    place = room.install("turnwire-client")

    assert room.installed(place) == room.closure("turnwire-client") == ALONE
    seen = room.imports(place, "turnwire_client", [])
    assert seen["modules"] > 10
    assert (seen["imported"], seen["lacking"]) == ([], [])


def test_it_has_no_extras(room: Room) -> None:
    assert room.metadata("turnwire-client", "Provides-Extra") == []
