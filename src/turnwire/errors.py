"""The exceptions that settings and requests raise, in one hierarchy.

    TurnwireError
     +-- SettingsError         the process does not start
     +-- RequestRefused        a request is answered with a plain HTTP status
          +-- BadRequest             400
          +-- Unauthorized           401
          +-- NotFound               404   absent, or not this user's: one class for both
          +-- MethodNotAllowed       405
          +-- SessionConflict        409
          +-- AnotherTurn            409
          +-- QuestionClosed         409
          +-- TurnTooLong            410
          +-- BodyTooLarge           413
          +-- WrongMediaType         415
          +-- TooManyStreams         429
          +-- TooManyTurns           429
          +-- NotSupported           501
          +-- Unavailable            503

After the headers of a stream are sent, nothing is raised: the end of a stream is
a value (`turnwire.core.turn.outcome`).
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class TurnwireError(Exception):
    """Base class of the exceptions of this module."""


class SettingsError(TurnwireError):
    """The settings are invalid. `problems` has one line for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class RequestRefused(TurnwireError):  # noqa: N818 (a refusal is no error of the gateway)
    """The request is answered with an HTTP error, before anything is streamed.

    `status`, `code` and `headers` are those of the answer; `code` is also the metric label.
    `public` is the text of the answer. It is fixed by the class, so that no
    internal text reaches the client; the message of the constructor is for the log.
    """

    status: ClassVar[int]
    code: ClassVar[str]
    public: str
    headers: Mapping[str, str] = MappingProxyType({})


class BadRequest(RequestRefused):
    """The request is malformed. The message is a fixed text that says why, for the client."""

    status = 400
    code = "bad_request"

    def __init__(self, public: str) -> None:
        super().__init__(public)
        self.public = public


class Unauthorized(RequestRefused):
    status = 401
    code = "unauthorized"
    public = "Missing or invalid authentication"
    headers = MappingProxyType({"www-authenticate": "Bearer"})


class NotFound(RequestRefused):
    """The session does not exist, or the user may not do this with it.

    One class for both, so that no answer shows by accident which of the two it was.
    """

    status = 404
    code = "not_found"
    public = "Not found"


class MethodNotAllowed(RequestRefused):
    status = 405
    code = "method_not_allowed"
    public = "Method not allowed"


class SessionConflict(RequestRefused):
    status = 409
    code = "conflict"
    public = "The session cannot take this prompt"


class AnotherTurn(RequestRefused):
    status = 409
    code = "another_turn"
    public = "Another turn is running"


class QuestionClosed(RequestRefused):
    status = 409
    code = "question_closed"
    public = "The question is not open any more"


class TurnTooLong(RequestRefused):
    """The turn log did not keep the turn, since it is too long. The turn itself goes on."""

    status = 410
    code = "turn_too_long"
    public = "The turn has become too long to be resumed"


class BodyTooLarge(RequestRefused):
    status = 413
    code = "too_large"
    public = "The body is too large"


class WrongMediaType(RequestRefused):
    status = 415
    code = "unsupported_media_type"
    public = "The body must be uncompressed application/json or text/plain"


class TooManyStreams(RequestRefused):
    """The user has the maximum number of open streams."""

    status = 429
    code = "too_many_streams"
    public = "Too many open streams"
    headers = MappingProxyType({"retry-after": "5"})


class TooManyTurns(RequestRefused):
    """The user has begun the maximum number of turns in a minute.

    `after_s`: seconds until the user may begin the next one.
    """

    status = 429
    code = "too_many_turns"
    public = "Too many turns in a minute"

    def __init__(self, after_s: float) -> None:
        super().__init__(f"turn rate of the user, for {after_s:.0f} s")
        self.headers = {"retry-after": str(max(1, math.ceil(after_s)))}


class NotSupported(RequestRefused):
    """The agent behind the gateway does not support the operation."""

    status = 501
    code = "not_supported"
    public = "Not supported by this agent"


class Unavailable(RequestRefused):
    """The gateway, or the agent behind it, cannot accept a stream now.

    `after_s`: seconds until the client may try again; None: the usual time.
    """

    status = 503
    code = "unavailable"
    public = "Temporarily unavailable"
    headers: Mapping[str, str] = MappingProxyType({"retry-after": "5"})

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        if after_s is not None:
            self.headers = {"retry-after": str(max(1, math.ceil(after_s)))}
