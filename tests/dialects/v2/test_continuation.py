"""A client answers what the turn waits for, and the turn goes on in the message that it has."""

import json

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.continued import (
    ENDED,
    REQUESTS,
    YES,
    approval,
    brief,
    called,
    chunks,
    continued,
    frames_sent,
    init,
    question,
    text,
)
from turnwire.core.approvals import Signed
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import ClientLeft, Opened, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS


def test_the_answer_goes_out_and_the_message_goes_on() -> None:
    turn = continued()

    act = turn.frames([init(text("May I?"), called(), approval())], 1)

    assert frames_sent(act) == [{"type": "answer", "questionId": "q1", "answer": True}]
    assert chunks(act) == [{"type": "start", "messageId": "m1"}]
    resolved = f.frame("question.resolved", questionId="q1", answer=True)
    act = turn.frames([resolved, f.tool("completed", result=7)], 2)
    assert brief(act) == ["tool-output-available c1"]
    act = turn.frames([f.part("Done."), f.finalize(finalText="May I?Done. Bye.")], 3)
    assert brief(act) == [
        *("start-step", "text-start", "text-delta", "text-delta", "text-end", *ENDED),
    ]
    assert [c["id"] for c in chunks(act) if c["type"] == "text-start"] == [f"{f.OURS}:t1"]
    assert [c["delta"] for c in chunks(act) if "delta" in c] == ["Done.", " Bye."]
    assert turn.outcome is Outcome.COMPLETED


def test_a_final_text_that_is_trimmed_repeats_what_was_said_before_the_question() -> None:
    turn = continued()
    turn.frames([init(text("\nMay I?\n"), called(), approval())], 1)

    final = f.finalize(finalText="May I?Done. Bye.")
    act = turn.frames([f.tool("completed"), f.part("Done."), final], 3)

    assert [c["delta"] for c in chunks(act) if "delta" in c] == ["Done.", " Bye."]


