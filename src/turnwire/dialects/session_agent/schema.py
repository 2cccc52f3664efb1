"""The schema of the `session-agent` wire in its three revisions (see `core.wire.schema`)."""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.session_agent.frames import KNOWN, Part, Snapshot

_AUTHOR: Final = names("authorEmail authorName authorAvatarUrl createdAt")
_PARTS: Final = names("text tool-call finish error")
_TEXT: Final = names("streaming")


class _Session(Struct):
    id: str
    status: str
    messages: Raw


class _Data(Struct, rename="camel"):
    runner_busy: Raw
    prompts_queued: Raw
    pending_prompt: Raw


SCHEMA: Final = WireSchema(
    frames=KNOWN,
    deltas=names("chunk"),
    unread={
        "init.session": names("workspace title"),
        "init.session.messages": _AUTHOR,
        "init.session.messages.parts": _TEXT | names("data mimeType filename"),
        "init.data": names(
            "sandboxRunning runnerConnected connectedClients connectedUsers availableModels "
            "auditLog"
        ),
        "message.data": _AUTHOR,
        "message.updated.data": _AUTHOR,
        "message.updated.data.parts": _TEXT | names("data mimeType filename"),
        "status.data": names(
            "sandboxRunning tunnelUrls queueReason watchdogRecovery actionType reason collectCount "
            "cleared prCreating branch prError"
        ),
        "interactive_prompt.prompt": names("sessionId"),
        "interactive_prompt_resolved": names("promptType"),
        "interactive_prompt_expired": names("promptType"),
        "queue.state.data": names("threadId channelType channelId"),
        "queue.state.data.pending": names("attachments"),
        "queue.withdrawn.data": names("content attachments threadId"),
        "audit_log.entry": names("metadata"),
        "user.joined": names("userDetails connectedUsers"),
    },
    inside={
        "init.session": _Session,
        "init.session.messages": Snapshot,
        "init.session.messages.parts": Part,
        "init.data": _Data,
        "message.updated.data.parts": Part,
    },
    types={
        "message.updated.data.parts": _PARTS | names("image audio"),
        "init.session.messages.parts": _PARTS | names("image audio screenshot session-break"),
    },
    kept=names("queuePosition remaining promptsQueued queuedPrompts actionType"),
    ids=names("questionAnswered questionExpired"),
    phrases=("Unsupported file type",),
)
