"""One schema for one request shape: without loss, or not strict.

A strict schema is one that the provider holds the model to. A schema is sent as strict only if the
provider's words express all of it. Any other is made acceptable: what was dropped stands in its
descriptions, and `losses` lists it. The registered schema validates the arguments in every case.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from turnwire_agent.tools.schema.document import Node
from turnwire_agent.tools.schema.form import check
from turnwire_agent.tools.schema.rules import RULES, STRICT_TOGETHER, Limits, Shape
from turnwire_agent.tools.schema.walk import Loss, Walk


class Normalised(Struct, frozen=True):
    """A schema as one shape takes it."""

    schema: dict[str, Any]
    """To send. Its root is an object."""
    strict: bool
    """Whether the provider may be asked to hold the model to it."""
    losses: tuple[Loss, ...] = ()
    """What `schema` does not say as a rule. Empty if it is strict."""
    obstacles: tuple[Loss, ...] = ()
    """Why it is not strict, though that was wanted."""


def normalise(schema: dict[str, Any], shape: Shape, *, strict: bool | None = None) -> Normalised:
    """Write a tool's schema in the words that a request shape takes.

    `strict`: True asks for a strict schema, False for none. None leaves it to the shape: OpenAI's
    are strict where nothing is lost, Anthropic's is not, and Google's has no such thing.

    An optional property is required in OpenAI's strict mode, as a union with null: null stands
    for an absent one, and `restore` removes it again. If null already has a meaning there, the
    schema is not strict.

    Raises:
        BadSchemaError: the schema is malformed, too large, or its values are no objects.

    """
    check(schema)
    rules = RULES[shape]
    obstacles: list[Loss] = []
    wanted = rules.strict_unasked if strict is None else strict
    if wanted and rules.strict is not None:
        walk = Walk(schema, rules.strict)
        sent = walk.root()
        obstacles = walk.losses or _above(sent, rules.strict.limits)
        if not obstacles:
            return Normalised(sent, strict=True)
    walk = Walk(schema, rules.plain)
    return Normalised(walk.root(), False, tuple(walk.losses), tuple(obstacles))  # noqa: FBT003


class Size(Struct):
    """What providers count in a schema."""

    properties: int = 0
    depth: int = 0
    enum_values: int = 0
    characters: int = 0
    optional: int = 0
    unions: int = 0


def size(sent: Node) -> Size:
    """Count what providers limit, in a schema that `normalise` made."""
    total = Size()
    stack: list[tuple[Any, int]] = [(sent, 0)]
    while stack:
        node, depth = stack.pop()
        properties = node.get("properties", {})
        values = [*node.get("enum", []), *([node["const"]] if "const" in node else [])]
        depth += 1 if node.keys() & {"items", "properties"} else 0
        total.depth = max(total.depth, depth)
        total.properties += len(properties)
        total.optional += len(properties.keys() - set(node.get("required", [])))
        total.unions += sum(
            "anyOf" in each or isinstance(each.get("type"), list) for each in properties.values()
        )
        total.enum_values += len(node.get("enum", []))
        names = [*properties, *node.get("$defs", {})]
        total.characters += sum(map(len, names)) + sum(
            len(value) if isinstance(value, str) else len(msgspec.json.encode(value))
            for value in values
        )
        stack += [(each, depth) for each in properties.values()]
        stack += [(each, depth) for each in node.get("anyOf", [])]
        stack += [(each, 0) for each in node.get("$defs", {}).values()]
        if "items" in node:
            stack.append((node["items"], depth))
    return total


def _above(sent: Node, limits: Limits | None) -> list[Loss]:
    if limits is None:
        return []
    counted = size(sent)
    return [
        Loss("#", name, f"{getattr(counted, name)} are more than {getattr(limits, name)}")
        for name in limits.__struct_fields__
        if getattr(counted, name) > getattr(limits, name)
    ]


def too_strict(tools: Sequence[Normalised], shape: Shape) -> str | None:
    """Say why these tools cannot all be strict in one request. None: they can."""
    most = STRICT_TOGETHER.get(shape)
    if most is None:
        return None
    strict = [size(tool.schema) for tool in tools if tool.strict]
    counts = {
        "strict tools": (len(strict), most.tools),
        "optional properties": (sum(each.optional for each in strict), most.optional),
        "unions": (sum(each.unions for each in strict), most.unions),
    }
    above = [
        f"{count} {what}, most are {limit}"
        for what, (count, limit) in counts.items()
        if count > limit
    ]
    return "; ".join(above) or None
