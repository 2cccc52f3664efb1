"""Each metric moves when its thing happens, and says nothing of anybody."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, get_args

import pytest
from prometheus_client import REGISTRY, generate_latest

from runtime.drivers.model_agent import calls, playing, says
from runtime.host.hosted import QUICK, Scripted, echo, hosted
from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, response, sends
from runtime.llm.streams import sse
from turnwire_agent import metrics
from turnwire_agent.host.driver import Ended, Parked, Turn
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Command, Lease, Row, UnavailableError
from turnwire_agent.llm.faults import FaultKind
from turnwire_agent.loop.words import TOO_LONG
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import QuestionAsked, Reason
from turnwire_agent.tools.contract import Effect, ToolFailed
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.run.outcome import ToolOutcome

pytestmark = pytest.mark.sockets

CANARY = "canary-4711"
WAITS_S = 5.0
ENDED = 'turns_total{reason="end_turn"}'


def value(sample: str) -> float:
    """Of one series, as `turns_total{reason="error"}`."""
    name, _, rest = sample.partition("{")
    labels = dict(pair.split("=") for pair in rest.rstrip("}").split(",") if pair)
    found = REGISTRY.get_sample_value(
        f"turnwire_agent_{name}", {label: word.strip('"') for label, word in labels.items()}
    )
    assert found is not None, sample
    return found


class Moved:
    """By how much series have moved since this was made."""

    def __init__(self, *samples: str) -> None:
        self._before = {sample: value(sample) for sample in samples}

    def now(self) -> list[float]:
        return [value(sample) - before for sample, before in self._before.items()]

    async def to(self, *expected: float) -> None:
        """Wait until they have moved so far."""
        await until(lambda: self.now() == list(expected), self.now)


async def until(fact: Callable[[], bool], shown: Callable[[], object] = lambda: "") -> None:
    deadline = time.monotonic() + WAITS_S
    while not fact():
        assert time.monotonic() < deadline, shown()
        await asyncio.sleep(0.01)


class Failing(MemoryJournal):
    """Does not do what it is told not to do."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses = ""

    def _do(self, what: str) -> None:
        if what == self.refuses:
            raise UnavailableError("it is not there")

    async def append(self, lease: Lease, rows: Sequence[Row], **more: Any) -> Any:
        self._do("append")
        return await super().append(lease, rows, **more)

    async def put(self, session: str, command: Command) -> bool:
        self._do("put")
        return await super().put(session, command)

    async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        self._do("renew")
        return await super().renew(owner, lease_s)

    async def due(self, limit: int = 100) -> Sequence[str]:
        self._do("due")
        return await super().due(limit)

    async def read(self, session: str, **more: Any) -> Sequence[Row]:
        self._do("read")
        return await super().read(session, **more)

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        self._do("claim")
        return await super().claim(session, owner, lease_s)


async def waits(turn: Turn) -> Ended:
    """Say something, and wait for a cancellation."""
    turn.add(TextAdded("so far"))
    await asyncio.Event().wait()
    return Ended()


async def test_a_turn_its_socket_and_its_commits_are_seen_while_they_last_and_after() -> None:
    now = Moved("turns_running", "sessions_held", "sockets")
    after = Moved(ENDED, 'turns_total{reason="canceled"}')
    commits = value("commit_seconds_count")
    async with hosted(Scripted(waits)) as host, host.socket() as socket:
        await socket.ask(CANARY)
        turn = await socket.until("message.part.text-delta")
        assert now.now() == [1, 1, 1]
        await socket.send("abort", turnId=turn["turnId"])
        await socket.rest()
        await now.to(0, 0, 1)
    await now.to(0, 0, 0)
    assert after.now() == [0, 1]
    assert value("commit_seconds_count") > commits


async def test_turns_are_counted_by_the_reason_of_their_end() -> None:
    async def raises(turn: Turn) -> Ended:
        if turn.prompt.content == "raise":
            raise ValueError(CANARY)
        return await echo(turn)

    moved = Moved(ENDED, 'turns_total{reason="error"}')
    async with hosted(Scripted(raises)) as host, host.socket() as socket:
        await socket.turn("Hi")
        await socket.turn("raise", "p2")
    assert moved.now() == [1, 1]


