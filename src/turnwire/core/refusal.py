"""What an agent's side may answer to a request instead of doing it."""

import enum


class Refusal(enum.Enum):
    """The value says it in the log; what the client is told is `turnwire.web`'s."""

    SESSION = "the session cannot take it"
    NOTHING = "no turn runs or waits there"
    UNNAMED = "the agent does not say whose turn it is, and several processes may have asked"
    OTHER_TURN = "another turn than the named one runs"
    UNHARMED = "it would stop another turn as well"
    UNKNOWN = "no such question"
    CLOSED = "the question is closed"
    UNSIGNED = "This is an approval: it is answered with its approvalId"
    UNSUPPORTED = "this agent does not offer it"
    SILENT = "the agent did not answer in time, or left"
