"""What is held for all users together, and who ends when there is no more room."""

import asyncio
from collections.abc import Callable

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import chatting, errors, new_client, post, said
from gateway.pictures import ask_with_picture
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.relay.agent.parked import WHOLE_S, Parked, track
from turnwire.relay.memory_budget import SMALL_BYTES, Budget, Holder

BIG = 300_000
MIB = 1_048_576


def ending(ended: list[str], name: str) -> Callable[[], None]:
    return lambda: ended.append(name)


def test_what_is_held_counts_once_and_is_given_back() -> None:
    budget = Budget(100)
    with budget.holder("u1") as one, budget.holder("u2") as other:
        mine, theirs = one.reserve(), other.reserve()

        assert mine.set(40)
        assert mine.set(40)
        assert one.reserve().set(10)
        assert theirs.set(50)
        assert budget.held_bytes == 100
        assert (one.held_bytes, one.user.held_bytes) == (50, 50)
    assert budget.held_bytes == 0


def test_no_limit_refuses_nobody() -> None:
    assert Budget(0).holder("u1").reserve().set(10**12)


def test_who_comes_does_not_end_for_what_another_has_parked() -> None:
    """The user pays who holds most, with the largest request of theirs."""
    ended: list[str] = []
    budget = Budget(100)
    small, large, other = budget.holder("u1"), budget.holder("u1"), budget.holder("u2")
    small.reserve(ending(ended, "small")).set(30)
    large.reserve(ending(ended, "large")).set(40)
    other.reserve(ending(ended, "other")).set(30)
    newcomer = budget.holder("u3").reserve(ending(ended, "newcomer"))

    assert newcomer.set(20)
    assert ended == ["large"]
    assert budget.held_bytes == 80
    assert newcomer.set(40)
    assert ended == ["large"], "there is room"


def test_a_user_has_a_share_and_the_largest_of_theirs_ends_for_more() -> None:
    ended: list[str] = []
    budget = Budget(100 * MIB, 10 * MIB)
    large, small = budget.holder("u1"), budget.holder("u1")
    other = budget.holder("u2").reserve(ending(ended, "other"))
    large.reserve(ending(ended, "large")).set(6 * MIB)
    held = small.reserve(ending(ended, "small"))

    assert other.set(9 * MIB)
    assert held.set(4 * MIB)
    assert ended == []
    assert held.set(5 * MIB)
    assert ended == ["large"]
    assert (other.held_bytes, budget.held_bytes) == (9 * MIB, 14 * MIB)


def test_one_request_alone_may_hold_more_than_the_share() -> None:
    """A body and a frame of the largest kind have bounds of their own, and others may be small."""
    ended: list[str] = []
    budget = Budget(100 * MIB, 10 * MIB)
    alone = budget.holder("u1").reserve(ending(ended, "alone"))
    beside = budget.holder("u1").reserve(ending(ended, "beside"))

    assert alone.set(20 * MIB)
    assert beside.set(MIB)
    assert ended == []
    assert beside.set(MIB + 1)
    assert ended == ["alone"]
    assert not alone.set(20 * MIB)


def test_one_large_request_ends_before_many_small_ones_of_other_users() -> None:
    ended: list[str] = []
    budget = Budget(100)
    for user in range(9):
        budget.holder(f"u{user}").reserve(ending(ended, "small")).set(10)
    large = budget.holder("large").reserve(ending(ended, "large"))

    assert not large.set(60), "it asks itself, and is told so"
    assert ended == []
    large.set(0)
    assert budget.held_bytes == 90


def test_whoever_shrinks_is_never_told_to_end() -> None:
    budget = Budget(100)
    hold = budget.holder("u1").reserve()

    assert not hold.set(150)
    assert hold.set(120)


def test_the_largest_part_of_a_request_says_how_it_ends() -> None:
    ended: list[str] = []
    budget = Budget(100)
    holder = budget.holder("u1")
    parts = [holder.reserve(ending(ended, name)) for name in ("agent", "client", "prompt")]
    for part, size in zip(parts, (20, 50, 10), strict=True):
        part.set(size)

    assert budget.holder("u2").reserve().set(30)
    assert ended == ["client"]
    assert holder.held_bytes == 0
    assert [part.held_bytes for part in parts] == [0, 0, 0]


