"""How a question is told: as a request at its call's card, or as a question with its signed id."""

from turnwire.core.approval import Requests, with_id
from turnwire.core.chunks import Chunk
from turnwire.core.events import Question
from turnwire.core.translate import Translator


def tell(
    asked: Question,
    last: Question | None,
    turn_id: str | None,
    requests: Requests | None,
    translator: Translator,
    now: float,
) -> list[Chunk]:
    """An approval is requested where the client knows that, and is a question elsewhere.

    `last` is how the question stands once all is told that came with it: None if it is closed.
    """
    if requests is None:
        return translator.feed(asked)
    approval, approval_id = asked.approval, requests.approval_id(turn_id, asked, now)
    question = with_id(asked, approval_id)
    takes_card = requests.native and turn_id is not None
    if not takes_card or approval is None or approval_id is None:
        return translator.feed(question)
    if last is not asked:  # closed or asked anew by now
        return translator.requested(question, approval)
    return translator.request(question, approval, approval_id)
