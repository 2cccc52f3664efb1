"""Prints the version and the events of the installed `openai` package, as JSON, for each wire.

It runs in the environment of that package, and imports nothing of this project.
"""

import importlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, TypeAlias, get_args

Object: TypeAlias = tuple[str, set[str]]
"""The name of an object, and its fields."""

OPAQUE = {"logprobs", "moderation"}
"""Fields of a chunk whose value is one thing to the gateway."""


def imported(name: str) -> Any:
    return importlib.import_module(f"openai.types.{name}")


def models(hint: Any) -> Iterator[Any]:
    """The objects in a type hint."""
    if hasattr(hint, "model_fields"):
        yield hint
    for inner in get_args(hint):
        yield from models(inner)


def fields(model: Any) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def tree(model: Any, path: str) -> Iterator[Object]:
    """An object and all objects in it, by their paths."""
    yield path, fields(model)
    for name, field in model.model_fields.items():
        for inner in models(field.annotation):
            if name not in OPAQUE:
                yield from tree(inner, f"{path}.{name}")


def by_type(hint: Any, prefix: str = "") -> Iterator[Object]:
    """The objects of a union, by their type."""
    for model in models(hint):
        for tag in get_args(model.model_fields["type"].annotation):
            yield f"{prefix}{tag}", fields(model) - {"type"}


def of_chat() -> Iterator[Object]:
    return tree(imported("chat").ChatCompletionChunk, "chunk")


def of_responses() -> Iterator[Object]:
    responses = imported("responses")
    yield "response", fields(responses.Response)
    yield from by_type(responses.ResponseStreamEvent)
    yield from by_type(responses.ResponseOutputItem, "item.")
    for part in ("ResponseOutputText", "ResponseOutputRefusal"):
        yield from by_type(getattr(responses, part), "part.")
    for part in ("content", "summary"):
        reasoning = responses.ResponseReasoningItem.model_fields[part]
        yield from by_type(reasoning.annotation, "part.")
    cited = responses.ResponseOutputText.model_fields["annotations"]
    yield from by_type(cited.annotation, "annotation.")


def versioned(objects: Iterator[Object]) -> dict[str, dict[str, list[str]]]:
    return {version("openai"): {name: sorted(found) for name, found in sorted(objects)}}


if __name__ == "__main__":
    wires = {"openai-chat": versioned(of_chat()), "openai-responses": versioned(of_responses())}
    print(json.dumps(wires))  # noqa: T201 (its purpose)
