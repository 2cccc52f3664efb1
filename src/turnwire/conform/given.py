"""What is given before anything is played, and the two ways in which a scenario does not pass."""

import enum

from msgspec import Struct

from turnwire.core.agent import Dialect
from turnwire.relay.agent.port import Transport


class FailedError(Exception):
    """The agent did not do what the scenario expects. The text says what was seen."""


class NotApplicableError(Exception):
    """It turned out that the scenario shows nothing about this agent. The text says why."""


class Shared(enum.Enum):
    """A turn that several scenarios look at, and that is played once."""

    PLAIN = "plain"
    LONG = "long"
    TOOL = "tool"


class Prompts(Struct, frozen=True, kw_only=True):
    """What the user of the command says to make the agent do something."""

    plain: str
    long: str
    tool: str
    unicode: str
    failing_tool: str = ""
    question: str = ""
    big_output: str = ""
    quiet: str = ""
    lost_attempt: str = ""


class Choices(Struct, frozen=True, kw_only=True):
    """What the user of the command allows."""

    is_long: bool = False
    """Whether scenarios that take minutes are played."""
    restart: str = ""
    """The command that restarts the agent."""
    abort_seen: str = ""
    """The command that exits 0 if the agent works on no turn."""


class Given(Struct, frozen=True):
    """All that decides whether a scenario is applicable, before anything is played."""

    dialect: Dialect
    transport: type[Transport]
    prompts: Prompts
    choices: Choices

    @property
    def closes_to_abort(self) -> bool:
        """Whether the answer to one request is the turn, so that its abort is to close."""
        return self.transport.status_is_answer

    @property
    def has_pings(self) -> bool:
        """Whether the transport has pings of its own."""
        return self.transport.name == "websocket"
