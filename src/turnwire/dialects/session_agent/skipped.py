"""Domain frames: nothing on the client's wire, and no sign of life (page 4.5)."""

from typing import Final

SKIPPED: Final = (
    "user.left",
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
    "messages.removed",
    "toast",
    "thread.created",
    "thread.updated",
    "integration-auth-required",
)
"""Their types. Each is known, so none of them counts as a drift of the wire."""
