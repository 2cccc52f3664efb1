"""Schemas of a document as schemas of their own, in the words of JSON Schema 2020-12.

What they refer to comes along as `$defs`. 3.0 has words of its own (`nullable`, bounds that are
flags); both versions have words that say nothing of a request.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from turnwire_agent.tools.openapi.references import Json, looked_up
from turnwire_agent.tools.openapi.unsupported import UnsupportedError
from turnwire_agent.tools.schema.form import DEPTH_MAX, NAMED, ONE, SEVERAL, is_number

DEFINITIONS_MAX: Final = 1_000
"""Most schemas that one operation refers to."""

_DROPPED: Final = frozenset(
    {
        *("$schema", "deprecated", "discriminator", "example", "examples", "externalDocs"),
        *("nullable", "readOnly", "writeOnly", "xml"),
    }
)
_REFUSED: Final = ("$dynamicRef", "$recursiveRef", "$id", "id$")
_OTHER: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters that a name in a reference would have to be escaped for."""
_FLAGS: Final[Mapping[str, str]] = {
    "exclusiveMaximum": "maximum",
    "exclusiveMinimum": "minimum",
}


class Schemas:
    """Takes schemas out of a document, for one operation."""

    def __init__(self, document: Json, *, is_3_0: bool) -> None:
        self._document = document
        self._is_3_0 = is_3_0
        self._names: dict[str, str] = {}
        """By reference: the name of the definition."""
        self._waiting: list[str] = []

    def taken(self, schema: Any) -> Any:
        """Return a schema whose references lead to `definitions`.

        Raises:
            UnsupportedError: it is none, or it refers to what is not there.
        """
        return self._schema(schema, 0)

    def definitions(self) -> Json:
        """Return all that was referred to, and what that refers to.

        Raises:
            UnsupportedError: there is too much, or something of it is no schema.
        """
        found: Json = {}
        while self._waiting:
            reference = self._waiting.pop()
            found[self._names[reference]] = self.taken(looked_up(self._document, reference))
        return found

    def _schema(self, schema: Any, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise UnsupportedError("schema", f"more than {DEPTH_MAX} levels")
        if isinstance(schema, bool) and not self._is_3_0:
            return schema
        if not isinstance(schema, dict):
            raise UnsupportedError("schema", "a schema is an object")
        if refused := next((word for word in _REFUSED if word in schema), None):
            raise UnsupportedError("schema", f"`{refused}`")
        if "$ref" in schema and self._is_3_0:
            return {"$ref": self._reference(schema["$ref"])}
        plain = {
            word: self._value(word, value, depth + 1)
            for word, value in schema.items()
            if word not in _DROPPED and not word.startswith("x-")
        }
        _without_read_only(schema, plain)
        return _in_words_of_3_1(schema, plain) if self._is_3_0 else plain

    def _value(self, word: str, value: Any, depth: int) -> Any:
        if word == "$ref":
            return self._reference(value)
        if word in SEVERAL and isinstance(value, list):
            return [self._schema(each, depth) for each in value]
        if word in NAMED and isinstance(value, dict):
            return {name: self._schema(each, depth) for name, each in value.items()}
        if word in ONE and isinstance(value, dict):
            return self._schema(value, depth)
        return value

    def _reference(self, reference: Any) -> str:
        if reference not in self._names:
            looked_up(self._document, reference)
            if len(self._names) == DEFINITIONS_MAX:
                raise UnsupportedError("schema", f"more than {DEFINITIONS_MAX} schemas")
            last = _OTHER.sub("_", reference.rpartition("/")[2])
            taken = set(self._names.values())
            name, number = last, 1
            while name in taken:
                number += 1
                name = f"{last}_{number}"
            self._names[reference] = name
            self._waiting.append(reference)
        return f"#/$defs/{self._names[reference]}"


def _without_read_only(schema: Json, plain: Json) -> None:
    """Take out the properties that only answers have."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    answers = {
        name
        for name, each in properties.items()
        if isinstance(each, dict) and each.get("readOnly") is True
    }
    if answers:
        plain["properties"] = {
            name: each for name, each in plain["properties"].items() if name not in answers
        }
        if isinstance(plain.get("required"), list):
            plain["required"] = [name for name in plain["required"] if name not in answers]


def _in_words_of_3_1(schema: Json, plain: Json) -> Json:
    for flag, bound in _FLAGS.items():
        if isinstance(plain.get(flag), bool):
            exclusive = plain.pop(flag)
            if exclusive and is_number(plain.get(bound)):
                plain[flag] = plain.pop(bound)
    if schema.get("nullable") is not True:
        return plain
    if isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
        if isinstance(plain.get("enum"), list) and None not in plain["enum"]:
            plain["enum"] = [*plain["enum"], None]
        return plain
    return {"anyOf": [plain, {"type": "null"}]}
