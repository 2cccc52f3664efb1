"""The profile that a client asks for: which chunks, beyond those of every release, it takes.

Nothing tells a client's version, so whoever builds an app says it, by a header
or in the URL. `6` and `7` are one for us: approvals are requested natively
(`core.approval`), under ids that are signed here and read here.
"""

import asyncio
import time
from typing import Final, assert_never

from msgspec import Raw, json

from turnwire.core.approval import Invalid, Requests, Signer
from turnwire.core.continuation import ApprovalResponse, Continuation, QuestionAnswer, Response
from turnwire.core.dialect import Reply
from turnwire.errors import BadRequest, QuestionClosed
from turnwire.settings import Settings, signing_keys
from turnwire.web.endpoint import Visit

HEADER: Final = b"x-turnwire-profile"
QUERY: Final = "profile"
NATIVE: Final = frozenset({"6", "7"})


def requests(settings: Settings, visit: Visit) -> Requests | None:
    """How this stream requests approvals; None in the portable profile, where they are questions.

    Without a key, none can be told from a forged one. An app that was built for
    the profile would wait for cards that never come, so it is refused at once.

    Raises:
        BadRequest: the profile is unknown, not offered here, or there are two.

    """
    asked = {value.decode("latin-1") for value in visit.request.headers(HEADER)}
    asked.update(visit.request.query.getlist(QUERY))
    if not asked:
        return None
    if len(asked) > 1 or not asked <= NATIVE:
        raise BadRequest("The profile is 6 or 7")
    if not settings.signing_keys:
        raise BadRequest("This gateway offers no profile: it has no keys to sign approvals with")
    epoch = time.time() - asyncio.get_running_loop().time()
    return Requests(signer=_signer(settings, visit), epoch=epoch, valid_s=settings.turn_s)


def replies(settings: Settings, visit: Visit, continuation: Continuation) -> tuple[Reply, ...]:
    """The answers of a continuation, one for each question.

    Raises:
        BadRequest: an approval is not one that this user was asked for in this session.
        QuestionClosed: its time is over.

    """
    signer = _signer(settings, visit)
    found = (_reply(response, signer) for response in continuation.responses)
    first: dict[str, Reply] = {}
    for reply in found:
        first.setdefault(reply.question_id, reply)
    return tuple(first.values())


def _reply(response: Response, signer: Signer) -> Reply:
    match response:
        case QuestionAnswer(question_id, answer):
            return Reply(question_id, answer)
        case ApprovalResponse(approval_id, approved, reason):
            match signer.read(approval_id, time.time()):
                case Invalid.NOT_OURS:
                    raise BadRequest("The approval is not one that you were asked for here")
                case Invalid.EXPIRED:
                    raise QuestionClosed("the approval's time is over")
                case signed:
                    verdict = approved if reason is None else _reasoned(approved, reason)
                    return Reply(signed.question_id, Raw(json.encode(verdict)), signed.subject)
        case _:
            assert_never(response)


def _reasoned(approved: bool, reason: str) -> dict[str, bool | str]:  # noqa: FBT001 (it is data)
    return {"approved": approved, "reason": reason}


def _signer(settings: Settings, visit: Visit) -> Signer:
    return Signer(
        keys=signing_keys(settings),
        session_id=visit.request.session_id,
        user_id=visit.user_id,
    )