def test_a_message_without_a_name_goes_on_without_one() -> None:
    look = ResumeRequest(user_id="u1", init_s=5, replies=[YES])
    turn = Turn(DIALECTS["v2"].resume(look), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    assert chunks(turn.frames([init(called(), approval())], 1)) == [{"type": "start"}]


def test_nothing_is_told_twice_and_what_is_new_is_told_first() -> None:
    turn = continued()
    before = [text("a"), called("c0", "completed", result=1), text("b"), called(), approval()]
    since = [text("c"), called("c2", "completed", result=2)]

    act = turn.frames([init(*before, *since)], 1)

    assert brief(act) == [
        *("start", "text-start", "text-delta", "text-end"),
        *("tool-input-available c2", "tool-output-available c2"),
    ]


def test_a_turn_that_says_no_more_ends_the_message_with_the_outcome() -> None:
    turn = continued()
    turn.frames([init(called(), approval())], 1)

    act = turn.frames([f.tool("error", error="Denied"), f.finalize()], 2)

    assert brief(act) == ["tool-output-error c1", "finish"]


@pytest.mark.parametrize(
    ("end", "chunk"),
    [(f.finalize(), None), (f.finalize(reason="canceled"), "abort"), (f.frame("error"), "error")],
)
def test_a_call_without_an_outcome_gets_one(end: bytes, chunk: str | None) -> None:
    """Or a client would take its answer for news, and send it for ever."""
    turn = continued()
    turn.frames([init(called(), approval())], 1)

    act = turn.frames([end], 2)

    assert brief(act) == ["tool-output-error c1", *([chunk] if chunk else []), "finish"]


def test_the_next_approval_ends_this_stream_too() -> None:
    turn = continued()
    turn.frames([init(called(), approval())], 1)

    about = {"kind": "approval", "callId": "c2", "toolName": "bash", "turnId": f.OURS}
    asked = json.dumps({"type": "question", "questionId": "q2", **about}).encode()
    act = turn.frames([f.tool("completed"), f.tool("running", "c2", args={}), asked], 2)

    assert brief(act) == [
        *("tool-output-available c1", "tool-input-available c2", "tool-approval-request c2"),
        "finish",
    ]
    assert turn.outcome is Outcome.ASKED


def test_two_answers_go_out_in_one_stream() -> None:
    turn = continued(YES, QuestionReply("q2", Raw(b'{"approved":false,"reason":"no"}')))

    act = turn.frames([init(called("c1"), called("c2"), approval("q1"), approval("q2", "c2"))], 1)

    assert [(frame["questionId"], frame["answer"]) for frame in frames_sent(act)] == [
        ("q1", True),
        ("q2", {"approved": False, "reason": "no"}),
    ]
    assert (brief(act), turn.outcome) == (["start"], None)


def test_one_answer_of_two_leaves_the_other_request_as_it_is() -> None:
    turn = continued()
    act = turn.frames([init(called("c1"), called("c2"), approval("q1"), approval("q2", "c2"))], 1)
    # What it was asked after the question that it answered is requested anew, and first.
    assert brief(act) == ["start", "tool-approval-request c2"]

    act = turn.frames([f.tool("completed", "c1")], 2)

    assert (brief(act), turn.outcome) == (["tool-output-available c1", "finish"], Outcome.ASKED)


def test_a_request_from_before_still_counts() -> None:
    turn = continued(QuestionReply("q2", Raw(b"true")))
    act = turn.frames([init(called("c1"), called("c2"), approval("q1"), approval("q2", "c2"))], 1)
    assert brief(act) == ["start"]

    act = turn.frames([f.tool("completed", "c2")], 2)

    assert (brief(act), turn.outcome) == (["tool-output-available c2", "finish"], Outcome.ASKED)


def test_what_was_approved_before_is_not_requested_again() -> None:
    turn = continued(QuestionReply("q2", Raw(b"true")))
    done = [called("c1", "completed", result=1), approval("q1", answer=True)]

    turn.frames([init(*done, called("c2"), approval("q2", "c2"))], 1)
    act = turn.frames([f.tool("completed", "c2")], 2)

    assert (brief(act), turn.outcome) == (["tool-output-available c2"], None)


def test_in_the_portable_profile_the_question_is_told_as_resolved() -> None:
    turn = continued(QuestionReply("q1", Raw(b'"tea"')), native=False)
    assert brief(turn.frames([init(text("What?"), question())], 1)) == ["start"]

    act = turn.frames([f.frame("question.resolved", questionId="q1", answer="tea")], 2)
    assert [c["data"]["state"] for c in chunks(act)] == ["resolved"]
    act = turn.frames([f.part("Here."), f.finalize()], 3)
    assert brief(act) == ["text-start", "text-delta", "text-end", "finish"]


def test_a_client_that_hangs_up_means_this_turn() -> None:
    turn = continued()
    turn.frames([init(called(), approval())], 1)

    act = turn.handle(ClientLeft(), 2)

    assert frames_sent(act) == [
        {
            "type": "abort",
            "promptId": "p9",
            "channelType": "web",
            "channelId": "default",
            "turnId": f.OURS,
        }
    ]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_nothing_is_aborted_before_the_answer() -> None:
    turn = continued()

    assert turn.handle(ClientLeft(), 2) == Output()
    assert turn.outcome is Outcome.CLIENT_GONE


def test_nothing_is_aborted_after_the_end() -> None:
    turn = continued()
    turn.frames([init(called(), approval())], 1)
    turn.frames([f.finalize()], 2)

    assert turn._protocol.abort() == ()


def test_its_user_may_come_back() -> None:
    turn = continued(on_disconnect=DisconnectPolicy.GRACE, grace_s=30)
    turn.frames([init(called(), approval())], 1)
    turn.handle(ClientLeft(), 2)

    turn.frames([f.frame("user.joined", userId="u1")], 3)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.handle(Tick(), 40) == Output()


def resumed(native: bool = True) -> Turn:  # noqa: FBT001, FBT002
    look = ResumeRequest(user_id="u1", init_s=5)
    options = StreamOptions(approvals=REQUESTS if native else None)
    turn = Turn(DIALECTS["v2"].resume(look), Limits(), UIMessageStream(options))
    turn.handle(Opened(), 0)
    return turn


def test_a_page_that_is_loaded_again_is_asked_again() -> None:
    turn = resumed()

    act = turn.frames([init(text("May I?"), called(), approval())], 1)

    assert brief(act) == [
        *("start", "start-step", "text-start", "text-delta", "text-end"),
        *("tool-input-available c1", "tool-approval-request c1", *ENDED),
    ]
    assert (turn.outcome, act.to_agent) == (Outcome.ASKED, ())


@pytest.mark.parametrize("status", ["running", "completed"])
def test_a_page_that_is_loaded_again_is_not_asked_what_was_answered(status: str) -> None:
    turn = resumed()

    act = turn.frames([init(called(status=status), approval(answer=True))], 1)

    assert "tool-approval-request c1" not in brief(act)
    assert "data-question" not in brief(act)
    assert turn.outcome is None


def test_a_page_that_is_loaded_again_is_told_the_answer_to_what_was_no_approval() -> None:
    """And what was said after it stands below it, as it did when it was said."""
    tea = question(answer="tea")

    act = resumed().frames([init(text("Which? "), tea, text("Tea it is. "))], 1)

    block = ("text-start", "text-delta")
    asked = ("data-question", "data-question")
    assert brief(act) == ["start", "start-step", *block, "text-end", *asked, *block]
    assert chunks(act)[6]["data"] == {
        "questionId": "q1",
        "text": "ok?",
        "answer": "tea",
        "state": "resolved",
    }


def test_in_the_portable_profile_it_is_told_what_was_answered() -> None:
    act = resumed(native=False).frames([init(called(), approval(answer=True))], 1)

    assert brief(act)[-2:] == ["data-question"] * 2


def test_without_hydration_there_is_nothing_to_resume() -> None:
    look = ResumeRequest(user_id="u1", init_s=5)
    turn = Turn(DIALECTS["v2"].resume(look), Limits(hold_s=10), UIMessageStream())
    turn.handle(Opened(), 0)

    assert turn.handle(Tick(), 5) == Output()
    assert (turn.outcome, turn.rejection) == (Outcome.NOTHING, Rejection.NO_TURN)


def test_a_turn_that_waits_is_resumed_when_it_begins() -> None:
    turn = resumed()
    waits = {"id": "p", "role": "user", "promptId": "p9", "queued": True, "parts": [text("hi")]}
    turn.frames([f.frame("init", session={"id": "s1", "messages": [waits]}, data={})], 1)

    assert brief(turn.frames([f.begin(f.OURS, "p9")], 2)) == ["start", "start-step"]


def test_what_came_after_the_question_is_told_from_where_the_message_ends() -> None:
    """The first stream stayed open for another tool, and told more."""
    known = ClientCopy(message_id="m1", text_chars=7, reasoning_chars=4, files=1, sources=1)
    turn = continued(known=known)
    file = {"type": "file", "url": "data:image/png;base64,QQ==", "mime": "image/png"}
    source = {"type": "source", "sourceId": "s1", "url": "https://a.example/"}
    since = [text("knownnew"), {"type": "reasoning", "text": "knownnew"}, file, source]

    act = turn.frames([init(text("ab"), called(), approval(), *since, file, source)], 1)

    assert [c["delta"] for c in chunks(act) if "delta" in c] == ["new", "nnew"]
    assert [c for c in brief(act) if c in {"file", "source-url"}] == ["file", "source-url"]
    assert turn.outcome is None


def test_live_text_is_never_skipped() -> None:
    """A message may have more text than the agent remembers to have told."""
    turn = continued(known=ClientCopy(text_chars=1_000, files=9))
    turn.frames([init(text("ab"), called(), approval(), text("cd"))], 1)

    act = turn.frames([f.part("ef"), f.finalize(finalText="abcdefgh")], 2)

    assert [c["delta"] for c in chunks(act) if "delta" in c] == ["ef", "gh"]


def test_where_nothing_runs_or_waits_there_is_nothing_to_resume() -> None:
    turn = resumed()

    turn.frames([f.frame("init", session={"id": "s1", "messages": []}, data={})], 1)

    assert (turn.outcome, turn.rejection) == (Outcome.NOTHING, Rejection.NO_TURN)


def test_a_turn_that_is_called_like_its_prompt_may_be_loaded_again_and_answered() -> None:
    prompt = {"id": "p", "role": "user", "clientMessageId": f.OURS, "parts": []}
    turn = {"id": f.OURS, "role": "assistant", "parts": [called(), approval()]}
    data = {"runnerBusy": True, "runningTurnId": f.OURS}
    hello = f.frame("init", session={"messages": [prompt, turn]}, data=data)
    (request,) = [
        chunk
        for chunk in chunks(resumed().frames([hello], 1))
        if chunk["type"] == "tool-approval-request"
    ]
    signed = REQUESTS.signer.read(request["approvalId"], 2)
    assert isinstance(signed, Signed)

    act = continued(QuestionReply("q1", Raw(b"true"), signed.subject)).frames([hello], 3)

    assert len(act.to_agent) == 1


def test_a_page_that_is_loaded_again_is_asked_what_was_asked_anew() -> None:
    turn = resumed()

    act = turn.frames([init(called(), approval(expired=True), approval())], 1)

    assert brief(act)[-3:] == ["tool-approval-request c1", *ENDED]


def test_a_question_that_was_asked_twice_is_requested_as_it_was_asked_last() -> None:
    act = resumed().frames([init(called(), called("c2"), approval(), approval(call="c2"))], 1)

    assert [c for c in brief(act) if c.startswith("tool-approval")] == ["tool-approval-request c2"]


@pytest.mark.parametrize(("asker", "aborted"), [("u1", 1), ("u2", 0), (None, 1), (7, 1)], ids=str)
@pytest.mark.parametrize("said_by", ["prompt", "turn"])
def test_a_hang_up_stops_no_turn_of_another_user(asker: object, aborted: int, said_by: str) -> None:
    said = {said_by: {"userId": asker}}
    prompt = {"id": "e1", "role": "user", "promptId": "p9", **said.get("prompt", {})}
    parts = [called(), approval()]
    asked = {"id": f.OURS, "role": "assistant", "promptId": "p9", "parts": parts}
    messages = [prompt, asked | said.get("turn", {})]
    data = {"runningTurnId": f.OURS}
    turn = continued()
    turn.frames([f.frame("init", session={"messages": messages}, data=data)], 1)

    assert len(turn.handle(ClientLeft(), 2).to_agent) == aborted
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_hang_up_stops_no_turn_that_another_stream_follows() -> None:
    group = SessionGroup()
    turn = continued(member=Member(group))
    turn.frames([init(called(), approval())], 1)
    Member(group).follow(f.OURS)

    assert turn.handle(ClientLeft(), 2) == Output()
    assert turn.outcome is Outcome.CLIENT_GONE


def test_how_a_call_and_a_question_ended_while_the_client_was_away_is_told() -> None:
    """The stream broke, so they are open in the client's message; in the hydration they are not."""
    known = ClientCopy(message_id="m1", pending=frozenset({"c1", "c2", "c3", "q0", "q1"}))
    turn = continued(native=False, known=known)
    ended = [called("c2", "completed", result=1), called("c3", "error", error="no")]
    more = [called("c4", "completed"), question("q0", answer="tea"), approval()]

    act = turn.frames([init(called(), *ended, *more)], 1)

    assert [c.get("toolCallId") or c.get("id") for c in chunks(act)] == [
        None,
        "c2",
        "c3",
        "q0",
        "q1",
    ]
    assert [c["data"]["state"] for c in chunks(act)[3:]] == ["resolved", "open"]
