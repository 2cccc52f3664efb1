"""What is left of a stream when it is over: its metrics, and one wide log line."""

import structlog

from turnwire.core.dialect import Tally
from turnwire.core.outcome import Outcome
from turnwire.relay.stream import Stream
from turnwire.telemetry import Telemetry
from turnwire.web.endpoint import Visit

_log = structlog.get_logger("turnwire.stream")


def report(
    telemetry: Telemetry, visit: Visit, stream: Stream, tally: Tally, seconds: float
) -> None:
    """Flush a stream's own counters. Never a prompt, a delta or a token.

    A dial that the agent answered with a status has no outcome: it is a refusal.
    """
    turn, dialled = stream.turn, stream.dial_status is None
    outcome = turn.outcome or (Outcome.CRASHED if dialled else Outcome.REFUSED)
    label = outcome.value
    telemetry.ended(label).inc()
    telemetry.turn.observe(seconds)
    first_byte_s = None
    if stream.first_byte_at is not None:
        first_byte_s = stream.first_byte_at - visit.arrived
        telemetry.first_byte.observe(first_byte_s)
    if stream.dial_took_s is not None:
        telemetry.dial.observe(stream.dial_took_s)
    if turn.began_at is not None:
        telemetry.turn_wait.observe(turn.began_at - visit.arrived)
    telemetry.written.inc(stream.bytes_written)
    telemetry.frames.inc(turn.frames_heard)
    if turn.keepalives or stream.blocks:
        telemetry.keepalives.inc(turn.keepalives)
        telemetry.blocks.inc(stream.blocks)
    if tally.foreign or tally.malformed or tally.doubled:
        telemetry.foreign.inc(tally.foreign)
        telemetry.malformed.inc(tally.malformed)
        telemetry.doubled.inc(tally.doubled)
    if tally.unrecognised:
        for kind, count in tally.unrecognised.items():
            telemetry.unrecognised.labels(telemetry.frame_type(kind)).inc(count)
    if stream.dial_failure is not None:
        telemetry.dial_failures.labels(stream.dial_failure.value).inc()
    tell = _log.info if stream.dial_failure is None else _log.warning
    tell(
        "stream ended",
        outcome=label,
        session_id=visit.request.session_id,
        user_id=visit.grant.user_id,
        turn_id=turn.turn_id,
        request_id=visit.request.id,
        client=visit.request.client,
        seconds=round(seconds, 3),
        first_byte_s=None if first_byte_s is None else round(first_byte_s, 3),
        frames=turn.frames_heard,
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
