"""What each provider takes of a schema, checked again, without a line of what makes it so.

Written from the table of facts, not from the rules of the package: one list of keywords for each
mode, and the few sentences that a list cannot say.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

Node = dict[str, Any]

CORE: Final = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
ALLOWED: Final[dict[str, set[str]]] = {
    "openai strict": CORE
    | {"const", "$ref", "$defs", "description", "pattern", "format", "multipleOf", "minimum"}
    | {"maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"},
    "anthropic strict": CORE | {"const", "$ref", "$defs", "description", "format", "minItems"},
    "google": CORE
    | {"$ref", "$defs", "description", "minimum", "maximum", "minItems", "maxItems", "prefixItems"},
}
NINE_FORMATS: Final = {
    *("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
}
TYPED: Final = {"type", "enum", "const", "anyOf", "$ref"}
AT_NO_ROOT: Final = {"anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "$ref"}


def broken(schema: Node, shape: str, *, strict: bool) -> list[str]:
    """Name what a provider would refuse."""
    mode = _mode(shape, strict=strict)
    found = [*_root(schema)]
    nodes = list(_nodes(schema))
    for where, node in nodes:
        found += [f"{where}: {what}" for what in _any(node, schema)]
        if mode in ALLOWED:
            found += [f"{where}: {key}" for key in node.keys() - ALLOWED[mode]]
        found += [f"{where}: {what}" for what in _CHECKS[mode](node, where)]
    if mode == "openai strict":
        found += _limits(schema)
    if mode == "anthropic strict" and _recursive(schema):
        found.append("it is recursive")
    return found


def _mode(shape: str, *, strict: bool) -> str:
    if shape == "google":
        return "google"
    name = "anthropic" if shape == "messages" else "openai"
    return f"{name} {'strict' if strict else 'plain'}"


def _root(schema: Node) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "the root is no object"
    if "properties" not in schema:
        yield "the root has no properties"
    for key in AT_NO_ROOT & schema.keys():
        yield f"{key} at the root"


def _nodes(schema: Node) -> Iterator[tuple[str, Node]]:
    """Every schema in a schema, whatever keyword holds it."""
    stack: list[tuple[str, Any]] = [("#", schema)]
    while stack:
        where, node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield where, node
        for key in ("properties", "$defs", "patternProperties", "dependentSchemas"):
            stack += [(f"{where}/{key}/{name}", each) for name, each in node.get(key, {}).items()]
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            stack += [(f"{where}/{key}", each) for each in node.get(key, [])]
        for key in ("items", "additionalProperties", "not", "if", "then", "else", "contains"):
            stack.append((f"{where}/{key}", node.get(key)))


def _any(node: Node, root: Node) -> Iterator[str]:
    """What no provider takes."""
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        if node.keys() != {"$ref"}:
            yield "a reference with siblings"
        if name not in root.get("$defs", {}) or not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
            yield "a reference to nothing"
    for key in ("$schema", "$id", "$comment", "title", "examples", "definitions", "nullable"):
        if key in node:
            yield key
    if isinstance(node.get("items"), list):
        yield "items in a list"
    if isinstance(node.get("exclusiveMinimum"), bool):
        yield "a bound that is a boolean"
    if "enum" in node and len({json.dumps(each) for each in node["enum"]}) != len(node["enum"]):
        yield "a value twice"
    if node.get("enum") == []:
        yield "an enum of nothing"


def _openai_strict(node: Node, where: str) -> Iterator[str]:
    if "object" in _types(node):
        properties = node.get("properties")
        if properties is None or set(node.get("required", [])) != set(properties):
            yield "a property is not required"
    yield from _strict(node)
    if node.get("format", "uuid") not in NINE_FORMATS:
        yield f"format {node['format']}"
    if "pattern" in node and any(each in node["pattern"] for each in ("(?=", "(?!", "(?<")):
        yield from () if "\\(?=" in node["pattern"] else (f"look-around at {where}",)


def _anthropic_strict(node: Node, where: str) -> Iterator[str]:
    yield from _strict(node)
    yield from _anthropic_plain(node, where)
    if node.get("format", "uri") not in NINE_FORMATS | {"uri"}:
        yield f"format {node['format']}"
    if node.get("minItems", 0) > 1:
        yield "minItems above 1"
    for value in [*node.get("enum", []), node.get("const")]:
        if isinstance(value, dict | list):
            yield "a value that is no primitive"


def _strict(node: Node) -> Iterator[str]:
    if "object" in _types(node) and node.get("additionalProperties") is not False:
        yield "an object is open"
    if "array" in _types(node) and not (
        isinstance(node.get("items"), dict) and node["items"].keys() & TYPED
    ):
        yield "an array without typed items"
    if not node.keys() & TYPED:
        yield "no type"


def _openai_plain(node: Node, where: str) -> Iterator[str]:
    if "array" in _types(node) and not isinstance(node.get("items"), dict):
        yield "an array without items"
    if "pattern" in node and re.search(r"\(\?<?[=!]", node["pattern"].replace("\\(", "")):
        yield f"look-around at {where}"


def _anthropic_plain(node: Node, where: str) -> Iterator[str]:
    for name in node.get("properties", {}):
        if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
            yield f"the name {name!r} at {where}"


def _google(node: Node, where: str) -> Iterator[str]:
    if "anyOf" in node and node.keys() - {"anyOf", "description"}:
        yield f"a union beside others at {where}"
    for value in node.get("enum", []):
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            yield "a value that is neither text nor number"
    if set(node.get("required", [])) - node.get("properties", {}).keys():
        yield "a required property that is not declared"


_CHECKS: Final[dict[str, Callable[[Node, str], Iterator[str]]]] = {
    "openai strict": _openai_strict,
    "openai plain": _openai_plain,
    "anthropic strict": _anthropic_strict,
    "anthropic plain": _anthropic_plain,
    "google": _google,
}


def _types(node: Node) -> list[str]:
    kind = node.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _limits(schema: Node) -> Iterator[str]:
    nodes = [node for _, node in _nodes(schema)]
    if sum(len(node.get("properties", {})) for node in nodes) > 5_000:
        yield "more than 5,000 properties"
    if sum(len(node.get("enum", [])) for node in nodes) > 1_000:
        yield "more than 1,000 values of enums"
    texts = [
        name for node in nodes for key in ("properties", "$defs") for name in node.get(key, {})
    ]
    texts += [str(value) for node in nodes for value in node.get("enum", [])]
    if sum(map(len, texts)) > 120_000:
        yield "more than 120,000 characters"
    if _depth(schema) > 10:
        yield "more than 10 levels"


def _depth(node: Any) -> int:
    """How many objects and arrays are in each other."""
    if not isinstance(node, dict):
        return 0
    inner = [*node.get("properties", {}).values(), node.get("items")]
    below = max(map(_depth, inner), default=0)
    beside = max(map(_depth, node.get("anyOf", [])), default=0)
    return max(below + ("properties" in node or "items" in node), beside)


def _recursive(schema: Node) -> bool:
    """Whether a definition leads back to itself."""
    leads = {
        name: {node["$ref"][8:] for _, node in _nodes(each) if "$ref" in node}
        for name, each in schema.get("$defs", {}).items()
    }
    for name in leads:
        reached, stack = set[str](), [name]
        while stack:
            new = leads[stack.pop()] - reached
            reached |= new
            stack += new
        if name in reached:
            return True
    return False
