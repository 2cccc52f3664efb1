"""Defaults of settings that depend on the dialect."""

from typing import Any, Final, Literal, TypeAlias

from turnwire.config.dialect_loading import find, load
from turnwire.core.operations import OperationName
from turnwire.dialects import DIALECTS

DIALECT: Final = "v2"
"""The wire of an agent if nobody names one."""
BRIDGED: Final = "acp"
"""The wire that most agents speak over their standard input and output."""
LOADED: Final[dict[str, Any]] = {"table": DIALECTS, "load": load}
"""How a name of a dialect is checked: our own ones, for the documentation, and what loads any."""

Auth: TypeAlias = Literal["forward", "service", "none"]
Keeper: TypeAlias = Literal["agent", "client"]
Thread: TypeAlias = Literal["conversation", "previous-response"]


AGENT_URLS: Final = {
    "v2": "wss://agents.example/api/sessions/{session_id}/ws?role=client",
    "session-agent": "wss://agents.example/api/sessions/{session_id}/ws?role=client",
    "acp": "wss://agents.example/acp?session={session_id}",
    "ag-ui": "https://agents.example/agent",
    "ui-stream": "https://agents.example/api/chat",
    "openai-chat": "https://agents.example/v1",
    "openai-responses": "https://agents.example/v1",
}
"""By the name of a wire: an agent's URL as an example, the one of the wire's page in `docs`."""
NEEDED: Final = {"agent_auth": "none", "agent_cwd": "/srv/project", "agent_model": "my-agent"}
"""By the setting that some wire needs: a value to begin with. It sends no secret anywhere."""

OF_DIALECT: Final = (
    "The wire that the agent speaks: one of the gateway's own, the name of one that an installed "
    "package brings, or `package.module:Name` of one."
)
QUESTION_KEEP: Final = (
    "How long the turn log keeps a turn that waits for an approval, or until the approval expires "
    "if that is sooner."
)
SESSION_KEEP: Final = (
    "For a wire whose agent names its sessions itself: how long after its last use the gateway "
    "remembers which of them belongs to a chat. Afterwards the chat begins anew."
)
STATE: Final = (
    "What a client gets of an agent's state and of the results of its runs: both may hold "
    "conversations and secrets. `off`: nothing. `transient`: data that enters no message. `parts`: "
    "parts of the message."
)
EVENT_LINES: Final = (
    "Send an `event:` line with each chunk. The AI SDK does not need it; people and tools read it."
)
AGENT_THREAD: Final = (
    "How a request of `openai-responses` names the thread that the agent keeps. `conversation`: by "
    "a name of the gateway's, in the field `conversation`. `previous-response`: by the agent's id "
    "of the response before it, which the turn log keeps. Unset: `conversation`."
)
AGENT_CWD: Final = (
    "The working directory of the agent's sessions, an absolute path on its machine, for a wire "
    "that has one."
)


def keeper(dialect: str) -> Keeper:
    """Return who keeps the conversation on this wire."""
    return "agent" if find(dialect).keeps_history else "client"


def turn_log(dialect: str) -> str:
    """Return where the turns of this wire are kept: nowhere if the agent can repeat them."""
    return "off" if OperationName.RESUME in find(dialect).operations else "memory"


def needing(setting: str) -> str:
    """Return the names of the wires whose operators must set this, for a text."""
    return ", ".join(f"`{name}`" for name, each in DIALECTS.items() if setting in each.needs)
