"""What stop, answer and history share on the `v2` wire: they begin with `init`, or without it."""

from typing import Any

from support import v2_frames as f
from support.v2_operations import (
    BUSY,
    QUESTION,
    WAITS,
    answering,
    finish,
    hello,
    play,
    stopping,
    turn,
)
from turnwire.core.operations import History
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.commands import CONNECT


def test_a_history_without_a_hello() -> None:
    silent, left = (V2().read_history(HistoryRequest(**WAITS, limit=9)) for _ in range(2))
    play(silent)
    play(left, f.part("a"))

    assert list(silent.tick(5)) == []
    left.connection_lost()

    assert (silent.result, left.result) == (Rejection.UNSUPPORTED, Rejection.SILENT)


def test_a_history() -> None:
    operation = V2().read_history(HistoryRequest(**WAITS, limit=9))

    assert play(operation, hello(turn(finish()))) == []
    assert isinstance(operation.result, History)
    assert len(list(operation.result.entries)) == 1


def every_operation() -> list[Any]:
    return [stopping(f.OURS), answering(), V2().read_history(HistoryRequest(**WAITS, limit=9))]


def test_every_operation_waits_for_init_and_opens_the_same_connection() -> None:
    for operation in every_operation():
        assert operation.connect_request() == CONNECT
        assert list(operation.connection_opened(10)) == []
        assert operation.deadline == 15
        assert list(operation.tick(14.9)) == []
        assert operation.result is None


def test_a_second_init_is_read_and_dropped() -> None:
    """Its entries were read ahead: they are not those of the next one."""
    init = hello(turn(QUESTION), **BUSY)
    for operation in every_operation()[:2]:
        assert len(play(operation, init)) == 1
        for _ in operation.prepare_frame(hello(turn(finish()))):
            pass

        assert list(operation.receive_frame(hello(turn(finish())), 2)) == []
        assert (operation.result, operation.deadline) == (None, 4)


def test_a_frame_that_is_nested_too_deeply_is_counted_and_is_no_answer() -> None:
    deep = b'{"type":"init","session":{"messages":[' + b"[" * 5_000
    for operation in every_operation():
        operation.connection_opened(0)

        assert list(operation.receive_frame(deep, 1)) == []
        assert (operation.result, operation.frame_stats.malformed) == (None, 1)
