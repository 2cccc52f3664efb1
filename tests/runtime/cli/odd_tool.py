"""A tool whose schema no provider takes whole."""

from typing import Any

from turnwire_agent.tools.functions import tool

SCHEMA = {"type": "object", "properties": {"word": {"type": "string", "pattern": "(?=a)a"}}}


@tool(schema=SCHEMA)
def odd(arguments: dict[str, Any]) -> str:
    """Do something odd."""
    return str(arguments)
