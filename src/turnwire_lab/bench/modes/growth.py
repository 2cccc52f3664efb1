"""The mode about growth: a unit's cost among more of everything, and the prices of the model."""

import http.client
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from turnwire_lab.bench import machine
from turnwire_lab.bench.contenders import AG_UI_REDIS, REDIS, TURNWIRE
from turnwire_lab.bench.farm import Farm, Measured, Spent, quietest
from turnwire_lab.bench.growth import probes
from turnwire_lab.bench.growth.axes import HISTORY, LENGTH, MODE, OUTPUT, SESSIONS, STREAMS
from turnwire_lab.bench.growth.parts import (
    CLIENTS,
    FRAME,
    LOGGED,
    LOGGED_RATE,
    MEMORY,
    OPEN,
    PACED,
    PACED_RATE,
    REDIS_US,
    TURN,
    counts_of,
)
from turnwire_lab.bench.load import Found, Load, Plan
from turnwire_lab.bench.modes.measuring import MIB, RAMP_US, crowd_of, turns_of
from turnwire_lab.bench.modes.websocket import SHARED_RATE
from turnwire_lab.bench.programs import NotStartedError
from turnwire_lab.bench.rounds import Round, of_load, of_window
from turnwire_lab.bench.run import Mode, Run
from turnwire_lab.process import HOST

_PATIENCE_S: Final = 60.0
"""From the beginning on, after which no round is repeated."""
_SHORT: Final = Plan(deltas=5)
_FEW: Final = 16
"""Clients at once where only the sum counts."""
_TURNS_PER_S: Final = 1_000
"""About: the length of a round of turns."""
_REQUESTS_PER_S: Final = 300
_MESSAGES_OF_REQUEST: Final = 40
"""Messages of a history that take as long as all else of a request."""
_KB: Final = 1_024
_KB_OF_ROUND: Final = 100_000
_SETTLE_S: Final = 0.3
_SEEN_RAMP_US: Final = 1_000
"""More than a turn of one delta takes: none has to wait."""

Figures = Callable[[], tuple[Mapping[str, float], Measured]]


def growth(run: Run) -> None:
    """Each axis, and then each load of the model."""
    until, run.until = run.until, min(run.until, time.monotonic() + _PATIENCE_S)
    try:
        for part in (_length, _streams, _history, _output, _sessions, _paced, _clients, _open):
            part(run)
        _logged(run)
    finally:
        run.until = until


def _length(run: Run) -> None:
    longest = max(run.effort.lengths())
    with run.farm(TURNWIRE) as farm:
        for count in LENGTH.counts:
            if count <= longest:
                load = turns_of(count, run.effort.seconds)
                for number, name in run.order(farm):
                    run.load(farm, MODE, LENGTH.case(count), number, name, load)


def _streams(run: Run) -> None:
    with run.farm(TURNWIRE) as farm:
        for count in STREAMS.counts:
            if count <= run.effort.most_streams:
                rate = SHARED_RATE / count
                load, window_s = crowd_of(count, rate, run.effort.seconds)
                for number, name in run.order(farm):
                    case = STREAMS.case(count)
                    run.load(farm, MODE, case, number, name, load, window_s=window_s)


