"""Calls that are only another spelling of an approval."""

from typing import Any

from support import ag_ui_frames as f
from turnwire.dialects.ag_ui.content.confirmations import HELD_MAX, NAMES, Confirmations
from turnwire.dialects.ag_ui.frames import decode


def events_of(frame: bytes) -> Any:
    return decode(frame)


START, ARGS, END = (events_of(frame) for frame in f.whole_call("c1", min(NAMES)))
OTHER = events_of(f.call("c2"))


def test_such_a_call_is_held_back_to_the_end() -> None:
    confirmations = Confirmations()

    assert [*confirmations.pass_on(START), *confirmations.pass_on(ARGS)] == []
    assert confirmations.pass_on(OTHER) == (OTHER,)
    assert confirmations.pass_on(END) == ()
    assert confirmations.end() == [START, ARGS, END]
    assert confirmations.end() == []
    assert confirmations.pass_on(ARGS) == (ARGS,)


def test_one_with_a_result_is_a_call_like_any_other() -> None:
    confirmations = Confirmations()
    done = events_of(f.result("1"))

    assert confirmations.pass_on(done) == (done,)
    confirmations.pass_on(START)

    assert confirmations.pass_on(done) == (START, done)


def test_what_is_held_back_is_bounded() -> None:
    confirmations = Confirmations()
    confirmations.pass_on(START)
    for _ in range(HELD_MAX - 1):
        assert confirmations.pass_on(ARGS) == ()

    assert len(confirmations.pass_on(ARGS)) == HELD_MAX + 1
    assert confirmations.pass_on(ARGS) == (ARGS,)
