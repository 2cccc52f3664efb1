"""Which of the agent's sessions belongs to which chat, in memory."""

import pytest

from relay.turn_log.memory_rig import new_log
from turnwire.relay.turn_log import sessions
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.sessions import MemorySessions

ONE, TWO, THREE = map(ChatKey, ("one", "two", "three"))


def test_a_chat_has_its_last_session_and_no_other() -> None:
    kept = MemorySessions(60)
    kept.keep(ONE, "s1")
    kept.keep(ONE, "s2")

    assert (kept.find(ONE), kept.find(TWO)) == ("s2", None)


def test_a_session_is_forgotten_in_the_end() -> None:
    kept = MemorySessions(-1)
    kept.keep(ONE, "s1")

    assert kept.find(ONE) is None


def test_of_very_many_the_one_that_was_used_longest_ago_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_MAX", 2)
    kept = MemorySessions(60)
    for key in (ONE, TWO, ONE, THREE):
        kept.keep(key, "s")

    assert [kept.find(key) for key in (ONE, TWO, THREE)] == ["s", None, "s"]


async def test_a_log_in_memory_keeps_them() -> None:
    log = new_log()
    log.keep_session(ONE, "s1")

    assert (await log.session(ONE), await log.session(TWO)) == ("s1", None)
    log.forget_session(ONE)
    log.forget_session(TWO)
    assert await log.session(ONE) is None
