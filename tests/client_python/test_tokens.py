"""Tokens: a fresh one is asked for after a 401, and no exception has one."""

import traceback

import pytest

from client_python.driving import Kind, chatting
from gateway.running import Gateway
from gateway.tokens import OTHER_KEY, token
from turnwire_client import Finish, RefusedError

pytestmark = pytest.mark.sockets

WRONG = token(key=OTHER_KEY)


class Source:
    """Gives these tokens one after the other, and the last one again and again."""

    def __init__(self, *tokens: str) -> None:
        self._tokens = list(tokens)
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        return self._tokens.pop(0) if len(self._tokens) > 1 else self._tokens[0]


async def test_a_wrong_token_is_a_refusal_without_the_token(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, token=WRONG) as chat:
        with pytest.raises(RefusedError) as refused:
            assert [event async for event in chat.send("hello")]
        with pytest.raises(RefusedError) as unread:
            await chat.history()

    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert refused.value.text == "Missing or invalid authentication"
    assert refused.value.request_id
    assert unread.value.status == 401
    assert WRONG not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__cause__ is refused.value.__context__ is None


async def test_without_a_token_it_is_the_same(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, token=None) as chat:
        with pytest.raises(RefusedError, match="401 unauthorized"):
            await chat.history()


async def test_after_a_401_a_fresh_token_is_asked_for_once(kind: Kind, gateway: Gateway) -> None:
    source, in_vain = Source(WRONG, token()), Source(WRONG)
    async with chatting(kind, gateway.url, token=source) as chat:
        events = [event async for event in chat.send("hello")]
        assert await chat.history()
    async with chatting(kind, gateway.url, token=in_vain) as chat:
        with pytest.raises(RefusedError):
            await chat.history()

    assert isinstance(events[-1], Finish)
    assert (source.asked, in_vain.asked) == (2, 2)


async def test_the_async_client_takes_a_coroutine(gateway: Gateway) -> None:
    async def fresh() -> str:
        return token()

    async with chatting("async", gateway.url, token=fresh) as chat:
        assert await chat.history() == []


async def test_a_token_that_no_header_can_have_is_not_shown(kind: Kind, gateway: Gateway) -> None:
    async with chatting(kind, gateway.url, token="secret\nvalue") as chat:
        with pytest.raises(ValueError, match="no header") as bad:
            await chat.history()

    assert "secret" not in "".join(traceback.format_exception(bad.value))
