"""Run by an interpreter that has the `openai` package: does it take these requests?

Reads a JSON object a line: `wire`, and the `body` of a request. Writes what the types of the
package say against it, a line each; nothing if nothing.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

CHECKS = {
    "openai-chat": TypeAdapter(CompletionCreateParamsStreaming),
    "openai-responses": TypeAdapter(ResponseCreateParamsStreaming),
}


def exhaust(value: Any) -> None:
    """Go through all of a value: what is declared as an iterable is checked while it is read."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for each in value:
            exhaust(each)


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            exhaust(CHECKS[asked["wire"]].validate_python(asked["body"]))
        except ValidationError as error:
            for each in error.errors():
                line_of = (asked["wire"], str(each["loc"]), each["msg"], repr(each["input"])[:200])
                sys.stdout.write(" ".join(line_of) + "\n")


main()
