"""What a fuzzer's bytes are taken for: frames, known ones and raw ones, and what else happens."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from turnwire.core.agent import AgentProtocol
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    Drain,
    Held,
    Input,
    Opened,
    Tick,
    Unblocked,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.testing.client_model import Client

END: Final = b"\x1e"
"""Between two steps of a script. No JSON holds it."""

_KINDS: Final = 11
_GONE: Final = 9
_UNSTREAMED: Final = {Outcome.NOTHING, Outcome.REFUSED}
"""Answered with a status, where nothing was written before."""


class Counted:
    """How much was tried."""

    frames = 0
    runs = 0


def steps(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The steps of a script: what happens, and with which bytes."""
    for step in data.split(END):
        if step:
            yield step[0], step[1:]


def frame(kind: int, rest: bytes, pool: Sequence[bytes]) -> bytes | None:
    """The frame of a step, if it is one. What is no UTF-8 never gets past the WebSocket."""
    match kind % _KINDS:
        case 0:
            return pool[(rest[0] if rest else 0) % len(pool)]
        case 1:
            return rest.decode(errors="replace").encode()
        case 2:
            return _edited(rest, pool)
        case _:
            return None


def _edited(rest: bytes, pool: Sequence[bytes]) -> bytes:
    """A known frame of which one field has a value of the fuzzer's own."""
    if len(rest) < 2:
        return b""
    try:
        known = msgspec.json.decode(pool[rest[0] % len(pool)])
    except (ValueError, RecursionError):
        return b""
    if not isinstance(known, dict) or not known:
        return b""
    field = [*known][rest[1] % len(known)]
    try:
        known[field] = msgspec.json.decode(rest[2:])
    except (ValueError, RecursionError):
        known[field] = rest[2:].decode(errors="surrogateescape")
    return json.dumps(known).encode()


def play(conversation: AgentProtocol, data: bytes, pool: Sequence[bytes]) -> None:
    """A whole turn, read by a strict client.

    Raises:
        BrokenPromiseError: some client would suffer from what it got.

    """
    turn, client, now = Turn(conversation, Limits(), UIMessageStream()), Client(), 0.0
    gone = False
    acts: list[Output] = [turn.handle(Opened(), now)]
    for kind, rest in steps(data):
        heard = frame(kind, rest, pool)
        if heard is not None:
            Counted.frames += 1
            acts.append(turn.frames([heard], now))
        else:
            now += (rest[0] if rest else 1) / 4
            gone = gone or kind % _KINDS == _GONE
            acts.append(turn.handle(_happens(kind % _KINDS, rest), now))
    for _ in range(64):
        if turn.outcome is not None:
            break
        now = max(now, turn.deadline)
        acts.append(turn.handle(Tick(), now))
    acts.append(turn.handle(AgentLeft(), now))
    assert turn.outcome is not None
    for act in acts:
        client.read(act.to_client)
        for told in act.to_agent:
            msgspec.json.decode(told)
    if not gone and (client.at != "before" or turn.outcome not in _UNSTREAMED):
        client.close()
    Counted.runs += 1


def _happens(kind: int, rest: bytes) -> Input:
    match kind:
        case 5:
            return Blocked()
        case 6:
            return Unblocked()
        case 7:
            return Held(len(rest) * 8_192)
        case 8:
            return Drain()
        case int() if kind == _GONE:
            return ClientLeft()
        case 10:
            return AgentLeft()
        case _:
            return Tick()
