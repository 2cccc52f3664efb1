"""Hydration and domain frames: nothing on the client's wire, and no sign of life."""

from typing import Final

SKIPPED: Final = (
    "message",
    "message.updated",
    "messages.removed",
    "pong",
    "user.left",
    "audit_log",
    "models",
    "model-switched",
    "git-state",
    "pr-created",
    "files-changed",
    "diff",
    "review-result",
    "command-result",
    "child-session",
    "title",
    "toast",
)
"""Their types. Each is known, so none of them counts as a drift of the wire."""
