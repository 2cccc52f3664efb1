"""What the flight recorder keeps of an agent over HTTP, and what drift sees in its events."""

import json
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.recorded import PLENTY, shape
from turnwire.core.agent import AgentProtocol
from turnwire.core.approvals import subject
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.events import Approval, Event, Question, TurnStarted
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.recorder import Recording, find_header, header
from turnwire.core.recording.redact import redactor_of
from turnwire.core.recording.replay import replay_turn
from turnwire.core.requests import (
    DialectOptions,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StateMode,
)
from turnwire.core.turn.inputs import AgentLeft, Frames, Input, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.continuation import ContinuationProtocol
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.core.wire.event_stream import EventStreamReader, NamedEvent
from turnwire.dialects import DIALECTS

AG_UI: Final = DIALECTS["ag-ui"]
GOLDEN: Final = Path(__file__).parents[2] / "golden/ag-ui"
TORN: Final = {"langgraph-tools_at_once", "langgraph-tools_torn"}
"""Bodies whose pieces of arguments are in the wrong call: redacted, they are other pieces."""


def about(body: Path) -> Any:
    return json.loads(body.with_suffix(".json").read_text())


BODIES: Final = [path for path in sorted(GOLDEN.glob("*.body")) if about(path)["status"] == 200]


def frames_of(body: Path) -> list[bytes]:
    return EventStreamReader(PLENTY).read(body.read_bytes())


def recorded(frames: list[bytes], prompt_id: str, state: StateMode = StateMode.OFF) -> Recording:
    asked = PromptRequest(
        text="the-secret", prompt_id=prompt_id, user_id="ann", options=DialectOptions(state=state)
    )
    recording = Recording(header(asked, dialect="ag-ui", limits=Limits()), PLENTY)
    happened: list[Input] = [Opened(), Frames(frames), AgentLeft()]
    for at, each in enumerate(happened):
        recording.on_input(each, float(at))
    return recording


@pytest.mark.parametrize(
    "body", [body for body in BODIES if body.stem not in TORN], ids=lambda path: path.stem
)
def test_redacted_it_replays_to_the_same_chunks_of_the_same_lengths(body: Path) -> None:
    recording = recorded(frames_of(body), about(body)["request"]["runId"])

    whole = replay_turn(recording.lines(redactor=None), AG_UI)
    redacted = replay_turn(recording.lines(redactor=redactor_of(AG_UI.schema)), AG_UI)

    assert whole.known_frames > 0
    assert shape(redacted.body) == shape(whole.body)


def test_redacted_decisions_about_calls_are_asked_about_the_same_calls() -> None:
    lines = (GOLDEN / "decisions.jsonl").read_bytes().splitlines()
    frames = [line for line in lines[: lines.index(b"#! close")] if not line.startswith(b"#")]
    recording = recorded(frames, "p1")

    whole = replay_turn(recording.lines(redactor=None), AG_UI)
    redacted = replay_turn(recording.lines(redactor=redactor_of(AG_UI.schema)), AG_UI)

    assert whole.body.count(b'"state":"open"') == 2
    assert b"decision:1/2:i1" in redacted.body
    assert shape(redacted.body) == shape(whole.body)
    assert b"plan.txt" not in redacted.body


def test_no_event_of_the_servers_is_drift() -> None:
    drift = Drift(AG_UI.schema)

    assert [each for body in BODIES for each in drift.inspect(frames_of(body))] == []


def test_the_name_of_an_event_is_no_part_of_its_frame() -> None:
    frames: list[bytes] = [NamedEvent(b'{"type":"RUN_STARTED","runId":"p1"}', "message", "1")]
    lines = list(recorded(frames, "p1").lines(redactor=None))

    assert b'{"type":"RUN_STARTED","runId":"p1"}' in lines


def test_a_new_type_of_event_is_drift_and_its_words_are_redacted() -> None:
    event = b'{"type":"PLAN_UPDATED","note":"the-secret"}'
    (found,) = Drift(AG_UI.schema).inspect([event])
    lines = b"\n".join(recorded([event], "p1").lines(redactor=redactor_of(AG_UI.schema)))

    assert (found.kind, found.type) == ("type", "PLAN_UPDATED")
    assert b"the-secret" not in lines
    assert b"PLAN_UPDATED" in lines


def test_a_state_that_was_shown_is_shown_in_a_replay() -> None:
    frames = [
        b'{"type":"RUN_STARTED","runId":"p1"}',
        b'{"type":"STATE_SNAPSHOT","snapshot":{"done":1}}',
        b'{"type":"RUN_FINISHED","runId":"p1","result":{"the":"end"}}',
    ]
    shown = list(recorded(frames, "p1", StateMode.PARTS).lines(redactor=None))
    told = find_header(shown)

    assert told is not None
    assert told.resume_request().options == told.prompt_request().options
    body = replay_turn(shown, AG_UI).body
    hidden = replay_turn(recorded(frames, "p1").lines(redactor=None), AG_UI).body
    for part in (b'"data-state"', b'"data-result"'):
        assert part in body
        assert part not in hidden


CALL: Final = Call("c1", "delete", Raw(b'{"who":"the-secret"}'))
SIGNED: Final = QuestionReply(
    "i1",
    Raw(b'{"approved":true,"reason":"the-secret"}'),
    subject("m1", Approval("c1", "delete", CALL.input)),
)
ASKED: Final = QuestionReply("i1", Raw(b'"the-secret"'))


@pytest.mark.parametrize("is_redacted", [False, True])
@pytest.mark.parametrize("reply", [SIGNED, ASKED], ids=["approval", "question"])
def test_a_turn_that_goes_on_after_answers_replays(
    reply: QuestionReply, *, is_redacted: bool
) -> None:
    """Its run has an id that the answers make, and its result is that of a card at the client."""
    is_approval = reply is SIGNED
    asks: list[Event] = [TurnStarted("m1"), Question("i1", Raw(b"{}"))]
    waiting = None if is_approval else asks
    asked = ResumeRequest(
        user_id="ann",
        session_id="s1",
        init_s=5,
        replies=[reply],
        message_id="m1",
        conversation=Conversation(
            (b'{"id":"u1","content":"the-secret"}',), {}, (CALL,) * is_approval
        ),
        waiting=waiting,
    )
    protocol: AgentProtocol = AG_UI.resume(asked)
    if waiting is not None:
        protocol = ContinuationProtocol(protocol, waiting, [reply])
    run_id = json.loads(protocol.connect_request().body)["runId"]
    frames = [f.started(run_id), f.result("gone"), f.text("Done."), f.finished(run_id)]
    recording = Recording(
        header(msgspec.structs.replace(asked, waiting=None), dialect="ag-ui", limits=Limits()),
        PLENTY,
    )
    turn = Turn(protocol, Limits(), UIMessageStream(), observers=[recording])
    written = turn.handle(Opened(), 0).to_client + turn.frames(frames, 1).to_client

    lines = list(recording.lines(redactor=redactor_of(AG_UI.schema) if is_redacted else None))
    replayed = replay_turn(lines, AG_UI)

    assert shape(replayed.body) == shape(written)
    assert b"tool-output-available" in replayed.body
    assert (b"the-secret" in b"".join(lines)) is not is_redacted
    if not is_redacted:
        assert replayed.body == written
