"""The tables that compare the wires: what their dialects state, and what the turn log adds."""

from collections.abc import Iterator
from typing import Final

from turnwire.config import dialect_defaults
from turnwire.core.agent import Dialect, Feature
from turnwire.core.operations import OperationName
from turnwire.dialects import DIALECTS
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, OTHER_AGENTS

Row = tuple[str, ...]

_PAGES: Final = {"openai-chat": "openai", "openai-responses": "openai"}
"""Pages of docs/ that are not named after their wire."""

_TRANSPORTS: Final = {"http": "HTTP", "websocket": "WebSocket"}
_FEATURES: Final = {
    Feature.FILES_SENT: "the user's files",
    Feature.QUESTIONS: "questions",
    Feature.APPROVALS: "approvals",
    Feature.REASONING: "reasoning",
    Feature.TOOL_INPUT: "a tool's input while it is written",
    Feature.FILES_MADE: "files of the agent",
    Feature.SOURCES: "sources",
    Feature.USAGE: "token counts",
    Feature.RETRACTS: "lost attempts, taken back",
}
_OPERATIONS: Final = {
    OperationName.RESUME: "resume",
    OperationName.STOP: "stop that is confirmed",
    OperationName.HISTORY: "history (`GET …/messages`)",
}


def head() -> Row:
    """The heads of the columns: what works, then each wire."""
    return ("", *(f"[`{name}`]({_PAGES.get(name, name)}.md)" for name in DIALECTS))


def rows() -> Iterator[Row]:
    """What works, and how with each wire."""
    wires = DIALECTS.values()
    yield ("the agent is reached by", *(_TRANSPORTS[wire.transport] for wire in wires))
    yield ("who keeps the conversation, unless set otherwise", *map(_keeper, wires))
    for operation, what in _OPERATIONS.items():
        yield (what, *(_operation(wire, operation) for wire in wires))
    for feature, what in _FEATURES.items():
        yield (what, *("yes" if feature in wire.features else "no" for wire in wires))
    yield ("settings without a default", *map(_needs, wires))


def framework_rows() -> Iterator[Row]:
    """Each framework that is tried, its wire, and its example."""
    for framework in (*FRAMEWORKS.values(), *OTHER_AGENTS.values()):
        agent = framework.application.partition(":")[0]
        yield framework.title, f"`{framework.wire}`", f"`examples/agents/{agent}.py`"


def _keeper(wire: Dialect) -> str:
    return f"the {dialect_defaults.keeper(wire.name)}"


def _operation(wire: Dialect, operation: OperationName) -> str:
    if operation in wire.operations:
        return "the agent"
    return "no: 501" if operation is OperationName.HISTORY else "the turn log"


def _needs(wire: Dialect) -> str:
    return ", ".join(f"`TURNWIRE_{field.upper()}`" for field in sorted(wire.needs)) or "none"
