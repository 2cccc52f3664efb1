"""Cancelled at any stage, a stream leaves no task and no socket behind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
import pytest
from prometheus_client import CollectorRegistry

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.asgi import Exchange
from gateway.clients import errors, is_whole, outline
from gateway.rawagent import RawAgent
from gateway.refusals import GOOD_BODY
from gateway.running import settings
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.metrics import Telemetry
from turnwire.relay.registry import RequestRegistry
from turnwire.web.app import create_app

pytestmark = pytest.mark.sockets

BIG = 200_000


class Run:
    """The application, one exchange with it, and the agent behind it."""

    def __init__(self, agent_url: str, **given: object) -> None:
        self.streams = RequestRegistry(most=0, most_per_user=0)
        self.telemetry = Telemetry(CollectorRegistry())
        app = create_app(
            settings(agent_url, **given), streams=self.streams, telemetry=self.telemetry
        )
        headers = [*bearer().items(), ("content-type", "application/json")]
        self.exchange = Exchange(app, headers=headers, body=[GOOD_BODY])

    def ended(self, outcome: str) -> float | None:
        registry = self.telemetry.registry
        return registry.get_sample_value("turnwire_streams_total", {"outcome": outcome})


Stage = Callable[[], AbstractAsyncContextManager[tuple[Run, Callable[[], bool]]]]


@asynccontextmanager
async def dialling() -> AsyncIterator[tuple[Run, Callable[[], bool]]]:
    async with RawAgent(hang=True) as agent:
        run = Run(agent.url(), dial_s=30)
        yield run, lambda: bool(agent.requests)
        await agent.all_left()


@asynccontextmanager
async def streaming() -> AsyncIterator[tuple[Run, Callable[[], bool]]]:
    async with ScriptedAgent(begin_only) as agent:
        run = Run(agent.url())
        yield run, lambda: b"Hello" in run.exchange.body
        await until(lambda: agent.lines[0].closed)


@asynccontextmanager
async def blocked() -> AsyncIterator[tuple[Run, Callable[[], bool]]]:
    """The client stops taking in mid-stream, with more to come."""

    async def talk(line: Line) -> None:
        await begin_only(line)
        await until(lambda: b"Hello" in run.exchange.body)
        run.exchange.block()
        for _ in range(20):
            await line.say(frames.delta("x" * BIG))

    async with ScriptedAgent(talk) as agent:
        run = Run(agent.url(), stall_s=30)
        yield run, lambda: run.exchange.waiting
        await until(lambda: agent.lines[0].closed)


@asynccontextmanager
async def goodbye() -> AsyncIterator[tuple[Run, Callable[[], bool]]]:
    """The turn is over, and the client does not take its end."""

    async def finish(line: Line) -> None:
        await begin_only(line)
        await until(lambda: b"Hello" in run.exchange.body)
        run.exchange.block()
        await line.say(frames.finalize())

    async with ScriptedAgent(finish) as agent:
        run = Run(agent.url(), stall_s=30)
        yield run, lambda: agent.lines != [] and agent.lines[0].closed
        await until(lambda: agent.lines[0].closed)


async def by_task(run: Awaitable[object], reached: Callable[[], bool]) -> None:
    task = asyncio.ensure_future(run)
    await until(reached)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def by_scope(run: Awaitable[object], reached: Callable[[], bool]) -> None:
    """Such a scope cancels again at every await, as a middleware of Starlette's would."""

    async def body() -> None:
        await run

    async with anyio.create_task_group() as group:
        group.start_soon(body)
        await until(reached)
        group.cancel_scope.cancel()


@pytest.mark.parametrize("cancel", [by_task, by_scope])
@pytest.mark.parametrize("stage", [dialling, streaming, blocked, goodbye])
async def test_a_cancelled_stream_leaves_nothing_behind(
    stage: Stage, cancel: Callable[[Awaitable[object], Callable[[], bool]], Awaitable[None]]
) -> None:
    before = asyncio.all_tasks()
    async with stage() as (run, reached):
        await cancel(run.exchange.run(), reached)
        ours = {"Stream", "AgentLink", "ClientWriter", "Exchange", "Dialler"}
        await until(lambda: not _tasks_of(ours))

        assert len(run.streams) == 0
        assert not run.streams._open
        assert run.telemetry.registry.get_sample_value("turnwire_streams_active") == 0
        assert [b"[DONE]" in run.exchange.body, run.exchange.waiting] == [False, False]

    await until(lambda: asyncio.all_tasks() <= before)


def _tasks_of(classes: set[str]) -> list[str]:
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return [name for name in names if name.split(".")[0] in classes]


async def test_a_cancelled_stream_is_counted_as_crashed() -> None:
    async with streaming() as (run, reached):
        await by_task(run.exchange.run(), reached)

        assert run.ended("crashed") == 1


async def test_a_blocked_stream_holds_what_came_and_sends_it_when_the_client_takes_it() -> None:
    async with blocked() as (run, reached):
        running = asyncio.ensure_future(run.exchange.run())
        await until(reached)
        before = len(run.exchange.body)
        run.exchange.take()
        await until(lambda: run.exchange.body.count(b"x" * BIG) == 20)
        assert len(run.exchange.body) > before + 20 * BIG
        run.exchange.hang_up()
        await running

        assert run.ended("client_gone") == 1


async def test_a_client_that_leaves_over_a_goodbye_ends_the_stream() -> None:
    async with goodbye() as (run, reached):
        running = asyncio.ensure_future(run.exchange.run())
        await until(reached)
        run.exchange.hang_up()
        await running

        assert run.ended("completed") == 1
        assert is_whole(run.exchange.body)


async def test_an_end_that_is_not_taken_is_given_up_after_the_stall_time() -> None:
    """Without a server that can cut the connection there is no more to do."""

    async def finish(line: Line) -> None:
        await begin_only(line)
        await until(lambda: b"Hello" in run.exchange.body)
        run.exchange.block()
        await line.say(frames.finalize())

    async with ScriptedAgent(finish) as agent:
        run = Run(agent.url(), stall_s=0.2)
        await run.exchange.run()

    assert run.ended("slow_client") == 1
    assert outline(run.exchange.body)[-1] == "text-delta"


async def test_the_records_of_one_socket_read_share_one_write() -> None:
    words = [f"{number} " for number in range(200)]

    async def burst(line: Line) -> None:
        await line.begin()
        told = [frames.raw(frames.text(frames.delta(word)).encode()) for word in words]
        await until(lambda: b"start-step" in run.exchange.body)
        await line.raw(b"".join(told))
        await until(lambda: words[-1].encode() in run.exchange.body)
        await line.say(frames.finalize())

    async with ScriptedAgent(burst) as agent:
        run = Run(agent.url())
        await run.exchange.run()

    with_deltas = [body for body in run.exchange.bodies if b"text-delta" in body]
    assert len(with_deltas) == 1
    assert is_whole(run.exchange.body)
    assert not errors(run.exchange.body)
