"""Messages of JSON-RPC, as the Agent Client Protocol has them, in the form of other frames."""

from collections.abc import Mapping
from typing import Final

UPDATE: Final = "session/update"


def typed(message: Mapping[str, object]) -> dict[str, object]:
    """What a message is about, with a `type`: its kind of update, its method, `result`, `error`."""
    if "method" not in message:
        return {**message, "type": "error" if message.get("error") else "result"}
    kind, fields = message["method"], _object(message.get("params"))
    if kind == UPDATE:
        fields = _object(fields.get("update"))
        kind = fields.get("sessionUpdate", UPDATE)
    return {**fields, "jsonrpc": message.get("jsonrpc"), "type": str(kind)}


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
