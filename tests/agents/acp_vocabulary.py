"""Prints the version and the messages of the installed ACP package, as JSON.

It runs in the environment of an agent, and imports nothing of this project.
"""

import importlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, get_args

RESULTS = {
    "initialize": "InitializeResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/prompt": "PromptResponse",
}
"""The responses to the requests of a client that only prompts."""

INSIDE = {
    "initialize.result.agentCapabilities": "AgentCapabilities",
    "initialize.result.agentCapabilities.promptCapabilities": "PromptCapabilities",
    "initialize.result.agentCapabilities.sessionCapabilities": "SessionCapabilities",
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "session/request_permission.toolCall": "ToolCallUpdate",
    "session/request_permission.options": "PermissionOption",
    "$/cancel_request": "CancelRequestNotification",
    "error": "Error",
}


def fields(model: Any) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def models(hint: Any) -> Iterator[Any]:
    """The objects in a type hint."""
    if hasattr(hint, "model_fields"):
        yield hint
    for inner in get_args(hint):
        yield from models(inner)


def by_tag(hint: Any, tag: str, prefix: str = "") -> Iterator[tuple[str, set[str]]]:
    """The objects of a union, by their tags."""
    for model in models(hint):
        field = model.model_fields[tag]
        for name in get_args(field.annotation):
            yield f"{prefix}{name}", fields(model) - {field.alias or tag}


def objects() -> Iterator[tuple[str, set[str]]]:
    """What an agent sends, each with its fields."""
    schema: Any = importlib.import_module("acp.schema")
    methods: Any = importlib.import_module("acp.meta")
    # Of a request that no agent of ours may make, the name is enough.
    yield from ((method, set()) for method in methods.CLIENT_METHODS.values())
    for path, name in INSIDE.items():
        yield path, fields(getattr(schema, name))
    for method, name in RESULTS.items():
        yield f"{method}.result", fields(getattr(schema, name))
    updates = schema.SessionNotification.model_fields["update"].annotation
    yield from by_tag(updates, "session_update")
    yield from by_tag(schema.ContentChunk.model_fields["content"].annotation, "type", "content.")
    shown = schema.ToolCall.model_fields["content"].annotation
    yield from by_tag(shown, "type", "tool_call.content.")


if __name__ == "__main__":
    found = {path: sorted(names) for path, names in sorted(dict(objects()).items())}
    print(json.dumps({version("agent-client-protocol"): found}))  # noqa: T201 (its purpose)
