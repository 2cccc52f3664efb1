"""What is written of turns, as calls, and many of them joined to few.

Mostly a turn has one frame of texts to write, and nothing else. Each of them is a row of a
call, and no object is made for its write. That has to be short, and to touch little memory: the
deltas of all streams wait meanwhile, and most that is known of a turn is in no cache of the
processor any more. So nothing is done for each turn when Redis has taken all rows.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.found import LOST, Batch
from turnwire.relay.turn_log.redis.scripts import Script
from turnwire.relay.turn_log.redis.servers import (
    DATA,
    Argument,
    Call,
    Failed,
    Sent,
    Servers,
    call_of,
    in_messagepack,
    packed_keys,
)
from turnwire.relay.turn_log.redis.turn import RedisTurn

_AT_ONCE: Final = 128
_CALL_BYTES: Final = 1_048_576
"""Most turns of one call, and its size, but for one turn more, or a slice of them in rows."""

_ROWS: Final = 128
"""Most rows of one call, and some more. Redis does nothing else meanwhile, about a millisecond."""

_NUMBERS: Final = struct.Struct(">BQBQBBQc").pack
"""The end of the values of a row: three numbers of 64 bits, the 1 among them, and `DATA`."""

_INT_64: Final = 0xCF
"""Stands before such a number in MessagePack."""

_VALUES: Final = 12
"""How many values a row has."""

_pack: Final = msgspec.msgpack.Encoder().encode

_SHORT_MAX: Final = 15
"""The greatest length of an array whose head has 1 byte in MessagePack. Others have 3 here."""


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


class Write(Struct):
    """What is written of one turn: a batch, or that it ends, or that it is lost."""

    turn: RedisTurn
    call: Call
    batch: Batch | None = None
    note: str = ""
    ends: str = ""
    has_begun: bool = False


def next_write(turn: RedisTurn, lease_ms: int, kept_ms: int) -> Write:
    """Return what a turn has to write. The two times are as for `append_call`."""
    if not turn.is_kept:
        ends, ended_ms = turn.ends
        call = _call(turn, scripts.FORGET, turn.note, ends, ended_ms, int(turn.has_begun))
        return Write(turn, call, None, turn.note, ends, turn.has_begun)
    batch = turn.batch()
    return Write(turn, append_call(turn, batch, lease_ms, kept_ms), batch)


def renewal(turn: RedisTurn, process: str, lease_ms: int, kept_ms: int) -> Write:
    """Return the call that renews the lease of a turn of this process, or takes one."""
    if turn.has_lease:
        return Write(turn, _call(turn, scripts.KEEP, lease_ms, kept_ms))
    # Redis has nothing of this turn. A reader who comes at once must not get the rest alone.
    arguments = ("", process, lease_ms, kept_ms, turn.head, turn.note or LOST)
    return Write(turn, _call(turn, scripts.CLAIM, *arguments))


def _call(turn: RedisTurn, script: Script, *arguments: Argument) -> Call:
    return call_of(script, turn.key, turn.id, *arguments)


async def run_all(
    servers: Servers, calls: Sequence[Call], rows: "Sequence[TextRows]" = ()
) -> list[Sequence[Any] | None]:
    """Run calls for one chat each in one pipeline, behind `rows`, which get their replies.

    Calls of one script in a row are joined. Returns the reply to each call; None: there is none.
    """
    groups = _grouped(calls, takes_many=servers.takes_many)
    replies = await servers.run([each.call() for each in rows] + [_joined(each) for each in groups])
    for each, reply in zip(rows, replies, strict=False):
        each.replies = None if isinstance(reply, Failed) else reply
    replies = replies[len(rows) :]
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
    """The rows of one call of `APPEND`, as they are sent.

    The bytes of a row are put behind those of the row before at once. So what they are made of is
    freed while the processor has it at hand, and the next row takes its place.

    The two times are as for `append_call`. They are the same for all rows of a turn.
    """

    __slots__ = (
        "_data",
        "_expected",
        "_kept_ms",
        "_keys",
        "_lease_ms",
        "_turns",
        "_values",
        "replies",
        "size",
    )

    def __init__(self, lease_ms: int, kept_ms: int) -> None:
        self.size = 0
        """Of the frames, in bytes."""
        self.replies: Sequence[Sequence[Any]] | None = None
        """To each row. Empty: Redis took them all, and nobody began or stopped to read. None: there
        are none yet, or no more."""
        self._lease_ms = lease_ms
        self._kept_ms = kept_ms
        self._turns: list[RedisTurn] = []
        self._keys, self._values, self._data = bytearray(), bytearray(), bytearray()
        self._expected = bytearray()

    @property
    def is_full(self) -> bool:
        return len(self._turns) >= _ROWS or self.size > _CALL_BYTES

    def add_texts_of(self, turns: Iterable[RedisTurn]) -> list[RedisTurn]:
        """Add a row for each turn that has texts alone to write. Return the others.

        Nothing is called for a turn that is not needed: this runs for each of them often.
        """
        others = []
        rows, keys, values = self._turns, self._keys, self._values
        data, expected = self._data, self._expected
        for turn in turns:
            if not (texts := turn.give_texts()):
                others.append(turn)
                continue
            written, size = turn.frames_written, len(texts)
            row_keys, start = turn.row_start or self._new_start(turn)
            rows.append(turn)
            keys += row_keys
            values += start
            values += _NUMBERS(
                _INT_64, turn.count, _INT_64, written - 1, 1, _INT_64, turn.base, DATA
            )
            data += b"$%d\r\n%b\r\n" % (size, texts)
            expected += _pack((written, turn.readers))
            self.size += size
        return others

    def _new_start(self, turn: RedisTurn) -> tuple[bytes, bytes]:
        values = (turn.key, turn.id, self._lease_ms, "", self._kept_ms, 2, "count")
        turn.row_start = packed_keys(turn.key, scripts.APPEND.parts), in_messagepack(values)
        return turn.row_start

    def call(self) -> Call:
        chats = [turn.key for turn in self._turns]
        return Call(
            scripts.APPEND,
            chats,
            bytes(self._values),
            _VALUES * len(chats),
            size=self.size,
            sent=Sent(self._keys, self._data, len(chats)),
            expected=_array_head(len(chats)) + self._expected,
        )

    def rows(self) -> Iterator[tuple[RedisTurn, bytes]]:
        """Return the turn and the frame of each row."""
        end = 0
        for turn in self._turns:
            start = self._data.index(b"\n", end) + 1
            last = start + int(self._data[end + 1 : start])
            yield turn, bytes(self._data[start:last])
            end = last + len(b"\r\n")


def _array_head(length: int) -> bytes:
    return bytes([0x90 + length]) if length <= _SHORT_MAX else b"\xdc" + length.to_bytes(2, "big")
