"""The profile that a client asks for: which chunks, beyond those of every release, it takes.

Nothing tells a client's version, so whoever builds an app says it, by a header
or in the URL. `6` and `7` are one for us: approvals are requested natively
(`core.approval`), under ids that are signed here and read here.
"""

import asyncio
import time
from typing import Final, assert_never

from msgspec import Raw, json

from turnwire.core.approval import Invalid, Requests, Signed, Signer
from turnwire.core.continuation import ApprovalResponse, Continuation, QuestionAnswer, Response
from turnwire.core.dialect import Reply
from turnwire.core.terms import Terms
from turnwire.errors import BadRequest, QuestionClosed
from turnwire.settings import Settings, signing_keys
from turnwire.web.endpoint import Visit

HEADER: Final = b"x-turnwire-profile"
QUERY: Final = "profile"
NATIVE: Final = frozenset({"6", "7"})

_NOT_YOURS: Final = "The approval is not one that you were asked for here"


def requests(settings: Settings, visit: Visit, *, counts: bool = False) -> Requests | None:
    """How this stream requests approvals; None where they are questions like any other.

    Without a key, none can be told from a forged one. An app that was built for
    the profile would wait for cards that never come, so it is refused at once.
    A client that `counts` its chunks has no such profile.

    Raises:
        BadRequest: the profile is unknown, not offered here, or there are two.

    """
    native = not counts and _is_native(settings, visit)
    if not settings.signing_keys:
        return None
    epoch = time.time() - asyncio.get_running_loop().time()
    return Requests(
        signer=_signer(settings, visit), epoch=epoch, valid_s=settings.turn_s, native=native
    )


def _is_native(settings: Settings, visit: Visit) -> bool:
    request = visit.request
    said = request.headers(HEADER)
    if not said and not request.scope["query_string"]:
        return False
    asked = {value.decode("latin-1") for value in said}
    asked.update(request.query.getlist(QUERY))
    if not asked:
        return False
    if len(asked) > 1 or not asked <= NATIVE:
        raise BadRequest("The profile is 6 or 7")
    if not settings.signing_keys:
        raise BadRequest("This gateway offers no profile: it has no keys to sign approvals with")
    return True


def terms(settings: Settings) -> Terms:
    """On which terms questions are answered here."""
    return Terms(signed=bool(settings.signing_keys), asker_alone=settings.answers == "asker")


def replies(settings: Settings, visit: Visit, continuation: Continuation) -> tuple[Reply, ...]:
    """The answers of a continuation, one for each question.

    Raises:
        BadRequest: an approval is not one that this user was asked for in this session.
        QuestionClosed: its time is over.

    """
    found = (_reply(settings, visit, response) for response in continuation.responses)
    first: dict[str, Reply] = {}
    for reply in found:
        first.setdefault(reply.question_id, reply)
    return tuple(first.values())


def subject(
    settings: Settings, visit: Visit, question_id: str, approval_id: str | None
) -> bytes | None:
    """What an answer to a question was signed for; None of one that was not.

    Raises:
        BadRequest: it was not signed for this question, user and session.
        QuestionClosed: its time is over.

    """
    if approval_id is None or not settings.signing_keys:
        return None
    signed = _read(settings, visit, approval_id)
    if signed.question_id != question_id:
        raise BadRequest(_NOT_YOURS)
    return signed.subject


def _reply(settings: Settings, visit: Visit, response: Response) -> Reply:
    match response:
        case QuestionAnswer(question_id, answer, approval_id):
            return Reply(question_id, answer, subject(settings, visit, question_id, approval_id))
        case ApprovalResponse(approval_id, approved, reason):
            signed = _read(settings, visit, approval_id)
            verdict = approved if reason is None else _reasoned(approved, reason)
            return Reply(signed.question_id, Raw(json.encode(verdict)), signed.subject)
        case _:
            assert_never(response)


def _read(settings: Settings, visit: Visit, approval_id: str) -> Signed:
    match _signer(settings, visit).read(approval_id, time.time()):
        case Invalid.NOT_OURS:
            raise BadRequest(_NOT_YOURS)
        case Invalid.EXPIRED:
            raise QuestionClosed("the approval's time is over")
        case signed:
            return signed


def _reasoned(approved: bool, reason: str) -> dict[str, bool | str]:  # noqa: FBT001 (it is data)
    return {"approved": approved, "reason": reason}


def _signer(settings: Settings, visit: Visit) -> Signer:
    return Signer(
        keys=signing_keys(settings),
        session_id=visit.request.session_id,
        user_id=visit.user_id,
    )