def _output(run: Run) -> None:
    with run.farm(TURNWIRE) as farm:
        for count in OUTPUT.counts:
            plan = Plan(deltas=3, tools=1, output=count * _KB)
            total = max(4, min(_turns(run, 2), _KB_OF_ROUND // count))
            load = Load(plan=plan, streams=2, total=total)
            for number, name in run.order(farm):
                measure = partial(_output_figures, farm, name, load, count)
                _add(run, OUTPUT.case(count), number, name, measure)


def _output_figures(
    farm: Farm, name: str, load: Load, count: int
) -> tuple[Mapping[str, float], Measured]:
    found, spent = farm.run(name, load)
    per_turn_us = of_load(found, spent)["us_per_turn"]
    return {"us_per_kb": per_turn_us / count, "us_per_turn": per_turn_us}, (found, spent)


def _sessions(run: Run) -> None:
    """Sessions only ever become more, so all rounds of a point follow each other."""
    with run.farm(TURNWIRE) as farm:
        for count in SESSIONS.counts:
            if count <= max(run.effort.most_streams, min(SESSIONS.counts)):
                # A connection has a session of its own, and none waits for another's end.
                seen = Load(plan=Plan(deltas=1), streams=count, ramp_us=_SEEN_RAMP_US)
                for name in farm.names:
                    farm.run(name, seen)
                load = Load(plan=_SHORT, streams=_FEW, total=_turns(run, _FEW))
                for number, name in run.order(farm):
                    run.load(farm, MODE, SESSIONS.case(count), number, name, load)


def _history(run: Run) -> None:
    with run.farm(TURNWIRE) as farm:
        for count in HISTORY.counts:
            per_s = _REQUESTS_PER_S / (1 + count / _MESSAGES_OF_REQUEST)
            times = max(2, int(per_s * run.effort.seconds))
            for number, name in run.order(farm):
                measure = partial(_history_figures, farm, name, count, times)
                _add(run, HISTORY.case(count), number, name, measure)


def _history_figures(
    farm: Farm, name: str, count: int, times: int
) -> tuple[Mapping[str, float], Measured]:
    """Histories, one behind the other over one connection. Of the last 500 messages, at most."""
    connection = http.client.HTTPConnection(HOST, farm.contender(name).port, timeout=_PATIENCE_S)
    path = f"/api/sessions/history-{count}/messages?limit=500"
    failed = 0
    size = 0
    before = farm.read(name)
    try:
        for _ in range(times):
            connection.request("GET", path, headers={"Authorization": f"Bearer {farm.token}"})
            response = connection.getresponse()
            body = response.read()
            size += len(body)
            failed += response.status != http.client.OK or body.count(b'"role"') != min(count, 500)
    except http.client.HTTPException as error:
        raise NotStartedError(f"a history of {count} messages: {error!r}") from error
    finally:
        connection.close()
    spent = farm.spent(before, farm.read(name))
    found = _found(times, failed, size, spent)
    per_request_us = spent.gateway_s * 1e6 / times
    figures = {"us_per_message": per_request_us / count, "us_per_request": per_request_us}
    return figures, (found, spent)


def _found(times: int, failed: int, size: int, spent: Spent) -> Found:
    """What a client of requests would print."""
    return Found(
        wall_s=spent.wall_s,
        streams=times,
        wrong=failed,
        failed=0,
        refused=0,
        missing=0,
        deltas=0,
        bytes=size,
        reads=0,
        cpu_s=0,
    )


def _paced(run: Run) -> None:
    with run.farm(TURNWIRE) as farm:
        for count in counts_of(PACED):
            if count <= run.effort.most_streams:
                load, window_s = crowd_of(count, PACED_RATE, run.effort.seconds)
                for number, name in run.order(farm):
                    measure = partial(_window_figures, farm, name, load, window_s)
                    _add(run, FRAME.case(count), number, name, measure)


def _window_figures(
    farm: Farm, name: str, load: Load, window_s: float
) -> tuple[Mapping[str, float], Measured]:
    """As a window of paced streams, and what the network carried meanwhile."""
    client = farm.start(name, load)
    try:
        farm.all_held(load.streams, load.patience_s)
        time.sleep(_SETTLE_S)
        farm.go()
        carried = probes.loopback_bytes()
        before = farm.read(name, client)
        time.sleep(0.8 * window_s)
        spent = farm.spent(before, farm.read(name, client))
        carried = probes.loopback_bytes() - carried
        found = client.found()
    finally:
        client.kill()
    figures = dict(of_window(found, spent))
    if spent.deltas:
        figures["wire_bytes_per_frame"] = carried / spent.deltas
    return figures, (found, spent)


def _clients(run: Run) -> None:
    with run.farm(TURNWIRE) as farm:
        for count in counts_of(CLIENTS):
            load = Load(plan=_SHORT, streams=count, total=_turns(run, count))
            for number, name in run.order(farm):
                measure = partial(_turn_figures, farm, name, load)
                _add(run, TURN.case(count), number, name, measure)


def _turn_figures(farm: Farm, name: str, load: Load) -> tuple[Mapping[str, float], Measured]:
    log = farm.program(name).output()
    ports = probes.lingering(farm.agent_port)
    found, spent = farm.run(name, load)
    time.sleep(_SETTLE_S)  # the line of a turn comes behind its last byte
    lines = farm.program(name).output()[len(log) :]
    figures = {
        "us_per_turn": of_load(found, spent)["us_per_turn"],
        "log_lines_per_turn": lines.count("\n") / found.streams,
        "log_bytes_per_turn": len(lines.encode()) / found.streams,
        "ports_per_turn": max(0, probes.lingering(farm.agent_port) - ports) / found.streams,
    }
    return figures, (found, spent)


def _open(run: Run) -> None:
    """Each point in a process that had few streams before."""
    for number in range(min(3, run.effort.rounds)):
        for count in counts_of(OPEN):
            if count <= run.effort.streams_of_memory:
                with run.farm(TURNWIRE) as farm:
                    measure = partial(_open_round, farm, number, count)
                    run.add(MODE, MEMORY.case(count), number, TURNWIRE, measure)


def _open_round(farm: Farm, number: int, count: int) -> Round:
    load = Load(plan=Plan(deltas=1, hold=True), streams=count, ramp_us=RAMP_US)
    pids = machine.tree(farm.program(TURNWIRE).pid)
    before, had = farm.pss_bytes(TURNWIRE), probes.descriptors(pids)
    dialled = farm.stats().sockets
    client = farm.start(TURNWIRE, load)
    try:
        farm.all_held(count, load.patience_s)
        held, has = farm.pss_bytes(TURNWIRE), probes.descriptors(pids)
        figures = {
            "kb_per_stream": (held - before) / _KB / count,
            "base_mb": before / MIB,
            "descriptors_per_stream": (has - had) / count,
            "dialled_per_stream": (farm.stats().sockets - dialled) / count,
            "series": probes.series(int(farm.contender(TURNWIRE).environ["TURNWIRE_METRICS_PORT"])),
        }
        farm.go()
        found = client.found()
    finally:
        client.kill()
    return Round(
        mode=MODE,
        case=MEMORY.case(count),
        contender=TURNWIRE,
        number=number,
        figures=figures,
        void=found.fault,
    )


def _logged(run: Run) -> None:
    """Streams whose turns a Redis keeps, on the wire of an agent that keeps nothing."""
    with run.farm(AG_UI_REDIS) as farm:
        for name in farm.names:
            ports = [each.port for each in farm.contender(name).needs if each.name == REDIS]
            for port in ports:
                for count in counts_of(LOGGED):
                    load, window_s = crowd_of(count, LOGGED_RATE, run.effort.seconds)
                    for number in range(run.effort.rounds):
                        measure = partial(_redis_figures, farm, name, load, window_s, port)
                        _add(run, REDIS_US.case(count), number, name, measure)


def _redis_figures(
    farm: Farm, name: str, load: Load, window_s: float, port: int
) -> tuple[Mapping[str, float], Measured]:
    client = farm.start(name, load)
    try:
        farm.all_held(load.streams, load.patience_s)
        time.sleep(_SETTLE_S)
        farm.go()
        before, done = farm.read(name, client), probes.redis(port)
        time.sleep(0.8 * window_s)
        after = probes.redis(port)
        spent = farm.spent(before, farm.read(name, client))
        found = client.found()
    finally:
        client.kill()
    stream_s = spent.wall_s * load.streams
    figures = {
        "redis_calls_per_stream_s": (after.calls - done.calls) / stream_s,
        "redis_us_per_stream_s": (after.busy_us - done.busy_us) / stream_s,
    }
    return figures, (found, spent)


def _turns(run: Run, clients: int) -> int:
    return max(2 * clients, int(_TURNS_PER_S * run.effort.seconds))


def _add(run: Run, case: str, number: int, name: str, measure: Figures) -> None:
    """A round of the quietest of a few measurements."""

    def again() -> tuple[tuple[Mapping[str, float], Found], Spent]:
        figures, (found, spent) = measure()
        return (figures, found), spent

    def each() -> Round:
        (figures, found), spent = quietest(again, run.until)
        return Round(
            mode=MODE,
            case=case,
            contender=name,
            number=number,
            figures=figures,
            foreign=spent.foreign,
            void=found.fault,
        )

    run.add(MODE, case, number, name, each)


GROWTH_MODES: Final[Mapping[str, Mode]] = {MODE: growth}
