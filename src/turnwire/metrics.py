"""The gateway's metrics: `Telemetry` holds all of them, in one registry.

The values of labels are closed sets (an outcome, the code of a refusal, a reason),
never the id of a session, a user or a turn. Types of unknown frames come from
outside, so only the first `TYPES_MAX` get a label of their own.
"""

import functools
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from turnwire import __version__

FIRST_BYTE_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10)
"""Around the RFC's 200 ms target and its 500 ms alert."""

TURN_BUCKETS_S: Final = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

RELAY_BUCKETS_S: Final = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25)
"""Around the RFC's 5 ms for a frame."""

LAG_BUCKETS_S: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)

TYPES_MAX: Final = 50
"""Most unknown frame types with a label of their own, in the life of the process."""

_TYPE = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")


class PlainCounter(Collector):
    """A counter without a lock: only the event loop adds to it.

    To add to a `prometheus_client.Counter` takes a lock and five calls, which was a fifteenth of
    the cost of a short turn.
    """

    def __init__(self, name: str, documentation: str, *, registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._value = 0.0
        registry.register(self)

    def inc(self, amount: float = 1) -> None:
        self._value += amount

    def describe(self) -> Sequence[CounterMetricFamily]:
        return [CounterMetricFamily(self._name, self._documentation)]

    def collect(self) -> Sequence[CounterMetricFamily]:
        return [CounterMetricFamily(self._name, self._documentation, value=self._value)]


class ReadCounter(Collector):
    """A counter whose values are read from an object when the metrics are collected.

    `bind` says how. Until then, and for an object that there is not, all values are 0.
    """

    def __init__(
        self,
        name: str,
        documentation: str,
        label: str | None = None,
        values: Sequence[str] = ("",),
        *,
        registry: CollectorRegistry,
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = [] if label is None else [label]
        self._values = values
        self._read: Callable[[], Sequence[float]] = lambda: [0.0] * len(values)
        registry.register(self)

    def bind(self, read: Callable[[], Sequence[float]]) -> None:
        """Read the numbers from here: one for each value of the label, in their order."""
        self._read = read

    def describe(self) -> Sequence[CounterMetricFamily]:
        return [CounterMetricFamily(self._name, self._documentation, labels=self._labels)]

    def collect(self) -> Sequence[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for value, number in zip(self._values, self._read(), strict=True):
            family.add_metric([value] if self._labels else [], number)
        return [family]


class PlainHistogram(Collector):
    """A histogram without a lock: only the event loop observes values.

    Another thread may collect it; the total count always equals the sum of the buckets.
    """

    def __init__(
        self,
        name: str,
        documentation: str,
        *,
        registry: CollectorRegistry,
        buckets: Sequence[float],
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = (*map(float, buckets), float("inf"))
        self._counts = [0] * len(self._bounds)
        self._sum = 0.0
        registry.register(self)

    def observe(self, amount: float) -> None:
        self._sum += amount
        self._counts[bisect_left(self._bounds, amount)] += 1

    def describe(self) -> Sequence[HistogramMetricFamily]:
        return [HistogramMetricFamily(self._name, self._documentation)]

    def collect(self) -> Sequence[HistogramMetricFamily]:
        cumulative = accumulate(self._counts.copy())
        buckets = [(_le(b), n) for b, n in zip(self._bounds, cumulative, strict=True)]
        family = HistogramMetricFamily(
            self._name, self._documentation, buckets=buckets, sum_value=self._sum
        )
        return [family]


def _le(bound: float) -> str:
    """The label of a bucket's upper bound, as the library writes it."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]  # it has no types


class Telemetry:
    """All counters, histograms and gauges. A stream reports at its end, not for each frame.

    Gauges read their objects when the metrics are collected (`web.gauges` binds them).
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._types: set[str] = set()
        self.streams = Counter(
            "turnwire_streams", "Streams ended, by outcome.", ["outcome"], registry=registry
        )
        self.ended = functools.cache(self.streams.labels)
        """Returns the counter of an outcome. Cached, since `labels` takes a lock."""
        self.active = Gauge("turnwire_streams_active", "Streams open now.", registry=registry)
        self.tasks = Gauge("turnwire_tasks", "Tasks of the event loop.", registry=registry)
        self.admitted = Gauge(
            "turnwire_streams_admitted",
            "Streams that count for TURNWIRE_MAX_STREAMS: open ones, and those whose request body "
            "is being read.",
            registry=registry,
        )
        self.admitted_limit = Gauge(
            "turnwire_streams_limit", "TURNWIRE_MAX_STREAMS; +Inf: no limit.", registry=registry
        )
        self.turn_log_turns = Gauge(
            "turnwire_turn_log_turns",
            "Turns in the turn log of this process: running, waiting for an approval, or over for "
            "less than TURNWIRE_TURN_LOG_KEEP_S.",
            registry=registry,
        )
        self.turn_log_bytes = Gauge(
            "turnwire_turn_log_bytes",
            "Bytes of turns that this process holds for its turn log.",
            registry=registry,
        )
        self.turn_log_too_long = PlainCounter(
            "turnwire_turn_log_too_long",
            "Turns that were no longer kept, as they were longer than TURNWIRE_TURN_LOG_BYTES or "
            "the log was full. They cannot be resumed.",
            registry=registry,
        )
        self.turn_log_failures = PlainCounter(
            "turnwire_turn_log_failures",
            "How often the Redis of TURNWIRE_TURN_LOG did not answer. Turns go on without it.",
            registry=registry,
        )
        self.requests = Counter(
            "turnwire_requests",
            "Requests to the routes of sessions, by route.",
            ["route"],
            registry=registry,
        )
        self.refusals = Counter(
            "turnwire_refusals",
            "Requests that were answered with an HTTP error, by code.",
            ["code"],
            registry=registry,
        )
        self.first_byte = PlainHistogram(
            "turnwire_time_to_first_byte_seconds",
            "From the request to the first byte of its stream.",
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.turn = PlainHistogram(
            "turnwire_turn_duration_seconds",
            "From the request to the end of its stream.",
            registry=registry,
            buckets=TURN_BUCKETS_S,
        )
        self.turn_wait = PlainHistogram(
            "turnwire_turn_wait_seconds",
            "From the request to the start of its turn. Most of it is the wait in the agent's "
            "queue.",
            registry=registry,
            buckets=TURN_BUCKETS_S,
        )
        self.relay = PlainHistogram(
            "turnwire_relay_seconds",
            "From a read of the agent's socket until its frames are written to the client. One "
            "read in 16 is measured.",
            registry=registry,
            buckets=RELAY_BUCKETS_S,
        )
        self.dial = PlainHistogram(
            "turnwire_dial_seconds",
            "From the dial to the agent's handshake, or over HTTP to the head of its response. A "
            "head that is late counts with TURNWIRE_DIAL_S.",
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.dial_failures = Counter(
            "turnwire_dial_failures",
            "Connections to the agent that failed to open, by reason.",
            ["reason"],
            registry=registry,
        )
        self.agent_requests = ReadCounter(
            "turnwire_agent_requests",
            "Requests to agents over HTTP, by their connection: a new one, or one that was kept. "
            "`again`: on a new one after the kept one was found dead.",
            "connection",
            ("new", "kept", "again"),
            registry=registry,
        )
        self.agent_heads_late = ReadCounter(
            "turnwire_agent_heads_late",
            "Requests to agents over HTTP that had no head of a response within TURNWIRE_DIAL_S. "
            "Their streams begin without it, and wait for it up to TURNWIRE_IDLE_S.",
            registry=registry,
        )
        self.agent_connections_kept = Gauge(
            "turnwire_agent_connections_kept",
            "Connections to agents over HTTP that wait for their next request.",
            registry=registry,
        )
        self.history_left_out = PlainCounter(
            "turnwire_history_left_out",
            "Parts of conversations that clients sent and agents were not: the wire has no words "
            "for them, or they are over a limit. The log has their kinds.",
            registry=registry,
        )
        self.frames = PlainCounter(
            "turnwire_frames", "Frames received from agents.", registry=registry
        )
        self.foreign = PlainCounter(
            "turnwire_frames_foreign", "Frames of other turns. They are dropped.", registry=registry
        )
        self.malformed = PlainCounter(
            "turnwire_frames_malformed",
            "Frames that are not JSON, or have a known type and wrong fields. They are dropped.",
            registry=registry,
        )
        self.unrecognised = Counter(
            "turnwire_frames_unrecognised",
            "Frames of unknown types. They are dropped. The agent's wire may have changed.",
            ["type"],
            registry=registry,
        )
        self.drift = Counter(
            "turnwire_drift_frames",
            "Checked frames that have a type or fields that the dialect does not know.",
            ["dialect", "kind", "fingerprint"],
            registry=registry,
        )
        self.recordings = Counter(
            "turnwire_recordings",
            "Recordings of failed streams, by result.",
            ["result"],
            registry=registry,
        )
        self.doubled = PlainCounter(
            "turnwire_deltas_doubled",
            "Text deltas that came twice. The client got them once.",
            registry=registry,
        )
        self.keepalives = PlainCounter(
            "turnwire_keepalives",
            "Keepalive comments written to streams that had nothing else to send.",
            registry=registry,
        )
        self.blocks = PlainCounter(
            "turnwire_client_blocks",
            "How often a client's buffer was full, so that its agent was not read.",
            registry=registry,
        )
        self.written = PlainCounter(
            "turnwire_written_bytes", "Bytes written to streams that ended.", registry=registry
        )
        self.held = Gauge(
            "turnwire_held_bytes",
            "Bytes that count for TURNWIRE_HELD_BYTES: bodies and prompts on their way, "
            "incomplete frames, and data that clients have not taken.",
            registry=registry,
        )
        self.held_limit = Gauge(
            "turnwire_held_bytes_limit", "TURNWIRE_HELD_BYTES; +Inf: no limit.", registry=registry
        )
        self.access = Histogram(
            "turnwire_access_check_seconds",
            "Time of a request to the control plane, by result.",
            ["result"],
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.key_sets = Counter(
            "turnwire_jwks_fetches",
            "Fetches of the key set, by result.",
            ["result"],
            registry=registry,
        )
        self.key_set_age = Gauge(
            "turnwire_jwks_age_seconds",
            "Age of the key set; before the first fetch, of the process. 0: no key set is "
            "configured.",
            registry=registry,
        )
        self.rates_uncounted = Counter(
            "turnwire_rate_store_failures",
            "How often the Redis of TURNWIRE_RATES_URL did not answer. Then no request is refused.",
            registry=registry,
        )
        self.lag = PlainHistogram(
            "turnwire_event_loop_lag_seconds",
            "How late the timers of the event loop are, measured ten times a second.",
            registry=registry,
            buckets=LAG_BUCKETS_S,
        )
        self.late = Gauge(
            "turnwire_event_loop_late_seconds",
            "How late the event loop is now, measured by a thread: it rises while the loop hangs.",
            registry=registry,
        )
        self.ready = Gauge(
            "turnwire_ready",
            "1 while /readyz says that new streams are welcome.",
            registry=registry,
        )
        self.stopping = Gauge(
            "turnwire_stopping_seconds",
            "How long the gateway has been stopping. 0: it is not.",
            registry=registry,
        )
        self.stopping_limit = Gauge(
            "turnwire_stopping_limit_seconds",
            "Longest time that stopping may take, from the settings.",
            registry=registry,
        )
        self.build = Gauge(
            "turnwire_build_info", "The running version.", ["version"], registry=registry
        )
        self.build.labels(__version__).set(1)

    def frame_type(self, kind: str) -> str:
        """Return the label of an unknown frame type; `other` if it gets no label of its own."""
        if kind in self._types:
            return kind
        if len(self._types) >= TYPES_MAX or _TYPE.fullmatch(kind) is None:
            return "other"
        self._types.add(kind)
        return kind
