"""The profile of a client: which chunks it understands beyond those of every AI SDK release.

A request does not carry the version of its AI SDK. The author of an app names the profile in the
header `x-turnwire-profile` or in the query. `6` and `7` mean the same here: approvals are requested
natively (`core.approvals`), under ids that the gateway signs and verifies. `7.1` is for 7.0.70 and
newer, which also take back the parts of a step (`reset-step`).
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import Final, assert_never

from msgspec import Raw, json

from turnwire.config.lists import signing_keys
from turnwire.config.settings import Settings
from turnwire.core.approvals import ApprovalIssuer, Invalid, Signed, Signer
from turnwire.core.body.continuation import ApprovalResponse, Continuation, QuestionAnswer, Response
from turnwire.core.requests import QuestionReply
from turnwire.core.terms import Terms
from turnwire.errors import BadRequest, QuestionClosed
from turnwire.web.context import AppContext
from turnwire.web.routes.endpoint import RequestContext

HEADER: Final = b"x-turnwire-profile"
QUERY: Final = "profile"
NATIVE: Final = frozenset({"6", "7", "7.1"})
RESETS: Final = "7.1"

_NOT_YOURS: Final = "The approval is not one that you were asked for here"


def approvals(
    app_context: AppContext, context: RequestContext, *, counts_chunks: bool = False
) -> ApprovalIssuer | None:
    """Return the issuer of approval ids for this stream; None if the gateway has no signing key.

    Where the turn log keeps a turn that waits for an approval, an id is valid for as long, and at
    least as long as a turn may run.

    Without a key a forged id cannot be recognised. An app that asks for the profile would wait for
    approval cards that never come, so its request is refused. A client that counts its chunks
    (`counts_chunks`) gets no native approvals.

    Raises:
        BadRequest: the profile is unknown or not offered here, or the request names two.

    """
    settings, waits_in_log = app_context.settings, app_context.continues_in_log
    native = not counts_chunks and _is_native(settings, context)
    if not settings.signing_keys:
        return None
    epoch = time.time() - asyncio.get_running_loop().time()
    return ApprovalIssuer(
        signer=_signer(settings, context),
        epoch=epoch,
        valid_s=max(settings.turn_s, settings.question_keep_s if waits_in_log else 0),
        heeds_expiry=waits_in_log,
        native=native,
    )


def knows_resets(context: RequestContext, *, counts_chunks: bool = False) -> bool:
    """Return whether the client of this stream knows `reset-step`."""
    return not counts_chunks and RESETS in _profiles(context)


def _profiles(context: RequestContext) -> Collection[str]:
    """Return the profiles that the request names."""
    request = context.request
    header_values = request.headers(HEADER)
    if not header_values and not request.scope["query_string"]:
        return ()
    return {*(value.decode("latin-1") for value in header_values), *request.query.getlist(QUERY)}


def _is_native(settings: Settings, context: RequestContext) -> bool:
    profiles = _profiles(context)
    if not profiles:
        return False
    if len(profiles) > 1 or not NATIVE.issuperset(profiles):
        raise BadRequest("The profile is 6, 7 or 7.1")
    if not settings.signing_keys:
        raise BadRequest("This gateway offers no profile: it has no keys to sign approvals with")
    return True


def terms(settings: Settings) -> Terms:
    """Return the terms on which questions are answered, from the settings."""
    return Terms(signed=bool(settings.signing_keys), asker_alone=settings.answers == "asker")


def replies(
    settings: Settings, context: RequestContext, continuation: Continuation
) -> tuple[QuestionReply, ...]:
    """Return the answers of a continuation, one for each question.

    Raises:
        BadRequest: an approval id was not signed for this user and session.
        QuestionClosed: an approval id has expired.

    """
    decoded = (_reply(settings, context, response) for response in continuation.responses)
    by_question: dict[str, QuestionReply] = {}
    for reply in decoded:
        by_question.setdefault(reply.question_id, reply)
    return tuple(by_question.values())


def pending_calls(
    settings: Settings, context: RequestContext, responses: Sequence[Response]
) -> Collection[str]:
    """Return the ids of the calls that wait for an approval which one of these responses gives.

    Only an approval id that was signed for this user and session counts. Which call it was signed
    for is in its subject, which the dialect compares.
    """
    if not settings.signing_keys:
        return ()
    signer, now = _signer(settings, context), time.time()
    return {
        response.call_id
        for response in responses
        if response.call_id is not None
        and response.approval_id is not None
        and isinstance(signer.read(response.approval_id, now), Signed)
    }


def subject(
    settings: Settings, context: RequestContext, question_id: str, approval_id: str | None
) -> bytes | None:
    """Return the signed subject of an approval id; None if there is no id or no signing key.

    Raises:
        BadRequest: the id was not signed for this question, user and session.
        QuestionClosed: the id has expired.

    """
    if approval_id is None or not settings.signing_keys:
        return None
    signed = _read(settings, context, approval_id)
    if signed.question_id != question_id:
        raise BadRequest(_NOT_YOURS)
    return signed.subject


def _reply(settings: Settings, context: RequestContext, response: Response) -> QuestionReply:
    match response:
        case QuestionAnswer(question_id, answer, approval_id):
            return QuestionReply(
                question_id, answer, subject(settings, context, question_id, approval_id)
            )
        case ApprovalResponse(approval_id, approved, reason):
            signed = _read(settings, context, approval_id)
            verdict = approved if reason is None else _with_reason(approved, reason)
            return QuestionReply(signed.question_id, Raw(json.encode(verdict)), signed.subject)
        case _:
            assert_never(response)


def _read(settings: Settings, context: RequestContext, approval_id: str) -> Signed:
    signed = _signer(settings, context).read(approval_id, time.time())
    match signed:
        case Signed():
            return signed
        case Invalid.NOT_OURS:
            raise BadRequest(_NOT_YOURS)
        case Invalid.EXPIRED:
            raise QuestionClosed("the approval's time is over")
        case _:
            assert_never(signed)


def _with_reason(approved: bool, reason: str) -> dict[str, bool | str]:  # noqa: FBT001 (it is data)
    return {"approved": approved, "reason": reason}


def _signer(settings: Settings, context: RequestContext) -> Signer:
    return Signer(
        keys=signing_keys(settings),
        session_id=context.request.session_id,
        user_id=context.user_id,
    )
