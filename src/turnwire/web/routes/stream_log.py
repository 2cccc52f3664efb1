"""The metrics and the log line of a stream that has ended."""

from typing import Any

import structlog

from turnwire.core.turn.outcome import final_outcome
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import name_or_odd
from turnwire.metrics import Telemetry
from turnwire.relay.turn_stream import Stream
from turnwire.web.routes.endpoint import RequestContext

_log = structlog.get_logger("turnwire.stream")


def _left_out(frame_stats: FrameStats) -> dict[str, Any]:
    """The fields of what an agent sent and no client is shown."""
    fields: dict[str, Any] = {}
    if frame_stats.left_out:
        fields |= {"left_out": frame_stats.left_out, "left_out_bytes": frame_stats.left_out_bytes}
    if frame_stats.error_code is not None:
        fields["error_code"] = name_or_odd(frame_stats.error_code)
    if frame_stats.protocol_version is not None:
        fields["protocol_version"] = frame_stats.protocol_version
    return fields


def report(
    telemetry: Telemetry,
    context: RequestContext,
    stream: Stream,
    frame_stats: FrameStats,
    seconds: float,
    turn_log: str | None = None,
) -> None:
    """Add the counters of a stream to the metrics, and log one line. `seconds` is its duration.

    `turn_log`: whether the turn is `kept` there, or `read` from there.

    Neither contains a prompt, a delta or a token. Where the agent answered the dial with a status,
    the turn has no outcome: the stream counts as refused.
    """
    turn = stream.turn
    outcome = final_outcome(turn.outcome, stream.dial_status)
    label = outcome.value
    telemetry.ended(label).inc()
    telemetry.turn.observe(seconds)
    first_byte_s = None
    if stream.first_byte_at is not None:
        first_byte_s = stream.first_byte_at - context.arrived
        telemetry.first_byte.observe(first_byte_s)
    if stream.dial_took_s is not None:
        telemetry.dial.observe(stream.dial_took_s)
    if turn.began_at is not None:
        telemetry.turn_wait.observe(turn.began_at - context.arrived)
    telemetry.written.inc(stream.bytes_written)
    telemetry.frames.inc(turn.frames_received)
    if turn.keepalives or stream.blocks:
        telemetry.keepalives.inc(turn.keepalives)
        telemetry.blocks.inc(stream.blocks)
    if frame_stats.foreign or frame_stats.malformed or frame_stats.doubled:
        telemetry.foreign.inc(frame_stats.foreign)
        telemetry.malformed.inc(frame_stats.malformed)
        telemetry.doubled.inc(frame_stats.doubled)
    if frame_stats.unrecognised:
        for kind, count in frame_stats.unrecognised.items():
            telemetry.unrecognised.labels(telemetry.frame_type(kind)).inc(count)
    if stream.dial_failure is not None:
        telemetry.dial_failures.labels(stream.dial_failure.value).inc()
    log = _log.info if stream.dial_failure is None else _log.warning
    log(
        "stream ended",
        outcome=label,
        session_id=context.request.session_id,
        user_id=context.grant.user_id,
        turn_id=turn.turn_id,
        request_id=context.request.id,
        client=context.request.client,
        seconds=round(seconds, 3),
        first_byte_s=None if first_byte_s is None else round(first_byte_s, 3),
        frames=turn.frames_received,
        foreign=frame_stats.foreign,
        malformed=frame_stats.malformed,
        doubled=frame_stats.doubled,
        unrecognised=frame_stats.unrecognised or None,
        **_left_out(frame_stats),
        bytes_written=stream.bytes_written,
        arrived=stream.arrived,
        dial_failure=None if stream.dial_failure is None else stream.dial_failure.value,
        dial_status=stream.dial_status,
        dial_error=stream.dial_error,
        agent_left=None if stream.disconnect_reason is None else stream.disconnect_reason.value,
        close_code=stream.disconnect_code,
        **({} if turn_log is None else {"turn_log": turn_log}),
    )
