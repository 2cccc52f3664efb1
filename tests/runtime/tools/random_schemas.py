"""Schemas at random: what people, and libraries, put together without a thought of a provider."""

from random import Random
from typing import Any, Final

Node = dict[str, Any]

NAMES: Final = ("a", "b", "kind", "größe")
TYPES: Final = ("string", "integer", "number", "boolean", "null", "object", "array")


def random_schema(random: Random) -> Node:
    """Return the schema of a tool."""
    definitions = {f"D{at}": _node(random, 2) for at in range(random.randint(0, 3))}
    root = {**_object(random, 3), **({"$defs": definitions} if definitions else {})}
    if random.random() < 0.1:
        root[random.choice(["anyOf", "oneOf", "allOf"])] = [_object(random, 1) for _ in range(2)]
    return root


def _node(random: Random, levels: int) -> Any:
    kind = random.choice([*TYPES, "union", "reference", "parts", "values", "list", "any"])
    if levels == 0 and kind in {"object", "array", "union", "parts"}:
        kind = "string"
    node = _of_kind(random, kind, levels)
    if isinstance(node, dict) and random.random() < 0.2:
        node["description"] = "What it is"
    if isinstance(node, dict) and random.random() < 0.15:
        node["default"] = random.choice([None, 1, "x"])
    return node


def _of_kind(random: Random, kind: str, levels: int) -> Any:
    match kind:
        case "object":
            return _object(random, levels)
        case "array":
            return _array(random, levels)
        case "union":
            word = random.choice(["anyOf", "oneOf"])
            return {word: [_node(random, levels - 1) for _ in range(random.randint(1, 3))]}
        case "parts":
            return {"allOf": [_node(random, levels - 1) for _ in range(random.randint(1, 2))]}
        case "reference":
            return {"$ref": random.choice(["#", "#/$defs/D0", "#/$defs/D1"])}
        case "values":
            values = ["x", "y", 1, 2.5, True, None, [1]]
            if random.random() < 0.3:
                return {"const": random.choice(values)}
            return {"enum": random.sample(values, random.randint(1, 3))}
        case "list":
            return {"type": random.sample(TYPES[:5], random.randint(1, 3)), "minimum": 1}
        case "any":
            return random.choice([{}, True, {"description": "Whatever"}])
        case "integer" | "number":
            bound = random.choice(["minimum", "exclusiveMinimum", "maximum", "multipleOf"])
            return {"type": kind, **({bound: 2} if random.random() < 0.5 else {})}
        case "string":
            extras: list[Node] = [{}, {"minLength": 1}, {"format": "uuid"}, {"pattern": "(?=x)"}]
            extra = random.choice(extras)
            return {"type": "string", **extra}
        case _:
            return {"type": kind}


def _object(random: Random, levels: int) -> Node:
    names = random.sample(NAMES, random.randint(0, 3))
    node: Node = {
        "type": "object",
        "properties": {name: _node(random, levels - 1) for name in names},
        "required": [name for name in names if random.random() < 0.5],
    }
    others = random.choice([None, None, True, False, {"type": "string"}])
    if others is not None:
        node["additionalProperties"] = others
    return node


def _array(random: Random, levels: int) -> Node:
    node: Node = {"type": "array"}
    match random.randint(0, 3):
        case 0:
            node["items"] = _node(random, levels - 1)
        case 1:
            node["prefixItems"] = [_node(random, levels - 1) for _ in range(2)]
            node["items"] = random.choice([True, False])
        case 2:
            node["items"] = _node(random, levels - 1)
            node["minItems"] = random.randint(0, 2)
        case _:
            pass
    return node
