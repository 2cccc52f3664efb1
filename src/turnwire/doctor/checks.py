"""Checks on a captured stream: what it shows about the network path. Without I/O.

Each function takes a `Capture` or headers and returns symptoms.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Final

from turnwire.doctor.capture import SAME_TIME_S, Capture
from turnwire.doctor.failed_turns import failed_turn_symptom
from turnwire.doctor.findings import Code

Symptom = tuple[Code, str]
"""The code of a finding, and the text that describes what was seen."""

FIRST_BYTE_LATE_S: Final = 0.15
"""Limit of the time from the head to the first byte; the gateway writes both together."""
MIN_TURN_S: Final = 0.5
"""A shorter turn shows nothing about buffering."""
MIN_GAP_S: Final = 0.08
"""Shortest median time between bunches that were held back; model tokens come closer together."""
MIN_BUNCH: Final = 3
"""Smallest median number of deltas in a bunch that was held back."""
MIN_DELTAS: Final = 12
"""Fewest deltas for a judgement."""
MAX_BUNCHES: Final = 60
"""Bunches that are judged: the first ones. HAProxy holds back less later in a long stream."""
CUT_SILENCE_S: Final = 1.5
"""A stream that ends so long after its last byte was cut by an idle timeout."""
KEEPALIVE_S: Final = 20.0
"""Longest silence with keepalives."""
BUSY_SHARE: Final = 0.1
"""Share of a stream's time, in delays of the doctor, above which it cannot blame a proxy."""

_EXPECTED: Final = (
    (Code.WRONG_TYPE, "content-type", "text/event-stream"),
    (Code.TRANSFORMABLE, "cache-control", "no-transform"),
    (Code.UNMARKED, "x-vercel-ai-ui-message-stream", "v1"),
    (Code.BUFFERING_ALLOWED, "x-accel-buffering", "no"),
)


def header_symptoms(headers: Mapping[str, str], request_id: str) -> Iterator[Symptom]:
    """Symptoms in the headers of a stream."""
    for code, name, expected in _EXPECTED:
        value = headers.get(name)
        if value is None:
            yield code, f"{name} is missing"
        elif expected not in value:
            yield code, f"{name}: {value}"
    if (encoding := headers.get("content-encoding", "identity")) != "identity":
        yield Code.ENCODED, f"content-encoding: {encoding}"
    if headers.get("x-turnwire-resume") == "no":
        yield Code.TURN_NOT_KEPT, "x-turnwire-resume: no"
    if (value := headers.get("x-request-id")) != request_id:
        text = f"x-request-id: sent {request_id}, "
        yield Code.REQUEST_ID, text + ("none came back" if value is None else f"got {value}")


def arrival_symptoms(capture: Capture, request_id: str) -> Iterator[Symptom]:
    """Symptoms in the times, in the end of the stream, and in its chunks."""
    if capture.records:
        yield from _timing_symptoms(capture)
    if capture.ended_at is not None and not capture.is_complete:
        yield break_symptom(capture)
    elif capture.longest_silence_s - capture.max_delay_s > KEEPALIVE_S:
        yield Code.KEEPALIVES_LOST, f"{capture.longest_silence_s:.1f} s without a byte"
    if capture.ended_at is None and not capture.is_complete:
        yield Code.UNFINISHED, "the turn was not over when there was no more time"
    if capture.error is not None:
        yield failed_turn_symptom(capture.error, request_id)


def break_symptom(capture: Capture) -> Symptom:
    """The symptom of a stream that ended without `finish`."""
    assert capture.ended_at is not None
    silent_s, took_s = capture.ended_at - capture.last_at, capture.ended_at - capture.sent_at
    end = "the connection broke" if capture.is_broken else "the response ended"
    text = f"{end} without `finish` after {took_s:.1f} s, {silent_s:.1f} s after its last byte"
    return (Code.CUT_IN_SILENCE if silent_s >= CUT_SILENCE_S else Code.CUT_SHORT), text


def _timing_symptoms(capture: Capture) -> Iterator[Symptom]:
    first, last = capture.records[0], capture.records[-1]
    took_s = last.arrived_at - capture.sent_at
    if capture.is_complete and last.arrived_at - first.arrived_at <= SAME_TIME_S * 5:
        if took_s < MIN_TURN_S:
            yield Code.INCONCLUSIVE, f"the whole turn took {took_s:.2f} s"
        elif _is_busy(capture, took_s):
            yield _busy_symptom(capture)
        else:
            count = len(capture.records)
            yield Code.BUFFERED, f"all {count} records came at once, after {took_s:.2f} s"
        return
    if (delay_s := first.arrived_at - capture.head_at) > FIRST_BYTE_LATE_S:
        is_own_delay = delay_s - capture.max_delay_s <= FIRST_BYTE_LATE_S
        text = f"first byte {delay_s:.2f} s after the head"
        yield _busy_symptom(capture) if is_own_delay else (Code.FIRST_BYTE_LATE, text)
    deltas = [b for b in capture.bunches if any(r.kind.endswith("-delta") for r in b)]
    del deltas[MAX_BUNCHES:]
    sizes = [sum(record.kind.endswith("-delta") for record in bunch) for bunch in deltas]
    if sum(sizes) < MIN_DELTAS:
        yield Code.INCONCLUSIVE, f"only {sum(sizes)} deltas to judge by"
        return
    gaps = [b[0].arrived_at - a[0].arrived_at for a, b in pairwise(deltas)]
    # Between bunches of a fast agent there is hardly a silence.
    silences = [b[0].arrived_at - a[-1].arrived_at for a, b in pairwise(deltas)]
    is_held = bool(gaps) and median(gaps) >= MIN_GAP_S and median(silences) >= median(gaps) / 2
    if is_held and median(sizes) >= MIN_BUNCH:
        text = f"{median(sizes):.0f} deltas at once, every {median(gaps):.2f} s"
        text += f" ({sum(sizes)} deltas in {len(sizes)} bunches)"
        yield _busy_symptom(capture) if _is_busy(capture, took_s) else (Code.COALESCED, text)


def _is_busy(capture: Capture, took_s: float) -> bool:
    return capture.total_delay_s >= took_s * BUSY_SHARE


def _busy_symptom(capture: Capture) -> Symptom:
    text = f"{capture.max_delay_s:.2f} s at once, {capture.total_delay_s:.2f} s in all"
    return Code.BUSY, f"the doctor itself was late: {text}"
