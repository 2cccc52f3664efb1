"""The frames and fields of the `session-agent` wire that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ALL, BY_NAME, Row

ROWS: Final = (
    Row(
        "user.left models model-switched git-state pr-created files-changed diff review-result"
        " command-result child-session title messages.removed toast thread.created thread.updated"
        " integration-auth-required",
        ALL,
        BY_NAME,
    ),
    Row(
        "message.system message.forwarded",
        ALL,
        "`foreign` of the log line. The reply to a slash command is shown",
    ),
    Row("part.screenshot part.session-break", ALL, "`foreign` of the log line, as above"),
    Row(
        "message.data message.updated.data init.session.messages",
        "authorEmail authorName authorAvatarUrl createdAt",
        "nothing",
    ),
    Row("part.text", "streaming", "nothing"),
    Row("init.session", "id workspace title", "nothing"),
    Row(
        "init.data",
        "sandboxRunning runnerConnected connectedClients connectedUsers availableModels auditLog",
        "nothing",
    ),
    Row("status.data", "status", "nothing. A session that is over ends the turn"),
    Row(
        "status.data",
        "sandboxRunning tunnelUrls queueReason watchdogRecovery actionType reason collectCount"
        " cleared prCreating branch prError",
        "nothing",
    ),
    Row("interactive_prompt.prompt", "sessionId", "nothing"),
    Row(
        "interactive_prompt_resolved interactive_prompt_expired",
        "promptType",
        "nothing: the question has it",
    ),
    Row("queue.state.data", "threadId channelType channelId", "nothing: `pending` has them"),
    Row(
        "queue.state.data.pending init.data.pendingPrompt",
        "attachments",
        "nothing: they are of a prompt, not of an answer",
    ),
    Row("queue.withdrawn.data", "content attachments threadId", "nothing, as above"),
    Row(
        "audit_log.entry",
        "eventType summary actorId",
        "nothing: it is a log of what other frames tell. An abort is read there",
    ),
    Row("audit_log.entry", "metadata", "nothing, as above"),
    Row("user.joined", "userId", "nothing: a sign that a client came back"),
    Row("user.joined", "userDetails connectedUsers", "nothing"),
    Row("pong", ALL, "nothing: the reply to our `ping`"),
)
