"""Prints the version and the events of the installed protocol package, as JSON.

It runs in the environment of an agent, and imports nothing of this project.
"""

import importlib
import inspect
import json
from importlib.metadata import version
from typing import Any


def fields_by_type() -> dict[str, list[str]]:
    """The fields of each type of event, but for the type."""
    events: Any = importlib.import_module("ag_ui.core.events")
    found: dict[str, list[str]] = {}
    for kind in vars(events).values():
        if not inspect.isclass(kind) or not issubclass(kind, events.BaseEvent):
            continue
        fields: dict[str, Any] = vars(kind)["__pydantic_fields__"]
        tag = getattr(fields["type"].default, "value", None)
        if tag is not None:
            names = (field.alias or name for name, field in fields.items() if name != "type")
            found[tag] = sorted(names)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    print(json.dumps({version("ag-ui-protocol"): fields_by_type()}))  # noqa: T201 (its purpose)
