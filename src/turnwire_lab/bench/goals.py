"""The goals, one a row of the table: what is measured, what it should be, what it was."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from turnwire_lab.bench.agent_loop.cases import (
    FOLLOWED,
    IDLE,
    JOURNALS,
    KILLED,
    MEMORY,
    PARKED,
    RUNNING,
    SESSIONS_CASE,
    TURNS_CASE,
)
from turnwire_lab.bench.contenders import (
    ACP,
    AG_UI,
    AG_UI_LOGGED,
    AG_UI_NODE,
    AG_UI_PYTHON,
    AG_UI_REDIS,
    DIRECT,
    FORWARDING,
    HANDWRITTEN,
    HELPER,
    NGINX,
    OPENAI_CHAT,
    OPENAI_CHAT_NODE,
    OPENAI_CHAT_PYTHON,
    OWN_RELAY,
    SESSION_AGENT,
    TURNWIRE,
)
from turnwire_lab.bench.figures import LEAST_ROUNDS, Figure, difference, figure, ratio
from turnwire_lab.bench.model_calls.answers import CHAT, MESSAGES, RESPONSES
from turnwire_lab.bench.model_calls.readers import (
    LITELLM,
    OPENAI,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    RUNTIME,
    imports,
)
from turnwire_lab.bench.rounds import Rounds

Measure = Callable[[Rounds], Figure | None]

MET: Final = "met"
MISSED: Final = "missed"
NEAR: Final = "too close to say"
OPEN: Final = "not said"
NONE: Final = "not measured"

PRICE_OF_FRAME: Final = "100 x 50/s: CPU/frame"
PRICE_OF_TURN: Final = "Short turns, 32 clients: CPU/turn"
PRICE_OF_STREAM: Final = "Memory of 1,000 open streams"
"""The rows that sizes are reckoned from."""


class Goal(Struct, frozen=True):
    what: str
    measure: Measure
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None
    """Neither: nothing is promised."""

    def verdict(self, measured: Figure | None) -> str:
        """Whether it is met; near is where the middle half of the rounds lies on both sides."""
        if measured is None:
            return NONE
        if measured.why_not is not None or measured.rounds < LEAST_ROUNDS:
            return OPEN
        if self.at_least is not None:
            if measured.lower >= self.at_least:
                return MET
            return MISSED if measured.upper < self.at_least else NEAR
        if self.at_most is not None:
            if measured.upper <= self.at_most:
                return MET
            return MISSED if measured.lower > self.at_most else NEAR
        return ""


def _rate(
    case: str,
    theirs: str,
    mode: str = "burst",
    name: str = "frames_per_core_s",
    ours: str = TURNWIRE,
) -> Measure:
    """How many times as much of something as another contender has."""
    return lambda rounds: ratio(
        rounds.values(mode, case, ours, name), rounds.values(mode, case, theirs, name)
    )


def _cost(case: str, theirs: str) -> Measure:
    return _rate(case, theirs, "paced", "us_per_frame")


def _value(mode: str, case: str, name: str, contender: str = TURNWIRE) -> Measure:
    return lambda rounds: figure(list(rounds.values(mode, case, contender, name).values()))


def _between(mode: str, cases: tuple[str, str], contenders: tuple[str, str]) -> Measure:
    """What a frame costs in one case, as many times as in another."""
    return lambda rounds: ratio(
        rounds.values(mode, cases[0], contenders[0], "us_per_frame"),
        rounds.values(mode, cases[1], contenders[1], "us_per_frame"),
    )


def added_us(
    rounds: Rounds, case: str, contender: str, point: str, mode: str = "paced"
) -> Mapping[int, float]:
    """Latency by round, without the rig's own hop in the same round."""
    ours, rig = (
        {
            each.number: float(getattr(each.latency_us, point))
            for each in rounds.of(mode, case, name)
            if each.latency_us is not None
        }
        for name in (contender, DIRECT)
    )
    return difference(ours, rig)


def _added(case: str, point: str, contender: str = TURNWIRE) -> Measure:
    return lambda rounds: figure(list(added_us(rounds, case, contender, point).values()))


def _added_ratio(
    case: str, point: str, theirs: str, ours: str = TURNWIRE, mode: str = "paced"
) -> Measure:
    return lambda rounds: ratio(
        added_us(rounds, case, ours, point, mode), added_us(rounds, case, theirs, point, mode)
    )


_BURSTS: Final = ("1 stream", "10 streams", "100 streams")


