"""Turns with agents of real frameworks that released clients end otherwise, or see cut."""

import asyncio
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import pytest

from agents.before import SETTINGS, TESTED, job, outline
from agents.counting import CountedAgent
from agents.habits import CUT_AT, CUT_LATE_AT, HABITS, WORKS_ON
from conformance.clients import CLIENTS, Job, Played, Report, play, version
from gateway.needed import lacking
from gateway.tokens import KEY
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS
from turnwire_lab.faultproxy import FaultProxy, Way
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST

# The first test of a framework waits for the clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

NEWEST: Final = list({version(client)[0]: client for client in CLIENTS}.values())
"""Of each major version."""
HELLO: Final = "text: Hello! I am a small agent, and no model is behind me."
LINES: Final = 30
"""A turn of three seconds, so that it still runs when its client is back."""
STORY: Final = {"send": f"tell me a story of {LINES} lines"}
MANY_LINES: Final = 100
MANY: Final = {"send": f"tell me a story of {MANY_LINES} lines"}
RECORDS: Final = 8
"""A few lines of a story, and what comes before them."""
SETTLED_S: Final = 1.0


class Ended(NamedTuple):
    reports: dict[str, Report]
    pieces: tuple[int, int]
    """Of the model, when all clients were done, and a second later."""

    def job(self, client: str, name: str) -> Played:
        return self.reports[client].job(name)


def jobs(client: str, leaving: Gateway, staying: Gateway, cutting: Gateway) -> list[Job]:
    """Before gateways that end a turn whose client is gone, go on with it, lose their agent."""
    # At once it would be 409 now and then: it may come before the end of the other connection.
    next_prompt = {"send": "hello", "waitMs": 300}
    reload = ({"drop": True}, {"resume": True})
    return [
        one | {"url": gateway.url + one["url"]}
        for gateway, one in (
            (staying, job(client, "reloaded", STORY | {"cut": RECORDS}, *reload)),
            (leaving, job(client, "stopped", MANY | {"stop": RECORDS}, next_prompt)),
            (leaving, job(client, "hung up", MANY | {"cut": RECORDS}, next_prompt)),
            (cutting, job(client, "cut", STORY)),
        )
    ]


async def end_turns(framework: str) -> Ended:
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed: `make agents`")
    settings = SETTINGS | {"TURNWIRE_HISTORY": FRAMEWORKS[framework].history}
    kept = settings | {"TURNWIRE_ON_DISCONNECT": "continue"}
    back = Way(cut_after=CUT_LATE_AT.get(framework, CUT_AT))
    at_once = max(1, HABITS[framework].jobs_at_once // len(NEWEST))
    async with CountedAgent(framework) as agent, FaultProxy(agent.port, back=back) as line:
        url = urlsplit(agent.url)._replace(netloc=f"{HOST}:{line.port}").geturl()
        async with (
            Gateway(agent_url=agent.url, jwt_key=KEY, settings=settings) as leaving,
            Gateway(agent_url=agent.url, jwt_key=KEY, settings=kept) as staying,
            Gateway(agent_url=url, jwt_key=KEY, settings=settings) as cutting,
        ):

            async def work(client: str) -> Report:
                given = jobs(client, leaving, staying, cutting)
                return await asyncio.to_thread(play, client, given, at_once=at_once)

            reports = await asyncio.gather(*map(work, NEWEST))
            at_rest = agent.pieces
            await asyncio.sleep(SETTLED_S)
            return Ended(dict(zip(NEWEST, reports, strict=True)), (at_rest, agent.pieces))


@pytest.fixture(scope="module", params=TESTED)
def framework(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ended(framework: str) -> Ended:
    return asyncio.run(end_turns(framework))


every_client = pytest.mark.parametrize("client", NEWEST)


def story(lines: int) -> str:
    return "".join(f"Line {line} of the story. " for line in range(1, lines + 1))


def is_part_of_it(text: str) -> bool:
    """Whether a text is a story from its beginning on, but not to its end."""
    told = text.removeprefix("text: ")
    return "Line 2 " in told and story(MANY_LINES).startswith(told) and told.count("Line") < LINES


@every_client
def test_a_stop_ends_the_turn_and_the_next_prompt_is_answered(client: str, ended: Ended) -> None:
    stopped = ended.job(client, "stopped")

    (receipt,) = stopped.receipts
    assert receipt["stopped"] is True
    (text,), (hello,) = (outline(message) for message in stopped.answers)
    assert is_part_of_it(text)
    assert hello == HELLO
    assert (stopped.status, stopped.errors) == ("ready", [])


@every_client
def test_a_client_that_hung_up_has_its_next_prompt_answered(client: str, ended: Ended) -> None:
    hung_up = ended.job(client, "hung up")

    (text,), (hello,) = (outline(message) for message in hung_up.answers)
    assert is_part_of_it(text)
    assert hello == HELLO
    assert (hung_up.status, hung_up.errors, hung_up.responses) == ("ready", [], [200, 200])


def test_no_model_goes_on_when_all_have_stopped_or_hung_up(framework: str, ended: Ended) -> None:
    at_rest, later = ended.pieces

    assert later == at_rest or framework in WORKS_ON


@every_client
def test_a_reload_in_mid_turn_shows_the_same_message(client: str, ended: Ended) -> None:
    reloaded = ended.job(client, "reloaded")

    assert [outline(message) for message in reloaded.answers] == [[f"text: {story(LINES).strip()}"]]
    assert (reloaded.status, reloaded.errors) == ("ready", [])


@every_client
def test_a_connection_to_the_agent_that_is_cut_is_one_error(client: str, ended: Ended) -> None:
    cut = ended.job(client, "cut")

    ((text,),) = (outline(message) for message in cut.answers)
    assert is_part_of_it(text)
    assert (cut.status, cut.errors) == ("error", ["Stream interrupted"])
