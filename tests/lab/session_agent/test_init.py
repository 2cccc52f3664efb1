"""What a socket of each revision hears first, and in which order."""

from typing import Any

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.handlers.init import hydrate
from turnwire_lab.agents.session_agent.line import client, outline
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets


async def test_on_r_init_is_everything() -> None:
    async with SessionAgent(Habits(revision="R")) as agent:
        async with client(agent.url) as ours:
            await ours.prompt("what is 2+2?")
            await ours.hear("files-changed")
        async with client(agent.url, "bob") as later:
            init = await later.hear("init")

    entries = init["session"]["messages"]
    assert [e["role"] for e in entries] == ["user", "assistant"]
    assert isinstance(entries[0]["createdAt"], int)
    assert [p["type"] for p in entries[1]["parts"]] == ["text", "tool-call", "text", "finish"]
    data = init["data"]
    assert data["availableModels"]
    assert data["connectedUsers"][0]["id"] == "bob"
    assert "pendingPrompt" not in data
    first = data["auditLog"][0]
    assert first["eventType"] == "user.joined"
    assert first["createdAt"][10] == " "


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_later_init_is_tiny_and_models_and_audit_log_follow(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent:
        async with client(agent.url) as ours:
            await ours.prompt("say 1 deltas")
            await ours.hear("files-changed")
        await agent.until(lambda: agent.connections == 0)
        async with client(agent.url, "bob") as later:
            await later.settle()

    init, models, *_ = later.received
    assert init == {
        "type": "init",
        "session": {
            "id": "s1",
            "status": "running",
            "workspace": "acme/app",
            "title": "Session s1",
        },
        "data": {
            "sandboxRunning": True,
            "runnerConnected": True,
            "runnerBusy": False,
            "promptsQueued": 0,
            "connectedClients": 1,
            "connectedUsers": ["bob"],
            "pendingPrompt": None,
        },
    }
    assert models["type"] == "models"
    assert ("defaultModel" in models) is (revision == "V")
    assert outline(later.received)[2:] == [
        "audit_log user.joined",
        "audit_log user.prompt",
        "audit_log agent.turn_complete",
        "audit_log user.left",
        "user.joined",
        "audit_log user.joined",
        "pong",
    ]
    rows = [frame["entry"] for frame in later.received if frame["type"] == "audit_log"]
    assert [type(row["createdAt"]) for row in rows] == [int, int, int, int, str]
    assert rows[2]["actorId"] is None


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_later_init_names_the_prompt_that_waits(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.prompt("next")
        queued = await ours.hear("queue.state")
        async with client(agent.url) as later:
            init = await later.hear("init")

    waits = queued["data"]["pending"]
    assert init["data"]["pendingPrompt"] == {**waits, "content": "next", "threadId": None}
    assert (init["data"]["runnerBusy"], init["data"]["promptsQueued"]) == (True, 1)


async def test_on_r_a_running_turn_may_be_heard_before_init() -> None:
    async with SessionAgent(Habits(revision="R")) as agent, client(agent.url) as ours:
        session = agent.session("s1")
        await ours.prompt("hold")
        await ours.hear("chunk")
        session.hold_init()
        async with client(agent.url, "bob") as later:
            await agent.until(lambda: "bob" in session.users)
            session.release()
            await ours.hear("files-changed")
            session.release_init()
            await later.hear("init")

    assert outline(later.received) == [
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        "agentStatus idle",
        "files-changed",
        "init",
    ]


async def test_the_delay_of_init_may_be_a_time() -> None:
    habits = Habits(revision="R", init_delay_s=0.001)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.hear("init")


async def test_an_init_that_is_held_back_does_not_keep_the_agent_alive() -> None:
    async with SessionAgent(Habits(revision="R")) as agent:
        agent.session("s1").hold_init()
        async with client(agent.url):
            await agent.until(lambda: agent.connections == 1)

    assert agent.connections == 0


async def test_on_v_hydration_may_come_after_the_echo() -> None:
    async with SessionAgent(Habits(hydration_s=30)) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas")
        await ours.finish(await ours.bind())

    assert "message user" in outline(ours.received)
    assert not {"models", "user.joined"} & set(outline(ours.received))


async def test_hydration_comes_in_the_end() -> None:
    async with SessionAgent(Habits(hydration_s=0.001)) as agent, client(agent.url) as ours:
        await ours.hear("models")
        await ours.hear("user.joined")


async def test_who_left_before_hydration_is_not_announced() -> None:
    async with SessionAgent(Habits(hydration_s=30)) as agent, client(agent.url) as ours:
        state = agent.session("s1")._state
        async with client(agent.url, "bob"):
            await agent.until(lambda: "bob" in state.sockets.users)
            [gone] = [s for s in state.sockets.open if state.sockets.user_of(s) == "bob"]
        await ours.hear("user.left")
        hydrate(state, gone, "bob")
        await ours.settle()

    assert "user.joined" not in outline(ours.received)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_socket_joins_but_only_a_users_last_one_leaves(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        async with client(agent.url, "bob") as one:
            await one.hear("init")
            async with client(agent.url, "bob") as two:
                await two.settle()
            await agent.until(lambda: agent.connections == 2)
            await ours.settle()
            before = list(ours.received)
        await ours.hear("user.left", userId="bob")

    joined: list[Any] = [f["userId"] for f in ours.received if f["type"] == "user.joined"]
    assert joined == ["ann", "bob", "bob"]
    assert "user.left" not in outline(before)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_noise_can_be_left_out(revision: Revision) -> None:
    habits = Habits(revision=revision, noise=False)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas")
        await ours.finish(await ours.bind())
        await ours.settle()

    noisy = {"audit_log", "models", "user.joined", "files-changed"}
    assert not noisy & {frame["type"] for frame in ours.received}


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_a_flooded_audit_log_is_told_to_every_new_socket(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("flood the audit log with 3000")
        await ours.finish(await ours.bind())
        async with client(agent.url, "bob") as later:
            await later.hear("user.joined")

    for line in (ours, later):
        assert outline(line.received).count("audit_log agent.tool_call") == 3000
