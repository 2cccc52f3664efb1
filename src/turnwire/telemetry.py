"""The gateway's metrics: one class, one registry.

Labels are closed sets (an outcome, a refusal's code, a reason), never a
session, user or turn id. Types of unknown frames come from outside, so only
the first few new ones get a label of their own.
"""

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence
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
"""Unknown frame types with a label of their own, in the life of the process."""

_TYPE = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")


class Total(Collector):
    """A counter that the event loop alone adds to: a plain number, until somebody asks for it.

    The library's own takes a lock and five calls to add, which was a fifteenth of a short turn.
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


class Spread(Collector):
    """A histogram that the event loop alone observes: plain numbers, as with `Total`.

    Whoever asks may be another thread, and finds a count that is that of the buckets.
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
        upto = accumulate(self._counts.copy())
        buckets = [(_le(b), n) for b, n in zip(self._bounds, upto, strict=True)]
        family = HistogramMetricFamily(
            self._name, self._documentation, buckets=buckets, sum_value=self._sum
        )
        return [family]


def _le(bound: float) -> str:
    """A bucket's bound as the library spells it."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]  # it has no types


class Telemetry:
    """Counters, histograms, gauges. Nothing here is touched per frame: a stream reports at its end.

    Gauges are read when somebody asks for the metrics (`web.metering` says where from).
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._types: set[str] = set()
        self.streams = Counter(
            "turnwire_streams", "Streams ended, by outcome.", ["outcome"], registry=registry
        )
        self.ended = functools.cache(self.streams.labels)
        """The counter of an outcome: found once, since a look for it takes a lock."""
        self.active = Gauge("turnwire_streams_active", "Streams open now.", registry=registry)
        self.tasks = Gauge("turnwire_tasks", "Tasks of the event loop.", registry=registry)
        self.admitted = Gauge(
            "turnwire_streams_admitted",
            "Places taken under TURNWIRE_MAX_STREAMS: open streams, and bodies being read for one.",
            registry=registry,
        )
        self.admitted_limit = Gauge(
            "turnwire_streams_limit", "TURNWIRE_MAX_STREAMS; +Inf: no limit.", registry=registry
        )
        self.requests = Counter(
            "turnwire_requests",
            "Requests of sessions that came in, by route.",
            ["route"],
            registry=registry,
        )
        self.refusals = Counter(
            "turnwire_refusals",
            "Requests answered with the HTTP status of a failure instead of what they asked for, "
            "by code.",
            ["code"],
            registry=registry,
        )
        self.first_byte = Spread(
            "turnwire_time_to_first_byte_seconds",
            "From the request to the first byte of its stream.",
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.turn = Spread(
            "turnwire_turn_duration_seconds",
            "From the request to the end of its stream.",
            registry=registry,
            buckets=TURN_BUCKETS_S,
        )
        self.turn_wait = Spread(
            "turnwire_turn_wait_seconds",
            "From the request to the begin of its turn: the agent's queue, for the most part.",
            registry=registry,
            buckets=TURN_BUCKETS_S,
        )
        self.relay = Spread(
            "turnwire_relay_seconds",
            "From a read of the agent's socket to its frames' write to the client, of one read "
            "in 16.",
            registry=registry,
            buckets=RELAY_BUCKETS_S,
        )
        self.dial = Spread(
            "turnwire_dial_seconds",
            "From the dial to the agent's yes to the handshake.",
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.dial_failures = Counter(
            "turnwire_dial_failures",
            "Connections to the agent that failed to open, by reason.",
            ["reason"],
            registry=registry,
        )
        self.frames = Total("turnwire_frames", "Frames heard from agents.", registry=registry)
        self.foreign = Total(
            "turnwire_frames_foreign", "Frames of other turns, dropped.", registry=registry
        )
        self.malformed = Total(
            "turnwire_frames_malformed",
            "Frames that are not JSON, or of a known type with wrong fields; dropped.",
            registry=registry,
        )
        self.unrecognised = Counter(
            "turnwire_frames_unrecognised",
            "Frames of unknown types, dropped: a sign that the agent's wire has drifted.",
            ["type"],
            registry=registry,
        )
        self.drift = Counter(
            "turnwire_drift_frames",
            "Frames with a type or fields that the dialect does not know, of those looked into.",
            ["dialect", "kind", "fingerprint"],
            registry=registry,
        )
        self.recordings = Counter(
            "turnwire_recordings",
            "Recordings of streams that failed, by what became of them.",
            ["result"],
            registry=registry,
        )
        self.doubled = Total(
            "turnwire_deltas_doubled", "Text deltas told twice, sent once.", registry=registry
        )
        self.keepalives = Total(
            "turnwire_keepalives",
            "Keepalive comments written to streams that had nothing else to say.",
            registry=registry,
        )
        self.blocks = Total(
            "turnwire_client_blocks",
            "Times that a client's buffer was full, and its agent was not read.",
            registry=registry,
        )
        self.written = Total(
            "turnwire_written_bytes", "Bytes written to streams that ended.", registry=registry
        )
        self.held = Gauge(
            "turnwire_held_bytes",
            "Bytes held under TURNWIRE_HELD_BYTES: bodies and prompts on their way, frames that "
            "are not whole, what clients have not taken.",
            registry=registry,
        )
        self.held_limit = Gauge(
            "turnwire_held_bytes_limit", "TURNWIRE_HELD_BYTES; +Inf: no limit.", registry=registry
        )
        self.access = Histogram(
            "turnwire_access_check_seconds",
            "Questions to the control plane, by result.",
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
            "Age of the key set in use; of the process, while there is none. 0: without one.",
            registry=registry,
        )
        self.rates_uncounted = Counter(
            "turnwire_rate_store_failures",
            "Times that the Redis of TURNWIRE_RATES_URL could not be asked; none is refused then.",
            registry=registry,
        )
        self.lag = Spread(
            "turnwire_event_loop_lag_seconds",
            "How late the event loop's timers come, looked at ten times a second.",
            registry=registry,
            buckets=LAG_BUCKETS_S,
        )
        self.late = Gauge(
            "turnwire_event_loop_late_seconds",
            "How late the event loop is just now, where it does not even say so itself.",
            registry=registry,
        )
        self.ready = Gauge(
            "turnwire_ready", "1 while /readyz says that it wants new streams.", registry=registry
        )
        self.stopping = Gauge(
            "turnwire_stopping_seconds",
            "For how long it has been stopping; else 0.",
            registry=registry,
        )
        self.stopping_limit = Gauge(
            "turnwire_stopping_limit_seconds",
            "How long stopping may take, by the settings.",
            registry=registry,
        )
        self.build = Gauge(
            "turnwire_build_info", "The running version.", ["version"], registry=registry
        )
        self.build.labels(__version__).set(1)

    def frame_type(self, kind: str) -> str:
        """The label of an unknown frame type."""
        if kind in self._types:
            return kind
        if len(self._types) >= TYPES_MAX or _TYPE.fullmatch(kind) is None:
            return "other"
        self._types.add(kind)
        return kind
