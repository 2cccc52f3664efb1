"""The schema of this wire: updates and methods that are known, and what redaction hides."""

import json
from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import begun
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.dialects.acp.schema import SCHEMA


@pytest.mark.parametrize(
    "frame",
    [
        *(f.text("a"), f.done(), f.permission(), f.call(), f.update("usage_update", used=1)),
        f.message(method="$/cancel_request", params={"requestId": 5}),
    ],
)
def test_what_the_protocol_has_is_no_drift(frame: bytes) -> None:
    assert Drift(SCHEMA).inspect([frame]) == []


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (f.update("new_update"), "new_update"),
        (f.message(id=1, method="fs/read_text_file"), "fs/read_text_file"),
    ],
)
def test_what_it_has_not_is_drift(frame: bytes, kind: str) -> None:
    (finding,) = Drift(SCHEMA).inspect([frame])

    assert (finding.kind, finding.type) == ("type", kind)


@pytest.mark.parametrize(
    "frame",
    [
        f.text("my secret"),
        f.thought("secret"),
        f.prompted("secret"),
        f.call(title="secret", rawInput={"status": "secret"}),
        f.state("completed", rawOutput={"kind": "secret"}, content=f.shown("secret")),
        f.permission(rawInput={"id": "secret"}),
        f.state(content=[{"type": "diff", "path": "/secret", "newText": "my secret"}]),
        f.state(locations=[{"path": "/secret"}]),
        f.permission(content=[{"type": "diff", "path": "/secret", "newText": "my secret"}]),
        f.permission(locations=[{"path": "/secret"}], options=[{"name": "secret"}]),
        f.failure(10, "secret"),
        f.update("plan", entries=[{"content": "secret"}]),
    ],
)
def test_no_text_of_people_is_in_a_redacted_message(frame: bytes) -> None:
    read = redactor_of(SCHEMA).frame(frame)

    assert b"secret" not in read
    assert json.loads(read).keys() == json.loads(frame).keys()


@pytest.mark.parametrize("request_id", [5, 1.5, "r5"])
def test_a_request_that_is_withdrawn_is_so_in_a_redacted_recording_too(request_id: Any) -> None:
    redactor = redactor_of(SCHEMA)
    withdrawn = f.message(method="$/cancel_request", params={"requestId": request_id})
    frames = [redactor.frame(each) for each in (f.permission(request_id), withdrawn)]

    assert begun(*frames).client.questions == {"p1:0": "expired"}


def test_what_a_replay_needs_stays() -> None:
    redactor = redactor_of(SCHEMA)

    for frame in (f.initialized(), f.made(), f.done(), f.state("completed")):
        assert json.loads(redactor.frame(frame)) == json.loads(frame)
