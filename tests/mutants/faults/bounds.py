"""What is kept, built or heard without a bound."""

from collections.abc import Iterator
from typing import Any, Final

from mutants.fault import Fault, Function
from turnwire.core.act import Act
from turnwire.core.harmless import string
from turnwire.core.turn import Turn


def nothing_is_done(_right: Function) -> Function:
    return lambda *_args: None


def always(_right: Function) -> Function:
    return lambda *_args: True


def never(_right: Function) -> Function:
    return lambda *_args: False


def nothing_at_all(_right: Function) -> Function:
    return lambda *_args: 0


def no_step(_census: Function) -> Function:
    def wrong(*_args: Any) -> Iterator[None]:
        yield from ()

    return wrong


def any_string(_short: Function) -> Function:
    def wrong(raw: Any) -> str | None:
        return string(raw)

    return wrong


def all_at_once(_portions: Function) -> Function:
    def wrong(self: Turn, frame: bytes, now: float) -> Iterator[Act]:
        yield self.frames([frame], now)

    return wrong


FAULTS: Final = (
    Fault(
        "a long frame is not counted",
        "turnwire.core.census:census",
        no_step,
        ("core/test_census.py", "dialects/test_long_frames.py"),
    ),
    Fault(
        "frames that say nothing are not weighed",
        "turnwire.core.dialect:Tally.unread",
        nothing_is_done,
        ("core/test_turn_unsound.py",),
    ),
    Fault(
        "a name of any length is kept",
        "turnwire.core.harmless:short",
        any_string,
        ("core/test_harmless.py",),
    ),
    Fault(
        "very many values are taken apart",
        "turnwire.core.harmless:has_many_values",
        never,
        ("core/test_harmless.py",),
    ),
    Fault(
        "what waits is of any size",
        "turnwire.core.waiting:_size",
        nothing_at_all,
        ("core/test_waiting.py",),
    ),
    Fault(
        "what a numbered stream keeps is of any size",
        "turnwire.core.recut:_size",
        nothing_at_all,
        ("core/test_recut.py",),
    ),
    Fault(
        "all that a long frame tells is told at once",
        "turnwire.core.turn:Turn.portions",
        all_at_once,
        ("core/test_turn_portions.py",),
    ),
    Fault(
        "control frames are not counted",
        "turnwire.relay.reading:Controls.take",
        always,
        ("relay/test_unsound_agents.py",),
    ),
)
