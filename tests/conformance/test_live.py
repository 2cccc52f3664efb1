"""Released clients against a running gateway and the lab's agent, over real sockets."""

import asyncio
import time
from typing import Any, Final, NamedTuple

import jwt
import pytest

from conformance.clients import CLIENTS, Job, Message, Played, Report, play
from conformance.live import PATIENT
from conformance.verdict import OPEN_STATES, shown
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.gateway import Gateway

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

KEY: Final = "a key of at least thirty-two bytes that opens nothing"
STOP_MS: Final = 100
HEARD_S: Final = 5.0
FLOOD: Final = 5000
ORDERS: Final[dict[str, Job]] = {
    "text": {"actions": [{"send": "hello there"}]},
    "calculator": {"actions": [{"send": "what is 12*7?"}], "autoSend": True},
    "tool fails": {"actions": [{"send": "divide 1 by 0"}], "autoSend": True},
    "turn fails": {"actions": [{"send": "make the turn fail"}], "autoSend": True},
    "empty": {"actions": [{"send": "say nothing"}]},
    "reasoning": {"actions": [{"send": "think about rivers"}]},
    "flood": {"actions": [{"send": f"say {FLOOD} deltas"}], "limitMs": 60_000},
    "hung up": {"actions": [{"send": "hang up on me"}]},
    "refused": {"actions": [{"send": "refuse this prompt"}]},
    "two prompts": {"actions": [{"send": "what is 1+2?"}, {"send": "what is 3+4?"}]},
    "regenerated": {"actions": [{"send": "what is 1+2?"}, {"regenerate": True}]},
    "stopped": {"stopAfterMs": STOP_MS},
    "no token": {"headers": {}},
}


class Live(NamedTuple):
    reports: dict[str, Report]
    heard: list[dict[str, Any]]  # every frame the agent was sent


def jobs(client: str, gateway_url: str) -> list[Job]:
    # A user for each client: one user may have only so many streams at once.
    claims = {"sub": client, "exp": int(time.time()) + 600, "sessions": {"*": "collaborator"}}
    token = jwt.encode(claims, KEY, algorithm="HS256")
    common: Job = {
        "headers": {"Authorization": f"Bearer {token}"},
        "actions": [{"send": f"hang, {client}"}],
    }
    return [
        {
            **common,
            "name": name,
            # A session for each job: prompts of one session wait for each other.
            "url": f"{gateway_url}/api/sessions/{client}:{number}/chat",
            **order,
        }
        for number, (name, order) in enumerate(ORDERS.items())
    ]


def aborted(heard: list[dict[str, Any]], client: str) -> bool:
    prompts = [
        frame["promptId"]
        for frame in heard
        if frame["type"] == "prompt" and frame["content"] == f"hang, {client}"
    ]
    aborts = [frame["promptId"] for frame in heard if frame["type"] == "abort"]
    return len(prompts) == 1 and aborts.count(prompts[0]) == 1


async def converse() -> Live:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=PATIENT) as gateway,
    ):
        played = await asyncio.gather(
            *(asyncio.to_thread(play, client, jobs(client, gateway.url)) for client in CLIENTS)
        )
        reports = dict(zip(CLIENTS, played, strict=True))
        try:
            async with asyncio.timeout(HEARD_S):
                await agent.until(lambda: all(aborted(agent.received, name) for name in CLIENTS))
        except TimeoutError:
            pass  # a test of its own says which client's abort is missing
        return Live(reports, list(agent.received))


@pytest.fixture(scope="module")
def live() -> Live:
    return asyncio.run(converse())


every_client = pytest.mark.parametrize("client", CLIENTS)


def only_answer(played: Played) -> Message:
    assert not played.timed_out
    assert played.posts == 1
    assert len(played.answers) == 1
    left = [part for part in played.answers[0].parts if part.get("state") in OPEN_STATES]
    assert left == []
    return played.answers[0]


def texts(message: Message) -> str:
    return "".join(part["text"] for part in message.parts if part["type"] == "text")


@every_client
def test_nothing_is_left_unhandled(client: str, live: Live) -> None:
    assert live.reports[client].unhandled == []


