"""The form of a JSON Schema: what is checked of it, without recursion, before anything else.

A schema comes from strangers (an MCP server, an OpenAPI document). `check` refuses one that is
large, deep, malformed, or that refers to what it does not hold. Behind it, all other modules of
this package may recurse.

Never here: a rule of a provider.
"""

import enum
import math
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct

NODES_MAX: Final = 10_000
"""Most JSON values in one schema: objects, arrays and what they hold."""
DEPTH_MAX: Final = 64
"""Most objects and arrays inside each other."""
TEXT_MAX: Final = 1_000_000
"""Most characters of all keys and strings together."""
REFERENCES_MAX: Final = 32
"""Most references that lead to one another before a schema that is none."""

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

ONE: Final = frozenset(
    {
        *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    }
)
"""Keywords that hold a schema. `items` may hold a list of them: that was a tuple until 2019."""
SEVERAL: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords that hold a list of schemas."""
NAMED: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords that hold schemas by name."""


class BadSchemaError(ValueError):
    """A schema that cannot be a tool's. Its text is one line, for whoever registers the tool."""


class _Place(Struct, frozen=True):
    """Where a value stands. It is spelled only if something is wrong there."""

    parent: "_Place | None"
    key: str | int

    def __str__(self) -> str:
        place, keys = self, list[str]()
        while place.parent is not None:
            keys.append(escaped(place.key))
            place = place.parent
        return "/".join(("#", *reversed(keys)))


def escaped(key: str | int) -> str:
    """One step of a JSON pointer, cut to what a reader needs."""
    return str(key)[:60].replace("~", "~0").replace("/", "~1")