def _bursts() -> Iterator[Goal]:
    goals: Sequence[tuple[str, str, tuple[float, float, float]]] = (
        ("the Node helper", HELPER, (2.5, 2.5, 4.0)),
        ("Node by hand", HANDWRITTEN, (1.0, 1.0, 1.8)),
        ("a `websockets` relay that translates nothing", FORWARDING, (1.4, 1.4, 1.4)),
        ("the same path without translation", OWN_RELAY, (0.85, 0.85, 0.85)),
    )
    for name, theirs, least in goals:
        for case, at_least in zip(_BURSTS, least, strict=True):
            what = f"Burst, {case}: frames/s/core vs {name}"
            rate = _rate(case, theirs)
            yield Goal(what, rate, at_least=at_least)
    for case in _BURSTS:
        rate = _value("burst", case, "frames_per_core_s")
        yield Goal(f"Burst, {case}: frames/s/core", rate, unit="/s")
        rate = _value("burst", case, "frames_per_core_s", SESSION_AGENT)
        yield Goal(f"… `session-agent`, {case}", rate, unit="/s")
    for case in _BURSTS:
        rate = _rate(case, TURNWIRE, ours=ACP)
        yield Goal(f"`acp`, burst, {case}: frames/s/core vs `v2`", rate)


def _paced() -> Iterator[Goal]:
    for case in ("100 x 50/s", "400 x 50/s"):
        for name, theirs, at_most in (
            ("the Node helper", HELPER, 0.6),
            ("Node by hand", HANDWRITTEN, 1.0),
            ("nginx proxying finished SSE", NGINX, 1.7),
        ):
            what = f"{case}: CPU/frame vs {name}"
            yield Goal(what, _cost(case, theirs), at_most=at_most)
        yield Goal(f"{case}: CPU/frame", _value("paced", case, "us_per_frame"), unit="µs")
    small, large = "100 x 50/s", "400 x 50/s"
    yield Goal(f"{small}: added latency p50", _added(small, "p50"), "µs", at_most=60)
    yield Goal(f"{small}: added latency p99", _added(small, "p99"), "µs", at_most=250)
    p99 = _added_ratio(small, "p99", HELPER)
    yield Goal(f"{small}: added latency p99 vs the Node helper", p99, at_most=1.0)
    yield Goal(f"{large}: added latency p99", _added(large, "p99"), "µs", at_most=1_000)
    for case in (small, large):
        added = _added(case, "p99", SESSION_AGENT)
        yield Goal(f"… `session-agent`, {case}: added latency p99", added, "µs")
        cost = _rate(case, TURNWIRE, "paced", "us_per_frame", ACP)
        yield Goal(f"`acp`, {case}: CPU/frame vs `v2`", cost)
    for name, theirs in (("nginx", NGINX), ("Node by hand", HANDWRITTEN), ("the helper", HELPER)):
        for case, point in ((small, "p50"), (small, "p99"), (large, "p99")):
            added = _added(case, point, theirs)
            yield Goal(f"… {name}, {case}: added latency {point}", added, "µs")


def _turns() -> Iterator[Goal]:
    for clients, at_least, at_most in ((32, 2.2, 25), (100, 2.0, 150)):
        case = f"{clients} clients"
        rate = _rate(case, HELPER, "short", "turns_per_s")
        what = f"Short turns/s, {case} vs the Node helper"
        yield Goal(what, rate, at_least=at_least)
        yield Goal(f"Short turns/s, {case}", _value("short", case, "turns_per_s"), unit="/s")
        yield Goal(f"Short turns, {case}: CPU/turn", _value("short", case, "us_per_turn"), "µs")
        first = _value("short", case, "first_byte_p99_ms")
        yield Goal(f"{case}: time to first byte p99", first, "ms", at_most=at_most)
        for name, theirs in (("Node by hand", HANDWRITTEN), ("the helper", HELPER)):
            first = _value("short", case, "first_byte_p99_ms", theirs)
            yield Goal(f"… {name}, {case}: time to first byte p99", first, "ms")


