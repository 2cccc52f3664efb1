"""A client of the gateway turnwire for programs: typed events of a turn, sync and async.

`Client` and `AsyncClient` do the same; all that is no I/O stands in the modules that both use.
"""

from turnwire_client.async_client import AsyncChat, AsyncClient
from turnwire_client.client import Chat, Client
from turnwire_client.errors import (
    ClientError,
    ConnectionLostError,
    MalformedError,
    RefusedError,
    TooLargeError,
    TurnLostError,
    UnreachableError,
)
from turnwire_client.events import (
    Abort,
    Data,
    Error,
    Event,
    File,
    Finish,
    FinishStep,
    Question,
    ReasoningDelta,
    Restart,
    SourceUrl,
    StartStep,
    TextDelta,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputError,
)
from turnwire_client.limits import Limits
from turnwire_client.message import UIMessage
from turnwire_client.replies import Receipt

__all__ = [
    "Abort",
    "AsyncChat",
    "AsyncClient",
    "Chat",
    "Client",
    "ClientError",
    "ConnectionLostError",
    "Data",
    "Error",
    "Event",
    "File",
    "Finish",
    "FinishStep",
    "Limits",
    "MalformedError",
    "Question",
    "ReasoningDelta",
    "Receipt",
    "RefusedError",
    "Restart",
    "SourceUrl",
    "StartStep",
    "TextDelta",
    "TooLargeError",
    "ToolApprovalRequest",
    "ToolInputAvailable",
    "ToolInputDelta",
    "ToolInputStart",
    "ToolOutputAvailable",
    "ToolOutputError",
    "TurnLostError",
    "UIMessage",
    "UnreachableError",
]
