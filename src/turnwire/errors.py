"""Every failure that has a name, on one page.

    TurnwireError
     +-- SettingsError         the process does not start
     +-- Refused               a request is answered with a plain HTTP status
          +-- BadRequest             400
          +-- Unauthorized           401
          +-- NotFound               404   absent, or not this user's: one class for both
          +-- MethodNotAllowed       405
          +-- SessionConflict        409
          +-- AnotherTurn            409
          +-- QuestionClosed         409
          +-- BodyTooLarge           413
          +-- WrongMediaType         415
          +-- TooManyStreams         429
          +-- TooManyTurns           429
          +-- NotSupported           501
          +-- Unavailable            503

After the headers of a stream nothing is raised any more: how it ends is a
value (`turnwire.core.outcome`).
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class TurnwireError(Exception):
    """Base of all."""


class SettingsError(TurnwireError):
    """The settings are wrong. `problems` has one line for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Refused(TurnwireError):  # noqa: N818 (a refusal is what it is; the page reads better so)
    """A request answered with a plain HTTP status before anything is streamed.

    `public` is the text of the answer. It is the class's, so that nothing
    internal slips out; the message passed to the constructor is for the log.
    """

    status: ClassVar[int]
    code: ClassVar[str]
    public: str
    headers: Mapping[str, str] = MappingProxyType({})


class BadRequest(Refused):
    """The request is malformed. The message is fixed text that tells the client why."""

    status = 400
    code = "bad_request"

    def __init__(self, public: str) -> None:
        super().__init__(public)
        self.public = public


class Unauthorized(Refused):
    status = 401
    code = "unauthorized"
    public = "Missing or invalid authentication"
    headers = MappingProxyType({"www-authenticate": "Bearer"})


class NotFound(Refused):
    """The session is absent, or this user may not do this with it.

    One class for both, so that no code path can tell them apart by accident.
    """

    status = 404
    code = "not_found"
    public = "Not found"


class MethodNotAllowed(Refused):
    status = 405
    code = "method_not_allowed"
    public = "Method not allowed"


class SessionConflict(Refused):
    status = 409
    code = "conflict"
    public = "The session cannot take this prompt"


class AnotherTurn(Refused):
    status = 409
    code = "another_turn"
    public = "Another turn is running"


class QuestionClosed(Refused):
    status = 409
    code = "question_closed"
    public = "The question is not open any more"


class BodyTooLarge(Refused):
    status = 413
    code = "too_large"
    public = "The body is too large"


class WrongMediaType(Refused):
    status = 415
    code = "unsupported_media_type"
    public = "The body must be uncompressed application/json or text/plain"


class TooManyStreams(Refused):
    """This user has as many open streams as one user may have."""

    status = 429
    code = "too_many_streams"
    public = "Too many open streams"
    headers = MappingProxyType({"retry-after": "5"})


class TooManyTurns(Refused):
    """This user has begun as many turns as one user may in a minute; `after_s`: until the next."""

    status = 429
    code = "too_many_turns"
    public = "Too many turns in a minute"

    def __init__(self, after_s: float) -> None:
        super().__init__(f"turn rate of the user, for {after_s:.0f} s")
        self.headers = {"retry-after": str(max(1, math.ceil(after_s)))}


class NotSupported(Refused):
    """The agent behind this gateway does not offer it."""

    status = 501
    code = "not_supported"
    public = "Not supported by this agent"


class Unavailable(Refused):
    """The gateway, or the agent behind it, cannot take a stream now."""

    status = 503
    code = "unavailable"
    public = "Temporarily unavailable"
    headers = MappingProxyType({"retry-after": "5"})
