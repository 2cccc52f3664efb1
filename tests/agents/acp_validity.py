"""Reads messages of an agent, and prints those that the installed ACP package refuses, as JSON.

It runs in the environment of an agent, and imports nothing of this project.
"""

import importlib
import json
import sys
from typing import Any

MESSAGES = {
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "$/cancel_request": "CancelRequestNotification",
}
"""What an agent sends by itself."""

RESULTS = {1: "InitializeResponse", 2: "NewSessionResponse", 10: "PromptResponse"}
"""The responses to our requests, by their ids."""


def refused(message: dict[str, Any]) -> str | None:
    """Return why the package refuses a message."""
    schema: Any = importlib.import_module("acp.schema")
    method = message.get("method")
    name = RESULTS.get(message["id"]) if method is None else MESSAGES.get(method)
    if name is None:
        return "no message of an agent"
    try:
        getattr(schema, name).model_validate(message["params" if method else "result"])
    except ValueError as error:
        return str(error)
    return None


if __name__ == "__main__":
    reasons = [refused(message) for message in json.load(sys.stdin)]
    print(json.dumps(reasons))  # noqa: T201 (its purpose)
