"""What pi 0.87.1 said, and what becomes of it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

import turnwire.dialect as td
from pi_dialect import Pi
from pi_dialect.frames import DECODER

GOLDEN: Final = Path(__file__).parent / "golden"
NAMES: Final = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
AGAIN: Final = {"notice": "retried", "text": "The answer broke off, and begins again"}


def lines_of(name: str) -> list[bytes]:
    return (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()


def played(name: str) -> list[td.Event]:
    """The events of a stream: deltas of a kind in a row are one."""
    turn = Pi().prompt(td.PromptRequest(text="hi", prompt_id="p1", session_id="s1"))
    turn.connection_opened(0.0)
    events: list[td.Event] = []
    lines = [b'{"type":"response","id":"p1","command":"get_state","success":true}', *lines_of(name)]
    for line in lines:
        decoded = turn.receive_frame(line, 0.0)
        expected = (
            [td.TextDelta(decoded)] if isinstance(decoded, str) else decoded and decoded.events
        )
        for event in expected or ():
            last = events[-1] if events else None
            match event, last:
                case td.TextDelta(text), td.TextDelta(before):
                    events[-1] = td.TextDelta(before + text)
                case td.ReasoningDelta(text), td.ReasoningDelta(before):
                    events[-1] = td.ReasoningDelta(before + text)
                case td.ToolInputDelta(), td.ToolInputDelta():
                    pass
                case _:
                    events.append(event)
    return events


def outline(events: list[td.Event]) -> list[Any]:
    shown: list[Any] = []
    for event in events:
        match event:
            case td.TextDelta(text) | td.ReasoningDelta(text):
                shown.append(text)
            case td.ToolUpdate(preliminary=False, phase=phase, call_id=call_id):
                shown.append(f"{call_id} {phase.value}")
            case td.DataPart(data=data):
                shown.append(json.loads(bytes(data)))
            case td.TurnFinished(reason=reason, error=error, cut_short=cut_short):
                shown.append((reason.value, error, cut_short))
            case _:
                pass
    return shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "0.87.1-thinking",
            ["First I consider the question.", "Then I answer.", ("end_turn", None, None)],
        ),
        ("0.87.1-length", ["cut off he", ("end_turn", None, "length")]),
        ("0.87.1-filter", ["par", ("error", "Provider finish_reason: content_filter", None)]),
        (
            "0.87.1-abort-tool",
            ["call_b3 running", "call_b3 error", ("error", "This operation was aborted", None)],
        ),
        (
            "0.87.1-cutoff-retry",
            ["This will be", AGAIN, "This will be", AGAIN, ("error", "terminated", None)],
        ),
        (
            "0.87.1-both",
            [
                *("Two. ", "call_c1 running", "call_c2 running"),
                *("call_c2 completed", "call_c1 completed"),
                *("Both ran.", ("end_turn", None, None)),
            ],
        ),
    ],
)
def test_a_stream_is_shown_as_its_user_should_see_it(name: str, expected: list[Any]) -> None:
    assert outline(played(name)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_all_of_a_stream_is_known(name: str) -> None:
    stats = td.FrameStats()
    for line in lines_of(name):
        assert DECODER.read(line, stats) is not None, line
    assert (stats.malformed, stats.unrecognised) == (0, {})
