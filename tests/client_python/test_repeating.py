"""A prompt that is sent again by its message id is not a second turn."""

from contextlib import aclosing

import pytest

from client_python.driving import Kind, chatting, text_of
from gateway.running import Gateway
from turnwire_client import Finish, TextDelta
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


async def test_after_the_turn_its_answer_comes_from_the_history(
    kind: Kind, agent: ReferenceAgent, gateway: Gateway
) -> None:
    async with chatting(kind, gateway.url) as chat:
        first = [event async for event in chat.send("what is 12*7?", message_id="m1")]
        second = [event async for event in chat.send("what is 12*7?", message_id="m1")]
        history = await chat.history()

        assert text_of(second) == text_of(first)
        assert isinstance(second[-1], Finish)
        assert [message.id for message in history] == ["m1", chat.message.id]
    assert len(agent.journal.runs) == 1


async def test_in_mid_turn_it_is_followed_from_its_start(
    kind: Kind, agent: ReferenceAgent, gateway: Gateway
) -> None:
    async with chatting(kind, gateway.url, on_disconnect="continue") as chat:
        async with aclosing(chat.send("tell me a long story", message_id="m1")) as begun:
            async for event in begun:
                if isinstance(event, TextDelta):
                    break
        events = [event async for event in chat.send("tell me a long story", message_id="m1")]
        _, answered = await chat.history()

        assert text_of(events) == answered.text
        assert answered.text.endswith("this is the end.")
    assert len(agent.journal.runs) == 1


async def test_another_message_is_another_turn(
    kind: Kind, agent: ReferenceAgent, gateway: Gateway
) -> None:
    async with chatting(kind, gateway.url) as chat:
        for message_id in ("m1", "m2", None):
            events = [event async for event in chat.send("hello", message_id=message_id)]
            assert isinstance(events[-1], Finish)
    assert len(agent.journal.runs) == 3