async def test_a_turn_that_waits_for_a_person_is_parked_and_does_not_run() -> None:
    async def asks(turn: Turn) -> Parked:
        await turn.write(QuestionAsked(turn_id=turn.turn_id, question_id="q1", text="Which?"))
        return Parked()

    moved = Moved("turns_parked_total", "turns_running", "sessions_held", ENDED)
    async with hosted(Scripted(asks)) as host, host.socket() as socket:
        await socket.ask("Hi")
        await socket.until("question")
        await moved.to(1, 0, 0, 0)


async def test_a_turn_that_another_process_goes_on_with_is_a_takeover() -> None:
    class Shared(MemoryJournal):
        async def aclose(self) -> None:
            return

    journal = Shared()
    moved = Moved("takeovers_total", "leases_lost_total")
    async with hosted(Scripted(waits), journal) as here, here.socket() as socket:
        await socket.ask("Hi")
        await socket.until("message.part.text-delta")
    assert moved.now() == [0, 0]
    async with hosted(Scripted(echo), journal) as there, there.socket() as socket:
        await moved.to(1, 0)


async def test_a_lease_that_is_taken_away_is_lost() -> None:
    class Renewing(MemoryJournal):
        takes_away = False

        async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
            held = await super().renew(owner, lease_s)
            return frozenset() if self.takes_away else held

    journal = Renewing()
    moved = Moved("leases_lost_total", "journal_errors_total")
    async with hosted(Scripted(waits), journal) as host, host.socket() as socket:
        await socket.ask("Hi")
        await socket.until("message.part.text-delta")
        journal.takes_away = True
        await until(lambda: moved.now()[0] >= 1)
        assert moved.now()[1] == 0


@pytest.mark.parametrize("what", ["append", "renew", "due", "claim"])
async def test_each_kind_of_question_that_the_journal_does_not_answer_is_an_error(
    what: str,
) -> None:
    async def slowly(turn: Turn) -> Ended:
        await asyncio.sleep(0.1)
        return await echo(turn)

    journal = Failing()
    moved = Moved("journal_errors_total")
    async with hosted(Scripted(slowly), journal) as host, host.socket() as socket:
        assert moved.now() == [0]
        journal.refuses = what
        await socket.ask("Hi")
        await until(lambda: moved.now()[0] >= 1)
        journal.refuses = ""
        await socket.rest()


async def test_a_session_that_cannot_be_read_is_an_error_of_the_journal() -> None:
    journal = Failing()
    moved = Moved("journal_errors_total")
    async with hosted(Scripted(echo), journal) as host:
        journal.refuses = "read"
        async with AsyncExitStack() as stack:
            with pytest.raises(Exception, match="1013"):
                await stack.enter_async_context(host.socket())
        assert moved.now() == [1]


async def test_what_a_follower_cannot_read_is_an_error_of_the_journal() -> None:
    class Unreadable:
        """Another process's end of the journal."""

        refuses = False

        def __init__(self, journal: MemoryJournal) -> None:
            self._journal = journal

        def __getattr__(self, name: str) -> Any:
            return getattr(self._journal, name)

        async def read(self, session: str, **more: Any) -> Sequence[Row]:
            if self.refuses:
                raise UnavailableError("it is not there")
            return await self._journal.read(session, **more)

    journal = MemoryJournal()
    seen: Any = Unreadable(journal)
    moved = Moved("journal_errors_total")
    async with (
        hosted(Scripted(echo), seen) as there,
        hosted(Scripted(echo), journal) as here,
        there.socket(),
        here.socket() as socket,
    ):
        seen.refuses = True
        await socket.turn("Hi")
        await until(lambda: moved.now()[0] >= 1)
        seen.refuses = False


async def test_a_prompt_that_is_refused_is_counted_by_its_reason() -> None:
    journal = Failing()
    moved = Moved(
        'refused_prompts_total{reason="queue"}',
        'refused_prompts_total{reason="journal"}',
        "journal_errors_total",
    )
    full = HostSettings(lease_s=QUICK.lease_s, stop_s=QUICK.stop_s, retry_s=0.05, queue=1)
    async with hosted(Scripted(waits), journal, full) as host, host.socket() as socket:
        await socket.ask("Hi")
        await socket.until("message.part.text-delta")
        await socket.ask("next", "p2")
        live = host.replica._sessions["s1"].live
        await until(lambda: len(live.state.queue) == 1)
        await socket.ask("too many", "p3")
        await socket.until("error", promptId="p3")
        assert moved.now() == [1, 0, 0]
    async with hosted(Scripted(echo), journal) as host, host.socket("s2") as socket:
        journal.refuses = "put"
        await socket.ask("Hi", "p4")
        await socket.until("error", promptId="p4")
        assert moved.now() == [1, 1, 1]


