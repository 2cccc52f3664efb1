"""Approvals that are worth more than was signed, and what a client says in their stead."""

import ast
from typing import Any, Final

from msgspec.structs import replace

from mutants.edit import constant, instead
from mutants.fault import Fault, Function
from turnwire.core.approvals import Signer
from turnwire.core.events import Approval
from turnwire.core.ui_stream.tool_calls import Calls


def no_time_passes(read: Function) -> Function:
    def wrong(self: Signer, approval_id: str, _now: float) -> Any:
        return read(self, approval_id, 0.0)

    return wrong


def of_no_user(mac: Function) -> Function:
    def wrong(self: Signer, key: bytes, body: bytes) -> Any:
        return mac(replace(self, user_id=""), key, body)

    return wrong


def of_no_session(mac: Function) -> Function:
    def wrong(self: Signer, key: bytes, body: bytes) -> Any:
        return mac(replace(self, session_id=""), key, body)

    return wrong


def of_no_input(subject: Function) -> Function:
    def wrong(turn_id: str, approval: Approval) -> Any:
        return subject(turn_id, replace(approval, args=None))

    return wrong


def whatever_is_shown(shows: Function) -> Function:
    def wrong(self: Calls, call_id: str, tool_name: str, _args: object) -> Any:
        return shows(self, call_id, tool_name, None)

    return wrong


_SIGNER: Final = "turnwire.core.approvals:Signer"
_CONTINUATION: Final = "turnwire.core.body.continuation"

_APPROVAL_TESTS: Final = ("core/test_approvals.py", "core/ui_stream/test_requesting.py")
_CONTINUATION_TESTS: Final = ("core/body/test_continuation.py",)

FAULTS: Final = (
    Fault("an approval never expires", f"{_SIGNER}.read", no_time_passes, _APPROVAL_TESTS),
    Fault("an approval is anybody's", f"{_SIGNER}._mac", of_no_user, _APPROVAL_TESTS),
    Fault("an approval is for any session", f"{_SIGNER}._mac", of_no_session, _APPROVAL_TESTS),
    Fault(
        "an approval is for any input",
        "turnwire.core.approvals:subject",
        of_no_input,
        _APPROVAL_TESTS,
    ),
    Fault(
        "a card shows another input than is approved",
        "turnwire.core.ui_stream.tool_calls:Calls.shows",
        whatever_is_shown,
        ("attacks/test_approval_cards.py",),
    ),
    Fault(
        "a client's own tool output is taken",
        f"{_CONTINUATION}:_approval_response",
        constant("output-available", ""),
        _CONTINUATION_TESTS,
    ),
    Fault(
        "answers of earlier steps are news",
        f"{_CONTINUATION}:_last_step",
        instead(ast.Break, "continue"),
        _CONTINUATION_TESTS,
    ),
)
