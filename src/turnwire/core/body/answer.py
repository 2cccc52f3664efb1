"""The answer to a question, as a client sent it."""

from typing import Final

import msgspec

from turnwire.core.steps import Steps
from turnwire.core.wire.census import TooDeepError, census
from turnwire.errors import BadRequest

ANSWER_DEPTH_MAX: Final = 32
"""Deepest nesting of an answer. Its agent keeps it, and sends it in each later `init`. The client
gets it with the history, and sends it in its later messages, whose bodies may be 64 deep."""


def check_answer(answer: bytes) -> Steps[None]:
    """Check an answer before it is passed on, in steps: a `Raw` may hold malformed JSON.

    Raises:
        BadRequest: it is malformed, or nested deeper than `ANSWER_DEPTH_MAX`.

    """
    try:
        if answer.count(b"[") + answer.count(b"{") > ANSWER_DEPTH_MAX:
            yield from census(answer, 0, depth_max=ANSWER_DEPTH_MAX)
        msgspec.json.decode(answer)
    except TooDeepError as exc:
        raise BadRequest(f"The answer is nested deeper than {ANSWER_DEPTH_MAX}") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The answer is not valid JSON") from exc
