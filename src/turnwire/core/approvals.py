"""Signed approval ids: each carries all that is needed to check an answer, so none is stored.

Use: `ApprovalIssuer.approval_id` signs an id when a question goes to the client;
`Signer.read` checks the id that comes back.

An id goes out with `tool-approval-request`. A client without native approvals gets
a question instead, with the id in its field `approvalId`. The id stays in the client's
message and comes back with the user's response, to any process that has one of the keys.
So the id carries what the gateway needs then: the question's id, the time until which it
may be answered, and a digest of what was shown (its *subject*: turn, tool call,
tool and input). It is signed for one user of one session. If the agent asks again under the
same question id but with another input, that is another approval with another id.

The agent ensures that an approval counts once: the first answer closes the question.

Keys and times are arguments; nothing here reads a clock. Times are seconds.
"""

import base64
import contextlib
import enum
import hashlib
import hmac
from collections.abc import Collection, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.events import Approval, Question

APPROVAL_ID_MAX: Final = 2_048
"""Longest id that is signed, in characters. A longer one would be refused when it comes back."""

ID_FIELD: Final = "approvalId"
"""The field that holds the id in a question and in its answer."""

_NO_TURN: Final = ""

_DIGEST_BYTES: Final = 16
"""Each digest is half of a SHA-256: that keeps ids short, and a collision has odds of 2**-128."""

_EXPONENT_FROM: Final = 1e21

_PURPOSE: Final = b"turnwire approval 1"
"""Part of the signed data, so that no other data signed with the same keys is taken for an id."""


class _Body(Struct, frozen=True, array_like=True):
    expires_at: int
    question_id: bytes
    subject: bytes


def _number(text: str) -> int | float:
    """A number with a fraction or an exponent, in the form that a browser would send it back.

    JavaScript writes `1.0` as `1`, and `1e2` as `100`; it has exponents from 1e21 on.
    """
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < _EXPONENT_FROM else number


_decode_body = msgspec.msgpack.Decoder(_Body).decode
_decode_args = msgspec.json.Decoder(float_hook=_number).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_pack = msgspec.msgpack.Encoder().encode


class _Expiring(Struct, frozen=True, rename="camel"):
    expires_at: float | None = None
    """Milliseconds of the epoch."""


_decode_expiring = msgspec.json.Decoder(_Expiring).decode


class Invalid(enum.Enum):
    """Why an id is invalid."""

    NOT_OURS = "not signed by this gateway for this user and session"
    EXPIRED = "expired"


class Signed(Struct, frozen=True):
    """The contents of a valid id."""

    question_id: str
    subject: bytes


class Signer(Struct, frozen=True, kw_only=True):
    """Signs and checks ids for one user of one session. The first key signs; all keys verify."""

    keys: Sequence[bytes]
    session_id: str
    user_id: str

    def sign(self, question_id: str, subject: bytes, expires_at: float) -> str | None:
        """An id for a question, answerable until `expires_at`; None if the id is too long."""
        body = _pack(_Body(int(expires_at), _bytes(question_id), subject))
        encoded = base64.urlsafe_b64encode(body + self._mac(self.keys[0], body))
        approval_id = encoded.rstrip(b"=").decode()
        return approval_id if len(approval_id) <= APPROVAL_ID_MAX else None

    def read(self, approval_id: str, now: float) -> Signed | Invalid:
        """The contents of an id that a client sent back, or why the id is invalid."""
        if len(approval_id) > APPROVAL_ID_MAX:
            return Invalid.NOT_OURS
        try:
            padded = approval_id.encode() + b"=" * (-len(approval_id) % 4)
            raw = base64.b64decode(padded, altchars=b"-_", validate=True)
        except ValueError:
            return Invalid.NOT_OURS
        body, mac = raw[:-_DIGEST_BYTES], raw[-_DIGEST_BYTES:]
        if not any(hmac.compare_digest(mac, self._mac(key, body)) for key in self.keys):
            return Invalid.NOT_OURS
        fields = _decode_body(body)
        if now >= fields.expires_at:
            return Invalid.EXPIRED
        return Signed(fields.question_id.decode(errors="surrogatepass"), fields.subject)

    def _mac(self, key: bytes, body: bytes) -> bytes:
        message = _pack((_PURPOSE, _bytes(self.session_id), _bytes(self.user_id), body))
        return hmac.digest(key, message, "sha256")[:_DIGEST_BYTES]


class ApprovalIssuer(Struct, frozen=True, kw_only=True):
    """Makes the approval ids of one stream."""

    signer: Signer
    epoch: float
    """Wall-clock time at time 0 of the stream's clock."""
    valid_s: float
    heeds_expiry: bool = False
    """Whether an id ends with its question, where the agent names a time (`expires_at`)."""
    native: bool = True
    """Whether the client supports approvals. Other clients get questions with the id in them."""

    def approval_id(self, turn_id: str | None, question: Question, now: float) -> str | None:
        """The id of an approval request made at `now`.

        None if the question is not an approval, or if its id is too long.
        """
        digest = _subject(turn_id or _NO_TURN, question)
        if digest is None:
            return None
        valid_until = self.epoch + now + self.valid_s
        if self.heeds_expiry and (until := expires_at(question)) is not None:
            valid_until = max(0.0, min(valid_until, until))
        return self.signer.sign(question.question_id, digest, valid_until)


def expires_at(question: Question) -> float | None:
    """When the agent expires a question, in seconds of the epoch; None: it does not say."""
    try:
        milliseconds = _decode_expiring(question.payload).expires_at
    except (msgspec.DecodeError, RecursionError):
        return None
    return None if milliseconds is None else milliseconds / 1_000


def with_id(question: Question, approval_id: str | None) -> Question:
    """The question with `approvalId` set to this id, or without that field if it is None.

    A value that the agent put there is dropped.
    """
    payload: dict[str, Raw] = {}
    with contextlib.suppress(
        msgspec.DecodeError, RecursionError
    ):  # then the agent's fields are left out
        payload = _decode_fields(question.payload)
    if approval_id is None and payload.pop(ID_FIELD, None) is None:
        return question
    if approval_id is not None:
        payload[ID_FIELD] = Raw(msgspec.json.encode(approval_id))
    return msgspec.structs.replace(question, payload=Raw(msgspec.json.encode(payload)))


def subject(turn_id: str, approval: Approval) -> bytes:
    """A digest of what the user approves: the turn, the call, its tool and its input."""
    names = (turn_id, approval.call_id, approval.tool_name)
    return _digest(*map(_bytes, names), _canonical(approval.args))


def subjects(question: Question, turn_ids: Collection[str]) -> Collection[bytes]:
    """The digests that an id of this question may carry, one for each id that its turn may have.

    A question that was asked before its turn began was signed without a turn id.
    """
    digests = (_subject(turn_id, question) for turn_id in (*turn_ids, _NO_TURN))
    return [digest for digest in digests if digest is not None]


def _subject(turn_id: str, question: Question) -> bytes | None:
    if question.approval is not None:
        return subject(turn_id, question.approval)
    # A question that names no call is signed without its turn: not every endpoint knows the turn.
    return None if question.shown is None else _digest(_canonical(question.shown))


def _digest(*items: bytes) -> bytes:
    return hashlib.sha256(_pack(items)).digest()[:_DIGEST_BYTES]


def _canonical(args: Raw | None) -> bytes:
    """A tool's input in canonical form.

    Key order, white space and the spelling of a number make no difference.
    """
    data = b"" if args is None else bytes(args)
    try:
        return msgspec.json.encode(_decode_args(data), order="deterministic")
    except (msgspec.MsgspecError, RecursionError):
        return data


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
