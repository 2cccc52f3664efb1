"""Rejections: why the agent's side does not do what a request asks."""

import enum


class Rejection(enum.Enum):
    """The value is the text in the log. The text for the client is made in `turnwire.web`."""

    SESSION = "the session cannot take it"
    NO_TURN = "no turn runs or waits there"
    UNNAMED = "the agent does not say whose turn it is, and several processes may have asked"
    OTHER_TURN = "another turn than the named one runs"
    SHARED = "it would stop another turn as well"
    UNKNOWN = "no such question"
    CLOSED = "the question is closed"
    UNSIGNED = "This is an approval: it is answered with its approvalId"
    NO_VERDICT = "An approval is answered with true or false, or with approved and a reason alone"
    UNSUPPORTED = "this agent does not offer it"
    SILENT = "the agent did not answer in time, or left"
    TOO_LONG = "the turn is longer than the turn log keeps"


class RejectedError(Exception):
    """A request is rejected before a connection is opened for it."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.value)
        self.rejection = rejection
