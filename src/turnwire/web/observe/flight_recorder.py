"""The flight recorder: writes the recordings of failed streams to files that can be replayed."""

import os
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
from prometheus_client import Counter

from turnwire.config.effective import agent_request
from turnwire.config.headers import agent_headers
from turnwire.config.settings import Settings
from turnwire.core.agent import Dialect
from turnwire.core.recording.operator_fields import OperatorFields
from turnwire.core.recording.recorder import Header, Recording
from turnwire.core.recording.redact import redactor_of
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.relay.file_writer import FileWriter

_log = structlog.get_logger("turnwire.recorder")

UNREMARKABLE: Final = frozenset(
    {
        *(Outcome.COMPLETED, Outcome.CANCELED, Outcome.ASKED, Outcome.NOTHING),
        *(Outcome.CLIENT_GONE, Outcome.ABANDONED),
    }
)
"""Outcomes that need no recording: the turn ended normally, or its user left."""

_NAME: Final = re.compile(r"\d{8}T\d{6}Z-[a-z_]+-[0-9a-f]{8}\.jsonl")


class FlightRecorder:
    """Keeps the newest recordings of failed streams in one directory."""

    def __init__(
        self, settings: Settings, dialect: Dialect, file_writer: FileWriter, results: Counter
    ) -> None:
        self._directory = Path(settings.record_dir)
        self._max_bytes = settings.record_bytes
        self._max_files = settings.record_files
        self._keeps_text = settings.record_text
        self._schema = dialect.schema
        self._secrets = tuple(
            value.encode() for value in (settings.agent_token, *agent_headers(settings).values())
        )
        self._operator_fields = OperatorFields(agent_request(settings))
        self._file_writer = file_writer
        self._results = results
        for result in ("written", "failed", "dropped"):
            results.labels(result)

    def new(self, header: Header) -> Recording:
        """Return an empty recording for a stream that begins."""
        return Recording(header, self._max_bytes)

    def finish(
        self,
        recording: Recording,
        outcome: Outcome,
        *,
        request_id: str,
        token: str,
        lacks: Collection[str] = (),
    ) -> None:
        """Write the recording of a stream that failed. Recordings of other streams are dropped."""
        if outcome in UNREMARKABLE:
            return
        at = datetime.now(UTC)
        name = f"{at:%Y%m%dT%H%M%SZ}-{outcome.value}-{secrets.token_hex(4)}.jsonl"
        text_note = "all that was said is in it" if self._keeps_text else "redacted"
        notes = (
            f"request {request_id}, {at.isoformat(timespec='seconds')}",
            outcome.value,
            text_note,
        )

        def write() -> None:
            redactor = None if self._keeps_text else redactor_of(self._schema)
            hidden = (token.encode(), *self._secrets)
            lines = recording.lines(
                redactor=redactor,
                notes=notes,
                lacks=lacks,
                secrets=hidden,
                operator_fields=self._operator_fields,
            )
            try:
                data = b"".join(line + b"\n" for line in lines)
            except Exception as bug:  # noqa: BLE001 (else the thread that writes files would end)
                self._results.labels("failed").inc()
                _log.error("not recorded", request_id=request_id, exc_info=bug)
            else:
                self._write(name, data, request_id)

        if not self._file_writer.submit(write):
            self._results.labels("dropped").inc()
            _log.warning("not recorded: too many at once", request_id=request_id)

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
        """Write a complete file, or none: a partial file has another name."""
        partial = path.with_suffix(".part")
        try:
            with os.fdopen(
                os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as to:
                to.write(data)
            partial.rename(path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def _forget_oldest(self) -> None:
        # A file name begins with its time.
        kept = sorted(path for path in self._directory.iterdir() if _NAME.fullmatch(path.name))
        for path in kept[: -self._max_files]:
            path.unlink(missing_ok=True)


def lacks(request: PromptRequest | ResumeRequest, options: StreamOptions) -> Sequence[str]:
    """Return descriptions of what the recording of such a stream leaves out."""
    left_out = (
        (
            isinstance(request, ResumeRequest)
            and bool(request.replies)
            and request.conversation is None,
            "the answers that the turn went on with",
        ),
        (options.client_copy is not None, "what the client had of the answer that went on"),
        (options.is_native, "native approvals, which are questions in a replay"),
        (options.skip is not None, "how a workflow client counts its chunks"),
    )
    return [description for is_left_out, description in left_out if is_left_out]
