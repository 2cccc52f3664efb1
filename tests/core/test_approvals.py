"""The ids of approval requests: their contents, and which ids are invalid."""

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from turnwire.core.approvals import (
    APPROVAL_ID_MAX,
    ApprovalIssuer,
    Invalid,
    Signed,
    Signer,
    expires_at,
    subject,
)
from turnwire.core.events import Approval, Question

KEYS = (b"k" * 32, b"old" * 11)
SUBJECT = bytes(range(16))
SIGNER = Signer(keys=KEYS, session_id="s1", user_id="u1")
CALL = Approval("c1", "bash", Raw(b'{"rm":"x"}'))


def signed(signer: Signer = SIGNER, question_id: str = "q1", expires_at: float = 100) -> str:
    found = signer.sign(question_id, SUBJECT, expires_at)
    assert found is not None
    return found


def other(**fields: Any) -> Signer:
    defaults = {"keys": KEYS, "session_id": "s1", "user_id": "u1"}
    return Signer(**defaults | fields)


def test_an_id_carries_the_question_and_its_subject() -> None:
    assert SIGNER.read(signed(), 99.9) == Signed("q1", SUBJECT)


def test_an_id_is_short_and_goes_everywhere() -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{60,90}", signed(question_id="question-0123456789ab"))


@given(st.text(), st.text(), st.text(max_size=500))
def test_whatever_the_names_an_id_comes_back(session_id: str, user_id: str, its_id: str) -> None:
    signer = other(session_id=session_id, user_id=user_id)

    assert signer.read(signed(signer, its_id + "\ud83d"), 0) == Signed(its_id + "\ud83d", SUBJECT)


def test_its_time_ends() -> None:
    assert SIGNER.read(signed(expires_at=100.9), 99.9) == Signed("q1", SUBJECT)
    assert SIGNER.read(signed(expires_at=100.9), 100) is Invalid.EXPIRED
    assert SIGNER.read(signed(expires_at=-1), 0) is Invalid.EXPIRED


@pytest.mark.parametrize(
    "signer",
    [
        pytest.param(other(user_id="u2"), id="another user"),
        pytest.param(other(session_id="s2"), id="another session"),
        pytest.param(other(session_id="s", user_id="1u1"), id="names that are cut elsewhere"),
        pytest.param(other(keys=(b"x" * 32,)), id="another key"),
        pytest.param(other(keys=()), id="no key"),
    ],
)
def test_what_another_signed_is_not_ours(signer: Signer) -> None:
    assert signer.read(signed(), 0) is Invalid.NOT_OURS


def test_keys_are_rotated() -> None:
    renewed = other(keys=(b"n" * 32, *KEYS))

    assert renewed.read(signed(), 0) == Signed("q1", SUBJECT)
    assert renewed.read(signed(other(keys=KEYS[1:])), 0) == Signed("q1", SUBJECT)
    assert SIGNER.read(signed(renewed), 0) is Invalid.NOT_OURS


@pytest.mark.attack("an approval with one bit changed", "it is refused")
def test_no_bit_of_an_id_can_be_changed() -> None:
    whole = base64.urlsafe_b64decode(signed() + "=" * (-len(signed()) % 4))
    for place in range(len(whole)):
        for bit in range(8):
            forged = bytearray(whole)
            forged[place] ^= 1 << bit
            shown = base64.urlsafe_b64encode(forged).rstrip(b"=").decode()
            assert SIGNER.read(shown, 0) is Invalid.NOT_OURS


@pytest.mark.parametrize("more", ["    ", "\n\n\n\n", "!!!!", "===="])
def test_an_id_with_other_characters_in_it_is_not_ours(more: str) -> None:
    assert SIGNER.read(f"{signed()[:8]}{more}{signed()[8:]}", 0) is Invalid.NOT_OURS


@pytest.mark.parametrize(
    "junk", ["", "x", "=", "ap1", "a" * 16, "a" * 22, "é", "\ud83d", "a b+/", "a" * 2_048]
)
def test_junk_is_not_ours(junk: str) -> None:
    assert SIGNER.read(junk, 0) is Invalid.NOT_OURS


@given(st.text())
def test_any_text_is_not_ours(junk: str) -> None:
    assert SIGNER.read(junk, 0) is Invalid.NOT_OURS


