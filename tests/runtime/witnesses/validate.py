"""Run by an interpreter that has the providers' official libraries: do they take these requests?

Reads a JSON object a line: `shape`, and the `body` of a request. Writes what the types of the
library say against it, a line each, and at its end how many bodies it read.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError


class GoogleRequest(BaseModel):
    """The body that the library writes itself, made of its types, which forbid other fields."""

    model_config = ConfigDict(extra="forbid")

    contents: list[types.Content]
    systemInstruction: types.Content | None = None  # noqa: N815 (the wire's name)
    tools: list[types.Tool] | None = None
    toolConfig: types.ToolConfig | None = None  # noqa: N815 (the wire's name)
    generationConfig: types.GenerationConfig | None = None  # noqa: N815 (the wire's name)


CHECKS: dict[str, TypeAdapter[Any]] = {
    "chat": TypeAdapter(CompletionCreateParamsStreaming),
    "responses": TypeAdapter(ResponseCreateParamsStreaming),
    "messages": TypeAdapter(MessageCreateParamsStreaming),
    "google": TypeAdapter(GoogleRequest),
}


def exhaust(value: Any) -> None:
    """Go through all of a value: what is declared as an iterable is checked while it is read."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | BaseModel):
        for each in value:
            exhaust(each)


def main() -> None:
    bodies = [json.loads(line) for line in sys.stdin]
    for asked in bodies:
        try:
            exhaust(CHECKS[asked["shape"]].validate_python(asked["body"]))
        except ValidationError as error:
            for each in error.errors():
                told = (asked["shape"], str(each["loc"]), each["msg"], repr(each["input"])[:200])
                sys.stdout.write(" ".join(told) + "\n")
    sys.stdout.write(f"{len(bodies)} read\n")


main()