def test_as_many_end_as_have_to() -> None:
    ended: list[str] = []
    budget = Budget(100)
    for user in ("u1", "u2", "u3"):
        budget.holder(user).reserve(ending(ended, user)).set(33)
    newcomer = budget.holder("u4").reserve()

    assert newcomer.set(30)
    assert len(ended) == 1
    assert not newcomer.set(101), "it holds most now"
    assert len(ended) == 1


def test_what_is_asked_in_little_is_not_counted() -> None:
    budget = Budget(1)
    with budget.holder("u1") as holder:
        assert holder.reserve_request(SMALL_BYTES)
        assert budget.held_bytes == 0
        assert not holder.reserve_request(SMALL_BYTES + 1)
        assert budget.held_bytes == SMALL_BYTES + 1
        assert holder.reserve_request(0)
        assert budget.held_bytes == 0


def test_a_request_that_is_over_is_told_nothing() -> None:
    ended: list[str] = []
    with Budget(1).holder("u1") as holder:
        hold = holder.reserve(ending(ended, "over"))
    hold.on_end()

    assert ended == []


def begun_frame(size: int) -> bytes:
    """The beginning of a text frame that promises so many bytes."""
    return bytes([0x81, 127]) + size.to_bytes(8, "big")


RESULT = {
    "type": "message.part.tool-update",
    "turnId": frames.TURN,
    "callId": "c1",
    "toolName": "search",
    "status": "completed",
    "args": {},
    "result": "r" * (5 * BIG),
}


@pytest.mark.sockets
@pytest.mark.attack(
    "one user's agents send frames without end, two at once",
    "all share one budget of memory; when it is spent, the largest stream of the user who holds "
    "most of it ends, and no other stream",
)
async def test_nobody_ends_for_the_unfinished_frames_of_another() -> None:
    async def either(line: Line) -> None:
        await line.begin()
        if "/s1/" in line.path:
            await line.raw(begun_frame(40 * BIG) + b" " * 10 * BIG)
            return
        await line.say(RESULT, frames.finalize())

    async with (
        ScriptedAgent(either) as agent,
        Gateway(agent.url(), held_bytes=21 * BIG) as gateway,
        chatting(gateway, user="parks") as first,
        chatting(gateway, user="parks") as second,
    ):
        await until(lambda: gateway.counted("turnwire_held_bytes") >= 20 * BIG)
        await until(lambda: gateway.dialler.budget.held_bytes >= 20 * BIG)
        for user in range(7):
            whole = await post(gateway, session="s2", user=f"u{user}")
            assert errors(whole.text) == []
            assert "r" * (5 * BIG) in whole.text

        await until(lambda: first.ended != second.ended)
        assert errors((first if first.ended else second).body) == ["Stream interrupted"]


@pytest.mark.sockets
async def test_who_asks_for_more_than_all_others_have_ends_itself() -> None:
    async def park(line: Line) -> None:
        await line.begin()
        size = BIG if "/s1/" in line.path else 3 * BIG
        await line.raw(begun_frame(4 * BIG) + b" " * size)

    async with (
        ScriptedAgent(park) as agent,
        Gateway(agent.url(), held_bytes=3 * BIG) as gateway,
        chatting(gateway) as first,
    ):
        await until(lambda: gateway.dialler.budget.held_bytes >= BIG)
        late = await post(gateway, session="s2", user="u2")

        assert errors(late.text) == ["Stream interrupted"]
        assert not first.ended
        await until(lambda: gateway.dialler.budget.held_bytes < 2 * BIG)


@pytest.mark.sockets
async def test_a_long_frame_that_stands_still_has_no_more_than_the_stall_time() -> None:
    async def park(line: Line) -> None:
        await line.begin()
        await line.raw(begun_frame(2 * BIG) + b" " * BIG)

    async with (
        ScriptedAgent(park) as agent,
        Gateway(agent.url(), stall_s=0.3, keepalive_s=600) as gateway,
        chatting(gateway) as parked,
    ):
        await until(lambda: parked.ended)
        assert errors(parked.body) == ["Stream interrupted"]
        assert gateway.dialler.budget.held_bytes == 0


