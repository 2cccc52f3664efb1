import pytest

from packages.clean_room import ROOT, Room


@pytest.fixture(scope="session")
def room() -> Room:
    room = Room(ROOT / "build/clean-room")
    room.build()
    return room
