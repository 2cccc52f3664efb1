"""What is written of turns, as calls, and many of them joined to few."""

import struct
from collections.abc import Sequence
from typing import Any, Final

from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.servers import (
    DATA,
    Argument,
    Call,
    Failed,
    Servers,
    in_messagepack,
)
from turnwire.relay.turn_log.redis.turn import Batch, RedisTurn

_AT_ONCE: Final = 128
_CALL_BYTES: Final = 1_048_576
"""Most turns of one call, and its size, but for one turn more."""


_NUMBERS: Final = struct.Struct(">BQBQBBQc")
"""The end of the values of one frame: three numbers of 64 bits, the 1 among them, and `DATA`."""

_INT_64: Final = 0xCF
"""Stands before such a number in MessagePack."""

_VALUES: Final = 12
"""How many values a call for one frame has."""


def append_call(turn: RedisTurn, batch: Batch, lease_ms: int, kept_ms: int) -> Call:
    """Return the call of `APPEND` for a batch. `kept_ms`: how long a turn that runs is kept.

    The two times are the same for all batches of a turn.
    """
    frames = batch.frames
    if len(frames) == 1 and not batch.fields and not batch.ends:  # as it mostly is
        if not turn.row_head:
            turn.row_head = in_messagepack((turn.key, turn.id, lease_ms, "", kept_ms, 2, "count"))
        numbers = _NUMBERS.pack(
            _INT_64, batch.count, _INT_64, batch.first, 1, _INT_64, batch.base, DATA
        )
        values = turn.row_head + numbers
        return Call(scripts.APPEND, (turn.key,), values, _VALUES, frames, len(frames[0]))
    fields: list[Argument] = [word for field in batch.fields.items() for word in field]
    if frames:
        fields += ("count", batch.count)
    arguments: Sequence[Argument] = (
        turn.key,
        turn.id,
        lease_ms,
        batch.ends,
        batch.kept_ms if batch.ends else kept_ms,
        len(fields),
        *fields,
        batch.first,
        len(frames),
        batch.base,
        *frames,
    )
    data = [each for each in arguments if isinstance(each, bytes)]
    size = sum(map(len, frames))
    return Call(scripts.APPEND, (turn.key,), in_messagepack(arguments), len(arguments), data, size)


async def run_all(servers: Servers, calls: Sequence[Call]) -> list[Sequence[Any] | None]:
    """Run calls for one chat each in one pipeline. Returns the reply to each; None: there is none.

    Those of one script in a row are joined.
    """
    groups = _grouped(calls, takes_many=servers.takes_many)
    replies = await servers.run([_joined(group) for group in groups])
    found: list[Sequence[Any] | None] = []
    for group, reply in zip(groups, replies, strict=True):
        if not isinstance(reply, Failed):
            found += reply
        elif len(group) == 1 or servers.is_down(group[0].chats[0]):
            found += [None] * len(group)
        else:  # one of them may be to blame
            alone = await servers.run(group)
            found += [None if isinstance(each, Failed) else each[0] for each in alone]
    return found


def _grouped(calls: Sequence[Call], *, takes_many: bool) -> list[list[Call]]:
    groups: list[list[Call]] = []
    size = 0
    for call in calls:
        last = groups[-1] if groups and takes_many else []
        is_full = size > _CALL_BYTES or len(last) == _AT_ONCE
        if not last or is_full or last[0].script is not call.script:
            groups.append([])
            size = 0
        groups[-1].append(call)
        size += call.size
    return groups


def _joined(calls: Sequence[Call]) -> Call:
    """Return one call for the chats of these, which have the same script."""
    if len(calls) == 1:
        return calls[0]
    return Call(
        calls[0].script,
        [chat for call in calls for chat in call.chats],
        b"".join([call.values for call in calls]),
        sum([call.count for call in calls]),
        [each for call in calls for each in call.data],
    )
