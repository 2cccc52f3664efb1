"""Two gateways before one agent that tells everything to everybody, and names no prompts."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Chat, ask, errors, is_whole, new_client, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from relay.broadcaster import Broadcaster
from relay.crowd import LIMITS, WITHIN_S, crowd
from turnwire.core.recording.replay import replay
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects import DIALECTS
from turnwire_lab.agents.session_agent import habits as session_agent
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

USERS = ("ann", "bob")
Open = Callable[..., Awaitable[Chat]]


@asynccontextmanager
async def two(agent_url: str, **given: Any) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """Two processes as far as rooms go, which each see half of the session's streams."""
    async with (
        Gateway(agent_url, sessions="apart", **given) as one,
        Gateway(agent_url, sessions="apart", **given) as other,
    ):
        yield one, other


class Slow:
    """One session: one turn at a time, told to every line, each at leave to end."""

    def __init__(self, *, names_users: bool) -> None:
        self.goes_on = asyncio.Event()
        self._names_users = names_users
        self._running = asyncio.Lock()
        self._open: list[Line] = []

    async def __call__(self, line: Line) -> None:
        self._open.append(line)
        try:
            prompt = await line.prompt()
            async with self._running:
                user = line.headers["x-turnwire-user"]
                named = {"userId": user} if self._names_users else {}
                await self._tell(frames.create(turn=f"turn-of-{user}", **named))
                await self._tell(frames.delta(prompt["content"], f"turn-of-{user}"))
                await self.goes_on.wait()
                await self._tell(frames.finalize(f"turn-of-{user}"))
            await until(lambda: line.closed)
        finally:
            self._open.remove(line)

    async def _tell(self, told: frames.Json) -> None:
        data = frames.raw(frames.text(told).encode())
        await asyncio.gather(*(line.raw(data) for line in self._open if line.is_open))


async def chat(
    client: httpx.AsyncClient, gateway: Gateway, user: str, text: str, **params: str
) -> Chat:
    request = client.build_request(
        "POST",
        f"{gateway.url}/api/sessions/s1/chat",
        json=ask(text),
        headers=bearer(user),
        params=params,
    )
    return Chat(await client.send(request, stream=True))


@pytest.mark.fault(
    "two gateways before an agent that names no prompts, prompted at one moment",
    "each user sees their own turn, and nothing of the other turn",
)
async def test_each_user_is_shown_their_own_turn_where_the_agent_names_its_user() -> None:
    async with (
        ReferenceAgent(Habits(prompt_ids=False)) as agent,
        two(agent.url) as gateways,
        new_client() as client,
    ):
        chats = await asyncio.gather(
            *(
                chat(client, gateways[number % 2], USERS[number % 2], f"echo {number}")
                for number in range(2)
            )
        )
        alone = [said(await one.end()) for one in chats]
        for gateway in gateways:
            await gateway.has_ended("completed")

    assert "echo 0" in alone[0]
    assert "echo 1" in alone[1]
    assert "echo 1" not in alone[0]
    assert "echo 0" not in alone[1]


@pytest.mark.attack(
    "two gateways before an agent that names no prompts: a second client prompts, and hangs up",
    "it sees nothing of the other turn, and aborts nothing",
)
@pytest.mark.parametrize("names_users", [True, False])
async def test_who_hangs_up_stops_nobody_else(
    names_users: bool,  # noqa: FBT001 (a table's column)
) -> None:
    script = Slow(names_users=names_users)
    async with (
        ScriptedAgent(script) as agent,
        two(agent.url(), agent_auth="none", queue_wait_s=2) as gateways,
        new_client() as client,
    ):
        anns, bobs = await asyncio.gather(
            *(chat(client, gateways[n], USERS[n], f"secret of {USERS[n]}") for n in range(2))
        )
        await until(lambda: all(map(_knows, (anns, bobs))))
        await bobs.hang_up()
        script.goes_on.set()
        body = await anns.end()

    assert not any(line.aborts for line in agent.lines)
    assert is_whole(body)
    assert b"secret of bob" not in body
    assert b"secret of ann" not in bobs.body


def _knows(given: Chat) -> bool:
    """Whether a stream has heard of the first turn, whatever it made of it."""
    return any(sign in given.body for sign in (b"text-delta", b"queued", b"errorText"))


async def test_a_turn_that_was_bound_by_its_user_runs_on_without_its_client() -> None:
    async with (
        ReferenceAgent(Habits(prompt_ids=False, pace_s=0.01)) as agent,
        two(agent.url) as (gateway, _),
        new_client() as client,
    ):
        anns = await chat(client, gateway, "ann", "tell me a story")
        await anns.sees("text-delta")
        await anns.hang_up()
        await gateway.has_ended("client_gone")
        await until(lambda: [run.reason for run in agent.journal.runs] == ["end_turn"])

        assert not [frame for frame in agent.received if frame["type"] == "abort"]


@pytest.mark.fault(
    "two gateways before an agent that names neither prompts nor users",
    "both streams end with an error that says so; no turn is shown or aborted on a guess",
)
async def test_where_nothing_says_whose_a_turn_is_nobody_is_shown_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with (
        ScriptedAgent(Broadcaster(names_prompts=False)) as agent,
        two(agent.url()) as gateways,
        new_client() as client,
    ):
        chats = await asyncio.gather(
            *(chat(client, gateways[n], USERS[n], f"secret {n}") for n in range(2))
        )
        bodies = [await each.end() for each in chats]
        for gateway in gateways:
            await gateway.has_ended("unnamed")

    assert [errors(body) for body in bodies] == [[Outcome.UNNAMED.text]] * 2
    assert not any(map(said, bodies))
    assert all(map(is_whole, bodies))
    assert not any(line.aborts for line in agent.lines)


