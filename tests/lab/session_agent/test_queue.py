"""Who waits, who goes next, and who never does (§5.3)."""

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client, outline, text
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

NEVER = float("inf")


@pytest.mark.parametrize(
    ("backwards", "order"), [(False, ["say 1 deltas", "two"]), (True, ["two", "say 1 deltas"])]
)
async def test_on_r_everybody_waits_in_one_line_of_whole_seconds(
    backwards: bool,  # noqa: FBT001 (a parameter of the test)
    order: list[str],
) -> None:
    habits = Habits(revision="R", ties_backwards=backwards)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        await ours.prompt("hold")
        await ours.prompt("say 1 deltas", channelId="side")
        await ours.prompt("two")
        await ours.status(queuePosition=2)
        # The clock may tick between two prompts; that is not what this is about.
        for row in session.queued:
            row.at = 0
        waiting = [row.content for row in session.queued]
        session.release()
        await ours.status(promptDequeued=True, remaining=1)
        await ours.status(promptDequeued=True, remaining=0)
        await ours.status(runnerBusy=False)

    assert waiting == order
    echoes = [f for f in ours.received if f["type"] == "message" and f["data"]["role"] == "user"]
    assert len(echoes) == 3  # at once, and only once


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_the_last_to_come_gets_the_one_place_to_wait(revision: Revision) -> None:
    async with (
        SessionAgent(Habits(revision=revision)) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("hold")
        await ann.prompt("second")
        second = (await bob.hear("queue.state"))["data"]["pending"]
        await bob.prompt("third")
        withdrawn = await ann.hear("queue.withdrawn")
        start = len(ann.received) - 1
        third = await ann.hear("queue.state")
        await ann.status(promptQueued=True, queuePosition=1)
        agent.session("s1").release()
        await bob.status(runnerBusy=False)

    assert withdrawn["data"] == {**second, "content": "second", "threadId": None}
    assert third["data"]["pending"]["content"] == "third"
    assert outline(ann.received[start:]) == [
        "queue.withdrawn",
        "audit_log prompt.queued",
        "queue.state",
        "status promptQueued",
    ]
    echoes = [f["data"] for f in bob.received if f["type"] == "message"]
    assert [echo["content"] for echo in echoes if echo["role"] == "user"] == ["hold", "third"]
    [evicted] = agent.tally.evicted
    assert (evicted.user_id, evicted.by, evicted.content) == ("ann", "bob", "second")
    assert agent.tally.finished_by_user == {"ann": 1, "bob": 1}


async def test_on_v_channels_run_at_once_and_their_frames_interleave() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        one = await ours.bind()
        await ours.prompt("hold", threadId="T")
        two = await ours.bind()
        await ours.hear("chunk", messageId=two)
        agent.session("s1").release()
        # The last of them says that nobody is busy, and the other says nothing.
        await ours.status(runnerBusy=False)
        await ours.settle()

    order = [f["messageId"] for f in ours.received if f["type"] == "chunk"]
    assert order != sorted(order, key=[one, two].index)
    assert text(ours.received, one) == text(ours.received, two)
    assert outline(ours.received).count("status runnerBusy") == 1
    assert outline(ours.received).count("audit_log agent.turn_complete") == 2


@pytest.mark.parametrize("revision", ["R", "A"])
async def test_earlier_one_turn_runs_at_a_time_whatever_the_channel(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.prompt("hello", channelId="side")
        await ours.status(promptQueued=True)

        assert len(agent.session("s1").turns) == 1


async def test_on_v_a_prompt_of_another_channel_evicts_too() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        for thread in ("T", "U"):
            await ours.prompt("hold", threadId=thread)
        await ours.prompt("one", threadId="T")
        await ours.prompt("two", threadId="U")
        withdrawn = await ours.hear("queue.withdrawn")
        queued = await ours.status(promptQueued=True)
        agent.session("s1").release()
        dequeued = await ours.status(promptDequeued=True)

    assert withdrawn["data"]["content"] == "one"
    assert withdrawn["data"]["threadId"] == "T"
    for frame in (queued, dequeued):
        assert frame["data"]["channelType"] == "thread"
        assert frame["data"]["channelId"] == frame["data"]["threadId"] == "U"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_prompt_that_steers_stops_the_turn_and_goes_next(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.prompt("waits")
        await ours.status(promptQueued=True)
        await ours.settle()
        start = len(ours.received)
        async with client(agent.url, "bob") as bob:
            await bob.prompt("say 1 deltas", queueMode="steer")
            await ours.status(promptDequeued=True)
            turn = await ours.finish(await ours.bind())
            await ours.status(runnerBusy=False)

    assert turn["content"] == "0 "
    words = outline(ours.received[start:])
    assert words.index("audit_log user.abort") < words.index("status promptQueued")
    [hit] = agent.tally.foreign
    assert hit.user_id == "ann"
    # On R the abort takes along what waited; later that goes on waiting.
    gone = [row.content for row in agent.tally.deleted]
    assert gone == (["waits"] if revision == "R" else [])
    assert agent.tally.evicted == []


async def test_a_prompt_that_steers_is_not_evicted() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        session = agent.session("s1")
        for thread in ("T", "U"):
            await ours.prompt("hang", threadId=thread)
            await ours.hear("chunk", channelId=thread)
        await ours.say(type="abort")  # which leaves U busy with nothing
        await agent.until(lambda: not session.turns)
        await ours.prompt("say 1 deltas", threadId="U", queueMode="steer")
        await ours.prompt("say 2 deltas", threadId="U")
        await ours.status(promptQueued=True, queuePosition=2)
        waiting = [row.content for row in session.queued]
        session.recover()
        await ours.status(promptDequeued=True, remaining=1)
        await ours.status(promptDequeued=True, remaining=0)

    assert waiting == ["say 1 deltas", "say 2 deltas"]
    assert agent.tally.evicted == []


async def test_steering_an_idle_session_is_just_a_prompt() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas", queueMode="steer")
        await ours.status(runnerBusy=False)

    assert agent.tally.aborts == []


async def test_the_stored_mode_counts_for_prompts_that_name_none() -> None:
    async with SessionAgent(Habits(queue_mode="steer")) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.hear("chunk")
        await ours.prompt("say 1 deltas", queueMode=None)
        await ours.status(runnerBusy=False)

    assert len(agent.tally.stopped) == 1


async def test_an_orchestrator_that_is_busy_is_always_steered() -> None:
    async with SessionAgent() as agent, client(agent.url, session="orchestrator") as ours:
        await ours.prompt("hang")
        await ours.hear("chunk")
        await ours.prompt("say 1 deltas", queueMode="followup")
        await ours.status(runnerBusy=False)

    assert len(agent.tally.stopped) == 1


@pytest.mark.parametrize("revision", REVISIONS)
async def test_collected_prompts_are_joined_under_a_new_id(revision: Revision) -> None:
    habits = Habits(revision=revision, collect_s=NEVER)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("one", queueMode="collect")
        await ours.prompt("two", queueMode="collect")
        await ours.status(collectCount=2)
        agent.session("s1").flush()
        agent.session("s1").flush()
        await ours.finish(await ours.bind())

    echoes = [f["data"] for f in ours.received if f["type"] == "message"]
    said = [echo["content"] for echo in echoes if echo["role"] == "user"]
    assert said == ["one", "two", "one\n\n---\n\ntwo"]
    assert len({echo["id"] for echo in echoes}) == 4
    collected = [f["data"] for f in ours.received if f["type"] == "status"]
    assert [c["collectCount"] for c in collected if "collectPending" in c] == [1, 2, 2]
    assert ("channelId" in collected[0]) is (revision == "V")


async def test_what_was_collected_is_asked_after_a_while() -> None:
    async with SessionAgent(Habits(collect_s=0.001)) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas", queueMode="collect")
        await ours.finish(await ours.bind())


async def test_the_head_of_the_queue_can_be_taken_back_by_anybody() -> None:
    async with (
        SessionAgent() as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("hold")
        await ann.prompt("mine")
        await bob.status(promptQueued=True)
        await bob.say(type="queue.withdraw")
        withdrawn = await ann.hear("queue.withdrawn")
        await bob.say(type="queue.withdraw")
        await bob.settle()

    assert withdrawn["data"]["content"] == "mine"
    [gone] = agent.tally.deleted
    assert (gone.user_id, gone.by) == ("ann", "bob")
    assert outline(bob.received).count("queue.withdrawn") == 1


@pytest.mark.parametrize("kind", ["queue.promote", "queue.replace"])
async def test_the_head_of_the_queue_can_go_at_once(kind: str) -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.prompt("say 1 deltas")
        await ours.status(promptQueued=True)
        await ours.say(type=kind, content="say 2 deltas")
        await ours.status(promptDequeued=True)
        turn = await ours.finish(await ours.bind())
        await ours.say(type="queue.promote")  # nothing waits any more
        await ours.say(type="queue.replace")  # and there is nothing to put there
        await ours.settle()

    assert turn["content"] == ("0 " if kind == "queue.promote" else "0 1 ")
    assert len(agent.tally.stopped) == 1


async def test_r_knows_nothing_of_a_queue_to_be_changed() -> None:
    async with SessionAgent(Habits(revision="R")) as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.prompt("waits")
        await ours.status(promptQueued=True)
        await ours.say(type="queue.withdraw")
        await ours.settle()

        assert len(agent.session("s1").queued) == 1


async def test_a_queue_that_is_cleared_is_told_without_ids() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.prompt("waits")
        await ours.status(promptQueued=True)
        agent.session("s1").clear_queue()
        cleared = await ours.status(queueCleared=True)

    assert cleared["data"] == {"queueCleared": True, "cleared": 1}
    assert [row.by for row in agent.tally.deleted] == [None]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_turns_that_nobody_asked_for_take_their_turn(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        await ours.prompt("hold")
        await ours.hear("chunk")
        session.remind("say 1 deltas")
        session.release()
        await ours.status(promptDequeued=True)
        await ours.finish(await ours.bind())
        await ours.status(runnerBusy=False)
        session.remind("say 1 deltas")
        await ours.finish(await ours.bind())
        await ours.settle()

    users = [f for f in ours.received if f["type"] == "message" and f["data"]["role"] == "user"]
    assert len(users) == 1
    assert agent.tally.finished_by_user == {"ann": 1, None: 2}
