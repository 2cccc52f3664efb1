"""The goals, one a row of the table: what is measured, what it should be, what it was."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from turnwire_lab.bench import measures
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
    AG_UI_BESIDE_REDIS,
    AG_UI_LOGGED,
    AG_UI_NODE,
    AG_UI_PYTHON,
    AG_UI_REDIS,
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
from turnwire_lab.bench.figures import LEAST_ROUNDS, Figure
from turnwire_lab.bench.load import STEADY
from turnwire_lab.bench.measures import Measure
from turnwire_lab.bench.model_calls.answers import CHAT, MESSAGES, RESPONSES
from turnwire_lab.bench.model_calls.readers import (
    LITELLM,
    OPENAI,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    RUNTIME,
    imports,
)

MET: Final = "met"
MISSED: Final = "missed"
NEAR: Final = "too close to say"
OPEN: Final = "inconclusive"
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
    same_within: float | None = None
    """None of the three: nothing is promised. The last one: no more is seen than before, and such a
    part more would be seen."""

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
        if self.same_within is not None:
            if measured.lower > 1:
                return MISSED
            return MET if measured.upper <= 1 + self.same_within else NEAR
        if self.at_most is not None:
            if measured.upper <= self.at_most:
                return MET
            return MISSED if measured.lower > self.at_most else NEAR
        return ""


_BURSTS: Final = ("1 stream", "10 streams", "100 streams")


def _bursts() -> Iterator[Goal]:
    goals: Sequence[tuple[str, str, tuple[float | None, float | None, float | None]]] = (
        ("the Node helper", HELPER, (2.5, 2.5, 12.0)),
        ("Node by hand", HANDWRITTEN, (1.0, 1.0, 3.0)),
        ("a `websockets` relay that translates nothing", FORWARDING, (1.4, 1.4, 1.4)),
        ("the same path without translation", OWN_RELAY, (None, None, None)),
    )
    for name, theirs, least in goals:
        for case, at_least in zip(_BURSTS, least, strict=True):
            what = f"Burst, {case}: frames/s/core vs {name}"
            rate = measures.rate(case, theirs)
            yield Goal(what, rate, at_least=at_least)
    cost = measures.between("burst", ("100 streams", "1 stream"), (TURNWIRE, TURNWIRE))
    yield Goal("Burst: CPU/frame with 100 streams vs with 1", cost, at_most=2.0)
    for case in _BURSTS:
        rate = measures.value("burst", case, "frames_per_core_s")
        yield Goal(f"Burst, {case}: frames/s/core", rate, unit="/s")
        rate = measures.value("burst", case, "frames_per_core_s", SESSION_AGENT)
        yield Goal(f"… `session-agent`, {case}", rate, unit="/s")
    for case in _BURSTS:
        rate = measures.rate(case, TURNWIRE, ours=ACP)
        yield Goal(f"`acp`, burst, {case}: frames/s/core vs `v2`", rate)


def _paced() -> Iterator[Goal]:
    for case in ("100 x 50/s", "400 x 50/s"):
        for name, theirs, at_most in (
            ("the Node helper", HELPER, 0.6),
            ("Node by hand", HANDWRITTEN, 1.0),
            ("nginx proxying finished SSE", NGINX, 1.7),
        ):
            what = f"{case}: CPU/frame vs {name}"
            yield Goal(what, measures.cost(case, theirs), at_most=at_most)
        yield Goal(f"{case}: CPU/frame", measures.value("paced", case, "us_per_frame"), unit="µs")
    small, large = "100 x 50/s", "400 x 50/s"
    yield Goal(f"{small}: added latency p50", measures.added(small, "p50"), "µs", at_most=60)
    yield Goal(f"{small}: added latency p99", measures.added(small, "p99"), "µs", at_most=250)
    for point, at_most in (("p50", 25), ("p99", 100)):
        more = measures.added_beyond(small, point, NGINX)
        yield Goal(f"{small}: added latency {point}, minus nginx's", more, "µs", at_most=at_most)
    p99 = measures.added_ratio(small, "p99", HELPER)
    yield Goal(f"{small}: added latency p99 vs the Node helper", p99, at_most=1.0)
    yield Goal(f"{large}: added latency p99", measures.added(large, "p99"), "µs", at_most=1_000)
    for case in (small, large):
        added = measures.added(case, "p99", SESSION_AGENT)
        yield Goal(f"… `session-agent`, {case}: added latency p99", added, "µs")
        cost = measures.rate(case, TURNWIRE, "paced", "us_per_frame", ACP)
        yield Goal(f"`acp`, {case}: CPU/frame vs `v2`", cost)
    for name, theirs in (("nginx", NGINX), ("Node by hand", HANDWRITTEN), ("the helper", HELPER)):
        for case, point in ((small, "p50"), (small, "p99"), (large, "p99")):
            added = measures.added(case, point, theirs)
            yield Goal(f"… {name}, {case}: added latency {point}", added, "µs")


def _turns() -> Iterator[Goal]:
    goals: Sequence[tuple[int, float, float | None, float]] = (
        (32, 2.2, 1.5, 25),
        (100, 2.0, None, 150),
    )
    for clients, at_least, by_hand, at_most in goals:
        case = f"{clients} clients"
        rate = measures.rate(case, HELPER, "short", "turns_per_s")
        what = f"Short turns/s, {case} vs the Node helper"
        yield Goal(what, rate, at_least=at_least)
        rate = measures.rate(case, HANDWRITTEN, "short", "turns_per_s")
        what = f"Short turns/s, {case} vs Node by hand"
        yield Goal(what, rate, at_least=by_hand)
        yield Goal(
            f"Short turns/s, {case}", measures.value("short", case, "turns_per_s"), unit="/s"
        )
        yield Goal(
            f"Short turns, {case}: CPU/turn", measures.value("short", case, "us_per_turn"), "µs"
        )
        for start, who, goal in (
            (f"{clients} {STEADY}", case, at_most),
            (case, f"{case} that begin at once", None),
        ):
            first = measures.value("short", start, "first_byte_p99_ms")
            yield Goal(f"{who}: time to first byte p99", first, "ms", at_most=goal)
            for name, theirs in (("Node by hand", HANDWRITTEN), ("the helper", HELPER)):
                first = measures.value("short", start, "first_byte_p99_ms", theirs)
                yield Goal(f"… {name}, {who}: time to first byte p99", first, "ms")
        longest = measures.apart("short", f"{clients} {STEADY}")
        yield Goal(f"{case}: time to first byte p99 vs p50", longest, at_most=2.0)


def _rest() -> Iterator[Goal]:
    held = measures.value("memory", "1000", "mb_per_1000")
    yield Goal(PRICE_OF_STREAM, held, "MB", at_most=25)
    for name, theirs in (("Node by hand", HANDWRITTEN), ("a `websockets` relay", FORWARDING)):
        yield Goal(f"… {name}", measures.value("memory", "1000", "mb_per_1000", theirs), "MB")
    held = measures.rate("1000", HELPER, "memory", "mb_per_1000")
    yield Goal("Memory of open streams vs the Node helper", held, at_most=0.35)
    grown = measures.value("memory-growth", "2000", "grown_mb")
    yield Goal("Growth over requests 300 to 2,300", grown, "MB", at_most=1)
    grown = measures.value("memory-growth", "2000", "grown_later_mb")
    yield Goal("Growth over the next 2,000", grown, "MB", at_most=1)
    same = (TURNWIRE, TURNWIRE)
    cost = measures.between("length", ("400000", "10000"), same)
    yield Goal("CPU/frame of a turn of 400,000 deltas vs 10,000", cost, at_most=1.1)
    cost = measures.between("large", ("20 KB", "20 KB"), (TURNWIRE, OWN_RELAY))
    yield Goal("CPU/frame, deltas of 20 KB vs copying them", cost, at_most=2.5)
    cost = measures.between("twice", ("twice", "once"), same)
    yield Goal("CPU/delta sent twice vs once", cost, at_most=1.7)
    held = measures.value("slow", "5", "mb_per_stream")
    yield Goal("Slow reader, 5 x 40 MB: memory of a stream", held, "MB", at_most=1)
    closed = measures.value("slow", "5", "closed_s")
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
            rate = measures.rate(case, theirs, "http-burst", ours=AG_UI)
            yield Goal(what, rate, at_least=at_least)
    for case in _BURSTS:
        rate = measures.rate(case, TURNWIRE, "http-burst", ours=OPENAI_CHAT)
        yield Goal(f"`openai-chat`, burst, {case}: frames/s/core vs `v2`", rate, at_least=0.6)
    for name, theirs in (("Node", OPENAI_CHAT_NODE), ("httpx", OPENAI_CHAT_PYTHON)):
        for case in _BURSTS:
            rate = measures.rate(case, theirs, "http-burst", ours=OPENAI_CHAT)
            yield Goal(f"`openai-chat`, burst, {case}: frames/s/core vs {name} by hand", rate)
    case = "100 x 50/s"
    cost = measures.rate(case, TURNWIRE, "http-paced", "us_per_frame", AG_UI)
    yield Goal(f"`ag-ui`, {case}: CPU/frame vs `v2`", cost, at_most=1.3)
    p99 = measures.http_p99(case, AG_UI)
    yield Goal(f"`ag-ui`, {case}: added latency p99", p99, "µs", at_most=300)
    for where, contender, at_most in (("memory", AG_UI_LOGGED, 1.1), ("Redis", AG_UI_REDIS, 1.4)):
        p99 = measures.http_p99(case, contender)
        what = f"… added latency p99 with a turn log in {where}"
        yield Goal(what, p99, "µs", at_most=300)
        cost = measures.beside(case, "us_per_frame", AG_UI, contender)
        what = f"`ag-ui`: CPU/frame, turn log in {where} vs none (interval of 95 %)"
        yield Goal(what, cost, at_most=at_most)
    for ours, theirs, name, within in (
        (AG_UI_LOGGED, AG_UI, "turn log in memory vs none", 0.25),
        (AG_UI_REDIS, AG_UI_BESIDE_REDIS, "turn log in Redis vs none beside that Redis", 0.25),
        (AG_UI_BESIDE_REDIS, AG_UI, "none beside that Redis vs none", None),
        (AG_UI_REDIS, AG_UI, "turn log in Redis vs none", None),
    ):
        for point, same_within in (("p50", None), ("p99", within)):
            beside = measures.latency_beside(case, point, theirs, ours)
            what = f"`ag-ui`: latency {point}, {name} (interval of 95 %)"
            yield Goal(what, beside, same_within=same_within)
        calm = measures.beside(case, "calm_p99_us", theirs, ours)
        what = f"`ag-ui`: latency p99 of calm stretches, {name} (interval of 95 %)"
        yield Goal(what, calm)
    cost = measures.rate(case, TURNWIRE, "http-paced", "us_per_frame", OPENAI_CHAT)
    yield Goal(f"`openai-chat`, {case}: CPU/frame vs `v2`", cost)
    case = "32 clients"
    rate = measures.rate(case, TURNWIRE, "http-short", "turns_per_s", AG_UI)
    yield Goal(f"`ag-ui`, short turns/s, {case} vs `v2`", rate, at_least=1.2)
    cost = measures.between("http-noise", ("1 MB/s of noise", "quiet"), (AG_UI, AG_UI))
    yield Goal("`ag-ui`, CPU/delta beside 1 MB/s of noise vs without", cost, at_most=1.5)
    for name, contender in (("", AG_UI), (", turn log in memory", AG_UI_LOGGED)):
        held = measures.value("http-memory", "1000", "mb_per_1000", contender)
        yield Goal(f"`ag-ui`, memory of 1,000 open streams{name}", held, "MB", at_most=28)

    for where, contender in (("memory", AG_UI_LOGGED), ("Redis", AG_UI_REDIS)):
        what = f"Turn log in {where}: memory of 1,000 turns of 10 KB"
        yield Goal(what, measures.turn_log_mb(contender), "MB", at_most=20)


def _model_calls() -> Iterator[Goal]:
    """The agent runtime before models."""
    for wire, case in (
        ("Chat Completions", CHAT),
        ("Messages", MESSAGES),
        ("Responses", RESPONSES),
    ):
        cost = measures.value("chunks", case, "us_per_chunk", RUNTIME)
        yield Goal(f"Model call, {wire}: CPU/chunk", cost, "µs", at_most=25)
    cost = measures.value("chunks", "alone", "us_per_chunk", RUNTIME)
    yield Goal("… Chat Completions, each chunk in a read of its own", cost, "µs")
    for name, at_most in (
        (PYDANTIC_AI, 1 / 8),
        (LITELLM, 1 / 20),
        (OPENAI_AGENTS, None),
        (OPENAI, None),
    ):
        cost = measures.rate(CHAT, name, "chunks", "us_per_chunk", RUNTIME)
        yield Goal(f"Model call: CPU/chunk vs `{name}`", cost, at_most=at_most)
    peers = (PYDANTIC_AI, LITELLM, OPENAI_AGENTS, OPENAI)
    for name in peers:
        cost = measures.value("chunks", CHAT, "us_per_chunk", name)
        yield Goal(f"… `{name}`: CPU/chunk", cost, "µs")
    for module in imports(RUNTIME):
        seconds = measures.value("imports", module, "seconds", RUNTIME)
        yield Goal(f"Import of `{module}`", seconds, "s", at_most=0.3)
    for name in peers:
        for module in imports(name):
            yield Goal(f"… `{module}`", measures.value("imports", module, "seconds", name), "s")


def _agent_loop() -> Iterator[Goal]:
    """The agent runtime before a gateway, with each of its journals on this machine."""
    for journal in JOURNALS:
        cost = measures.value("agent-loop", "burst", "us_per_chunk", journal)
        yield Goal(f"Loop, journal in {journal}: CPU/chunk, to the socket", cost, "µs", at_most=25)
    for name, at_most in ((PYDANTIC_AI, 1 / 8), (LITELLM, 1 / 20)):
        cost = measures.rate("burst", name, "agent-loop", "us_per_chunk", MEMORY)
        yield Goal(f"… vs `{name}`, which only reads it", cost, at_most=at_most)
    cost = measures.rate("burst", OPENAI_AGENTS, "agent-loop", "us_per_chunk", MEMORY)
    yield Goal(f"… vs `{OPENAI_AGENTS}`, whose loop keeps nothing", cost)
    for journal in JOURNALS:
        for point, at_most_ms in (("p50", None), ("p99", 10)):
            late = measures.value("agent-turns", TURNS_CASE, f"added_{point}_ms", journal)
            what = f"{TURNS_CASE}, journal in {journal}: added latency {point}"
            yield Goal(what, late, "ms", at_most=at_most_ms)
        cost = measures.value("agent-turns", TURNS_CASE, "us_per_chunk", journal)
        yield Goal(f"… CPU/chunk, journal in {journal}", cost, "µs")
    for case, what, at_most in (
        (RUNNING, "Memory of a turn that runs, its socket too", 60),
        (PARKED, "Memory of a turn that waits for a person", 5),
        (IDLE, "Memory of a session that is idle", 1),
    ):
        held = measures.value("agent-memory", case, "kb_per_turn", RUNTIME)
        yield Goal(what, held, "KB", at_most=at_most)
    opened = measures.value("agent-open", SESSIONS_CASE, "median_ms", RUNTIME)
    yield Goal("Opening one of 10,000 sessions of 100 messages", opened, "ms", at_most=20)
    worst = measures.value("agent-open", SESSIONS_CASE, "worst_ms", RUNTIME)
    yield Goal("… the slowest of 20", worst, "ms")
    late = measures.value("agent-open", FOLLOWED, "worst_ms", RUNTIME)
    yield Goal("A chunk at another process's socket: the oldest of 100", late, "ms", at_most=200)
    recovered = measures.value("agent-open", KILLED, "s_after_lease", RUNTIME)
    yield Goal(
        "A turn goes on after SIGKILL: after the end of its lease", recovered, "s", at_most=1
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
