"""What one process asks of the process that runs a turn, and the replies, as bytes.

Another process may run another release: what it does not understand stays without a reply.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec import Raw, Struct

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.relay.turn_log.port import TurnControl


class Stop(Struct, frozen=True, tag="stop"):
    """`process`: who asks."""

    process: str
    turn_id: str | None


class Reply(Struct, frozen=True, array_like=True):
    """A `QuestionReply`, with its JSON as bytes."""

    question_id: str
    answer: bytes
    subject: bytes | None


class Answer(Struct, frozen=True, tag="answer"):
    process: str
    user_id: str
    replies: Sequence[Reply]


class Ending(Struct, frozen=True, tag="ending"):
    """Asks whether the turn is being ended: the result is that it is, or a rejection."""

    process: str


Message: TypeAlias = Stop | Answer | Ending


class Result(Struct, frozen=True, tag="result"):
    """What became of a message: a rejection by name, the result of a stop, or neither."""

    rejection: str | None = None
    stopped: bool | None = None
    turn_id: str | None = None
    reason: str = ""


_pack: Final = msgspec.msgpack.Encoder().encode
_message: Final[Callable[[bytes], Message]] = msgspec.msgpack.Decoder(Message).decode
_result: Final = msgspec.msgpack.Decoder(Result).decode


def stop(process: str, turn_id: str | None) -> bytes:
    return _pack(Stop(process, turn_id))


def answer(process: str, user_id: str, replies: Sequence[QuestionReply]) -> bytes:
    packed = [Reply(each.question_id, bytes(each.answer), each.subject) for each in replies]
    return _pack(Answer(process, user_id, packed))


def ending(process: str) -> bytes:
    return _pack(Ending(process))


def carry_out(data: bytes, control: TurnControl) -> tuple[str, bytes] | None:
    """Do what a message asks. Returns who asked, and the reply; None: it cannot be read."""
    try:
        message = _message(data)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    match message:
        case Stop(process, turn_id):
            return process, _packed(control.stop(turn_id))
        case Answer(process, user_id, packed):
            replies = [
                QuestionReply(each.question_id, Raw(each.answer), each.subject) for each in packed
            ]
            return process, _packed(control.answer(replies, user_id))
        case Ending(process):
            return process, _packed(None if control.is_ending else Rejection.OTHER_TURN)
        case _:
            assert_never(message)


def read_result(data: bytes) -> StopResult | Rejection | None:
    """Return what a reply says. One that cannot be read is a rejection."""
    try:
        result = _result(data)
        if result.rejection is not None:
            return Rejection[result.rejection]
    except (msgspec.MsgspecError, UnicodeError, KeyError):
        return Rejection.SILENT
    if result.stopped is None:
        return None
    return StopResult(stopped=result.stopped, turn_id=result.turn_id, reason=result.reason)


def _packed(result: StopResult | Rejection | None) -> bytes:
    match result:
        case StopResult(stopped, turn_id, reason):
            return _pack(Result(None, stopped, turn_id, reason))
        case Rejection():
            return _pack(Result(result.name))
        case None:
            return _pack(Result())
        case _:
            assert_never(result)
