"""The agent's side of turnwire: an agent whose turns survive the process that runs them.

The names below are for programs, and come from their modules when they are asked for. The import of
the package alone loads none of them.
"""

from importlib import import_module
from typing import Any

# `__init__.pyi` has the same for type checkers.
_NAMES = {
    "cli.serve": "serve",
    "cli.serving": "served",
    "host.driver": "Driver Ended Parked Turn",
    "host.settings": "HostSettings",
    "journal.memory": "MemoryJournal",
    "journal.open": "open_journal",
    "journal.port": "Journal",
    "journal.sqlite.journal": "SqliteJournal",
    "llm.call.http": "http_client",
    "llm.call.stream": "CallSettings stream",
    "llm.credentials.api_key": "ApiKey",
    "llm.credentials.port": "Credential",
    "llm.credentials.refreshing": "Refreshing",
    "llm.events": "Finish Usage",
    "llm.faults": "Fault",
    "llm.losses": "Loss",
    "llm.model": "Model Quirks",
    "llm.request": "Request",
    "llm.transcript": "Assistant Call File Image Reasoning Result Results Text Transcript User",
    "loop.limits": "Limits",
    "mcp.servers": "McpServers",
    "openapi.api": "OpenApi",
    "settings": "Agent Api McpServer SettingsError",
    "tools.contract": "BadToolError Context Effect Media NoAnswer Output Tool ToolFailed Tools",
    "tools.functions": "tool",
    "tools.openapi.policy": "Policy",
    "tools.operations": "Operation operation_tools",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES)  # noqa: PLE0605 (a list of texts)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # To ask for it takes longer than all else that is imported here.
        found: Any = import_module("importlib.metadata").version("turnwire-agent")
    elif name in _MODULES:
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "__version__"})
