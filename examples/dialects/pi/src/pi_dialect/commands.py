"""The lines that pi reads.

A response repeats the id of its command: ours all have that of our prompt. No two that are of one
kind are under way at once.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

import turnwire.dialect as td

_IMAGE: Final = re.compile(r"data:image/[^,;]*(?:;[^,;]*)*;base64,", re.ASCII)


def images_of(request: td.PromptRequest) -> list[dict[str, str]] | None:
    """Return the files of a prompt as pi takes them; None if one of them is no image."""
    images = []
    for attachment in request.attachments:
        found = _IMAGE.match(attachment.url)
        if found is None:
            return None
        data = attachment.url[found.end() :]
        images.append({"type": "image", "data": data, "mimeType": attachment.mime})
    return images


def prompt(request: td.PromptRequest, images: Sequence[dict[str, str]]) -> bytes:
    """Return the command that begins our turn, behind the one that runs."""
    given = {"images": images} if images else {}
    return _command(
        "prompt", request.prompt_id, message=request.text, streamingBehavior="followUp", **given
    )


def get_state(command_id: str) -> bytes:
    """Return the command that asks what the process does."""
    return _command("get_state", command_id)


def switch_session(command_id: str, path: str) -> bytes:
    """Return the command that opens a session file, or makes it if there is none."""
    return _command("switch_session", command_id, sessionPath=path)


def clear_queue(command_id: str) -> bytes:
    """Return the command that drops the prompts that wait: an abort does not run or drop them."""
    return _command("clear_queue", command_id)


def abort(command_id: str) -> bytes:
    """Return the command that stops the agent."""
    return _command("abort", command_id)


def answer(request_id: str, **fields: object) -> bytes:
    """Return the answer to an extension."""
    return _encode({"type": "extension_ui_response", "id": request_id, **fields})


def session_path(request: td.PromptRequest, beside: str) -> str | None:
    """Return the session file of a chat, in the folder of the one that the process began with.

    The name is made from the session and the channel, so each process finds the same. None: the
    path of the other one has no folder.
    """
    found = re.match(r"(.*[/\\])[^/\\]+\Z", beside, re.DOTALL)
    if found is None:
        return None
    chat = td.thread_id(request.session_id, request.channel.type, request.channel.id)
    return f"{found[1]}turnwire-{chat}.jsonl"


def _command(kind: str, command_id: str, **fields: object) -> bytes:
    return _encode({"id": command_id, "type": kind, **fields})


def _encode(fields: dict[str, object]) -> bytes:
    return msgspec.json.encode(fields)