def _rest() -> Iterator[Goal]:
    held = _value("memory", "1000", "mb_per_1000")
    yield Goal(PRICE_OF_STREAM, held, "MB", at_most=25)
    for name, theirs in (("Node by hand", HANDWRITTEN), ("a `websockets` relay", FORWARDING)):
        yield Goal(f"… {name}", _value("memory", "1000", "mb_per_1000", theirs), "MB")
    held = _rate("1000", HELPER, "memory", "mb_per_1000")
    yield Goal("Memory of open streams vs the Node helper", held, at_most=0.35)
    grown = _value("memory-growth", "2000", "grown_mb")
    yield Goal("Growth over requests 300 to 2,300", grown, "MB", at_most=1)
    grown = _value("memory-growth", "2000", "grown_later_mb")
    yield Goal("Growth over the next 2,000", grown, "MB", at_most=1)
    same = (TURNWIRE, TURNWIRE)
    cost = _between("length", ("400000", "10000"), same)
    yield Goal("CPU/frame of a turn of 400,000 deltas vs 10,000", cost, at_most=1.1)
    cost = _between("large", ("20 KB", "20 KB"), (TURNWIRE, OWN_RELAY))
    yield Goal("CPU/frame, deltas of 20 KB vs copying them", cost, at_most=1.5)
    cost = _between("twice", ("twice", "once"), same)
    yield Goal("CPU/delta told twice vs once", cost, at_most=1.7)
    held = _value("slow", "5", "mb_per_stream")
    yield Goal("Slow reader, 5 x 40 MB: memory of a stream", held, "MB", at_most=1)
    closed = _value("slow", "5", "closed_s")
    yield Goal("… agent's sockets closed after its client went", closed, "s", at_most=1)


def _http() -> Iterator[Goal]:
    """Agents over HTTP."""
    for name, theirs, at_least in (
        ("`v2`", TURNWIRE, 0.6),
        ("Node, `@ag-ui/client`", AG_UI_NODE, 8.0),
        ("httpx by hand", AG_UI_PYTHON, 12.0),
    ):
        for case in _BURSTS:
            what = f"`ag-ui`, burst, {case}: frames/s/core vs {name}"
            rate = _rate(case, theirs, "http-burst", ours=AG_UI)
            yield Goal(what, rate, at_least=at_least)
    for case in _BURSTS:
        rate = _rate(case, TURNWIRE, "http-burst", ours=OPENAI_CHAT)
        yield Goal(f"`openai-chat`, burst, {case}: frames/s/core vs `v2`", rate, at_least=0.6)
    for name, theirs in (("Node", OPENAI_CHAT_NODE), ("httpx", OPENAI_CHAT_PYTHON)):
        for case in _BURSTS:
            rate = _rate(case, theirs, "http-burst", ours=OPENAI_CHAT)
            yield Goal(f"`openai-chat`, burst, {case}: frames/s/core vs {name} by hand", rate)
    case = "100 x 50/s"
    cost = _rate(case, TURNWIRE, "http-paced", "us_per_frame", AG_UI)
    yield Goal(f"`ag-ui`, {case}: CPU/frame vs `v2`", cost, at_most=1.3)
    p99 = _http_p99(case, AG_UI)
    yield Goal(f"`ag-ui`, {case}: added latency p99", p99, "µs", at_most=300)
    for where, contender, at_most in (("memory", AG_UI_LOGGED, 1.1), ("Redis", AG_UI_REDIS, 1.4)):
        cost = _rate(case, AG_UI, "http-paced", "us_per_frame", contender)
        yield Goal(f"… CPU/frame with a turn log in {where} vs without", cost, at_most=at_most)
        p99 = _http_p99(case, contender)
        yield Goal(f"… added latency p99 with one in {where}", p99, "µs", at_most=300)
        unchanged = _added_ratio(case, "p99", AG_UI, contender, "http-paced")
        what = f"… added latency p99 with one in {where} vs without"
        yield Goal(what, unchanged, at_most=1.1)
    cost = _rate(case, TURNWIRE, "http-paced", "us_per_frame", OPENAI_CHAT)
    yield Goal(f"`openai-chat`, {case}: CPU/frame vs `v2`", cost)
    case = "32 clients"
    rate = _rate(case, TURNWIRE, "http-short", "turns_per_s", AG_UI)
    yield Goal(f"`ag-ui`, short turns/s, {case} vs `v2`", rate, at_least=1.2)
    cost = _between("http-noise", ("1 MB/s of noise", "quiet"), (AG_UI, AG_UI))
    yield Goal("`ag-ui`, CPU/delta beside 1 MB/s of noise vs without", cost, at_most=1.5)
    for name, contender in (("", AG_UI), (", turn log in memory", AG_UI_LOGGED)):
        held = _value("http-memory", "1000", "mb_per_1000", contender)
        yield Goal(f"`ag-ui`, memory of 1,000 open streams{name}", held, "MB", at_most=28)

    for where, contender in (("memory", AG_UI_LOGGED), ("Redis", AG_UI_REDIS)):
        what = f"Turn log in {where}: memory of 1,000 turns of 10 KB"
        yield Goal(what, _turn_log_mb(contender), "MB", at_most=20)


