"""The whole rig, small: real tools, a real turnwire, real rounds."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec
import pytest
from redis import Redis

from bench.streams import RIGHT, response, served
from turnwire_lab.bench import contenders, machine, modes, report
from turnwire_lab.bench.contenders import (
    ACP,
    AG_UI,
    AG_UI_BESIDE_REDIS,
    AG_UI_LOGGED,
    AG_UI_NODE,
    AG_UI_PYTHON,
    AG_UI_REDIS,
    DIRECT,
    FORWARDING,
    HANDWRITTEN,
    HELPER,
    NAIVE,
    NGINX,
    OPENAI_CHAT,
    OPENAI_CHAT_NODE,
    OPENAI_CHAT_PYTHON,
    OWN_RELAY,
    REDIS,
    SESSION_AGENT,
    TURNWIRE,
    TWO_WORKERS,
    Contender,
    missing,
)
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.farm import DISTURBED, Farm, Measured, Spent, quietest
from turnwire_lab.bench.load import Found, Load, Plan
from turnwire_lab.bench.modes.turn_log import BesideRedis
from turnwire_lab.bench.programs import NotStartedError, Program, wait_for
from turnwire_lab.bench.rounds import Round, of_window
from turnwire_lab.bench.run import Run, run_modes
from turnwire_lab.bench.tools import Tools
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

TINY = Effort(
    rounds=1,
    seconds=0.02,
    minutes=0,
    most_streams=10,
    streams_of_memory=20,
    requests_of_growth=20,
    slow_deltas=400_000,  # fewer would fit the buffers of the kernel
    slow_s=0.2,
    is_quick=True,
)
HTTP = [AG_UI, AG_UI_LOGGED, AG_UI_REDIS, OPENAI_CHAT]
WHOLE = [TURNWIRE, SESSION_AGENT, ACP, *HTTP, OWN_RELAY, DIRECT]
HELD = Load(plan=Plan(deltas=3, rate=2, hold=True), streams=3)


@pytest.fixture(scope="module")
def farm(load_tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    folder = tmp_path_factory.mktemp("farm")
    with Farm(load_tools, WHOLE, folder) as farm:
        yield farm


@pytest.mark.parametrize("name", WHOLE)
def test_a_burst_comes_through_whole(farm: Farm, name: str) -> None:
    found, spent = farm.run(name, Load(plan=Plan(deltas=5_000), streams=3, total=6))

    assert (found.fault, found.streams, found.deltas) == (None, 6, 30_000)
    assert spent.gateway_s > 0
    assert spent.wall_s >= found.wall_s


def test_turns_told_twice_and_with_tools_come_through_once(farm: Farm) -> None:
    plan = Plan(deltas=500, size=200, spellings=2, tools=3)

    found, _ = farm.run(TURNWIRE, Load(plan=plan, total=3))

    assert (found.fault, found.deltas) == (None, 1_500)


def test_noise_beside_the_deltas_comes_to_no_client(farm: Farm) -> None:
    """The agent sends two megabytes of it, and the client gets a tenth of that."""
    found, _ = farm.run(AG_UI, Load(plan=Plan(deltas=500, noise=4_000), total=1))

    assert (found.fault, found.deltas) == (None, 500)
    assert found.bytes < 200_000


@pytest.mark.parametrize("name", [TURNWIRE, DIRECT])
def test_what_a_window_counts_begins_when_all_are_open(farm: Farm, name: str) -> None:
    found, spent = farm.run_held(name, HELD, 0.1)

    assert (found.fault, found.deltas) == (None, 9)
    assert found.latency_us is not None
    assert found.latency_us.count == 6  # none of those from before they went on
    assert found.stretch_p99_us is None
    assert spent.deltas <= 6


def test_each_500_deltas_in_a_row_have_a_99th_percentile(farm: Farm) -> None:
    load = Load(plan=Plan(deltas=56, rate=100, hold=True), streams=20)
    found, spent = farm.run_held(TURNWIRE, load, 0.5)

    assert found.latency_us is not None
    assert found.stretch_p99_us is not None
    assert (found.latency_us.count, found.stretch_p99_us.count) == (1_100, 2)
    assert found.latency_us.p25 <= found.stretch_p99_us.p1  # 495 of all are not above it
    assert found.stretch_p99_us.most < found.latency_us.most  # five of a stretch are above it
    assert of_window(found, spent)["calm_p99_us"] == found.stretch_p99_us.p10


def test_a_window_without_streams_is_an_error(farm: Farm) -> None:
    load = msgspec.structs.replace(HELD, patience_s=0.2, ramp_us=1_000_000)

    with pytest.raises(NotStartedError, match="3 open streams"):
        farm.run_held(TURNWIRE, load, 0.1)


def test_the_agent_sees_its_clients_leave(farm: Farm) -> None:
    client = farm.start(TURNWIRE, Load(plan=Plan(deltas=1, hold=True), streams=2))
    farm.all_held(2, 10)
    before = farm.stats()
    client.kill()

    wait_for(lambda: farm.stats().sockets == 0, 10, "sockets to close")

    assert (before.sockets, before.open) == (2, 2)
    assert farm.stats().aborts == before.aborts + 2


async def test_a_round_with_a_wrong_stream_is_void(
    load_tools: Tools, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream lacks what was planned: right for three deltas, wrong for any other number."""
    run = Run(load_tools, TINY, folder, lambda _: None)
    async with served(lambda: response(RIGHT)) as port:
        broken = Contender(name="broken", port=port)
        monkeypatch.setattr("turnwire_lab.bench.farm.contender", lambda *_: broken)

        def rounds() -> None:
            with run.farm("broken") as farm:
                for number, deltas in enumerate((3, 4)):
                    load = Load(plan=Plan(deltas=deltas, size=24))
                    run.load(farm, "burst", "1 stream", number, "broken", load)

        await asyncio.to_thread(rounds)

    assert [each.void for each in run.rounds] == [None, "streams: 1 wrong"]
    assert list(run.rounds.values("burst", "1 stream", "broken", "turns_per_s")) == [0]


