from itertools import combinations

from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.relay.turn_log.port import chat_key


def test_each_chat_has_a_key_of_its_own() -> None:
    sessions = [("s1", ""), ("s1", "u1"), ("s", "1"), ("s2", "")]
    channels = [DEFAULT_CHANNEL, Channel("web", "c1"), Channel("webc", "1"), Channel("c1", "web")]
    keys = [chat_key(session, channel) for session in sessions for channel in channels]

    assert all(one != other for one, other in combinations(keys, 2))
    assert keys == [chat_key(session, channel) for session in sessions for channel in channels]


def test_a_key_names_nothing_of_its_chat() -> None:
    key = chat_key(("secret-session", "secret-user"), Channel("web", "secret-chat"))

    assert len(key) == 32
    assert set(key) <= set("0123456789abcdef")
