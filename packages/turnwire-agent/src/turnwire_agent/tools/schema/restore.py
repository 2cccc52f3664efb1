"""A model's arguments, back in the form that the registered schema knows.

OpenAI's strict mode requires every property, so that an optional one is sent as a union with null
(`schema.normalise`). Null then means that the model says nothing of it. Models say so unasked,
too.
"""

from typing import Any

from turnwire_agent.tools.schema.document import Document, Node, named_types, type_of
from turnwire_agent.tools.schema.unions import accepts_null, leaves


def restore(arguments: Any, schema: dict[str, Any]) -> Any:
    """Return the arguments without the nulls that stand for an absent property.

    Such a null is the value of a property that is declared, not required, and may not be null. No
    other value is changed: a null that the schema allows stays, and one that it refuses elsewhere
    too. In a union, the branch must be certain: the only one of its type, or that whose properties
    are exactly those of the object.

    `schema` is the registered one, which `check` has accepted. The arguments may be any JSON.
    """
    document = Document(schema)
    whole: dict[str, Any] = {"": arguments}
    stack: list[tuple[Any, Any, object]] = [(whole, "", schema)]
    while stack:
        holder, key, node = stack.pop()
        value = holder[key]
        branch = _branch(document, node, value)
        if branch is None:
            continue
        if isinstance(value, dict):
            holder[key] = kept = {
                name: each
                for name, each in value.items()
                if each is not None or not _stands_for_nothing(document, branch, name)
            }
            stack += [(kept, name, _property(branch, name)) for name in kept]
        else:
            holder[key] = items = list(value)
            stack += [(items, at, _item(branch, at)) for at in range(len(items))]
    return whole[""]


def _branch(document: Document, node: object, value: Any) -> Node | None:
    """Return the schema of an object or an array, if it is certain which one it is."""
    branches = leaves(document, node) if isinstance(value, dict | list) else None
    if branches is None or any("type" not in branch for branch in branches):
        return None
    fitting = [branch for branch in branches if type_of(value) in named_types(branch)]
    if len(fitting) > 1 and isinstance(value, dict):
        fitting = [branch for branch in fitting if _has_exactly(branch, value)]
    return fitting[0] if len(fitting) == 1 else None


def _has_exactly(branch: Node, value: dict[str, Any]) -> bool:
    """Whether an object has the properties of a branch, and the values of those that are fixed."""
    properties = branch.get("properties", {})
    return properties.keys() == value.keys() and all(
        value[name] in (schema["enum"] if "enum" in schema else [schema["const"]])
        for name, schema in properties.items()
        if isinstance(schema, dict) and schema.keys() & {"const", "enum"}
    )


def _stands_for_nothing(document: Document, branch: Node, name: str) -> bool:
    properties = branch.get("properties", {})
    return (
        name in properties
        and name not in branch.get("required", [])
        and not accepts_null(document, properties[name])
    )


def _property(branch: Node, name: str) -> object:
    return branch.get("properties", {}).get(name, branch.get("additionalProperties", True))


def _item(branch: Node, at: int) -> object:
    first = branch.get("prefixItems", [])
    return first[at] if at < len(first) else branch.get("items", True)
