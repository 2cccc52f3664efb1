"""Values that a schema accepts, made at random: what a model held to it could send."""

from random import Random
from typing import Any, Final

Node = dict[str, Any]

TEXTS: Final = {
    "date-time": "2026-01-02T03:04:05Z",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "^[A-Z]{3}$": "ABC",
    r"f\(?=x": "f=x",
}
LEVELS_MAX: Final = 12


class TooDeep(Exception):  # noqa: N818 (a value was not found; nothing failed)
    """A schema that needs more levels than a sample may have."""


def sample(schema: Node, random: Random) -> Any:
    """Return a value of a schema of the strict kind.

    Raises:
        TooDeep: luck led too deep into a recursive schema. Try again.

    """
    return _value(schema, schema, random, 0)


def _value(node: Node, root: Node, random: Random, level: int) -> Any:
    if level > LEVELS_MAX:
        raise TooDeep
    if "$ref" in node:
        return _value(root["$defs"][node["$ref"][8:]], root, random, level)
    if "anyOf" in node:
        return _value(random.choice(node["anyOf"]), root, random, level)
    if "enum" in node or "const" in node:
        return random.choice(node.get("enum", [node.get("const")]))
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    match random.choice(kinds):
        case "object":
            return {
                name: _value(each, root, random, level + 1)
                for name, each in node["properties"].items()
            }
        case "array":
            most = node.get("maxItems", node.get("minItems", 0) + 2)
            count = random.randint(node.get("minItems", 0), most)
            return [_value(node["items"], root, random, level + 1) for _ in range(count)]
        case "string":
            return TEXTS[node.get("format") or node.get("pattern") or random.choice([*TEXTS])]
        case "integer":
            return _number(node, random)
        case "number":
            return _number(node, random) if random.random() < 0.7 else _number(node, random) + 0.0
        case "boolean":
            return random.random() < 0.5
        case _:
            return None


def _number(node: Node, random: Random) -> int:
    """A whole number within the bounds."""
    low: int = node.get("minimum", node.get("exclusiveMinimum", -20) + 1)
    high = node.get("maximum", node.get("exclusiveMaximum", low + 40) - 1)
    step: int = node.get("multipleOf", 1)
    return random.randint(-(-low // step), max(high // step, -(-low // step))) * step
