"""The flight recorder: what happened to a stream that failed, in a file that can be replayed."""

import os
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
from prometheus_client import Counter

from turnwire.core.dialect import Dialect
from turnwire.core.outcome import Outcome
from turnwire.core.recording import Header, Recording
from turnwire.core.redact import Redactor
from turnwire.relay.filing import Filing
from turnwire.settings import Settings

_log = structlog.get_logger("turnwire.recorder")

UNREMARKABLE: Final = frozenset(
    {
        *(Outcome.COMPLETED, Outcome.CANCELED, Outcome.ASKED, Outcome.NOTHING),
        *(Outcome.CLIENT_GONE, Outcome.ABANDONED),
    }
)
"""Outcomes that nobody looks into: the turn is over, or its user wanted no more of it."""

_NAME: Final = re.compile(r"\d{8}T\d{6}Z-[a-z_]+-[0-9a-f]{8}\.jsonl")


class Recorder:
    """Keeps the newest recordings of streams that failed, in one directory."""

    def __init__(
        self, settings: Settings, dialect: Dialect, filing: Filing, results: Counter
    ) -> None:
        self._directory = Path(settings.record_dir)
        self._bytes = settings.record_bytes
        self._most = settings.record_files
        self._keeps_text = settings.record_text
        self._words = dialect.vocabulary
        self._secrets = (settings.agent_token.encode(),)
        self._filing = filing
        self._results = results
        for result in ("written", "failed", "dropped"):
            results.labels(result)

    def new(self, header: Header) -> Recording:
        """A recording of a stream that begins."""
        return Recording(header, self._bytes)

    def over(
        self,
        recording: Recording,
        outcome: Outcome,
        *,
        request_id: str,
        token: str,
        lacks: Collection[str] = (),
    ) -> None:
        """A stream is over: its recording is written, or forgotten."""
        if outcome in UNREMARKABLE:
            return
        at = datetime.now(UTC)
        name = f"{at:%Y%m%dT%H%M%SZ}-{outcome.value}-{secrets.token_hex(4)}.jsonl"
        kept = "all that was said is in it" if self._keeps_text else "redacted"
        notes = (f"request {request_id}, {at.isoformat(timespec='seconds')}", outcome.value, kept)

        def write() -> None:
            redactor = None if self._keeps_text else self._redactor()
            hidden = (token.encode(), *self._secrets)
            lines = recording.lines(redactor=redactor, notes=notes, lacks=lacks, secrets=hidden)
            self._write(name, b"".join(line + b"\n" for line in lines), request_id)

        if not self._filing.take(write):
            self._results.labels("dropped").inc()
            _log.warning("not recorded: too many at once", request_id=request_id)

    def _redactor(self) -> Redactor:
        words = self._words
        return Redactor(kept=words.kept, ids=words.ids, phrases=words.phrases)

    def _write(self, name: str, data: bytes, request_id: str) -> None:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._put(self._directory / name, data)
            self._forget_oldest()
        except OSError as exc:
            self._results.labels("failed").inc()
            _log.warning("not recorded", error=exc.strerror, request_id=request_id)
        else:
            self._results.labels("written").inc()
            _log.info("recorded", file=name, bytes=len(data), request_id=request_id)

    def _put(self, path: Path, data: bytes) -> None:
        """Write a whole file, or none."""
        begun = path.with_suffix(".part")
        try:
            with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as to:
                to.write(data)
            begun.rename(path)
        except OSError:
            begun.unlink(missing_ok=True)
            raise

    def _forget_oldest(self) -> None:
        # Their names begin with their time.
        kept = sorted(path for path in self._directory.iterdir() if _NAME.fullmatch(path.name))
        for path in kept[: -self._most]:
            path.unlink(missing_ok=True)


def outcome_of(outcome: Outcome | None, dial_status: int | None) -> Outcome:
    """How a stream ended. A dial that the agent answered with a status is a refusal."""
    return outcome or (Outcome.CRASHED if dial_status is None else Outcome.REFUSED)


def lacks(**has: object) -> Sequence[str]:
    """What of a stream a recording does not keep, of what this stream has."""
    return [_NOT_KEPT[name] for name, value in has.items() if value]


_NOT_KEPT: Final = {
    "requests": "native approvals, which are questions in a replay",
    "run": "how a workflow client counts its chunks",
    "known": "what the client had of the answer that went on",
}
