"""What the schemas of these tests are put together from."""

from typing import Any, Final

Schema = dict[str, Any]
DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"


def of(properties: Schema | None = None, *required: str, **others: Any) -> Schema:
    """An object with these properties."""
    schema: Schema = {"type": "object", "properties": properties or {}, **others}
    return {**schema, "required": list(required)} if required else schema


def mcp(properties: Schema | None = None, *required: str) -> Schema:
    """An object as the MCP reference server declares one."""
    return {"$schema": DRAFT_7, **of(properties, *required)}


TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
WHOLE: Final[Schema] = {"type": "integer"}


def nested(levels: int) -> Schema:
    """Objects in each other."""
    schema: Schema = TEXT
    for _ in range(levels):
        schema = of({"inner": schema}, "inner")
    return schema


def deep(levels: int) -> Schema:
    schema: Schema = TEXT
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    return schema
