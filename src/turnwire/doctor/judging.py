"""What a stream that was heard says of the way it came. Pure: `Heard` in, what was seen out."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Final

from turnwire.doctor.finding import Code
from turnwire.doctor.heard import TOGETHER_S, Heard

Seen = tuple[Code, str]

LATE_S: Final = 0.15
"""From the head to the first byte; the gateway writes both in one go."""
TELLING_S: Final = 0.5
"""A turn that is shorter says nothing of buffers."""
GAP_S: Final = 0.08
"""Between two bunches; model tokens come closer together."""
BUNCH: Final = 3
ENOUGH: Final = 12
"""Deltas to judge by."""
MANY: Final = 60
"""Bunches to judge by; HAProxy holds back less in a stream that goes on for long."""
SILENT_S: Final = 1.5
"""A stream that breaks off so long after its last byte was cut for its silence."""
KEEPALIVE_S: Final = 20.0
BUSY_SHARE: Final = 0.1
"""Of a stream's time that the doctor was late: then it cannot say who held records back."""

_EXPECTED: Final = (
    (Code.WRONG_TYPE, "content-type", "text/event-stream"),
    (Code.TRANSFORMABLE, "cache-control", "no-transform"),
    (Code.UNMARKED, "x-vercel-ai-ui-message-stream", "v1"),
    (Code.BUFFERING_ALLOWED, "x-accel-buffering", "no"),
)


def of_headers(headers: Mapping[str, str], request_id: str) -> Iterator[Seen]:
    """What the head of a stream says."""
    for code, name, part in _EXPECTED:
        given = headers.get(name)
        if given is None:
            yield code, f"{name} is missing"
        elif part not in given:
            yield code, f"{name}: {given}"
    if (encoding := headers.get("content-encoding", "identity")) != "identity":
        yield Code.ENCODED, f"content-encoding: {encoding}"
    if (given := headers.get("x-request-id")) != request_id:
        sent = f"x-request-id: sent {request_id}, "
        yield Code.REQUEST_ID, sent + ("none came back" if given is None else f"got {given}")


def of_arrival(heard: Heard, request_id: str) -> Iterator[Seen]:
    """What the times say."""
    if heard.records:
        yield from _of_times(heard)
    if heard.ended_at is not None and not heard.is_whole:
        yield of_break(heard)
    elif heard.longest_silence_s - heard.late_s > KEEPALIVE_S:
        yield Code.KEEPALIVES_LOST, f"{heard.longest_silence_s:.1f} s without a byte"
    if heard.ended_at is None and not heard.is_whole:
        yield Code.UNFINISHED, "the turn was not over when there was no more time"
    if "error" in heard.kinds:
        yield Code.TURN_FAILED, f"the stream of request {request_id} had an error chunk"


def of_break(heard: Heard) -> Seen:
    """What a stream is that ended before its time."""
    assert heard.ended_at is not None
    silent, took = heard.ended_at - heard.last_at, heard.ended_at - heard.asked_at
    how = "the connection broke" if heard.broke else "the response ended"
    said = f"{how} without `finish` after {took:.1f} s, {silent:.1f} s after its last byte"
    return (Code.CUT_IN_SILENCE if silent >= SILENT_S else Code.CUT_SHORT), said


def _of_times(heard: Heard) -> Iterator[Seen]:
    first, last = heard.records[0], heard.records[-1]
    took = last.at - heard.asked_at
    if heard.is_whole and last.at - first.at <= TOGETHER_S * 5:
        if took < TELLING_S:
            yield Code.INCONCLUSIVE, f"the whole turn took {took:.2f} s"
        elif _is_busy(heard, took):
            yield _busy(heard)
        else:
            count = len(heard.records)
            yield Code.BUFFERED, f"all {count} records came at once, after {took:.2f} s"
        return
    if (late := first.at - heard.head_at) > LATE_S:
        is_ours = late - heard.late_s <= LATE_S
        told = f"first byte {late:.2f} s after the head"
        yield _busy(heard) if is_ours else (Code.FIRST_BYTE_LATE, told)
    deltas = [b for b in heard.bunches if any(r.kind.endswith("-delta") for r in b)]
    del deltas[MANY:]
    sizes = [sum(record.kind.endswith("-delta") for record in bunch) for bunch in deltas]
    if sum(sizes) < ENOUGH:
        yield Code.INCONCLUSIVE, f"only {sum(sizes)} deltas to judge by"
        return
    gaps = [b[0].at - a[0].at for a, b in pairwise(deltas)]
    # Of a fast agent, records follow each other closely all along.
    quiet = [b[0].at - a[-1].at for a, b in pairwise(deltas)]
    is_held = bool(gaps) and median(gaps) >= GAP_S and median(quiet) >= median(gaps) / 2
    if is_held and median(sizes) >= BUNCH:
        told = f"{median(sizes):.0f} deltas at once, every {median(gaps):.2f} s"
        told += f" ({sum(sizes)} deltas in {len(sizes)} bunches)"
        yield _busy(heard) if _is_busy(heard, took) else (Code.COALESCED, told)


def _is_busy(heard: Heard, took_s: float) -> bool:
    return heard.all_late_s >= took_s * BUSY_SHARE


def _busy(heard: Heard) -> Seen:
    late = f"{heard.late_s:.2f} s at once, {heard.all_late_s:.2f} s in all"
    return Code.BUSY, f"the doctor itself was late: {late}"