def attempts(*outcomes: str) -> Moved:
    return Moved(*(f'model_attempts_total{{outcome="{each}"}}' for each in outcomes))


def runs(*outcomes: str) -> Moved:
    return Moved(*(f'tool_runs_total{{outcome="{each}"}}' for each in outcomes))


async def test_attempts_are_counted_by_how_they_end() -> None:
    moved = attempts("ended", "truncated", "unauthorized")
    cut = sends(STREAM_HEAD + sse(chunk(content="so f")))
    async with playing([cut, says("Done.")]) as play, play.host.socket() as socket:
        await socket.turn("Hi")
    assert moved.now() == [1, 1, 0]
    async with playing([sends(response(401))]) as play, play.host.socket() as socket:
        await socket.turn("Hi")
    assert moved.now() == [1, 1, 1]


async def test_runs_of_tools_are_counted_by_how_they_end() -> None:
    @tool(effect=Effect.SAFE, timeout_s=0.2)
    async def look(what: str) -> str:
        """Look something up."""
        if what == "slow":
            await asyncio.sleep(60)
        if what == "none":
            raise ToolFailed(CANARY)
        return CANARY

    moved = runs("done", "failed", "timeout", "canceled")
    asked = [
        (f"c{number}", "look", f'{{"what": "{what}"}}')
        for number, what in enumerate(("cats", "none", "slow"))
    ]
    async with (
        playing([calls(*asked), says("Done.")], [look]) as play,
        play.host.socket() as socket,
    ):
        await socket.turn("Hi")
    assert moved.now() == [1, 1, 1, 0]


async def test_a_tool_that_does_not_hear_that_it_is_stopped_is_abandoned() -> None:
    began = threading.Event()

    @tool(effect=Effect.SAFE)
    async def deaf(what: str) -> str:
        """Wait."""
        began.set()
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1)
        return what

    canceled, abandoned = runs("canceled"), Moved("tools_abandoned_total")
    scripts = [calls(("c1", "deaf", '{"what": "it"}'))]
    async with playing(scripts, [deaf]) as play, play.host.socket() as socket:
        await socket.ask("Hi")
        turn = await socket.until("message.part.tool-update", status="running")
        await until(began.is_set)
        await socket.send("abort", turnId=turn["turnId"])
        await abandoned.to(1)
        assert canceled.now() == [1]


async def test_a_driver_that_does_not_hear_that_it_is_stopped_is_abandoned() -> None:
    async def deaf(turn: Turn) -> Ended:
        turn.add(TextAdded("so far"))
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1)
        return Ended()

    moved = Moved("drivers_abandoned_total")
    async with hosted(Scripted(deaf)) as host, host.socket() as socket:
        await socket.ask("Hi")
        turn = await socket.until("message.part.text-delta")
        await socket.send("abort", turnId=turn["turnId"])
        await moved.to(1)


def test_every_word_of_a_label_has_its_series_from_the_start() -> None:
    assert get_args(Reason) == metrics.TURN_REASONS
    assert ("ended", *get_args(FaultKind), TOO_LONG) == metrics.ATTEMPT_OUTCOMES
    kinds = get_args(ToolOutcome.__annotations__["kind"])
    assert (*kinds, "timeout") == metrics.TOOL_OUTCOMES
    for counter, words in (
        ("turns_total", [f'reason="{each}"' for each in metrics.TURN_REASONS]),
        ("refused_prompts_total", [f'reason="{each}"' for each in metrics.REFUSED_REASONS]),
        ("model_attempts_total", [f'outcome="{each}"' for each in metrics.ATTEMPT_OUTCOMES]),
        ("tool_runs_total", [f'outcome="{each}"' for each in metrics.TOOL_OUTCOMES]),
    ):
        for word in words:
            value(f"{counter}{{{word}}}")


def test_no_metric_tells_what_was_talked_about() -> None:
    shown = generate_latest().decode()

    assert "turnwire_agent_turns_total" in shown
    for word in (CANARY, "look", "deaf", "s1"):
        assert f'"{word}"' not in shown
