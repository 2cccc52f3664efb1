"""What is left of a stream when it is over: its metrics, and one wide log line."""

import structlog

from turnwire.core.dialect import Tally
from turnwire.core.outcome import Outcome
from turnwire.relay.stream import Stream
from turnwire.telemetry import Telemetry
from turnwire.web.access import Grant
from turnwire.web.request import Request

_log = structlog.get_logger("turnwire.stream")


def report(
    telemetry: Telemetry,
    request: Request,
    grant: Grant,
    stream: Stream,
    tally: Tally,
    arrived: float,
    seconds: float,
) -> None:
    """Flush a stream's own counters. Never a prompt, a delta or a token.

    A dial that the agent answered with a status has no outcome: it is a refusal.
    """
    dialled = stream.dial_status is None
    outcome = stream.turn.outcome or (Outcome.CRASHED if dialled else Outcome.REFUSED)
    label = outcome.value
    telemetry.ended(label).inc()
    telemetry.turn.observe(seconds)
    first_byte_s = None
    if stream.first_byte_at is not None:
        first_byte_s = stream.first_byte_at - arrived
        telemetry.first_byte.observe(first_byte_s)
    if stream.dial_took_s is not None:
        telemetry.dial.observe(stream.dial_took_s)
    if stream.turn.began_at is not None:
        telemetry.turn_wait.observe(stream.turn.began_at - arrived)
    for counter, count in (
        (telemetry.keepalives, stream.turn.keepalives),
        (telemetry.blocks, stream.blocks),
        (telemetry.written, stream.bytes_written),
        (telemetry.frames, stream.turn.frames_heard),
        (telemetry.foreign, tally.foreign),
        (telemetry.malformed, tally.malformed),
        (telemetry.doubled, tally.doubled),
    ):
        if count:
            counter.inc(count)
    for kind, count in tally.unrecognised.items():
        telemetry.unrecognised.labels(telemetry.frame_type(kind)).inc(count)
    if stream.dial_failure is not None:
        telemetry.dial_failures.labels(stream.dial_failure.value).inc()
    tell = _log.info if stream.dial_failure is None else _log.warning
    tell(
        "stream ended",
        outcome=label,
        session_id=request.session_id,
        user_id=grant.user_id,
        turn_id=stream.turn.turn_id,
        request_id=request.id,
        client=request.client,
        seconds=round(seconds, 3),
        first_byte_s=None if first_byte_s is None else round(first_byte_s, 3),
        frames=stream.turn.frames_heard,
        foreign=tally.foreign,
        malformed=tally.malformed,
        doubled=tally.doubled,
        unrecognised=tally.unrecognised or None,
        bytes_written=stream.bytes_written,
        arrived=stream.arrived,
        dial_failure=None if stream.dial_failure is None else stream.dial_failure.value,
        dial_status=stream.dial_status,
        dial_error=stream.dial_error,
        agent_left=None if stream.left is None else stream.left.value,
        close_code=stream.close_code,
    )