def test_every_peer_gives_right_streams(load_tools: Tools, folder: Path) -> None:
    """As many as can be started here; `make bench` too goes on without the others."""
    peers = [TWO_WORKERS, HELPER, HANDWRITTEN, FORWARDING, NAIVE, NGINX]
    peers += [AG_UI_NODE, AG_UI_PYTHON, OPENAI_CHAT_NODE, OPENAI_CHAT_PYTHON]
    there = [name for name in peers if missing(name) is None]
    load = Load(plan=Plan(deltas=300), streams=2, total=4)

    with Farm(load_tools, there, folder) as farm:
        found = {name: farm.run(name, load)[0] for name in there}

    assert FORWARDING in there
    assert {name: each.fault for name, each in found.items()} == dict.fromkeys(there)
    assert {each.deltas for each in found.values()} == {1_200}


def test_a_redis_does_its_work_again_beside_a_gateway_without_a_turn_log(
    load_tools: Tools, folder: Path
) -> None:
    with Farm(load_tools, [AG_UI, AG_UI_REDIS], folder) as farm:
        (port,) = (need.port for need in farm.contender(AG_UI_REDIS).needs if need.name == REDIS)
        redis = Redis(port=port)
        beside = BesideRedis(farm)

        def calls() -> int:
            return int(redis.info("commandstats").get("cmdstat_rpush", {"calls": 0})["calls"])

        def appended(measure: Callable[[], object]) -> int:
            before = calls()
            measure()
            return calls() - before

        recorded = appended(lambda: beside.record(HELD, 0.1))
        alone = appended(lambda: beside.run_held(AG_UI, HELD, 0.1))
        found: list[Measured] = []
        again = appended(lambda: found.append(beside.run_held(AG_UI_BESIDE_REDIS, HELD, 0.1)))
        left = redis.dbsize()
        redis.close()

    assert beside.names == [AG_UI, AG_UI_REDIS, AG_UI_BESIDE_REDIS]
    assert found[0][0].fault is None
    assert recorded >= HELD.streams
    assert (alone, left) == (0, 0)
    assert 0 < again <= recorded