def test_an_id_that_would_not_be_taken_back_is_not_signed() -> None:
    longest = next(n for n in range(2_000, 0, -1) if SIGNER.sign("q" * n, SUBJECT, 0))

    assert len(signed(question_id="q" * longest)) <= APPROVAL_ID_MAX
    assert SIGNER.sign("q" * (longest + 1), SUBJECT, 0) is None


@pytest.mark.parametrize(
    ("turn_id", "about"),
    [
        ("t2", CALL),
        ("t1", Approval("c2", "bash", CALL.args)),
        ("t1", Approval("c1", "rm", CALL.args)),
        ("t1", Approval("c1", "bash", Raw(b'{"rm":"y"}'))),
        ("t1", Approval("c1", "bash", Raw(b"null"))),
        ("t1", Approval("c1", "bash", Raw(b'{"rm":true}'))),
        ("t1", Approval("c1", "bash", None)),
        ("t1c", Approval("1", "bash", CALL.args)),
    ],
)
def test_another_call_is_another_subject(turn_id: str, about: Approval) -> None:
    assert subject(turn_id, about) != subject("t1", CALL)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (
            b'{"a":1,"b":{"c":[1,2],"d":"\\u00e9"}}',
            b'{ "b": {"d": "\xc3\xa9", "c": [1, 2]}, "a":1 }',
        ),
        (b"[" * 5_000 + b"]" * 5_000, b"[" * 5_000 + b"]" * 5_000),
        (b'{"n":123456789012345678901234567890}', b'{"n": 123456789012345678901234567890}'),
        (b'{"n":1.0}', b'{"n":1}'),
        (b"[1e2,-0.0,0.10,1E20]", b"[100,0,0.1,100000000000000000000]"),
        (b'{"n":1e21}', b'{"n":1e+21}'),
    ],
)
def test_an_input_is_the_same_however_it_is_spelled(one: bytes, same: bytes) -> None:
    about = [subject("t", Approval("c", "bash", Raw(args))) for args in (one, same)]

    assert about[0] == about[1]


def test_a_request_is_valid_for_its_time_from_when_it_is_made() -> None:
    requests = ApprovalIssuer(signer=SIGNER, epoch=1_000, valid_s=60)

    approval_id = requests.approval_id("t1", Question("q1", Raw(b"{}"), CALL), 7)

    assert approval_id is not None
    assert SIGNER.read(approval_id, 1_066) == Signed("q1", subject("t1", CALL))
    assert SIGNER.read(approval_id, 1_067) is Invalid.EXPIRED


def test_what_is_no_approval_is_not_requested() -> None:
    requests = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)

    assert requests.approval_id("t1", Question("q1", Raw(b"{}")), 0) is None


@pytest.mark.parametrize(
    ("heeds_expiry", "milliseconds", "until"),
    [
        (True, None, 1_060),
        (True, 1_040_000, 1_040),
        (True, 1_090_000, 1_060),
        (True, -1e300, 0),
        (True, 1e300, 1_060),
        (False, 1_040_000, 1_060),
    ],
)
def test_an_id_ends_with_its_question_where_the_agent_names_a_time(
    milliseconds: float | None, until: int, *, heeds_expiry: bool
) -> None:
    issuer = ApprovalIssuer(signer=SIGNER, epoch=1_000, valid_s=50, heeds_expiry=heeds_expiry)
    asked = Question("q1", Raw(b'{"expiresAt":%b}' % json.dumps(milliseconds).encode()), CALL)

    issued = issuer.approval_id("t1", asked, 10)

    assert issued is not None
    assert isinstance(SIGNER.read(issued, until - 1), Signed)
    assert SIGNER.read(issued, until) is Invalid.EXPIRED


@pytest.mark.parametrize(
    ("payload", "seconds"),
    [
        (b'{"expiresAt":2500}', 2.5),
        *((payload, None) for payload in (b"{}", b'{"expiresAt":"soon"}', b"[]", b"{")),
        (b'{"a":' + b"[" * 5_000, None),
    ],
)
def test_when_a_question_expires(payload: bytes, seconds: float | None) -> None:
    assert expires_at(Question("q1", Raw(payload))) == seconds