def _model_calls() -> Iterator[Goal]:
    """The agent runtime before models."""
    for wire, case in (
        ("Chat Completions", CHAT),
        ("Messages", MESSAGES),
        ("Responses", RESPONSES),
    ):
        cost = _value("chunks", case, "us_per_chunk", RUNTIME)
        yield Goal(f"Model call, {wire}: CPU/chunk", cost, "µs", at_most=25)
    cost = _value("chunks", "alone", "us_per_chunk", RUNTIME)
    yield Goal("… Chat Completions, each chunk in a read of its own", cost, "µs")
    for name, at_most in (
        (PYDANTIC_AI, 1 / 8),
        (LITELLM, 1 / 20),
        (OPENAI_AGENTS, None),
        (OPENAI, None),
    ):
        cost = _rate(CHAT, name, "chunks", "us_per_chunk", RUNTIME)
        yield Goal(f"Model call: CPU/chunk vs `{name}`", cost, at_most=at_most)
    peers = (PYDANTIC_AI, LITELLM, OPENAI_AGENTS, OPENAI)
    for name in peers:
        cost = _value("chunks", CHAT, "us_per_chunk", name)
        yield Goal(f"… `{name}`: CPU/chunk", cost, "µs")
    for module in imports(RUNTIME):
        seconds = _value("imports", module, "seconds", RUNTIME)
        yield Goal(f"Import of `{module}`", seconds, "s", at_most=0.3)
    for name in peers:
        for module in imports(name):
            yield Goal(f"… `{module}`", _value("imports", module, "seconds", name), "s")


def _agent_loop() -> Iterator[Goal]:
    """The agent runtime before a gateway, with each of its journals on this machine."""
    for journal in JOURNALS:
        cost = _value("agent-loop", "burst", "us_per_chunk", journal)
        yield Goal(f"Loop, journal in {journal}: CPU/chunk, to the socket", cost, "µs", at_most=25)
    for name, at_most in ((PYDANTIC_AI, 1 / 8), (LITELLM, 1 / 20)):
        cost = _rate("burst", name, "agent-loop", "us_per_chunk", MEMORY)
        yield Goal(f"… vs `{name}`, which only reads it", cost, at_most=at_most)
    cost = _rate("burst", OPENAI_AGENTS, "agent-loop", "us_per_chunk", MEMORY)
    yield Goal(f"… vs `{OPENAI_AGENTS}`, whose loop keeps nothing", cost)
    for journal in JOURNALS:
        for point, at_most_ms in (("p50", None), ("p99", 10)):
            late = _value("agent-turns", TURNS_CASE, f"added_{point}_ms", journal)
            what = f"{TURNS_CASE}, journal in {journal}: added latency {point}"
            yield Goal(what, late, "ms", at_most=at_most_ms)
        cost = _value("agent-turns", TURNS_CASE, "us_per_chunk", journal)
        yield Goal(f"… CPU/chunk, journal in {journal}", cost, "µs")
    for case, what, at_most in (
        (RUNNING, "Memory of a turn that runs, its socket too", 60),
        (PARKED, "Memory of a turn that waits for a person", 5),
        (IDLE, "Memory of a session that is idle", 1),
    ):
        held = _value("agent-memory", case, "kb_per_turn", RUNTIME)
        yield Goal(what, held, "KB", at_most=at_most)
    opened = _value("agent-open", SESSIONS_CASE, "median_ms", RUNTIME)
    yield Goal("Opening one of 10,000 sessions of 100 messages", opened, "ms", at_most=20)
    worst = _value("agent-open", SESSIONS_CASE, "worst_ms", RUNTIME)
    yield Goal("… the slowest of 20", worst, "ms")
    late = _value("agent-open", FOLLOWED, "worst_ms", RUNTIME)
    yield Goal("A chunk at another process's socket: the oldest of 100", late, "ms", at_most=200)
    recovered = _value("agent-open", KILLED, "s_after_lease", RUNTIME)
    yield Goal(
        "A turn goes on after SIGKILL: after the end of its lease", recovered, "s", at_most=1
    )


def _turn_log_mb(contender: str) -> Measure:
    """What open streams with a turn log hold more than those without."""
    return lambda rounds: figure(
        list(
            difference(
                *(
                    rounds.values("http-turn-log", "1000", name, "mb_per_1000")
                    for name in (contender, AG_UI)
                )
            ).values()
        )
    )


def _http_p99(case: str, contender: str) -> Measure:
    return lambda rounds: figure(
        list(added_us(rounds, case, contender, "p99", "http-paced").values())
    )


GOALS: Final[Sequence[Goal]] = (
    *_bursts(),
    *_paced(),
    *_turns(),
    *_rest(),
    *_http(),
    *_model_calls(),
    *_agent_loop(),
)
