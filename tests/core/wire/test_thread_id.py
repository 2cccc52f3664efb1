"""The thread of a channel: nobody reaches another session's by a name."""

import uuid

import pytest

from turnwire.core.requests import DEFAULT_CHANNEL
from turnwire.core.wire.thread_id import thread_id


def test_it_is_the_same_each_time_and_a_uuid() -> None:
    one, again = (thread_id("s1", "web", "c1") for _ in range(2))

    assert one == again
    assert str(uuid.UUID(one)) == one
    assert uuid.UUID(one).version == 5
    assert uuid.UUID(one).variant == uuid.RFC_4122


def test_it_stays_the_same_from_release_to_release() -> None:
    """An agent keeps its conversation under it."""
    assert (
        thread_id("s1", DEFAULT_CHANNEL.type, DEFAULT_CHANNEL.id)
        == "63b88037-13d6-55b0-8990-4193a0b249a2"
    )


@pytest.mark.parametrize(
    ("session", "channel"),
    [
        ("s2", ("web", "c1")),
        ("s1", ("thread", "c1")),
        ("s1", ("web", "c2")),
        ("s1web", ("", "c1")),
        ("s1", ("webc", "1")),
        ("s1", ("web", "c\ud8001")),
    ],
)
def test_each_session_and_each_channel_has_its_own(session: str, channel: tuple[str, str]) -> None:
    assert thread_id(session, *channel) != thread_id("s1", "web", "c1")
