from turnwire_agent.cli.serve import serve
from turnwire_agent.cli.serving import served
from turnwire_agent.host.driver import Driver, Ended, Parked, Turn
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.open import open_journal
from turnwire_agent.journal.port import Journal
from turnwire_agent.journal.sqlite.journal import SqliteJournal
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.llm.credentials.refreshing import Refreshing
from turnwire_agent.llm.events import Finish, Usage
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Reasoning,
    Result,
    Results,
    Text,
    Transcript,
    User,
)
from turnwire_agent.loop.limits import Limits
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.openapi.api import OpenApi
from turnwire_agent.settings import Agent, Api, McpServer, SettingsError
from turnwire_agent.tools.contract import (
    BadToolError,
    Context,
    Effect,
    Media,
    NoAnswer,
    Output,
    Tool,
    ToolFailed,
    Tools,
)
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.openapi.policy import Policy
from turnwire_agent.tools.operations import Operation, operation_tools

__version__: str

__all__ = [
    "Agent",
    "Api",
    "ApiKey",
    "Assistant",
    "BadToolError",
    "Call",
    "CallSettings",
    "Context",
    "Credential",
    "Driver",
    "Effect",
    "Ended",
    "Fault",
    "File",
    "Finish",
    "HostSettings",
    "Image",
    "Journal",
    "Limits",
    "Loss",
    "McpServer",
    "McpServers",
    "Media",
    "MemoryJournal",
    "Model",
    "NoAnswer",
    "OpenApi",
    "Operation",
    "Output",
    "Parked",
    "Policy",
    "Quirks",
    "Reasoning",
    "Refreshing",
    "Request",
    "Result",
    "Results",
    "SettingsError",
    "SqliteJournal",
    "Text",
    "Tool",
    "ToolFailed",
    "Tools",
    "Transcript",
    "Turn",
    "Usage",
    "User",
    "http_client",
    "open_journal",
    "operation_tools",
    "serve",
    "served",
    "stream",
    "tool",
]
