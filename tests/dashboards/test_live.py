"""Every panel, rule and alert asked of a real Prometheus that scrapes real gateways."""

import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

from dashboards.prometheus import SCRAPE_S, Prometheus
from dashboards.rig import PROCESSES, Rig
from dashboards.runtime import Runtime
from dashboards.traffic import Crowd
from gateway.needed import program
from turnwire.core.turn.outcome import Outcome
from turnwire.web.auth.jwks import FETCH_RESULTS
from turnwire.web.gauges import ACCESS_RESULTS
from turnwire_lab.dashboards.alerts import ALERTS
from turnwire_lab.dashboards.panels import ROWS
from turnwire_lab.dashboards.recording import RECORDS

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(600)]

PICTURE: Final = os.environ.get("PICTURE", "")
"""Where to draw the dashboard; the traffic lasts a minute then."""

QUIET_S: Final = 10.0
MINUTE_S: Final = 70.0
ALL: Final = "10m"
"""A window with all of the traffic in it."""
PATIENCE_S: Final = 90.0
"""How long Prometheus may take to know what has happened."""

PANELS: Final = [panel for row in ROWS for panel in row.panels]
QUERIES: Final = sorted({query.expr for panel in PANELS for query in panel.queries})
VALUES: Final = sorted({each.value for alert in ALERTS for way in alert.when for each in way})
EXPRS: Final = sorted({record.expr for record in RECORDS} | {record.name for record in RECORDS})


RISEN: Final = (
    *(f'turnwire_requests_total{{route="{route}"}}' for route in ("chat", "resume", "stop")),
    *(
        f'turnwire_refusals_total{{code="{code}"}}'
        for code in ("unauthorized", "not_found", "unavailable", "too_many_streams")
    ),
    *(f'turnwire_access_check_seconds_count{{result="{result}"}}' for result in ACCESS_RESULTS),
    *(f'turnwire_jwks_fetches_total{{result="{result}"}}' for result in FETCH_RESULTS),
    'turnwire_dial_failures_total{reason="connect"}',
    'turnwire_dial_failures_total{reason="status"}',
    'turnwire_frames_unrecognised_total{type="agentPlan"}',
    "turnwire_frames_total",
    "turnwire_frames_foreign_total",
    "turnwire_frames_malformed_total",
    "turnwire_deltas_doubled_total",
    "turnwire_keepalives_total",
    "turnwire_client_blocks_total",
    "turnwire_written_bytes_total",
    "turnwire_rate_store_failures_total",
    "turnwire_turn_wait_seconds_sum",
    "turnwire_relay_seconds_sum",
    "turnwire_dial_seconds_sum",
    "turnwire_event_loop_lag_seconds_count",
    "turnwire_jwks_age_seconds",
    "turnwire_streams_admitted",
    "turnwire_streams_active",
    "turnwire_workers",
    "turnwire_worker_restarts_total",
    'turnwire_agent_turns_total{reason="end_turn"}',
    'turnwire_agent_model_attempts_total{outcome="ended"}',
    'turnwire_agent_model_attempts_total{outcome="truncated"}',
    "turnwire_agent_commit_seconds_count",
)
"""What the traffic makes more than nothing."""

FIRING: Final = {
    "TurnwireDialFailures",
    "TurnwireUnknownFrames",
    "TurnwireMalformedFrames",
    "TurnwireJwksFailing",
    "TurnwireRateStoreFailing",
    "TurnwireErrorRate",
}
"""The alerts that see the traffic."""


class Seen(Struct):
    """What Prometheus says after the traffic, and what happened when a gateway stopped."""

    answers: dict[str, list[float]]
    risen: set[str]
    ended: Counter[str]
    firing: set[str]
    stopping_s: float


def chosen(expr: str, window: str = ALL) -> str:
    """A panel's query with everything chosen."""
    return expr.replace("$__rate_interval", window).replace("$job", ".*").replace("$instance", ".*")


def _tide(at: float) -> float:
    """Turns a second: two waves in the minute."""
    return 7 + 5 * math.sin(at / MINUTE_S * 4 * math.pi)


async def _watched(folder: Path) -> Seen:
    (folder / "recordings").mkdir()
    async with (
        Rig(folder / "recordings") as rig,
        Runtime(folder) as runtime,
        Prometheus(
            folder,
            [
                *(f"127.0.0.1:{gateway._metrics_port}" for gateway in rig.all),
                f"127.0.0.1:{runtime.metrics_port}",
            ],
        ) as prometheus,
    ):
        crowd, began = Crowd(rig), time.time()
        await prometheus_has(prometheus, f"count(turnwire_build_info) == {PROCESSES}")
        await prometheus_has(prometheus, "turnwire_agent_build_info == 1")
        await runtime.turns()
        await crowd.keys()
        if PICTURE:
            await asyncio.gather(crowd.murmur(_tide, MINUTE_S), _now_and_then(crowd))
        rig.lost.kill_worker()
        await asyncio.gather(crowd.murmur(lambda _: 6, QUIET_S), crowd.every_way())
        answers = await _answers(prometheus)
        risen, firing = await _risen(prometheus), await _firing(prometheus)
        if PICTURE:
            await draw(prometheus, Path(PICTURE), began, time.time())
        stopping_s = await _stop(rig, crowd, prometheus)
        ended = sum((gateway.logged_outcomes() for gateway in rig.all), Counter[str]())
        return Seen(answers, risen, ended, firing, stopping_s)


