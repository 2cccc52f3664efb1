"""What is written of turns, as calls, and many of them joined to few.

In 20 ms most turns have one frame of texts to write, and nothing else. Each of them is a row of a
call, and no object is made for its write. That has to be short, and to touch little memory: the
deltas of all streams wait meanwhile, and most that is known of a turn is in no cache of the
processor any more. So nothing is done for each turn when Redis has taken all rows.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final

from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.found import Batch
from turnwire.relay.turn_log.redis.servers import (
    DATA,
    Argument,
    Call,
    Failed,
    Servers,
    in_messagepack,
)
from turnwire.relay.turn_log.redis.turn import RedisTurn

_AT_ONCE: Final = 128
_CALL_BYTES: Final = 1_048_576
"""Most turns of one call, and its size, but for one turn more."""

_ROWS: Final = 32
"""Most rows of one call: it is packed at one go, in 0.02 ms."""

_NUMBERS: Final = struct.Struct(">BQBQBBQc").pack
"""The end of the values of a row: three numbers of 64 bits, the 1 among them, and `DATA`."""

_INT_64: Final = 0xCF
"""Stands before such a number in MessagePack."""

_VALUES: Final = 12
"""How many values a row has."""


def append_call(turn: RedisTurn, batch: Batch, lease_ms: int, kept_ms: int) -> Call:
    """Return the call of `APPEND` for a batch. `kept_ms`: how long a turn that runs is kept."""
    frames = batch.frames
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


async def run_all(
    servers: Servers, calls: Sequence[Call], before: Sequence[Call] = ()
) -> list[Sequence[Any] | None]:
    """Run calls for one chat each in one pipeline. Those of one script in a row are joined.

    `before`: calls for many chats, which come first. Returns the reply to each chat of each call;
    None: there is none.
    """
    groups = [[call] for call in before] + _grouped(calls, takes_many=servers.takes_many)
    replies = await servers.run([_joined(group) for group in groups])
    found: list[Sequence[Any] | None] = []
    for group, reply in zip(groups, replies, strict=True):
        if not isinstance(reply, Failed):
            found += reply
        elif len(group) == 1 or servers.is_down(group[0].chats[0]):
            found += [None] * sum(len(call.chats) for call in group)
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


class TextRows:
    """The rows of one call of `APPEND`, as columns.

    The two times are as for `append_call`. They are the same for all rows of a turn.
    """

    __slots__ = (
        "_chats",
        "_expected",
        "_kept_ms",
        "_lease_ms",
        "_values",
        "frames",
        "size",
        "turns",
    )

    def __init__(self, lease_ms: int, kept_ms: int) -> None:
        self.turns: list[RedisTurn] = []
        self.frames: list[bytes] = []
        self.size = 0
        """Of the frames, in bytes."""
        self._lease_ms = lease_ms
        self._kept_ms = kept_ms
        self._chats: list[str] = []
        self._values: list[bytes] = []
        self._expected: list[list[int]] = []

    @property
    def is_full(self) -> bool:
        return len(self.turns) == _ROWS or self.size > _CALL_BYTES

    def add(self, turn: RedisTurn, data: bytes) -> None:
        """Add a turn, with the frame that it gave just now."""
        first = turn.frames_written - 1
        self.turns.append(turn)
        self.frames.append(data)
        self.size += len(data)
        self._chats.append(turn.key)
        self._values += (
            turn.row_head or self._new_head(turn),
            _NUMBERS(_INT_64, turn.count, _INT_64, first, 1, _INT_64, turn.base, DATA),
        )
        self._expected.append([first + 1, turn.readers])

    def _new_head(self, turn: RedisTurn) -> bytes:
        head = (turn.key, turn.id, self._lease_ms, "", self._kept_ms, 2, "count")
        turn.row_head = in_messagepack(head)
        return turn.row_head

    def call(self) -> Call:
        chats, values = self._chats, b"".join(self._values)
        return Call(scripts.APPEND, chats, values, _VALUES * len(chats), self.frames, self.size)

    def are_all_taken(self, replies: Sequence[object]) -> bool:
        """Whether Redis took each frame, and nobody began or stopped to read."""
        return replies == self._expected
