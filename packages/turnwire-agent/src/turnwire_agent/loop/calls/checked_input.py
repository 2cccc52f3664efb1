"""What a tool makes of the arguments that a model wrote. It raises nothing: models are answered."""

import hashlib
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire_agent.tools.arguments import Invalid, decoded
from turnwire_agent.tools.contract import Tool, ToolFailed
from turnwire_agent.tools.keys import own_key

_UNREADABLE: Final = "The arguments are not valid: they cannot be read."


class CheckedInput(Struct, frozen=True, kw_only=True):
    """The arguments of one call, checked. They may be secret, and are not shown."""

    problem: str | None = None
    """For the model: why the call is not run."""
    value: Any = None
    """What the tool is called with."""
    input: Raw | UnsetType = UNSET
    """The JSON of the arguments, each key once; unset if they are no JSON object."""
    asks: bool = False
    """Whether a person must allow the call."""
    key: str | None = None
    """What the tool's own function makes of the arguments, if it has one."""

    def __repr__(self) -> str:
        return "CheckedInput(…)"


def checked(tool: Tool, arguments: str) -> CheckedInput:
    """Check the arguments of a call that nobody has allowed yet.

    Whoever is asked for approval sees the JSON that is run, so it is written anew: of a key that is
    there twice readers may take either.
    """
    read = decoded(arguments)
    if isinstance(read, Invalid):
        return CheckedInput(problem=read.sentence)
    return of_json(tool, Raw(msgspec.json.encode(read.value)), ask=True)


def of_json(tool: Tool, json: Raw, *, ask: bool = False, has_key: bool = False) -> CheckedInput:
    """Check an input that is JSON already.

    Args:
        tool: Which validates it.
        json: An object.
        ask: Whether the tool's rule of approval is asked, too. One that fails asks a person.
        has_key: Whether the call has its key: no other is made, whatever the tool would make now.
    """
    try:
        valid = tool.validate(bytes(json).decode())
    except Exception:  # noqa: BLE001 - a function of the app, and its text may hold a value
        return CheckedInput(problem=_UNREADABLE, input=json)
    if isinstance(valid, Invalid):
        return CheckedInput(problem=valid.sentence, input=json)
    try:
        key = None if has_key else own_key(tool, valid.value)
    except ToolFailed as failed:
        return CheckedInput(problem=str(failed), input=json)
    asks = ask and _asks(tool, valid.value)
    return CheckedInput(value=valid.value, input=json, asks=asks, key=key)


def input_hash(json: Raw) -> str:
    """Name the content of an input."""
    return hashlib.sha256(json).hexdigest()


def _asks(tool: Tool, value: Any) -> bool:
    try:
        return bool(tool.needs_approval(value))
    except Exception:  # noqa: BLE001 - a function of the app: what it cannot decide, a person does
        return True
