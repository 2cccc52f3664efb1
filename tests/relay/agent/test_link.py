"""The connection of one request, from its dial to its close: each end comes once."""

import asyncio
from typing import Any, ClassVar

import pytest

from gateway.waiting import until
from support.dialled import Counting
from turnwire.relay.agent.failures import DialError, DialFailure
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.port import AgentTarget, KeepsNoConnection, Scheme
from turnwire.relay.memory_budget import Budget


class Ends(Counting):
    """A listener that keeps the bugs, too."""

    def __init__(self) -> None:
        super().__init__()
        self.bugs: list[Exception] = []

    def dial_crashed(self, bug: Exception) -> None:
        self.bugs.append(bug)


class Opened:
    """A connection that keeps how often it was closed."""

    brings_frames = False
    unwritten_bytes = 0

    def __init__(self, *, is_late: bool = False) -> None:
        self.closed = self.finished = 0
        self.is_late = is_late

    def send(self, _: object) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def may_open_late(self) -> bool:
        return self.is_late

    def finish(self) -> None:
        self.finished += 1

    def close(self) -> None:
        self.closed += 1


class Waiting(KeepsNoConnection):
    """A transport whose dials take until `result` is set."""

    name: ClassVar = "waiting"
    scheme: ClassVar = Scheme("wait")
    status_is_answer: ClassVar = False

    def __init__(self, *_: object, frame_bytes: int = 1) -> None:
        del frame_bytes
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @classmethod
    def check(cls, _: object) -> None: ...

    async def open(self, *_: object) -> Any:
        return await self.result


class Keeping(Waiting):
    """A transport that has a connection, or fails to use it."""

    def __init__(self, kept: Opened | Exception) -> None:
        super().__init__()
        self._kept = kept

    def open_kept(self, *_: object) -> Any:
        if isinstance(self._kept, Exception):
            raise self._kept
        return self._kept


def dialling(dial_s: float = 100) -> tuple[AgentLink, Waiting, Ends]:
    link, transport, ends = AgentLink(), Waiting(), Ends()
    reservation = Budget().holder("u1").reserve()
    link.dial(transport, AgentTarget("wait://x", {}), ends, reservation, dial_s)
    return link, transport, ends


async def rounds() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_connection_is_closed_once() -> None:
    link, transport, ends = dialling()
    connection = Opened()
    transport.result.set_result(connection)
    await rounds()
    assert link.connection is connection
    link.opened(connection)

    link.close()
    link.close()

    assert connection.closed == 1
    assert (ends.refused, ends.bugs) == ([], [])


async def test_a_kept_connection_is_used_at_once() -> None:
    link, ends, kept = AgentLink(), Ends(), Opened()

    link.dial(Keeping(kept), AgentTarget("wait://x", {}), ends, Budget().holder("u1").reserve(), 9)

    assert link.connection is kept
    link.close()
    assert (kept.closed, ends.bugs) == (1, [])


async def test_a_bug_with_a_kept_connection_is_told() -> None:
    link, ends, bug = AgentLink(), Ends(), ZeroDivisionError()

    link.dial(Keeping(bug), AgentTarget("wait://x", {}), ends, Budget().holder("u1").reserve(), 9)

    assert (link.connection, ends.bugs) == (None, [bug])
    link.close()


@pytest.mark.parametrize(
    ("cause", "text"), [(None, None), (OSError("no route"), "OSError('no route')")]
)
async def test_a_dial_that_fails_says_why_and_keeps_the_systems_words_for_the_log(
    cause: Exception | None, text: str | None
) -> None:
    link, transport, ends = dialling()
    failure = DialError(DialFailure.CONNECT)
    failure.__cause__ = cause

    transport.result.set_exception(failure)
    await rounds()

    assert (ends.refused, link.dial_error, link.connection) == ([DialFailure.CONNECT], text, None)


async def test_a_bug_of_a_transport_is_an_end_too() -> None:
    _, transport, ends = dialling()
    bug = ZeroDivisionError()

    transport.result.set_exception(bug)
    await rounds()

    assert (ends.bugs, ends.refused) == ([bug], [])


async def test_the_agent_has_its_time_until_it_accepts() -> None:
    _, _, ends = dialling(0)

    await until(lambda: ends.refused == [DialFailure.TIMEOUT])


async def test_once_the_agent_accepted_there_is_no_limit() -> None:
    link, _, ends = dialling(0)

    link.opened(Opened())
    await asyncio.sleep(0.01)

    assert ends.refused == []
    link.close()


async def test_a_dial_that_is_given_up_has_no_limit_either() -> None:
    link, _, ends = dialling(0)

    link.close()
    await asyncio.sleep(0.01)

    assert ends.refused == []


async def test_a_dial_that_is_given_up_is_cancelled_and_says_nothing() -> None:
    link, transport, ends = dialling()
    await rounds()

    link.close()
    await rounds()

    assert transport.result.cancelled()
    assert (ends.refused, ends.bugs, link.connection) == ([], [], None)


async def test_after_its_close_it_dials_again_and_the_given_up_dial_does_not_end_the_new_one() -> (
    None
):
    link, ends, budget = AgentLink(), Ends(), Budget()
    first, second = Waiting(), Waiting()
    for transport in (first, second):
        link.close()
        reservation = budget.holder("u1").reserve()
        link.dial(transport, AgentTarget("wait://h/", {}), ends, reservation, 30)
        await asyncio.sleep(0)

    await until(first.result.cancelled)
    link.close()

    await until(second.result.cancelled)
    assert ends.refused == []


@pytest.mark.parametrize("is_late", [True, False])
async def test_a_connection_that_may_open_late_counts_as_open_after_the_time(
    *, is_late: bool
) -> None:
    link, ends, transport = AgentLink(), Ends(), Waiting()
    transport.result.set_result(Opened(is_late=is_late))
    link.dial(transport, AgentTarget("wait://h/", {}), ends, Budget().holder("u1").reserve(), 0.01)

    await until(lambda: ends.opened or ends.refused)

    assert ends.opened == is_late
    assert ends.refused == ([] if is_late else [DialFailure.TIMEOUT])
    link.close()


async def test_a_bug_at_the_end_of_the_time_ends_the_dial() -> None:
    class Buggy(Ends):
        def agent_refused(self, *_: object) -> None:
            raise ZeroDivisionError

    link, ends, transport = AgentLink(), Buggy(), Waiting()
    reservation = Budget().holder("u1").reserve()
    link.dial(transport, AgentTarget("wait://h/", {}), ends, reservation, 0.01)

    await until(lambda: ends.bugs)

    assert isinstance(ends.bugs[0], ZeroDivisionError)
    link.close()


async def test_a_connection_is_finished_once() -> None:
    link, connection = AgentLink(), Opened()
    link.opened(connection)

    link.finish()
    link.finish()
    link.close()

    assert (connection.finished, connection.closed) == (1, 0)