@pytest.mark.sockets
async def test_a_frame_in_many_pieces_counts_too() -> None:
    async def pieces(line: Line) -> None:
        await line.begin()
        await line.raw(
            frames.raw(b'{"type":"message.part.text-delta","turnId":"turn-1",', fin=False)
        )
        await line.raw(frames.raw(b" " * 100_000, opcode=0, fin=False))
        await until(lambda: line.closed or line.of_type("ping"))

    async with ScriptedAgent(pieces) as agent, Gateway(agent.url()) as gateway:
        budget = gateway.dialler.budget
        async with chatting(gateway) as chat:
            await until(lambda: budget.held_bytes > 100_000)
            line = agent.lines[0]
            await line.raw(frames.raw(b'"delta":"whole"}', opcode=0))
            await chat.sees("whole")
            assert budget.held_bytes == 0
            await line.say(frames.finalize())
            body = await chat.end()

    assert said(body) == "whole"


@pytest.mark.sockets
@pytest.mark.fault(
    "the agent stops in the middle of a frame", "“Stream interrupted” after the stall time"
)
@pytest.mark.attack(
    "an agent that sends half a frame while a tool runs",
    "“Stream interrupted” after the stall time, however long a tool may be silent",
)
async def test_a_frame_that_stands_still_ends_its_stream() -> None:
    async def park(line: Line) -> None:
        await line.begin()
        await line.say(frames.running_tool())
        await line.raw(begun_frame(BIG) + b" " * 1_000)

    async with (
        ScriptedAgent(park) as agent,
        Gateway(agent.url(), stall_s=0.4, keepalive_s=0.2) as gateway,
    ):
        response = await post(gateway)

        assert errors(response.text) == ["Stream interrupted"]
        assert gateway.ended("interrupted") == 1


@pytest.mark.sockets
async def test_a_frame_that_grows_is_waited_for() -> None:
    async def trickle(line: Line) -> None:
        await line.begin()
        whole = frames.raw(frames.text(frames.delta("x" * 3_000)).encode())
        for at in range(0, len(whole), 100):
            await line.raw(whole[at : at + 100])
            await asyncio.sleep(0.04)  # the slowness is the fact here
        await line.say(frames.finalize())

    async with (
        ScriptedAgent(trickle) as agent,
        Gateway(agent.url(), stall_s=0.4, keepalive_s=0.2) as gateway,
    ):
        response = await post(gateway)

        assert said(response.text) == "x" * 3_000


def test_what_grows_for_too_long_is_overdue_all_the_same() -> None:
    parked = track(None, 1, 0.0)
    now = 0.0
    while parked is not None and not parked.is_overdue(now, 20):
        now += 10
        parked = track(parked, int(now), now)

    assert now == WHOLE_S


def test_another_frame_has_its_own_time() -> None:
    first = track(None, 5, 0.0, 1)
    assert isinstance(first, Parked)

    assert track(first, 5, 30.0, 1) is first
    assert first.is_overdue(30.0, 20)
    other = track(first, 5, 30.0, 2)
    assert other is not None
    assert other is not first
    assert not other.is_overdue(30.0, 20)
    assert track(other, 0, 31.0, 2) is None


@pytest.mark.sockets
@pytest.mark.fault(
    "the agent does not read the prompt", "“Stream interrupted” after the stall time"
)
async def test_a_prompt_that_the_agent_does_not_read_counts_and_ends_its_stream() -> None:
    size = 11_000_000  # more than the kernel's buffers take

    async def deaf(line: Line) -> None:
        line.connection.transport.pause_reading()

    async with (
        ScriptedAgent(deaf) as agent,
        Gateway(agent.url(), stall_s=1, keepalive_s=0.2) as gateway,
        new_client() as client,
    ):
        gateway.dialler._user_timeout_s = 60  # or the kernel would cut it too
        url = f"{gateway.url}/api/sessions/s1/chat"
        posting = asyncio.create_task(
            client.post(url, json=ask_with_picture(size), headers=bearer())
        )
        budget = gateway.dialler.budget
        await until(lambda: agent.lines and 0 < budget.held_bytes < size)
        response = await posting

        assert errors(response.text) == ["Stream interrupted"]


def holders_of(budget: Budget) -> list[Holder]:
    return [holder for user in budget._users.values() for holder in user.holders]


@pytest.mark.sockets
async def test_no_holder_is_left_of_streams_that_are_over() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        for _ in range(3):
            await post(gateway)
        await until(lambda: not holders_of(gateway.dialler.budget))
