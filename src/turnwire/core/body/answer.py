"""The answer to a question, as a client sent it."""

import msgspec

from turnwire.core.body.prompt import DEPTH_MAX
from turnwire.core.wire.census import TooDeepError, census
from turnwire.errors import BadRequest


def check_answer(answer: bytes) -> None:
    """Check an answer before it is passed on: a `Raw` may hold malformed JSON.

    The agent keeps it among other values, and sends it back in each later `init`. So it has a bound
    of its own: one that can just be decoded here could not be decoded there.

    Raises:
        BadRequest: it is malformed, or nested deeper than `DEPTH_MAX`.

    """
    try:
        if answer.count(b"[") + answer.count(b"{") > DEPTH_MAX:
            for _ in census(answer, 0, depth_max=DEPTH_MAX):
                pass
        msgspec.json.decode(answer)
    except TooDeepError as exc:
        raise BadRequest(f"The answer is nested deeper than {DEPTH_MAX}") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The answer is not valid JSON") from exc
