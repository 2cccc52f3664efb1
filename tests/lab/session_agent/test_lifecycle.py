"""Sleep, waking up, a runner that is lost, and sessions that are dead (§5.10)."""

import socket

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision, Status
from turnwire_lab.agents.session_agent.line import OFFERED, ClientLine, client, outline, text
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

NEVER = float("inf")


async def waking(ours: ClientLine) -> list[str]:
    """Ask, and name the steps until the turn begins."""
    await ours.settle()
    start = len(ours.received)
    await ours.prompt("say 1 deltas")
    await ours.bind()
    frames = [f for f in ours.received[start:] if f["type"] in {"status", "agentStatus"}]
    return [_step(frame) for frame in frames]


def _step(frame: Json) -> str:
    if frame["type"] == "agentStatus":
        return str(frame["status"])
    data = frame["data"]
    return str(data["status"] if "status" in data else next(iter(data)))


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_prompt_wakes_a_session_that_sleeps(revision: Revision) -> None:
    habits = Habits(revision=revision, wake_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("hibernate")
        await ours.status(status="hibernated")
        assert agent.session("s1").status == "hibernated"
        steps = await waking(ours)

    early = ["restoring", "running", "runnerConnected", "idle"]
    late = ["restoring", "waiting_runner", "runnerConnected", "idle", "running"]
    woken = late if revision == "V" else early
    assert steps == ["promptQueued", *woken, "promptDequeued", "thinking", "streaming"]
    if revision == "V":
        queued = next(
            f for f in ours.received if f["type"] == "status" and "queueReason" in f["data"]
        )
        assert queued["data"]["queueReason"] == "waking"


async def test_a_prompt_that_comes_while_it_falls_asleep_wakes_it_afterwards() -> None:
    habits = Habits(hibernate_s=NEVER, wake_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        session.hibernate()
        session.hibernate()
        await ours.prompt("hello")
        await ours.status(promptQueued=True)
        session.fall_asleep()
        session.fall_asleep()
        session.wake()
        await ours.status(status="hibernated")
        await ours.status(status="restoring")
        await ours.finish(await ours.bind())

    assert outline(ours.received).count("status status") == 5


async def test_a_session_falls_asleep_in_the_end() -> None:
    async with SessionAgent(Habits(hibernate_s=0.001)) as agent, client(agent.url) as ours:
        agent.session("s1").hibernate()
        await ours.status(status="hibernated")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_session_that_starts_gets_ready_by_itself(revision: Revision) -> None:
    habits = Habits(revision=revision, status="initializing", wake_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        init = await ours.hear("init")
        await ours.status(runnerConnected=True)

    assert init["session"]["status"] == "initializing"
    assert init["data"]["runnerConnected"] is False


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_prompt_to_a_session_that_starts_waits_for_it(revision: Revision) -> None:
    habits = Habits(revision=revision, status="initializing", wake_s=NEVER)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas")
        await ours.status(promptQueued=True)
        agent.session("s1").find_runner()
        await ours.status(promptDequeued=True)
        await ours.finish(await ours.bind())

    assert agent.session("s1").status == "running"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_runner_that_was_lost_begins_again_in_a_new_turn(revision: Revision) -> None:
    habits = Habits(revision=revision, reconnect_s=NEVER, grace_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        await ours.prompt("lose the runner")
        first = await ours.bind()
        lost = await ours.status(runnerDisconnected=True)
        await agent.until(lambda: not session.turns)
        waits = len(session.queued)
        session.lose_runner()  # it cannot be lost twice
        session.find_runner()
        session.find_runner()
        await ours.status(promptDequeued=True)
        second = await ours.bind()
        await ours.finish(second)
        await ours.status(runnerBusy=False)

    # R queues its prompt again at once, V after a while.
    assert lost["data"]["queuedPrompts"] == (0 if revision == "V" else 1)
    assert waits == (0 if revision == "V" else 1)
    assert text(ours.received, second) == "The second runner answers.\n"
    assert first != second
    echoes = [f for f in ours.received if f["type"] == "message" and f["data"]["role"] == "user"]
    assert len(echoes) == 1
    finished = [f["data"]["id"] for f in ours.received if f["type"] == "message.updated"]
    assert finished == [second]


async def test_on_v_the_prompt_waits_again_after_the_grace() -> None:
    habits = Habits(reconnect_s=NEVER, grace_s=0.005)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.hear("chunk")
        agent.session("s1").lose_runner()
        assert len(agent.session("s1").processing) == 1
        while not agent.session("s1").queued:
            await ours.settle()

        assert agent.session("s1").processing == []


async def test_a_runner_comes_back_by_itself() -> None:
    habits = Habits(revision="R", reconnect_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        agent.session("s1").lose_runner()
        await ours.status(runnerConnected=True)


async def test_a_runner_that_does_not_come_back_is_replaced() -> None:
    habits = Habits(reconnect_s=NEVER, loss_s=0.01, wake_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        agent.session("s1").lose_runner()
        await ours.status(status="recovering")
        await ours.status(runnerConnected=True)
        await ours.status(status="running")


async def test_a_session_that_sleeps_has_no_runner_to_find() -> None:
    async with SessionAgent(Habits(wake_s=NEVER)) as agent, client(agent.url) as ours:
        agent.session("s1").hibernate()
        agent.session("s1").find_runner()
        await ours.prompt("hello")
        await ours.status(status="restoring")
        agent.session("s1").die()
        await ours.settle()

    told_of = [frame["data"] for frame in ours.received if frame["type"] == "status"]
    assert not any(data.get("runnerConnected") for data in told_of)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("status", ["terminated", "archived", "error"])
async def test_a_prompt_to_a_dead_session_waits_for_ever(
    revision: Revision, status: Status
) -> None:
    habits = Habits(revision=revision, status=status)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        init = await ours.hear("init")
        await ours.prompt("hello")
        await ours.status(promptQueued=True)
        agent.session("s1").find_runner()
        await ours.say(type="abort")
        await ours.settle()

    assert init["session"]["status"] == status
    assert "status promptDequeued" not in outline(ours.received)
    assert "message assistant" not in outline(ours.received)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("prompt", "status"), [("terminate", "terminated"), ("archive", "archived")]
)
async def test_a_session_that_dies_ends_no_turn(
    revision: Revision, prompt: str, status: str
) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        await ours.prompt("hold")
        await ours.prompt(prompt)
        await ours.status(promptQueued=True)
        session.release()
        await ours.status(status=status)
        await ours.settle()

        assert (session.queued, session.processing, session.turns) == ([], [], [])
        assert session.status == status
    assert outline(ours.received).count("message.updated finish") == 1


@pytest.mark.parametrize("revision", REVISIONS)
async def test_what_waits_for_a_session_that_dies_is_deleted(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.prompt("waits")
        await ours.status(promptQueued=True)
        agent.session("s1").die("archived")
        await ours.status(status="archived")

        assert (agent.session("s1").turns, agent.session("s1").queued) == ([], [])
    assert [row.content for row in agent.tally.deleted] == ["waits"]


async def test_a_socket_that_does_not_read_is_cut_off_and_the_others_hear_on() -> None:
    habits = Habits(buffer_bytes=256 * 1024)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        stalled = socket.socket()
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.connect(("127.0.0.1", agent.port))
        url = agent.url.format(session_id="s1")
        headers = {"authorization": "Bearer bob"}
        async with connect(
            url,
            sock=stalled,
            max_queue=1,
            close_timeout=0.1,
            additional_headers=headers,
            subprotocols=OFFERED,
        ):
            await ours.prompt("flood 100000")
            turn_id = await ours.bind()
            await agent.until(lambda: agent.connections == 1)
            await ours.say(type="abort")
            await ours.status(runnerBusy=False)

    assert text(ours.received, turn_id).startswith("0 1 2 ")


async def test_everybody_may_be_hung_up_on_and_the_turn_goes_on() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hang up")
        with pytest.raises(ConnectionClosed):
            await ours.hear("files-changed")
        await agent.until(lambda: len(agent.tally.finished) == 1)
        async with client(agent.url) as again:
            await again.hear("init")
            agent.session("s1").hang_up()
            with pytest.raises(ConnectionClosed):
                await again.hear("pong")

    assert agent.tally.finished_by_user == {"ann": 1}