class OneFarm(Run):
    """Has one for all modes, and turnwire alone: to start them is most of a small run."""

    grown: Farm

    def farm(
        self,
        *names: str,  # noqa: ARG002 (the port)
    ) -> AbstractContextManager[Farm]:
        return nullcontext(self.grown)


def test_every_mode_runs(load_tools: Tools, folder: Path) -> None:
    said: list[str] = []
    run = OneFarm(load_tools, TINY, folder, said.append)
    with Farm(load_tools, [TURNWIRE], folder) as run.grown:
        run_modes(run, modes.MODES.items(), said.append)

    assert {each.mode for each in run.rounds} == set(modes.MODES), said
    # Windows of a few milliseconds may be over before they are looked at.
    assert {each.void for each in run.rounds} <= {None, "the client ended too early"}


def test_who_is_not_there_is_left_out_and_named(
    load_tools: Tools, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contenders, "node", lambda: None)
    run = Run(load_tools, TINY, folder, lambda _: None)

    there = [name for name in (HELPER, TURNWIRE) if run.is_there(name)]

    assert there == [TURNWIRE]
    assert run.absent == {HELPER: "Node is not installed"}


def test_a_mode_that_cannot_start_leaves_the_others(load_tools: Tools, folder: Path) -> None:
    def fails(_: Run) -> None:
        raise NotStartedError("no\nTraceback: a long one")

    said: list[str] = []
    ran: list[Run] = []
    run = Run(load_tools, TINY, folder, said.append)

    run_modes(run, [("one", fails), ("two", ran.append)], said.append)

    assert ran == [run]
    assert said[0] == "one: no\nTraceback: a long one"
    assert "Not there: the mode `one`, since no." in report.noise(run.rounds, run.absent)


def test_a_round_that_fails_is_void(load_tools: Tools, folder: Path) -> None:
    def fails() -> Round:
        raise NotStartedError("nobody there")

    run = Run(load_tools, TINY, folder, lambda _: None)

    run.add("burst", "1 stream", 0, TURNWIRE, fails)

    assert [each.void for each in run.rounds] == ["nobody there"]


def test_a_disturbed_round_is_repeated_and_the_quietest_counts() -> None:
    found = Found(1, 1, 0, 0, 0, 0, 1, 1, 1, 1)
    shares = iter([0.5, DISTURBED + 0.1, 0.3, 0.0])

    def measure() -> tuple[Found, Spent]:
        return found, Spent(1, 1, 1, 1, next(shares))

    until = float("inf")

    assert quietest(measure, until)[1].foreign == DISTURBED + 0.1
    assert quietest(measure, until)[1].foreign == 0.0
    shares = iter([0.5, 0.0])
    assert quietest(measure, 0)[1].foreign == 0.5  # no patience is left


def test_a_program_that_ends_at_once_says_why(folder: Path) -> None:
    command = ("sh", "-c", "echo it broke; exit 3")
    on = machine.cores().gateway
    program = Program("it", command, on=on, log=folder / "log", port=free_port())

    with program, pytest.raises(NotStartedError, match="it broke"):
        wait_for(program.listens, 10, "it")


@pytest.mark.parametrize("runs_last", [True, False])
def test_a_program_that_runs_last_waits_for_all_others(folder: Path, *, runs_last: bool) -> None:
    """The kernel compares only programs of one session."""
    command, on = ("sh", "-c", "sleep 9; :"), machine.cores().rig
    with Program("it", command, on=on, log=folder / "log", runs_last=runs_last) as program:
        assert os.sched_getscheduler(program.pid) == (
            os.SCHED_IDLE if runs_last else os.SCHED_OTHER
        )
        assert os.getsid(program.pid) == os.getsid(0)
        assert os.getpgid(program.pid) == program.pid
