"""The tools of the MCP reference server: what `@modelcontextprotocol/server-everything` lists."""

from typing import Final

from runtime.tools.schema_words import NUMBER, TEXT, Schema, mcp

EVERYTHING: Final[dict[str, Schema]] = {
    "echo": mcp({"message": {"type": "string", "description": "Message to echo"}}, "message"),
    "get-annotated-message": mcp(
        {
            "messageType": {"type": "string", "enum": ["error", "success", "debug"]},
            "includeImage": {"default": False, "type": "boolean"},
        },
        "messageType",
    ),
    "get-env": mcp(),
    "get-resource-links": mcp(
        {"count": {"default": 3, "type": "number", "minimum": 1, "maximum": 10}}
    ),
    "get-resource-reference": mcp(
        {
            "resourceType": {"default": "Text", "type": "string", "enum": ["Text", "Blob"]},
            "resourceId": {"default": 1, "type": "number"},
        }
    ),
    "get-roots-list": mcp(),
    "get-structured-content": mcp(
        {"location": {"type": "string", "enum": ["New York", "Chicago", "Los Angeles"]}},
        "location",
    ),
    "get-sum": mcp({"a": NUMBER, "b": NUMBER}, "a", "b"),
    "get-tiny-image": mcp(),
    "gzip-file-as-resource": mcp(
        {
            "name": {"default": "README.md.gz", "type": "string"},
            "data": {"default": "https://example.com/README.md", "type": "string", "format": "uri"},
            "outputType": {
                "default": "resourceLink",
                "type": "string",
                "enum": ["resourceLink", "resource"],
            },
        }
    ),
    "simulate-research-query": mcp(
        {"topic": TEXT, "ambiguous": {"default": False, "type": "boolean"}}, "topic"
    ),
    "toggle-simulated-logging": mcp(),
    "toggle-subscriber-updates": mcp(),
    "trigger-elicitation-request": mcp(),
    "trigger-long-running-operation": mcp(
        {"duration": {"default": 10, "type": "number"}, "steps": {"default": 5, "type": "number"}}
    ),
    "trigger-sampling-request": mcp(
        {"prompt": TEXT, "maxTokens": {"default": 100, "type": "number"}}, "prompt"
    ),
}
"""Every tool of the MCP reference server, for a client with roots, sampling and elicitation."""
