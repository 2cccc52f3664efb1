"""Reads messages of AG-UI, as its protocol describes them. It shares nothing with the gateway.

`read(messages)` returns what was said, in order: one `Item` for each text, file, call and result.
Whatever the protocol does not know fails.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

MEDIA = {"image", "audio", "video", "document"}


class Item(NamedTuple):
    """`who` says a `what`: a text, a kind of media, a call, a result or an error."""

    who: str
    what: str
    value: Any
    call_id: str = ""


def read(messages: Iterable[bytes]) -> list[Item]:
    said: list[Item] = []
    ids: set[str] = set()
    for raw in messages:
        message = json.loads(raw)
        message_id = message.pop("id")
        assert isinstance(message_id, str)
        assert message_id not in ids, "two messages with one id"
        ids.add(message_id)
        said += _READERS[message.pop("role")](message)
    return said


def calls(said: Sequence[Item]) -> list[str]:
    return [one.call_id for one in said if one.what == "call"]


def _user(message: dict[str, Any]) -> list[Item]:
    content = message.pop("content")
    assert not message
    if isinstance(content, str):
        return [Item("user", "text", content)]
    assert isinstance(content, list)
    return [_part(part) for part in content]


def _part(part: dict[str, Any]) -> Item:
    kind = part.pop("type")
    if kind == "text":
        text = part.pop("text")
        assert not part
        return Item("user", "text", text)
    assert kind in MEDIA
    source = part.pop("source")
    filename = part.pop("metadata", {}).get("filename")
    assert not part
    assert source.keys() == {"type", "value", "mimeType"}
    assert all(isinstance(value, str) for value in source.values())
    assert source["type"] in {"data", "url"}
    assert not source["value"].startswith("data:")
    return Item("user", kind, (source["type"], source["mimeType"], source["value"], filename))


def _system(message: dict[str, Any]) -> list[Item]:
    assert message.keys() == {"content"}
    return [Item("system", "text", message["content"])]


def _assistant(message: dict[str, Any]) -> list[Item]:
    said = []
    if (content := message.pop("content", None)) is not None:
        assert isinstance(content, str)
        assert content
        said.append(Item("assistant", "text", content))
    for call in message.pop("toolCalls", []):
        assert call.keys() == {"id", "type", "function"}
        assert call["type"] == "function"
        assert call["function"].keys() == {"name", "arguments"}
        assert isinstance(call["function"]["arguments"], str)
        value = (call["function"]["name"], call["function"]["arguments"])
        said.append(Item("assistant", "call", value, call["id"]))
    assert said
    assert not message
    return said


def _tool(message: dict[str, Any]) -> list[Item]:
    content, call_id = message.pop("content"), message.pop("toolCallId")
    error = message.pop("error", None)
    assert not message
    assert isinstance(content, str)
    if error is None:
        return [Item("tool", "result", content, call_id)]
    assert error
    assert content == error
    return [Item("tool", "error", error, call_id)]


_READERS = {"user": _user, "system": _system, "assistant": _assistant, "tool": _tool}
