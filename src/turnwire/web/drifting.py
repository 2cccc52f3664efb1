"""Drift of the agent's wire: metered, logged once for each fingerprint, sampled to a file."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import structlog
from prometheus_client import Counter

from turnwire.core.act import Act
from turnwire.core.dialect import Dialect, Tally
from turnwire.core.drift import Drift, Finding, Sample
from turnwire.core.overheard import Input
from turnwire.relay.filing import Filing

_log = structlog.get_logger("turnwire.drift")

SAMPLES_BYTES_MAX: Final = 4_194_304
"""A file of samples that is as long gets no more."""


class Drifts:
    """Listens in on the streams that are watched (`core.overheard.Ear`)."""

    def __init__(
        self, dialect: Dialect, found: Counter, samples: Path | None, filing: Filing
    ) -> None:
        self._drift = Drift(dialect.vocabulary)
        self._dialect = dialect.name
        self._found = found
        self._samples = samples
        self._filing = filing

    def watches(self) -> bool:
        """Whether the stream that begins is one to listen in on."""
        return self._drift.watches()

    def over(self, tally: Tally) -> None:
        """A stream is over, watched or not."""
        if tally.unrecognised:
            self._drift.alarm()

    def heard(self, what: Input, _now: float, frames: Sequence[bytes], _count: int) -> None:
        if what is Input.FRAMES:
            for finding in self._drift.look(frames):
                self._tell(finding)

    def did(self, _act: Act, _now: float) -> None:
        """Only what comes from the agent matters."""

    def _tell(self, finding: Finding) -> None:
        self._found.labels(self._dialect, finding.kind, finding.fingerprint).inc()
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
            self._filing.take(lambda: self._keep(msgspec.json.encode(sample) + b"\n"))

    def _keep(self, line: bytes) -> None:
        assert self._samples is not None
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self._samples, flags, 0o600), "ab") as samples:
                if samples.tell() < SAMPLES_BYTES_MAX:
                    samples.write(line)
        except OSError as exc:
            _log.warning("no sample was kept", error=exc.strerror)
