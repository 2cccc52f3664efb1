"""Hostile agents that say nothing in particular: empty, broken or endless frames, on both wires."""

from collections.abc import Iterator
from typing import Final

from gateway.frames import raw
from hostile.attack import (
    AT_ONCE,
    BOTH,
    KIB,
    MIB,
    SOON_S,
    AgentAttack,
    Blocks,
    Wire,
    flood,
    same,
    text,
)
from hostile.wire import PING, PONG

_CONTINUED: Final = 0


@same
def empty() -> bytes:
    return text(b"")


@same
def objects() -> bytes:
    return text(b"{}")


@same
def letters() -> bytes:
    return text(b"x")


@same
def pings() -> bytes:
    return raw(b"", opcode=PING)


@same
def long_pings() -> bytes:
    return raw(b"x" * 125, opcode=PING)


@same
def pongs() -> bytes:
    return raw(b"", opcode=PONG)


def fragments() -> Iterator[bytes]:
    yield raw(b'"', fin=False)
    yield from flood(raw(b"x", opcode=_CONTINUED, fin=False))


def empty_fragments() -> Iterator[bytes]:
    yield raw(b'{"type":', fin=False)
    yield from flood(raw(b"", opcode=_CONTINUED, fin=False))


def unfinished() -> Iterator[bytes]:
    """Announces 32 MiB, writes all but the last byte, and then nothing."""
    yield raw(b'{"type":"' + b"x" * (32 * MIB - 9))[:-1]


def unfinished_fragments() -> Iterator[bytes]:
    yield raw(b'{"type":"', fin=False)
    part = raw(b"x" * (64 * KIB), opcode=_CONTINUED, fin=False)
    for _ in range(500):
        yield part


@same
def not_text() -> bytes:
    return text(b"\xff" * 100)


@same
def brackets() -> bytes:
    return text(b"[" * (4 * MIB))


@same
def numbers() -> bytes:
    return text(b"[" + b"1," * (2 * MIB) + b"1]")


_SHAPES: Final[tuple[tuple[str, Blocks], ...]] = (
    ("empty text frames", empty),
    ("frames of `{}`", objects),
    ("frames of `x`", letters),
    ("pings", pings),
    ("pings of 125 bytes", long_pings),
    ("pongs", pongs),
    ("one-byte fragments", fragments),
    ("empty continuation frames", empty_fragments),
    ("frames that are no UTF-8", not_text),
    ("4 MiB of brackets a frame", brackets),
    ("4 MiB of numbers a frame", numbers),
)
_STALL_S: Final = 4


def _unending(name: str, blocks: Blocks, wire: Wire) -> AgentAttack:
    """What is never whole: it ends within the stall time, which is shorter here."""
    return AgentAttack(
        name=name,
        wire=wire,
        blocks=blocks,
        bytes_per_s=AT_ONCE,
        ends_within_s=_STALL_S + SOON_S,
        settings={"stall_s": _STALL_S},
    )


ROWS: Final = (
    *(
        AgentAttack(name=name, wire=wire, blocks=blocks, ends_within_s=SOON_S)
        for wire in BOTH
        for name, blocks in _SHAPES
        if wire == "v2"
        or blocks in {empty, objects, letters, brackets}  # the rest is not the wire's
    ),
    _unending("a frame of 32 MiB, but for its last byte", unfinished, "v2"),
    _unending("a message of 32 MiB in fragments, without an end", unfinished_fragments, "v2"),
)
