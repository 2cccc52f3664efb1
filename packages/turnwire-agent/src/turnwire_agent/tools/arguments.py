"""What a model calls a tool with: JSON text in, a value or a sentence for the model out.

The registered schema, or the type it was made of, decides; never what a provider was sent of it. A
sentence tells the model what to do better next time, so it names places and types. It never quotes
a value: arguments may be secret.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from turnwire_agent.tools.nesting import LEVELS_MAX
from turnwire_agent.tools.schema.document import Document, named_types, type_of
from turnwire_agent.tools.schema.form import TYPES
from turnwire_agent.tools.schema.restore import restore

TEXT_MAX: Final = 1_000_000
"""Most characters of the arguments of one call."""
PROBLEMS_MAX: Final = 3
"""Most problems in one sentence."""
SENTENCE_MAX: Final = 600
"""Most characters of a sentence."""

_IN_REFERENCES: Final = "#/%$~-._!&'()*+,;=:@?"
_METASCHEMAS: Final = ("http://json-schema.org/", "https://json-schema.org/")


class Valid(Struct, frozen=True):
    """Arguments that fit. They may be secret, and are not shown."""

    value: Any

    def __repr__(self) -> str:
        return "Valid(…)"


class Invalid(Struct, frozen=True):
    """Arguments that do not fit."""

    sentence: str
    """For the model: what is wrong, without any value."""


Validate = Callable[[str], Valid | Invalid]


def invalid(problem: str) -> Invalid:
    """Say what is wrong in a sentence."""
    return Invalid(f"The arguments are not valid: {problem}"[:SENTENCE_MAX])


def decoded(text: str) -> Valid | Invalid:
    """Return the JSON of a call. An empty text is a call without arguments.

    Text that was cut off is invalid, whatever the provider says of it.
    """
    if len(text) > TEXT_MAX:
        return invalid(f"they have more than {TEXT_MAX} characters.")
    try:
        value = msgspec.json.decode(text) if text.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return invalid("they are not a complete JSON object.")
    if not isinstance(value, dict):
        return invalid(f"they must be a JSON object, not of type {type_of(value)}.")
    if text.count("{") + text.count("[") > LEVELS_MAX and _levels(value) > LEVELS_MAX:
        return invalid(f"they have more than {LEVELS_MAX} levels.")
    return Valid(value)


def _levels(value: object) -> int:
    """How many objects and arrays are inside each other, at most."""
    stack, levels = [(value, 1)], 0
    while stack:
        each, level = stack.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        levels = max(levels, level if isinstance(each, dict | list) else 0)
        stack += [(one, level + 1) for one in inner]
    return levels


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type, its own fields at the root.

    Raises:
        TypeError: msgspec knows no schema of it.

    """
    whole = msgspec.json.schema(kind)
    schema: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(whole))
    definitions = schema.get("$defs", {})
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name not in definitions or f'"#/$defs/{name}"' in str(msgspec.json.encode(definitions)):
        return schema
    root = definitions.pop(name)
    root.pop("title", None)  # the name of a type says nothing to a model
    return {**root, "$defs": definitions} if definitions else dict(root)


def typed(kind: Any, schema: dict[str, Any]) -> Validate:
    """Validate by a type that msgspec knows, whose JSON Schema is given."""
    decoder = msgspec.json.Decoder(kind)

    def validate(text: str) -> Valid | Invalid:
        read = decoded(text)
        if isinstance(read, Invalid):
            return read
        try:
            return Valid(decoder.decode(text if text.strip() else "{}"))
        except msgspec.ValidationError as exc:
            problem = exc
        restored = restore(read.value, schema)
        if restored != read.value:
            try:
                return Valid(decoder.decode(msgspec.json.encode(restored)))
            except msgspec.ValidationError as exc:
                problem = exc
        return invalid(f"{_without_values(problem)}.")

    return validate


def _without_values(problem: msgspec.ValidationError) -> str:
    """The text of a problem. That of a choice, or of a type's own check, quotes the value."""
    text, place = str(problem), str(problem).rfind(" - at `$")
    if problem.__cause__ is not None:
        return f"A value is not allowed{text.removeprefix(str(problem.__cause__))}"
    if text.startswith("Invalid enum value"):
        return f"A value is none of those allowed{text[place:] if place >= 0 else ''}"
    return text


def untyped(schema: dict[str, Any]) -> Validate:
    """Validate by a JSON Schema alone.

    With `jsonschema-rs` (the extra `schema`), all of the schema is checked. Without it, that the
    arguments are a JSON object, that no required property of it is missing, and the types of its
    properties. The tool must then check the rest itself.

    Raises:
        ValueError: `jsonschema-rs` refuses the schema.

    """
    problems = _library(schema) or _own(schema)

    def validate(text: str) -> Valid | Invalid:
        read = decoded(text)
        if isinstance(read, Invalid):
            return read
        value = restore(read.value, schema)
        found = problems(value)
        return invalid(f"{'; '.join(found)}.") if found else Valid(value)

    return validate


Problems = Callable[[Mapping[str, Any]], list[str]]


def _library(schema: dict[str, Any]) -> Problems | None:
    """The check of jsonschema-rs, or None: it is not there."""
    try:
        import jsonschema_rs  # noqa: PLC0415 (an extra)
    except ImportError:
        return None
    known = str(schema.get("$schema", _METASCHEMAS[0])).startswith(_METASCHEMAS)
    declared = {key: value for key, value in schema.items() if known or key != "$schema"}
    validator = jsonschema_rs.validator_for(_quoted(declared), mask="the value", offline=True)

    def problems(value: Mapping[str, Any]) -> list[str]:
        found = []
        for error in validator.iter_errors(value):
            path = "".join(
                f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path
            )
            found.append(f"{error.message} - at `${path}`")
            if len(found) == PROBLEMS_MAX:
                break
        return found

    return problems


def _quoted(value: Any) -> Any:
    """A schema whose references are URIs to the letter: people write `#/$defs/Page[int]`."""
    if isinstance(value, list):
        return [_quoted(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: quote(each, safe=_IN_REFERENCES)
        if key == "$ref" and isinstance(each, str)
        else _quoted(each)
        for key, each in value.items()
    }


def _own(schema: dict[str, Any]) -> Problems:
    """The check without a library."""
    document = Document(schema)
    node = document.plain(schema)
    root = document.target(node["$ref"]) if "$ref" in node else node

    def problems(value: Mapping[str, Any]) -> list[str]:
        missing = [name for name in root.get("required", []) if name not in value]
        wrong = {
            name: named_types(document.plain(each))
            for name, each in root.get("properties", {}).items()
            if name in value and not _is_of(value[name], named_types(document.plain(each)) or TYPES)
        }
        found = [f"Object missing required field `{name}`" for name in missing]
        found += [f"Expected {' or '.join(types)} - at `$.{name}`" for name, types in wrong.items()]
        return found[:PROBLEMS_MAX]

    return problems


def _is_of(value: object, types: Any) -> bool:
    kind = type_of(value)
    return kind in types or (kind == "integer" and "number" in types)
