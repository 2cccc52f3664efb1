"""What is wrong with what a client showed, given what it had to show.

`faults` returns sentences; an empty list is a pass. The differences between releases that are
no fault of the gateway stand in one table, so that nothing is forgiven in passing.
"""

from typing import Any, Final, NamedTuple

from conformance.clients import FRAMEWORKS, Message, Played, version
from turnwire.testing.client_model import Client, Part

OPEN_STATES: Final = {"streaming", "input-streaming", "input-available"}


class Difference(NamedTuple):
    clients: frozenset[str]
    part: str
    field: str
    why: str


DIFFERENCES: Final = (
    Difference(
        frozenset({"v5.0.277", "v6.0.326", "v7.0.173", *FRAMEWORKS}),
        "reasoning",
        "id",
        "the newest releases keep the block's id on a reasoning part, older ones drop it",
    ),
)
# Before this release the helper asked only for a last step whose static tools all have their
# output, whoever ran them, and asked even after an error. A server cannot help that.
KNOWS_PROVIDER_TOOLS: Final = (5, 0, 86)


def loops_even_so(client: str, answer: Client) -> bool:
    """Tell whether this client posts again by itself, on a turn that ends with a tool's output."""
    if version(client) >= KNOWS_PROVIDER_TOOLS:
        return False
    last_step: list[Part] = []
    for part in answer.parts:
        last_step = [] if part["type"] == "step-start" else [*last_step, part]
    states = [part["state"] for part in last_step if part["type"].startswith("tool-")]
    return bool(states) and set(states) == {"output-available"}


def shown(client: str, message: Message) -> list[Part]:
    """Give the parts as every release would show them."""
    parts = [dict(part) for part in message.parts]
    # A message's first version is kept by reference: a step that stays empty is seen or not seen
    # depending on whether anything was written after it.
    while parts and parts[-1]["type"] == "step-start":
        parts.pop()
    for part in parts:
        for difference in DIFFERENCES:
            if client in difference.clients and part["type"] == difference.part:
                part.pop(difference.field, None)
    return parts


def faults(client: str, answer: Client, played: Played) -> list[str]:
    found: list[str] = []

    def same(what: str, has: Any, needs: Any) -> None:
        if has != needs:
            found.append(f"{what} is {has!r}, must be {needs!r}")

    if played.timed_out:
        found.append("timed out")
    same("status", played.status, "ready" if answer.error is None else "error")
    same("error", played.error, answer.error)
    same("errors told", played.errors, [] if answer.error is None else [answer.error])
    same("onData", played.data, answer.data)
    same("posts", played.posts, 1)
    for flags in played.finishes:  # 5.0.0 tells none, and nothing at all of an error
        same("isError", flags.get("isError", answer.error is not None), answer.error is not None)
        same("isDisconnect", flags.get("isDisconnect", False), False)  # noqa: FBT003
    same("assistant messages", len(played.answers), int(answer.shown))
    for message in played.answers:
        if answer.message_id is not None:
            same("message id", message.id, answer.message_id)
        same("metadata", message.metadata, answer.metadata)
        left = [part for part in message.parts if part.get("state") in OPEN_STATES]
        same("parts left open", left, [])
        same("parts", shown(client, message), answer.parts)
    return found
