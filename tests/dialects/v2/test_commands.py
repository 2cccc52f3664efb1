"""What is sent on the `v2` wire: nothing stands in a frame that its request does not say."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.attachments import Attachment
from turnwire.core.requests import DEFAULT_CHANNEL, Channel, PromptRequest
from turnwire.dialects.v2 import commands

PNG = "data:image/png;base64,iVBORw0KGgo="
WHERE = {"channelType": "web", "channelId": "default"}


def request(**fields: Any) -> PromptRequest:
    return PromptRequest(**{"text": "hi", "prompt_id": "p1"} | fields)


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        ({}, {}),
        ({"client_message_id": "m1"}, {"clientMessageId": "m1"}),
        ({"regenerates": True, "replaces": "a1"}, {"regenerate": True}),
        ({"replaces": "m1"}, {"edit": True}),
        (
            {"channel": Channel("thread", "t1")},
            {"channelType": "thread", "channelId": "t1"},
        ),
        (
            {"attachments": (Attachment("image/png", PNG, "a.png"), Attachment("a/b", "data:,x"))},
            {
                "attachments": [
                    {"type": "file", "mime": "image/png", "url": PNG, "filename": "a.png"},
                    {"type": "file", "mime": "a/b", "url": "data:,x"},
                ]
            },
        ),
    ],
)
def test_a_prompt_waits_behind_the_turn_that_runs(
    fields: dict[str, Any], more: dict[str, Any]
) -> None:
    sent = json.loads(commands.prompt(request(**fields)))

    least = {"type": "prompt", "content": "hi", "promptId": "p1", "queueMode": "followup", **WHERE}
    assert sent == least | more


@pytest.mark.parametrize(("turn_id", "named"), [(None, {}), ("t1", {"turnId": "t1"})])
def test_an_abort_names_our_prompt_and_the_turn_as_soon_as_it_is_known(
    turn_id: str | None, named: dict[str, str]
) -> None:
    sent = json.loads(commands.abort(request(), turn_id))

    assert sent == {"type": "abort", "promptId": "p1", **WHERE, **named}


def test_a_stop_is_an_abort_of_another_connections_prompt() -> None:
    named = json.loads(commands.stop(DEFAULT_CHANNEL, "t1", "p9"))
    unnamed = json.loads(commands.stop(DEFAULT_CHANNEL, "t1", None))

    assert named == {"type": "abort", "promptId": "p9", "turnId": "t1", **WHERE}
    assert unnamed == named | {"promptId": ""}


@pytest.mark.parametrize(("turn_id", "named"), [(None, {}), ("t1", {"turnId": "t1"})])
def test_an_answer_is_what_was_given(turn_id: str | None, named: dict[str, str]) -> None:
    sent = commands.answer("q1", Raw(b'{"a": [1.50]}'), turn_id)

    assert b'"answer":{"a": [1.50]}' in sent
    assert json.loads(sent) == {
        "type": "answer",
        "questionId": "q1",
        "answer": {"a": [1.5]},
        **named,
    }