async def test_one_gateway_binds_them_by_the_channel_as_ever() -> None:
    async with (
        ScriptedAgent(Broadcaster(names_prompts=False)) as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        body = await (await chat(client, gateway, "ann", "hello")).end()

    assert said(body) == "You said hello."


class Resolving:
    """Two turns at once, each with a question of the same id; the second one's is answered."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._both = asyncio.Event()

    async def __call__(self, line: Line) -> None:
        prompt = await line.prompt()
        self.lines.append(line)
        if len(self.lines) == 2:
            self._both.set()
        await self._both.wait()
        number = self.lines.index(line)
        turn = f"turn-{number}"
        place = {name: prompt[name] for name in ("promptId", "channelType", "channelId")}
        await self.tell({**frames.create(turn=turn), **place})
        asked = {"type": "question", "questionId": "q1", "turnId": turn, "text": "PIN?"}
        await self.tell(asked)
        if number:
            named = {"questionId": "q1", "turnId": turn, "answer": "4111"}
            await self.tell({"type": "question.resolved", **named})
        await self.tell(frames.finalize(turn))
        await until(lambda: line.closed)

    async def tell(self, frame: frames.Json) -> None:
        data = frames.raw(frames.text(frame).encode())
        await asyncio.gather(*(line.raw(data) for line in self.lines if line.is_open))


async def test_an_answer_to_an_equal_question_id_goes_to_its_own_user_alone() -> None:
    script = Resolving()
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        chats = [await chat(client, gateway, user, "hi", channelId=user) for user in USERS]
        bodies = [await each.end() for each in chats]

    first = script.lines[0].headers["x-request-id"]
    of_first = [body for c, body in zip(chats, bodies, strict=True) if _id(c) == first]
    of_second = [body for c, body in zip(chats, bodies, strict=True) if _id(c) != first]
    assert [b"4111" in body for body in (*of_first, *of_second)] == [False, True]


def _id(given: Chat) -> str:
    return given.response.headers["x-request-id"]


@pytest.mark.fault(
    "two gateways before a `session-agent`, one user, two equal prompts at one moment",
    "a hang-up aborts a turn only if the abort cannot hit another prompt",
)
@pytest.mark.parametrize("revision", session_agent.REVISIONS)
async def test_who_sent_an_equal_prompt_through_another_gateway_keeps_its_turn(
    revision: session_agent.Revision,
) -> None:
    habits = session_agent.Habits(revision=revision, pace_s=0.02, settles=True)
    async with (
        SessionAgent(habits) as agent,
        two(agent.url, dialect="session-agent", queue_wait_s=2) as (one, other),
        new_client() as client,
    ):
        text = "tell me a story"
        chats = await asyncio.gather(*(chat(client, each, "ann", text) for each in (one, other)))
        await until(lambda: any(b"text-delta" in each.body for each in chats))
        await chats[1].hang_up()
        body = await chats[0].end()
        await until(lambda: len(other.streams) == 0)

    assert is_whole(body)
    assert not agent.tally.aborts


@pytest.mark.parametrize("revision", session_agent.REVISIONS)
async def test_a_crowd_spread_over_two_gateways_stops_no_turn_of_another(
    revision: session_agent.Revision,
) -> None:
    """Half of it hangs up; the two of each pair of equal prompts sit in different gateways."""
    members = crowd(1)
    habits = session_agent.Habits(revision=revision, settles=True)
    async with (
        SessionAgent(habits) as agent,
        two(agent.url, dialect="session-agent", **LIMITS) as gateways,
        new_client() as client,
    ):
        async with asyncio.timeout(WITHIN_S):
            await asyncio.gather(*(m.talk(client, gateways[m.number % 2]) for m in members))
        await until(lambda: not any(len(gateway.streams) for gateway in gateways), WITHIN_S)

    turns = {turn.turn_id: turn for turn in agent.tally.finished}
    assert agent.tally.aborts
    assert not agent.tally.crossed
    for member in members:
        assert member.answer.startswith(said(member.body))
        if member.turn_id in turns:
            assert turns[member.turn_id].user_id == member.user


@pytest.mark.parametrize("named", [{}, {"userId": "ann"}])
async def test_a_recording_knows_that_other_processes_may_have_had_the_session(
    tmp_path: Path, named: frames.Json
) -> None:
    async def script(line: Line) -> None:
        await line.prompt()
        await line.say(frames.create(**named), frames.delta("Hello"))
        await line.say(frames.finalize(reason="error", error="no"))

    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), sessions="apart", record_dir=tmp_path, record_text="true") as gateway,
        new_client() as client,
    ):
        body = await (await chat(client, gateway, "ann", "hello")).end()
        await until(lambda: gateway.counted("turnwire_recordings_total", result="written"))

    again = replay(_only(tmp_path), DIALECTS["v2"])
    assert said(again) == ("Hello" if named else "")
    assert errors(again) == errors(body) == (["no"] if named else [Outcome.UNNAMED.text])


def _only(directory: Path) -> list[bytes]:
    """The lines of the one recording there is."""
    (file,) = directory.glob("*.jsonl")
    return file.read_bytes().splitlines()
