"""Which branches of a union can be told apart, and which values they share.

The answers are careful: where it is not certain, a type is possible, and two branches overlap.
"""

from itertools import combinations
from typing import Final

from turnwire_agent.tools.schema.document import Document, Node, json_key
from turnwire_agent.tools.schema.form import TYPES

BRANCHES_MAX: Final = 32
"""Most branches of a union that are compared with each other: the pairs grow with the square."""
_ANY: Final = frozenset(TYPES)


def leaves(document: Document, node: object) -> list[Node] | None:
    """Return the branches of a schema, and of unions inside of it, that are no unions themselves.

    None: there are too many. A schema that is no union is its only branch.
    """
    found: list[Node] = []
    seen: set[int] = set()
    stack = [node]
    while stack:
        plain = document.plain(stack.pop())
        if "$ref" in plain:
            plain = document.target(plain["$ref"])
        if id(plain) in seen:
            continue
        seen.add(id(plain))
        union = plain.get("anyOf") or plain.get("oneOf")
        if union is None or "type" in plain:
            found.append(plain)
        else:
            stack += reversed(union)
        if len(seen) + len(stack) > 2 * BRANCHES_MAX or len(found) > BRANCHES_MAX:
            return None
    return found


def types_of(document: Document, node: object) -> frozenset[str]:
    """The types that a value of this schema may have. Rather one too many."""
    branches = leaves(document, node)
    if branches is None:
        return _ANY
    return frozenset().union(*(_types(branch) for branch in branches))


def accepts_null(document: Document, node: object) -> bool:
    """Whether null may be a value of this schema."""
    return "null" in types_of(document, node)


def overlap(document: Document, branches: list[object]) -> bool:
    """Whether a value may satisfy two of these schemas, so that `oneOf` is not `anyOf`."""
    if len(branches) > BRANCHES_MAX:
        return True
    read = [leaves(document, branch) for branch in branches]
    return any(
        one is None or other is None or any(_share(a, b) for a in one for b in other)
        for one, other in combinations(read, 2)
    )


def look_alike(document: Document, node: object) -> bool:
    """Whether an object or array, with all its properties, may be of two branches of this schema.

    What stands for an absent property can then not be removed again: see `restore`.
    """
    branches = leaves(document, node)
    if branches is None:
        return True
    if len([each for each in branches if "array" in _types(each)]) > 1:
        return True
    objects = [each for each in branches if "object" in _types(each)]
    return any(
        one.get("properties", {}).keys() == other.get("properties", {}).keys()
        and not _tagged(one, other)
        for one, other in combinations(objects, 2)
    )


def _types(node: Node) -> frozenset[str]:
    """The types of one branch. A number may be an integer."""
    named = node.get("type", TYPES)
    types = frozenset([named] if isinstance(named, str) else named)
    return types | {"integer"} if "number" in types else types


def _share(one: Node, other: Node) -> bool:
    """Whether two branches may share a value."""
    common = _types(one) & _types(other)
    if not common or _disjoint(one, other):
        return False
    return common != {"object"} or not (
        _tagged(one, other) or _refuses(one, other) or _refuses(other, one)
    )


def _disjoint(one: Node, other: Node) -> bool:
    """Whether both list their values, and have none in common."""
    mine, yours = _values(one), _values(other)
    return mine is not None and yours is not None and not mine & yours


def _values(node: object) -> frozenset[bytes] | None:
    if isinstance(node, dict) and "const" in node:
        return frozenset([json_key(node["const"])])
    if isinstance(node, dict) and "enum" in node:
        return frozenset(json_key(value) for value in node["enum"])
    return None


def _tagged(one: Node, other: Node) -> bool:
    """Whether a property that both require has values that differ."""
    required = set(one.get("required", [])) & set(other.get("required", []))
    mine, yours = one.get("properties", {}), other.get("properties", {})
    return any(
        _disjoint(mine[name], yours[name])
        for name in required & mine.keys() & yours.keys()
        if isinstance(mine[name], dict) and isinstance(yours[name], dict)
    )


def _refuses(one: Node, other: Node) -> bool:
    """Whether one allows no properties but its own, and the other requires a different one."""
    closed = one.get("additionalProperties", True) is False and "patternProperties" not in one
    return closed and not set(other.get("required", [])) <= one.get("properties", {}).keys()
