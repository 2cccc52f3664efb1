"""Run by an interpreter that has the providers' official libraries: do they take these requests?

Reads a JSON object a line: `shape`, and the `body` of a request. Writes what the types of the
library say against it: the number of the line, from 0 on, and the complaint. At its end, it writes
how many bodies it read.
"""

import json
import sys
import typing
from collections.abc import Iterable
from typing import Any

import typing_extensions
from anthropic.types import content_block
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


def forbid_other_fields() -> None:
    """Make the typed dictionaries of the libraries refuse fields that they do not have."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("anthropic", "openai"):
            for each in list(vars(module).values()):
                if typing.is_typeddict(each) or typing_extensions.is_typeddict(each):
                    given = getattr(each, "__pydantic_config__", {})
                    each.__pydantic_config__ = {"extra": "forbid"} | given
    # Blocks of an answer may be sent, too.
    for each in vars(content_block).values():
        if isinstance(each, type) and issubclass(each, BaseModel):
            each.model_config["extra"] = "forbid"
            each.model_rebuild(force=True)


def exhaust(value: Any) -> None:
    """Go through all of a value: what is declared as an iterable is checked while it is read."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | BaseModel):
        for each in value:
            exhaust(each)


def main() -> None:
    forbid_other_fields()
    checks: dict[str, TypeAdapter[Any]] = {
        "chat": TypeAdapter(CompletionCreateParamsStreaming),
        "responses": TypeAdapter(ResponseCreateParamsStreaming),
        "messages": TypeAdapter(MessageCreateParamsStreaming),
        "google": TypeAdapter(GoogleRequest),
    }
    bodies = [json.loads(line) for line in sys.stdin]
    for number, asked in enumerate(bodies):
        try:
            exhaust(checks[asked["shape"]].validate_python(asked["body"]))
        except ValidationError as error:
            for each in error.errors():
                told = (str(number), str(each["loc"]), each["msg"], repr(each["input"])[:200])
                sys.stdout.write(" ".join(told) + "\n")
    sys.stdout.write(f"{len(bodies)} read\n")


main()
