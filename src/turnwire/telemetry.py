"""The gateway's metrics: one class, one registry.

Labels are closed sets (an outcome, a refusal's code, a reason), never a
session, user or turn id. Types of unknown frames come from outside, so only
the first few new ones get a label of their own.
"""

import re
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from turnwire import __version__

FIRST_BYTE_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10)
"""Around the RFC's 200 ms target and its 500 ms alert."""

TURN_BUCKETS_S: Final = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

TYPES_MAX: Final = 50
"""Unknown frame types with a label of their own, in the life of the process."""

_TYPE = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")


class Telemetry:
    """Counters and histograms. Nothing here is touched per frame: a stream reports at its end."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._types: set[str] = set()
        self.streams = Counter(
            "turnwire_streams", "Streams ended, by outcome.", ["outcome"], registry=registry
        )
        self.active = Gauge("turnwire_streams_active", "Streams open now.", registry=registry)
        self.tasks = Gauge("turnwire_tasks", "Tasks of the event loop.", registry=registry)
        self.refusals = Counter(
            "turnwire_refusals",
            "Requests for a turn answered with an HTTP status instead of a stream, by code.",
            ["code"],
            registry=registry,
        )
        self.first_byte = Histogram(
            "turnwire_time_to_first_byte_seconds",
            "From the request to the first byte of its stream.",
            registry=registry,
            buckets=FIRST_BYTE_BUCKETS_S,
        )
        self.turn = Histogram(
            "turnwire_turn_duration_seconds",
            "From the request to the end of its stream.",
            registry=registry,
            buckets=TURN_BUCKETS_S,
        )
        self.dial_failures = Counter(
            "turnwire_dial_failures",
            "Connections to the agent that failed to open, by reason.",
            ["reason"],
            registry=registry,
        )
        self.frames = Counter("turnwire_frames", "Frames heard from agents.", registry=registry)
        self.foreign = Counter(
            "turnwire_frames_foreign", "Frames of other turns, dropped.", registry=registry
        )
        self.malformed = Counter(
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
        self.doubled = Counter(
            "turnwire_deltas_doubled", "Text deltas told twice, sent once.", registry=registry
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
