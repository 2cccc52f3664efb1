"""What is kept, built or heard without a bound."""

from collections.abc import Iterator
from typing import Any, Final

from mutants.fault import Fault, Function
from mutants.wrong import always, never, nothing_is_done
from turnwire.core.safe_json import string
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn


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


def all_at_once(_long_frame: Function) -> Function:
    def wrong(self: Turn, frame: bytes, now: float) -> Iterator[Output]:
        yield self.frames([frame], now)

    return wrong


FAULTS: Final = (
    Fault(
        "a long frame is not counted",
        "turnwire.core.wire.census:census",
        no_step,
        ("core/wire/test_census.py", "dialects/test_long_frames.py"),
    ),
    Fault(
        "frames that say nothing are not weighed",
        "turnwire.core.agent:FrameStats.count_unreadable",
        nothing_is_done,
        ("core/turn/test_turn_unsound.py",),
    ),
    Fault(
        "a name of any length is kept",
        "turnwire.core.safe_json:short_string",
        any_string,
        ("core/test_safe_json.py",),
    ),
    Fault(
        "very many values are taken apart",
        "turnwire.core.safe_json:has_many_values",
        never,
        ("core/test_safe_json.py", "core/test_json_repair.py"),
    ),
    Fault(
        "what waits is of any size",
        "turnwire.dialects.session_agent.deferred_questions:_size",
        nothing_at_all,
        ("dialects/session_agent/test_deferred_questions.py",),
    ),
    Fault(
        "what a numbered stream keeps is of any size",
        "turnwire.core.ui_stream.numbering:_size",
        nothing_at_all,
        ("core/ui_stream/test_runs.py",),
    ),
    Fault(
        "all that a long frame tells is told at once",
        "turnwire.core.turn.turn:Turn.long_frame",
        all_at_once,
        ("core/turn/test_turn_portions.py",),
    ),
    Fault(
        "control frames are not counted",
        "turnwire.relay.agent.websocket_reader:Controls.take",
        always,
        ("relay/agent/test_unsound_agents.py",),
    ),
)