@every_client
def test_a_text_turn(client: str, live: Live) -> None:
    played = live.reports[client].job("text")
    answer = only_answer(played)

    assert (played.status, played.error, played.responses) == ("ready", None, [200])
    assert [part["type"] for part in answer.parts] == ["step-start", "text"]
    assert texts(answer).startswith("Hello! ")
    assert "hello there" in texts(answer)
    assert {part["type"] for part in played.data} == {"data-agent-status"}


@every_client
def test_a_tool_turn_keeps_its_order_and_is_not_sent_again(client: str, live: Live) -> None:
    played = live.reports[client].job("calculator")
    parts = shown(client, only_answer(played))

    assert played.status == "ready"
    assert [part["type"] for part in parts] == [
        "step-start",
        "text",
        "tool-calculator",
        "step-start",
        "text",
    ]
    assert parts[2]["state"] == "output-available"
    assert parts[2]["input"] == {"expression": "12*7"}
    assert parts[2]["output"]["value"] == 84
    assert parts[2]["providerExecuted"] is True
    assert "84" in parts[4]["text"]


@every_client
def test_a_failed_tool_is_not_a_failed_turn(client: str, live: Live) -> None:
    played = live.reports[client].job("tool fails")
    parts = shown(client, only_answer(played))
    tool = next(part for part in parts if part["type"] == "tool-calculator")

    assert (played.status, played.error) == ("ready", None)
    assert (tool["state"], tool["errorText"]) == ("output-error", "Division by zero.")
    assert parts[-1]["type"] == "text"


@every_client
def test_a_failed_turn_says_why_and_keeps_its_text(client: str, live: Live) -> None:
    played = live.reports[client].job("turn fails")

    assert texts(only_answer(played)) == "I will try, but it will not "
    assert (played.status, played.error) == ("error", "The agent was told to fail this turn.")


@every_client
def test_an_empty_turn_is_an_empty_answer(client: str, live: Live) -> None:
    played = live.reports[client].job("empty")

    assert shown(client, only_answer(played)) == []
    assert (played.status, played.error) == ("ready", None)


@every_client
def test_thoughts_come_before_words(client: str, live: Live) -> None:
    played = live.reports[client].job("reasoning")
    types = [part["type"] for part in only_answer(played).parts]

    assert types == ["step-start", "reasoning", "text"]


@every_client
def test_thousands_of_deltas_arrive_once_and_in_order(client: str, live: Live) -> None:
    played = live.reports[client].job("flood")

    assert texts(only_answer(played)) == "".join(f"{number} " for number in range(FLOOD))
    assert played.status == "ready"


@every_client
def test_an_agent_that_hangs_up_is_an_error(client: str, live: Live) -> None:
    played = live.reports[client].job("hung up")

    assert texts(only_answer(played)).startswith("Hanging up")
    assert (played.status, played.error) == ("error", "Stream interrupted")


@every_client
def test_a_refused_prompt_is_an_error_without_an_answer(client: str, live: Live) -> None:
    played = live.reports[client].job("refused")

    assert (played.answers, played.posts) == ([], 1)
    assert played.error == "The agent was told to refuse this prompt."


@every_client
def test_two_prompts_have_two_answers(client: str, live: Live) -> None:
    played = live.reports[client].job("two prompts")

    assert [message.role for message in played.messages] == ["user", "assistant"] * 2
    assert len({message.id for message in played.messages}) == 4
    assert "is **3**" in texts(played.answers[0])
    assert "is **7**" in texts(played.answers[1])


@every_client
def test_a_regenerated_answer_takes_the_place_of_the_first(client: str, live: Live) -> None:
    played = live.reports[client].job("regenerated")

    assert (played.posts, len(played.answers), played.status) == (2, 1, "ready")
    assert "is **3**" in texts(played.answers[0])


@every_client
def test_stop_reaches_the_agent(client: str, live: Live) -> None:
    played = live.reports[client].job("stopped")

    assert (played.status, played.error, played.timed_out) == ("ready", None, False)
    assert texts(played.answers[0]).startswith("I ")
    assert aborted(live.heard, client)


@every_client
def test_without_a_token_the_user_reads_why(client: str, live: Live) -> None:
    played = live.reports[client].job("no token")

    assert (played.status, played.responses, played.answers) == ("error", [401], [])
    assert played.error is not None
    assert '"code"' in played.error
