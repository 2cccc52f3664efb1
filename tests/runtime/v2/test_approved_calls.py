"""A call that waits for a person, from the journal to a client of the gateway, and back."""

from msgspec import Raw

from runtime.session.session_facts import folded
from support.continued import REQUESTS, continued, frames_sent
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import PromptRequest, QuestionReply
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.v2.frames import Frames
from turnwire_agent.v2.init import init_frame
from turnwire_agent.v2.requests import Answer, parse

FRAMES = Frames(lambda _tool: frozenset({"token"}))
INPUT = Raw(b'{"path":"a","token":"canary"}')
SHOWN = {"path": "a", "token": "(hidden)"}
BEFORE: tuple[e.Event, ...] = (
    e.Prompted(entry_id="e1", prompt_id="p1", user_id="u1", content="Delete a"),
    e.TurnBegun(turn_id="t1", entry_id="e1"),
    e.StepBegun(turn_id="t1", step=0),
    e.Streamed("t1", (d.TextAdded("I will"),)),
    e.AttemptLost(turn_id="t1", step=0, attempt=0, since=0, why="truncated"),
    e.StepBegun(turn_id="t1", step=0, attempt=1),
    e.Streamed("t1", (d.TextAdded("May I?"), d.InputAdded("c1", "delete", ""))),
    e.QuestionAsked(
        turn_id="t1",
        question_id="q1",
        text="May delete run?",
        options=("approve", "deny"),
        call_id="c1",
        tool="delete",
        input=INPUT,
    ),
    e.TurnParked("t1"),
)


def sent(events: tuple[e.Event, ...], before: tuple[e.Event, ...] = ()) -> list[bytes]:
    state = folded(before)
    frames: list[bytes] = []
    for event in events:
        frames += FRAMES.of(event, state)
        state.apply(event)
    return frames


def asked() -> Client:
    """A client with native approvals: its response ends at the request."""
    request = PromptRequest(text="Delete a", prompt_id="p1", user_id="u1")
    options = StreamOptions(approvals=REQUESTS)
    turn = Turn(DIALECTS["v2"].prompt(request), Limits(), UIMessageStream(options))
    client = Client(named=None, native=True)
    client.read(turn.handle(Opened(), 0).to_client)
    client.read(turn.frames(sent(BEFORE), 1).to_client)
    client.close()
    return client


def test_a_call_is_approved_in_another_response_and_another_process() -> None:
    client = asked()
    assert client.tools == {"c1": "input-available"}
    assert list(client.approvals.values()) == ["c1"]
    assert client.parts[-1]["input"] == SHOWN
    copy = ClientCopy(
        message_id="t1", text_chars=len(client.text), text_blocks=2, pending=frozenset({"c1"})
    )

    yes = Raw(b'{"approved":true}')
    turn = continued(QuestionReply("q1", yes), known=copy)
    begun = turn.frames([init_frame("s1", folded(BEFORE), FRAMES)], 1)
    (answer,) = begun.to_agent

    assert parse(answer) == Answer(question_id="q1", answer=yes)
    assert [frame["type"] for frame in frames_sent(begun)] == ["answer"]
    after: tuple[e.Event, ...] = (
        e.QuestionClosed(turn_id="t1", question_id="q1", answer=yes, user_id="u1"),
        e.CallBegun(turn_id="t1", call_id="c1", tool="delete", key="k", effect="once", input=INPUT),
        e.CallEnded(turn_id="t1", call_id="c1", tool="delete", outcome="done", value=Raw(b'"ok"')),
        e.StepBegun(turn_id="t1", step=1, since=3),
        e.Streamed("t1", (d.TextAdded("Done."),)),
        e.TurnEnded(turn_id="t1", reason="end_turn"),
    )
    goes_on = client.next_response()
    goes_on.read(begun.to_client)
    goes_on.read(turn.frames(sent(after, BEFORE), 2).to_client)
    if turn.outcome is None:
        goes_on.read(turn.handle(AgentLeft(), 3).to_client)
    goes_on.close()

    assert goes_on.error is None
    assert [part.get("text") or part.get("output") for part in goes_on.parts] == [
        *(None, "I will", None, "May I?", "ok", None, "Done."),
    ]
    assert "canary" not in str(goes_on.parts)
