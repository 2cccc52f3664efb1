"""Messages of a client are read, whatever they are."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.body.ui_message import (
    DENIED,
    NO_RESULT,
    TEXT_BYTES_MAX,
    UIMessage,
    UIPart,
    decoded,
    decoded_part,
    outcome_in_steps,
    pause_after,
    readable_in_steps,
)
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.steps import run_steps


def tool(**more: Any) -> UIPart:
    fields = {"type": "tool-add", "state": "output-available", "output": 3}
    return decoded_part(Raw(msgspec.json.encode(fields | more)))


@pytest.mark.parametrize(
    ("more", "output", "error", "is_denied"),
    [
        ({"output": {"sum": 3}}, b'{"sum":3}', None, False),
        ({"output": None}, b"null", None, False),
        ({"state": "output-error", "errorText": "broken"}, None, "broken", False),
        ({"state": "output-error"}, None, NO_RESULT, False),
        ({"state": "output-error", "errorText": 7}, None, NO_RESULT, False),
        ({"state": "output-denied"}, None, DENIED, True),
        (
            {"state": "output-denied", "approval": {"approved": False, "reason": "no"}},
            None,
            "no",
            True,
        ),
        (
            {"state": "approval-responded", "approval": {"id": "x", "approved": False}},
            None,
            DENIED,
            True,
        ),
        # An approval in the history approves nothing.
        (
            {"state": "approval-responded", "approval": {"id": "x", "approved": True}},
            None,
            NO_RESULT,
            False,
        ),
        ({"state": "approval-responded", "approval": "yes"}, None, NO_RESULT, False),
        ({"state": "approval-responded"}, None, NO_RESULT, False),
        ({"state": "approval-requested", "approval": {"id": "x"}}, None, NO_RESULT, False),
        ({"state": "input-available"}, None, NO_RESULT, False),
        ({"state": "input-streaming"}, None, NO_RESULT, False),
        ({"preliminary": True}, None, NO_RESULT, False),
        ({"state": 7}, None, NO_RESULT, False),
    ],
)
def test_the_outcome_of_a_call(
    more: dict[str, Any], output: bytes | None, error: str | None, *, is_denied: bool
) -> None:
    outcome = run_steps(outcome_in_steps(tool(**more)))

    assert (outcome.output and bytes(outcome.output)) == output
    assert (outcome.error, outcome.is_denied) == (error, is_denied)


def test_an_output_that_is_missing_is_null() -> None:
    part = decoded_part(Raw(b'{"type":"tool-add","state":"output-available"}'))

    assert bytes(run_steps(outcome_in_steps(part)).output or b"") == b"null"


@pytest.mark.parametrize(
    "more",
    [
        {"state": "output-denied", "approval": {"reason": "x" * TEXT_BYTES_MAX}},
        {"state": "output-error", "errorText": "x" * TEXT_BYTES_MAX},
    ],
)
def test_a_reason_that_is_very_long_is_not_read(more: dict[str, Any]) -> None:
    assert run_steps(outcome_in_steps(tool(**more))).error in {DENIED, NO_RESULT}


@pytest.mark.parametrize("raw", [b"7", b"null", b"{}", b'{"role":"user","parts":7}'])
def test_what_is_no_message_is_none(raw: bytes) -> None:
    assert decoded(Raw(raw)) is None


def test_a_message_may_have_anything_else() -> None:
    assert decoded(Raw(b'{"role":7,"id":7}')) == UIMessage(Raw(b"7"), Raw(b"7"))


@pytest.mark.parametrize("raw", [b"7", b"{}", b'{"type":7}', b'{"type":"%b"}' % (b"x" * 300)])
def test_what_is_no_part_has_no_type(raw: bytes) -> None:
    assert decoded_part(Raw(raw)).type == ""


def test_what_is_long_ends_a_step() -> None:
    assert list(pause_after(Raw(b" " * LONG_BYTES))) == []
    assert list(pause_after(Raw(b" " * (LONG_BYTES + 1)))) == [None]


def test_json_that_is_not_utf_8_is_refused() -> None:
    assert run_steps(readable_in_steps(Raw(b""))) is None
    with pytest.raises(UnicodeDecodeError):
        run_steps(readable_in_steps(Raw(b'"\xff"')))