async def prometheus_has(prometheus: Prometheus, fact: str) -> list[float]:
    """Wait until an expression has an answer."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await prometheus.query(fact)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return found


async def _answers(prometheus: Prometheus) -> dict[str, list[float]]:
    """What it says to each expression, once it has something to say."""
    answers: dict[str, list[float]] = {}
    left = [*map(chosen, QUERIES), *VALUES, *EXPRS]
    async for _ in _patiently():
        answers |= {expr: await prometheus.query(expr) for expr in left}
        left = [expr for expr in left if not any(map(math.isfinite, answers[expr]))]
        if not left:
            break
    return answers


async def _risen(prometheus: Prometheus) -> set[str]:
    risen: set[str] = set()
    async for _ in _patiently():
        for each in set(RISEN) - risen:
            if await prometheus.query(f"max_over_time({each}[{ALL}]) > 0"):
                risen.add(each)
        if risen == set(RISEN):
            break
    return risen


async def _firing(prometheus: Prometheus) -> set[str]:
    firing: set[str] = set()
    async for _ in _patiently():
        firing = await prometheus.firing()
        if firing >= FIRING:
            break
    return firing


async def _patiently() -> AsyncIterator[None]:
    """Again after each scrape, while there is patience."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        yield
        await asyncio.sleep(SCRAPE_S)


async def _now_and_then(crowd: Crowd) -> None:
    for _ in range(3):
        await crowd.every_way()
        await asyncio.sleep(10)


async def _stop(rig: Rig, crowd: Crowd, prometheus: Prometheus) -> float:
    """Stop a gateway over an open stream; for how long it was seen stopping."""
    last = asyncio.create_task(crowd.turn(rig.strange, "hi", session="open"))
    await prometheus_has(prometheus, "sum(turnwire_streams_active) > 0")
    rig.strange.signal()
    seen = await prometheus_has(
        prometheus, "max(turnwire_stopping_seconds and turnwire_ready == 0) > 0"
    )
    await rig.strange.ended()
    await last
    return seen[0]


async def draw(prometheus: Prometheus, to: Path, began: float, ended: float) -> None:
    """Plot every panel."""
    from turnwire_lab.dashboards.picture import picture  # noqa: PLC0415 (a second, for a picture)

    series = {
        expr: await prometheus.over(chosen(expr, "10s"), began, ended, 1.0) for expr in QUERIES
    }
    to.parent.mkdir(exist_ok=True)
    picture(series, to)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    program("prometheus")
    return asyncio.run(_watched(tmp_path_factory.mktemp("rig")))


def test_every_panel_has_data(seen: Seen) -> None:
    empty = [expr for expr in QUERIES if not any(map(math.isfinite, seen.answers[chosen(expr)]))]

    assert not empty


def test_every_value_that_an_alert_looks_at_has_data(seen: Seen) -> None:
    assert not [expr for expr in VALUES if not any(map(math.isfinite, seen.answers[expr]))]


def test_every_recording_rule_has_data_and_is_recorded(seen: Seen) -> None:
    assert not [expr for expr in EXPRS if not any(map(math.isfinite, seen.answers[expr]))]


def test_what_happened_was_counted(seen: Seen) -> None:
    assert seen.risen == set(RISEN)


def test_streams_ended_in_every_way_of_a_websocket_but_by_a_crash(seen: Seen) -> None:
    other = {Outcome.CRASHED, Outcome.AGENT_REFUSED}  # the latter is of agents over HTTP alone
    assert set(seen.ended) == {outcome.value for outcome in Outcome if outcome not in other}


def test_alerts_see_what_was_wrong_and_nothing_else(seen: Seen) -> None:
    assert seen.firing >= FIRING
    assert not seen.firing & {
        "TurnwireAbsent",
        "TurnwireInstanceDown",
        "TurnwireDrainStuck",
        "TurnwireCrashed",
        "TurnwireWorkersDying",
        "TurnwireJwksStale",
        "TurnwireLoopHangs",
        "TurnwireStreamsNearLimit",
        "TurnwireHeldBytesNearLimit",
        "TurnwireDescriptorsNearLimit",
        "TurnwireRuntimeDown",
        "TurnwireRuntimeJournalFailing",
        "TurnwireRuntimeAbandoned",
    }


def test_a_gateway_that_stops_says_so(seen: Seen) -> None:
    assert seen.stopping_s > 0
