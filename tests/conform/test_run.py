"""Which scenarios are played, what is said of the others, and what they cost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from conform.trials import PROMPTS, Trial, failures, notes, reasons
from gateway.faulty_ag_ui import HoldsTextBack, SoundAgent
from turnwire.conform.given import Choices, Given, Shared
from turnwire.conform.run import CREDENTIALS, PATH, START, Verdict, chosen, cost
from turnwire.conform.scenarios import SCENARIOS
from turnwire.conform.words import WORDS
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire_lab.agents.v2.server import ReferenceAgent


def given(wire: str, choices: Choices | None = None) -> Given:
    dialect = DIALECTS[wire]
    return Given(dialect, TRANSPORTS[dialect.transport], PROMPTS, choices or Choices())


def test_what_a_scenario_comes_after_is_played_before_it() -> None:
    names = list(SCENARIOS)
    for name, scenario in SCENARIOS.items():
        for before in scenario.after:
            assert names.index(before) < names.index(name)


def test_every_scenario_says_what_it_costs() -> None:
    for scenario in SCENARIOS.values():
        assert scenario.turns or scenario.looks_at or scenario.name == "greets"
        assert scenario.looks_at <= set(Shared)


@pytest.mark.parametrize(
    ("wire", "only", "turns"),
    [
        ("v2", (), 17),
        ("ag-ui", (), 10),
        ("v2", ("one-turn", "history", "quiet-after-the-end"), 1),
        ("ag-ui", ("hang-up-aborts", "restart"), 0),
        ("acp", ("greets",), 1),
    ],
)
def test_shared_turns_are_counted_once(wire: str, only: tuple[str, ...], turns: int) -> None:
    assert cost(given(wire), only) == turns


def test_what_takes_minutes_costs_more() -> None:
    everything = Choices(is_long=True, restart="true")
    assert cost(given("ag-ui", everything)) == cost(given("ag-ui")) + 3


def test_scenarios_are_chosen_by_name_and_played_in_their_order() -> None:
    assert list(chosen(["unicode", "one-turn"])) == ["one-turn", "unicode"]
    assert list(chosen(())) == list(SCENARIOS)


@pytest.mark.sockets
async def test_the_cost_is_what_is_begun() -> None:
    async with SoundAgent() as agent:
        report = await Trial("ag-ui").report(agent.url)
    assert report.turns == len(agent.runs) == cost(given("ag-ui"))


@pytest.mark.sockets
async def test_what_shows_nothing_after_a_failure_is_not_played() -> None:
    async with HoldsTextBack() as agent:
        report = await Trial("ag-ui").report(agent.url, ("many-deltas", "each-delta-once"))
        alone = await Trial("ag-ui").report(agent.url, ("each-delta-once",))
    assert list(failures(report)) == ["many-deltas"]
    assert reasons(report) == {"each-delta-once": "it shows nothing before `many-deltas` is mended"}
    assert not reasons(alone)


class SaysOneWord(SoundAgent):
    def changed(self, event: dict[str, Any]) -> Iterator[dict[str, Any] | bytes]:
        yield {**event, "delta": "la "} if event["type"] == "TEXT_MESSAGE_CONTENT" else event


@pytest.mark.sockets
async def test_an_answer_of_equal_words_is_looked_at_and_does_not_fail() -> None:
    async with SaysOneWord() as agent:
        report = await Trial("ag-ui").report(agent.url, ("each-delta-once",))
    assert failures(report) == {}
    (note,) = notes(report)["each-delta-once"]
    assert "look whether they should" in note


@pytest.mark.sockets
async def test_an_agent_that_is_not_there_is_named() -> None:
    report = await Trial("v2").report("ws://127.0.0.1:1/{session_id}")
    assert failures(report) == {
        "greets": "the connection was refused: connect",
        "one-turn": "the turn was refused: connect",
    }
    assert {result.mend for result in report.of(Verdict.FAILED)} == {START}


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("status", "mend"), [(401, CREDENTIALS), (403, CREDENTIALS), (404, PATH), (500, None)]
)
@pytest.mark.parametrize("dialect", ["v2", "ag-ui"])
async def test_who_lacks_credentials_is_told_so(
    dialect: str, status: int, mend: str | None
) -> None:
    """The advice is about no frame: none was seen."""

    async def deny(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status)
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(deny, "127.0.0.1", 0) as server:
        scheme = "ws" if dialect == "v2" else "http"
        url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/{{session_id}}"
        report = await Trial(dialect).report(url, ("greets", "one-turn"))
        later = await Trial(dialect).report(url, ("quiet-after-the-end",))

    failed = report.of(Verdict.FAILED) + later.of(Verdict.FAILED)
    assert [result.name for result in failed][-2:] == ["one-turn", "quiet-after-the-end"]
    for result in failed:
        assert str(status) in result.seen
        assert result.mend == mend or (mend is None and result.mend == SCENARIOS[result.name].mend)
        assert bool(result.words) is (mend is None and dialect in WORDS)


@pytest.mark.sockets
async def test_an_agent_that_refuses_later_connections_has_the_advice_of_the_scenario() -> None:
    """Its credentials were right before."""
    async with ReferenceAgent() as agent:
        port, accepted = urlsplit(agent.url).port, 0

        async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal accepted
            accepted += 1
            if accepted > 1:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            else:
                theirs, ours = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(carry(reader, ours), carry(theirs, writer))
            writer.close()

        async with await asyncio.start_server(once, "127.0.0.1", 0) as server:
            url = agent.url.replace(f":{port}/", f":{server.sockets[0].getsockname()[1]}/")
            report = await Trial("v2").report(url, ("greets", "one-turn"))

    (failed,) = report.of(Verdict.FAILED)
    assert (failed.name, failed.mend) == ("one-turn", SCENARIOS["one-turn"].mend)
    assert "403" in failed.seen


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One way of a connection, to its end."""
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
    writer.close()
