"""The key that a tool makes of the arguments of a call."""

from typing import Any, Final

from turnwire_agent.tools.contract import Tool, ToolFailed

KEY_MAX: Final = 200
"""Most characters of such a key."""
NO_KEY: Final = "Not run: the tool makes no valid key of these arguments."


def own_key(tool: Tool, value: Any) -> str | None:
    """Return the tool's own key for validated arguments; None: it makes none.

    Raises:
        ToolFailed: its function raised, or gave no printable text of 1 to `KEY_MAX` characters.

    """
    if tool.key is None:
        return None
    try:
        key: object = tool.key(value)
    except Exception:  # noqa: BLE001 - a function of the app, and its text may hold a value
        key = ""
    if not (isinstance(key, str) and 0 < len(key) <= KEY_MAX and key.isprintable()):
        raise ToolFailed(NO_KEY)
    return key
