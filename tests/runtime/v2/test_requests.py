import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.attachments import Attachment as ClientFile
from turnwire.core.requests import Channel as ClientChannel
from turnwire.core.requests import PromptRequest
from turnwire.dialects.v2 import commands
from turnwire_agent.session.events import Attachment, Channel
from turnwire_agent.tools.nesting import LEVELS_MAX
from turnwire_agent.v2 import requests
from turnwire_agent.v2.requests import Abort, Answer, Ping, Prompt, Unreadable, parse


def frame(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields})


def test_a_prompt_of_the_gateway_is_read() -> None:
    request = PromptRequest(
        text="What is in it?",
        prompt_id="p1",
        user_id="ann",
        channel=ClientChannel("slack", "c1"),
        client_message_id="m1",
        attachments=(ClientFile(mime="text/plain", url="data:,hi", filename="hi.txt"),),
        regenerates=True,
    )

    assert parse(commands.prompt(request)) == Prompt(
        content="What is in it?",
        prompt_id="p1",
        client_message_id="m1",
        channel_type="slack",
        channel_id="c1",
        attachments=(Attachment("text/plain", "data:,hi", "hi.txt"),),
        regenerate=True,
    )


def test_an_abort_and_an_answer_of_the_gateway_are_read() -> None:
    stop = commands.stop(ClientChannel("web", "default"), "t1", None)
    answer = commands.answer("q1", Raw(b'{"approved":true}'), "t1")

    assert parse(stop) == Abort(turn_id="t1", prompt_id="")
    assert parse(answer) == Answer(question_id="q1", answer=Raw(b'{"approved":true}'), turn_id="t1")
    assert parse(b'{"type":"ping"}') == Ping()


def test_null_is_an_answer() -> None:
    assert parse(frame("answer", questionId="q1", answer=None)) == Answer(
        question_id="q1", answer=Raw(b"null")
    )


@pytest.mark.parametrize(
    ("fields", "channel"),
    [
        ({}, Channel()),
        ({"channelType": "", "channelId": ""}, Channel()),
        ({"channelType": "slack"}, Channel("slack", "default")),
        ({"channelId": "c1"}, Channel("web", "c1")),
    ],
)
def test_a_channel_that_is_not_named_is_the_usual_one(
    fields: dict[str, str], channel: Channel
) -> None:
    prompt = parse(frame("prompt", **fields))

    assert isinstance(prompt, Prompt)
    assert prompt.channel == channel


@pytest.mark.parametrize(
    "data",
    [
        *("", b"", "nonsense", b"\xff", "[1]", "{}", '{"type":7}', "[" * 5_000),
        frame("unknown"),
        frame("abort", turnId="t" * 513),
        frame("answer", questionId="q1"),
        frame("answer", questionId="", answer=1),
        frame("answer", questionId="q" * 513, answer=1),
        frame("answer", questionId="q1", answer="x" * requests.ANSWER_BYTES),
        '{"type":"answer","questionId":"q1","answer":' + "[" * 5_000 + "]" * 5_000 + "}",
    ],
    ids=range(15),
)
def test_what_makes_no_sense_is_nothing(data: str | bytes) -> None:
    assert parse(data) is None


@pytest.mark.parametrize(
    ("data", "prompt_id"),
    [
        (frame("prompt", promptId="p1", content=7), "p1"),
        (frame("prompt", content=7), None),
        (frame("prompt", promptId=7), None),
        (frame("prompt", promptId="p" * 513), None),
        (frame("prompt", promptId="p1", clientMessageId="m" * 513), "p1"),
        (frame("prompt", promptId="p" * 512, channelType="c" * 257), "p" * 512),
        (frame("prompt", promptId="p1", channelId="c" * 257), "p1"),
        (frame("prompt", promptId="p1", attachments=[{"mime": "a/b"}]), "p1"),
        (frame("prompt", promptId="p1", attachments=[{"mime": "a/b", "url": ""}] * 257), "p1"),
        (frame("prompt", promptId="p1", attachments=[{"mime": "m" * 257, "url": ""}]), "p1"),
        (
            frame(
                *("prompt",),
                promptId="p1",
                attachments=[{"mime": "a/b", "url": "data:,", "filename": "f" * 4_097}],
            ),
            "p1",
        ),
        (frame("prompt", promptId="p1", content="\ud83d"), "p1"),
        (frame("prompt", promptId="p1", content="\ud83d").encode(), "p1"),
        ('{"type":"prompt","promptId":"p1","content":"\ud83d"}', "p1"),
        ('{"content":"\\ud83d","type":"prompt","promptId":"\\ud83d\\ude00"}', "\U0001f600"),
        (frame("prompt", promptId="p\ud83d"), None),
        (frame("prompt", promptId="\udfff" * 2), None),
        (' { "type" : "prompt","x":' + "[" * 200_000 + "]" * 200_000 + "}", None),
        (b'{"type":"prompt","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}", None),
    ],
    ids=range(19),
)
def test_a_prompt_that_cannot_be_accepted_has_its_id(
    data: str | bytes, prompt_id: str | None
) -> None:
    assert parse(data) == Unreadable(prompt_id)


def test_a_long_frame_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    data = frame("prompt", promptId="p1", content="\ud83d")
    monkeypatch.setattr(requests, "SEARCHED_BYTES", len(data))
    assert parse(data) == Unreadable("p1")

    assert parse(data + " ") == Unreadable(None)
    assert parse("nonsense" * 100) is None


def test_a_frame_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = frame("prompt", content="hi")
    monkeypatch.setattr(requests, "FRAME_BYTES", len(data))
    assert parse(data) == Prompt(content="hi")

    assert parse(data + " ") == Unreadable(None)
    assert parse(" " * 5_000 + data) is None


def test_the_longest_names_are_read() -> None:
    assert parse(frame("prompt", promptId="p" * 512, channelId="c" * 256)) is not None
    assert parse(frame("answer", questionId="q" * 512, answer="x" * 1_000_000)) is not None


def test_an_answer_that_is_nested_too_deep_is_not_understood() -> None:
    deep: list[object] = []
    for _ in range(LEVELS_MAX):
        deep = [deep]

    assert parse(frame("answer", questionId="q1", answer=deep)) is None
    assert isinstance(parse(frame("answer", questionId="q1", answer=deep[0])), Answer)
