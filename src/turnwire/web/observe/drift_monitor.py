"""Reports drift of the agent's wire: a metric, a log line and a sample for each new fingerprint."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import structlog
from prometheus_client import Counter

from turnwire.core.agent import Dialect
from turnwire.core.recording.drift import Drift, Finding, Sample
from turnwire.core.turn.inputs import Frames, Input
from turnwire.core.turn.output import Output
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.relay.file_writer import FileWriter

_log = structlog.get_logger("turnwire.drift")

SAMPLES_BYTES_MAX: Final = 4_194_304
"""Size at which the file of samples gets no more lines, in bytes."""


class DriftMonitor:
    """A `core.turn.observer.TurnObserver` of the streams that are checked for drift."""

    def __init__(
        self, dialect: Dialect, counter: Counter, samples: Path | None, file_writer: FileWriter
    ) -> None:
        self._drift = Drift(dialect.schema)
        self._dialect = dialect.name
        self._counter = counter
        self._samples = samples
        self._file_writer = file_writer

    def is_stream_due(self) -> bool:
        """Count a stream that begins. Returns whether its frames are to be inspected."""
        return self._drift.is_stream_due()

    def finish(self, frame_stats: FrameStats) -> None:
        """A stream is over, whether its frames were inspected or not."""
        if frame_stats.unrecognised:
            self._drift.inspect_next_stream()

    def on_input(self, turn_input: Input, _now: float) -> None:
        if isinstance(turn_input, Frames):
            for finding in self._drift.inspect(turn_input.frames):
                self._report(finding)

    def on_output(self, _output: Output, _now: float) -> None:
        """Ignore outputs: drift is in the frames of the agent."""

    def _report(self, finding: Finding) -> None:
        self._counter.labels(self._dialect, finding.kind, finding.fingerprint).inc()
        if not finding.is_new:
            return
        _log.warning(
            "the agent's wire has drifted",
            dialect=self._dialect,
            kind=finding.kind,
            type=finding.type,
            fields=finding.fields,
            fingerprint=finding.fingerprint,
        )
        if self._samples is not None:
            sample = Sample(
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                dialect=self._dialect,
                fingerprint=finding.fingerprint,
                kind=finding.kind,
                type=finding.type,
                fields=finding.fields,
                structure=finding.structure,
            )
            self._file_writer.submit(lambda: self._append(msgspec.json.encode(sample) + b"\n"))

    def _append(self, line: bytes) -> None:
        assert self._samples is not None
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self._samples, flags, 0o600), "ab") as samples:
                if samples.tell() < SAMPLES_BYTES_MAX:
                    samples.write(line)
        except OSError as exc:
            _log.warning("no sample was kept", error=exc.strerror)
