"""The ids of approvals: each says by itself what was asked of whom, and nobody keeps it.

An id goes out with `tool-approval-request`, or as `approvalId` in the question that
an approval is to a client without native ones. It stays in the client's message, and
comes back with the user's response, to any process that has one of the keys. So
it carries what the gateway needs then: which question it is, until when it may
be answered, and a digest of what was shown (its *subject*: turn, tool call,
tool and input). It is signed for one user of one session; whoever asks again about
another input under the same question id asks for another approval.

That an approval counts once is the agent's business: a question is closed by
its first answer.

Keys and times come in; nothing here reads a clock. Times are seconds.
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

ID_MAX: Final = 2_048
"""Longest id that is signed, in characters. A longer one would not be taken back."""

ID_FIELD: Final = "approvalId"
"""Where the id stands in a question, and in its answer."""

_NO_TURN: Final = ""

_DIGEST_BYTES: Final = 16
"""Half of SHA-256 for each digest: ids are short, and 2**-128 is no chance to have."""

_PURPOSE: Final = b"turnwire approval 1"
"""What the keys sign here, so that nothing else that they may sign passes for it."""


class _Body(Struct, frozen=True, array_like=True):
    expires_at: int
    question_id: bytes
    subject: bytes


_body = msgspec.msgpack.Decoder(_Body).decode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_pack = msgspec.msgpack.Encoder().encode


class Invalid(enum.Enum):
    """Why an id is worth nothing."""

    NOT_OURS = "not signed by this gateway for this user and session"
    EXPIRED = "expired"


class Signed(Struct, frozen=True):
    """What a valid id says."""

    question_id: str
    subject: bytes


class Signer(Struct, frozen=True, kw_only=True):
    """Signs for one user of one session. The first key signs, all verify."""

    keys: Sequence[bytes]
    session_id: str
    user_id: str

    def sign(self, question_id: str, subject: bytes, expires_at: float) -> str | None:
        """The id of a request that may be answered until then; None if it would be too long."""
        body = _pack(_Body(int(expires_at), _bytes(question_id), subject))
        signed = base64.urlsafe_b64encode(body + self._mac(self.keys[0], body))
        shown = signed.rstrip(b"=").decode()
        return shown if len(shown) <= ID_MAX else None

    def read(self, approval_id: str, now: float) -> Signed | Invalid:
        """What an id that a client sent back stands for."""
        if len(approval_id) > ID_MAX:
            return Invalid.NOT_OURS
        try:
            padded = approval_id.encode() + b"=" * (-len(approval_id) % 4)
            given = base64.b64decode(padded, altchars=b"-_", validate=True)
        except ValueError:
            return Invalid.NOT_OURS
        body, mac = given[:-_DIGEST_BYTES], given[-_DIGEST_BYTES:]
        if not any(hmac.compare_digest(mac, self._mac(key, body)) for key in self.keys):
            return Invalid.NOT_OURS
        said = _body(body)
        if now >= said.expires_at:
            return Invalid.EXPIRED
        return Signed(said.question_id.decode(errors="surrogatepass"), said.subject)

    def _mac(self, key: bytes, body: bytes) -> bytes:
        told = _pack((_PURPOSE, _bytes(self.session_id), _bytes(self.user_id), body))
        return hmac.digest(key, told, "sha256")[:_DIGEST_BYTES]


class Requests(Struct, frozen=True, kw_only=True):
    """How one stream requests approvals of its client."""

    signer: Signer
    epoch: float
    """What the wall clock said when the stream's clock said 0."""
    valid_s: float
    native: bool = True
    """Whether its client knows approvals. To others they are questions, with their id in them."""

    def approval_id(self, turn_id: str | None, question: Question, now: float) -> str | None:
        """The id of a request that is made now; None where the question cannot be one."""
        signed = _subject(turn_id or _NO_TURN, question)
        if signed is None:
            return None
        return self.signer.sign(question.question_id, signed, self.epoch + now + self.valid_s)


def with_id(question: Question, approval_id: str | None) -> Question:
    """The question as it is told: its id is the gateway's, whatever the agent says there."""
    payload: dict[str, Raw] = {}
    with contextlib.suppress(msgspec.DecodeError, RecursionError):  # asked without its fields
        payload = _fields(question.payload)
    if approval_id is None and payload.pop(ID_FIELD, None) is None:
        return question
    if approval_id is not None:
        payload[ID_FIELD] = Raw(msgspec.json.encode(approval_id))
    return msgspec.structs.replace(question, payload=Raw(msgspec.json.encode(payload)))


def subject(turn_id: str, approval: Approval) -> bytes:
    """A digest of what is to be approved: this call of this turn, its tool, with this input."""
    names = (turn_id, approval.call_id, approval.tool_name)
    return _digest(*map(_bytes, names), _canonical(approval.args))


def subjects(question: Question, turn_ids: Collection[str]) -> Collection[bytes]:
    """What an id of this question may be signed for, by the ids that its turn may have.

    One that was asked before its turn began was signed without.
    """
    found = (_subject(turn_id, question) for turn_id in (*turn_ids, _NO_TURN))
    return [each for each in found if each is not None]


def _subject(turn_id: str, question: Question) -> bytes | None:
    if question.approval is not None:
        return subject(turn_id, question.approval)
    # What names no call need not name its turn either: not every door knows it.
    return None if question.shown is None else _digest(_canonical(question.shown))


def _digest(*told: bytes) -> bytes:
    return hashlib.sha256(_pack(told)).digest()[:_DIGEST_BYTES]


def _canonical(args: Raw | None) -> bytes:
    """An input however an agent spells it: the order of keys and white space say nothing."""
    written = b"" if args is None else bytes(args)
    try:
        return msgspec.json.encode(msgspec.json.decode(written), order="deterministic")
    except (msgspec.MsgspecError, RecursionError):
        return written


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
