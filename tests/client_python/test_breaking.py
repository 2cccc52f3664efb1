"""Lines that break: what comes twice over the wire is yielded once, and nothing is lost."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

import pytest

from client_python.driving import AnyChat, Kind, chatting, outline, text_of
from gateway.running import Gateway
from turnwire_client import (
    Abort,
    Event,
    Finish,
    Limits,
    Question,
    TextDelta,
    ToolApprovalRequest,
    UnreachableError,
)
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.faultproxy import FaultProxy, Harm, Way
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

STORY: Final = "tell me a long story"
ASKING: Final = {
    "what is 12*7?",
    "approve 12*7",
    "ask two things",
    "think about rivers",
    "cite two sources",
}


class CuttingProxy(FaultProxy):
    """Cuts each connection after its own number of bytes; those beyond the list are whole."""

    def __init__(self, port: int, *cuts: int, harm: Harm = Harm.CLOSE) -> None:
        super().__init__(port)
        self._cuts = list(cuts)
        self._harm = harm

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _ways(self) -> tuple[Way, Way]:
        cut = self._cuts.pop(0) if self._cuts else None
        return Way(), Way(cut_after=cut, harm=self._harm)


async def told(chat: AnyChat, prompt: str) -> list[Event]:
    """The events of a turn in which every question gets an answer."""
    events = []
    async for event in chat.send(prompt):
        events.append(event)
        if isinstance(event, ToolApprovalRequest):
            await chat.approve(event)
        elif isinstance(event, Question) and event.state == "open":
            await chat.answer(event.id, "red")
    return events


def lasting(events: Sequence[Event]) -> list[str]:
    """The events but what is of the moment, or is not repeated: a call has its input by then."""
    gone = {"Data", "ToolInputStart", "ToolInputDelta"}
    return [name for name in outline(events) if name not in gone]


@pytest.mark.parametrize("harm", [Harm.CLOSE, Harm.RESET])
@pytest.mark.parametrize("cuts", [(1500,), (4000, 6000), (900, 2500, 8000)])
async def test_a_story_is_whole_after_cuts(
    kind: Kind, gateway: Gateway, harm: Harm, cuts: tuple[int, ...]
) -> None:
    async with (
        CuttingProxy(gateway.port, *cuts, harm=harm) as proxy,
        chatting(kind, proxy.url, on_disconnect="continue") as chat,
    ):
        events = await told(chat, STORY)
        _, answered = await chat.history()

        assert proxy.broken == len(cuts)
        assert text_of(events) == answered.text
        assert answered.text.endswith("this is the end.")
        assert chat.message.parts == answered.parts
        assert outline(events).count("Finish") == 1
        assert outline(events)[-1] == "Finish"
        assert "Restart" not in outline(events)


@pytest.mark.parametrize("cut", [700, 1500, 2600])
@pytest.mark.parametrize("prompt", sorted(ASKING))
async def test_no_event_comes_twice_and_none_is_lost(
    kind: Kind, gateway: Gateway, prompt: str, cut: int
) -> None:
    async with chatting(kind, gateway.url, session="whole") as chat:
        whole = await told(chat, prompt)
    async with (
        CuttingProxy(gateway.port, cut) as proxy,
        chatting(kind, proxy.url, on_disconnect="continue") as chat,
    ):
        events = await told(chat, prompt)
        _, answered = await chat.history()

        assert lasting(events) == lasting(whole)
        assert text_of(events) == text_of(whole) == answered.text
        assert chat.message.parts == answered.parts


async def test_a_line_that_breaks_before_the_answer_begins(
    kind: Kind, agent: ReferenceAgent, gateway: Gateway
) -> None:
    async with (
        CuttingProxy(gateway.port, 60) as proxy,
        chatting(kind, proxy.url, on_disconnect="continue") as chat,
    ):
        events = await told(chat, "what is 12*7?")
        _, answered = await chat.history()

        assert text_of(events) == answered.text
        assert isinstance(events[-1], Finish)
    assert len(agent.journal.runs) == 1


async def test_under_abort_a_break_is_the_end_of_the_turn(kind: Kind, gateway: Gateway) -> None:
    async with CuttingProxy(gateway.port, 1500) as proxy, chatting(kind, proxy.url) as chat:
        events = await told(chat, STORY)
        _, answered = await chat.history()

        assert isinstance(events[-1], Abort)
        assert text_of(events) == answered.text
        assert not answered.text.endswith("this is the end.")


async def test_a_program_that_begins_in_mid_turn_gets_the_turn_from_its_start(
    kind: Kind, gateway: Gateway
) -> None:
    async with (
        chatting(kind, gateway.url, on_disconnect="continue") as chat,
        aclosing(chat.send(STORY)) as begun,
    ):
        async for event in begun:
            if isinstance(event, TextDelta):
                break
    async with chatting(kind, gateway.url) as chat:
        events = [event async for event in chat.resume()]
        _, answered = await chat.history()

        assert text_of(events) == answered.text
        assert chat.message.parts == answered.parts
        assert isinstance(events[-1], Finish)


async def test_where_nobody_listens_the_client_gives_up(kind: Kind) -> None:
    limits = Limits(waits_s=(0.0, 0.0))
    async with chatting(kind, f"http://127.0.0.1:{free_port()}", limits=limits) as chat:
        with pytest.raises(UnreachableError):
            await told(chat, "hello")
        with pytest.raises(UnreachableError):
            await chat.history()