def is_number(value: object) -> bool:
    """Whether a JSON value is a number. `true` is none, though Python counts with it."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value >= 0
        and float(value).is_integer()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_types(value: object) -> bool:
    words = value if isinstance(value, list) else [value]
    return words != [] and all(isinstance(word, str) and word in TYPES for word in words)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_bound(value: object) -> bool:
    return is_number(value) or isinstance(value, bool)


def _lists_of_names(value: object) -> bool:
    return isinstance(value, dict) and all(_are_names(each) for each in value.values())


_FORMS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "$ref": (_is_text, "a string"),
    "dependentRequired": (_lists_of_names, "an object of lists of names"),
    "description": (_is_text, "a string"),
    "enum": (lambda value: isinstance(value, list), "a list"),
    "exclusiveMaximum": (_is_bound, "a number"),
    "exclusiveMinimum": (_is_bound, "a number"),
    "format": (_is_text, "a string"),
    "maxItems": (_is_count, "a count"),
    "maxLength": (_is_count, "a count"),
    "maximum": (is_number, "a number"),
    "minItems": (_is_count, "a count"),
    "minLength": (_is_count, "a count"),
    "minimum": (is_number, "a number"),
    "multipleOf": (is_number, "a number"),
    "pattern": (_is_text, "a string"),
    "required": (_are_names, "a list of names"),
    "title": (_is_text, "a string"),
    "type": (_are_types, f"one of {', '.join(TYPES)}, or a list of them"),
}
"""By keyword: what its value must be. Without this, the rules would have to doubt every value."""


class _Kind(enum.Enum):
    """What a value is by its place: a keyword `type` is none where a property has that name."""

    SCHEMA = enum.auto()
    SCHEMAS = enum.auto()
    """A list of schemas, or one."""
    NAMED = enum.auto()
    VALUE = enum.auto()


_OR_BOOLEAN: Final = {_Kind.SCHEMA: " or a boolean, as a schema is", _Kind.NAMED: " of schemas"}


class _Found(Struct):
    """What the walk has met so far."""

    nodes: int = 0
    characters: int = 0
    schemas: set[int] = msgspec.field(default_factory=set)
    """The identities of the objects that stand where a schema does."""
    references: list[tuple[str, _Place]] = msgspec.field(default_factory=list)


def check(schema: object) -> None:
    """Refuse a schema that is too large or deep, is malformed, or refers to what is not in it.

    Raises:
        BadSchemaError: in one line, with the place.

    """
    if not isinstance(schema, dict):
        raise BadSchemaError("a schema of a tool must be an object")
    found = _Found()
    stack: list[tuple[object, _Place, int, _Kind]] = [(schema, _Place(None, "#"), 1, _Kind.SCHEMA)]
    while stack:
        value, place, depth, kind = stack.pop()
        _count(found, value, place, depth)
        if isinstance(value, list) and kind in {_Kind.SCHEMAS, _Kind.VALUE}:
            inner = _Kind.SCHEMA if kind is _Kind.SCHEMAS else kind
            stack += [(each, _Place(place, at), depth + 1, inner) for at, each in enumerate(value)]
        elif isinstance(value, dict):
            if kind is _Kind.SCHEMA:
                _check_keywords(found, value, place)
            stack += [
                (each, _Place(place, key), depth + 1, _kind(kind, key, each))
                for key, each in value.items()
            ]
        elif kind is not _Kind.VALUE and not (isinstance(value, bool) and kind is _Kind.SCHEMA):
            raise BadSchemaError(f"{place} must be an object{_OR_BOOLEAN[kind]}")
    for reference, place in found.references:
        _check_reference(schema, reference, place, found.schemas)


def _count(found: _Found, value: object, place: _Place, depth: int) -> None:
    """Count a value and what it holds. Refuse too many, too deep, or what is no JSON."""
    if isinstance(value, dict | list):
        found.nodes += len(value)
        if found.nodes > NODES_MAX:
            raise BadSchemaError(f"the schema has more than {NODES_MAX} values")
        if depth > DEPTH_MAX:
            raise BadSchemaError(f"the schema has more than {DEPTH_MAX} levels")
    if isinstance(value, dict):
        found.characters += sum(len(key) for key in value if isinstance(key, str))
    elif isinstance(value, str):
        found.characters += len(value)
    if not _is_json(value):
        raise BadSchemaError(f"{place} is no JSON that every reader accepts")
    if found.characters > TEXT_MAX:
        raise BadSchemaError(f"the schema has more than {TEXT_MAX} characters of text")


def _is_json(value: object) -> bool:
    """Whether a value itself, without what is in it, can be sent as JSON."""
    match value:
        case dict():
            return all(isinstance(key, str) and _is_unicode(key) for key in value)
        case str():
            return _is_unicode(value)
        case float():
            return math.isfinite(value)
        case int():
            return -(2**63) <= value < 2**64
        case _:
            return value is None or isinstance(value, list)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _kind(kind: _Kind, key: str, value: object) -> _Kind:
    if kind is _Kind.NAMED:
        return _Kind.SCHEMA
    if kind is _Kind.VALUE:
        return kind
    if key in SEVERAL or (key == "items" and isinstance(value, list)):
        return _Kind.SCHEMAS
    if key in ONE:
        return _Kind.SCHEMA
    return _Kind.NAMED if key in NAMED else _Kind.VALUE


def _check_keywords(found: _Found, schema: dict[str, object], place: _Place) -> None:
    for keyword, value in schema.items():
        if keyword in _FORMS and not _FORMS[keyword][0](value):
            raise BadSchemaError(f"{place}: `{keyword}` must be {_FORMS[keyword][1]}")
        if keyword in SEVERAL and not (isinstance(value, list) and value):
            raise BadSchemaError(f"{place}: `{keyword}` must be a list of schemas")
    found.schemas.add(id(schema))
    if isinstance(reference := schema.get("$ref"), str):
        found.references.append((reference, place))


def _check_reference(root: object, reference: str, place: _Place, schemas: set[int]) -> None:
    """Refuse a reference to another document, to nothing, or in a circle of references alone."""
    first = reference
    for _ in range(REFERENCES_MAX):
        target = resolve(root, reference)
        if not isinstance(target, bool) and id(target) not in schemas:
            break
        if not isinstance(target, dict) or "$ref" not in target:
            return
        reference = target["$ref"]
    raise BadSchemaError(f"{place}: `$ref` leads to no schema of this document: {first[:80]}")


def resolve(root: object, reference: str) -> object:
    """Return what a local reference points at, or None: nothing is ever fetched."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    value = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif (
            isinstance(value, list)
            and key.isascii()
            and key.isdigit()
            and int(key[:9]) < len(value)
        ):
            value = value[int(key[:9])]
        else:
            return None
    return value
