"""What a turn decides beside what the sockets show."""

import json

import pytest

import turnwire.dialect as td
from pi_dialect import turn as turns
from pi_dialect.turn import BEGINS_ANEW, CANNOT_OPEN, NEVER_RAN, NOT_AN_IMAGE
from played import Played

IMAGE = td.Attachment(mime="image/png", url="data:image/png;base64,aGk=")
TEXT = td.Attachment(mime="text/plain", url="data:text/plain;base64,aGk=")


class Other(td.Member):
    """The stream of a session in which another one has sent its prompt."""

    running: object = ("thread", "t1")

    @property
    def other_prompts(self) -> list[object]:
        return [self.running] if self.running is not None else []


def scope(played: Played) -> td.AbortScope:
    return played.turn.abort_scope


# Before the prompt.


def test_the_session_file_of_a_chat_is_the_same_in_each_process() -> None:
    paths = []
    for channel in ("t1", "t1", "t2"):
        played = Played(channel=td.Channel("thread", channel))
        played.opened()
        assert played.commands == ["get_state", "switch_session", "get_state", "prompt"]
        paths.append(played.sent[1]["sessionPath"])

    assert paths[0] == paths[1] != paths[2]
    assert all(path.startswith("/home/pi/sessions/turnwire-") for path in paths)


def test_a_process_without_session_files_opens_none() -> None:
    for file in (None, "no-folder.jsonl"):
        played = Played()
        played.state(sessionFile=file)
        assert played.commands == ["get_state", "prompt"]


def test_a_shared_process_keeps_its_session() -> None:
    played = Played(is_alone=False)
    played.state()

    assert played.commands == ["get_state", "prompt"]


def test_a_session_that_does_not_open_is_an_error_without_its_path() -> None:
    for fields in (
        {"success": False, "error": "/home/pi/x.jsonl is not valid"},
        {"data": {"cancelled": True}},
    ):
        played = Played()
        played.state()
        played.respond("switch_session", **fields)
        assert played.verdict.error == CANNOT_OPEN
        assert played.turn.frame_stats.left_out == {"session that does not open": 1}


def test_a_conversation_that_begins_anew_says_so() -> None:
    played = Played(has_earlier=True).begun()
    (notice,) = played.of(td.DataPart)
    assert BEGINS_ANEW in bytes(notice.data).decode()

    known = Played(has_earlier=True)
    known.state(messageCount=4)
    known.respond("switch_session", data={"cancelled": False})
    known.state(messageCount=4)
    known.accepted()
    known.begin("hi")
    assert not known.of(td.DataPart)


def test_images_are_sent_and_other_files_refused() -> None:
    played = Played(attachments=(IMAGE,))
    played.opened()
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    assert played.sent[-1]["images"] == [image]

    refused = Played(attachments=(IMAGE, TEXT))
    assert refused.verdict.error == NOT_AN_IMAGE
    assert not refused.sent


def test_a_turn_waits_while_another_one_has_its_chat() -> None:
    member = Other()
    played = Played(member=member, channel=td.Channel("thread", "t1"))
    assert played.events == [td.Queued()]
    assert played.turn.queued

    played.tick()
    played.state()
    assert not played.sent
    member.running = None
    played.tick()
    assert played.commands == ["get_state"]
    assert not played.turn.queued

    assert Played(member=Other(), channel=td.Channel("thread", "t2")).commands == ["get_state"]


def test_an_old_pi_that_knows_no_command_is_an_error() -> None:
    played = Played()
    played.respond("get_state", success=False)
    assert played.verdict.error == turns.REFUSED

    unread = Played()
    unread.event("response", command="parse", success=False, error="Failed to parse command")
    assert unread.verdict.error == "Failed to parse command"


# Whether it runs.


def test_a_prompt_that_never_runs_is_asked_for_twice() -> None:
    played = Played()
    played.opened()
    played.accepted()
    played.event("agent_settled")
    played.state()
    played.state()
    played.tick()
    assert played.commands[-3:] == ["get_state"] * 3
    played.state(isStreaming=True)
    played.state()
    played.tick()
    played.state()

    assert played.verdict.error == NEVER_RAN


def test_a_prompt_that_begins_late_is_not_given_up() -> None:
    played = Played()
    played.opened()
    played.accepted()
    played.state()
    played.begin("hi")

    assert played.turn.deadline == td.NEVER
    played.state()
    played.message("Hello.")
    played.settle()
    assert played.verdict.reason is td.Reason.END_TURN


def test_a_command_of_an_extension_may_run_before_it_is_answered() -> None:
    played = Played()
    played.opened()
    played.event("session_info_changed", name="x")
    played.event("compaction_start", reason="manual")
    played.begin("what the command says")
    played.user("more of it")
    played.message("Hello.")
    played.settle()
    assert played.of(td.TurnStarted)
    assert not played.of(td.TurnFinished)
    played.accepted()

    assert played.verdict.reason is td.Reason.END_TURN
    assert played.of(td.AgentStatus) == [td.AgentStatus("compacting")]
    assert played.turn.frame_stats.left_out == {"session_info_changed": 1}


def test_a_command_of_an_extension_that_runs_nothing_has_no_run() -> None:
    played = Played()
    played.opened()
    played.event("entry_appended", entry={})
    played.accepted()
    played.state()
    played.tick()
    played.state()

    assert played.of(td.AgentStatus)[-1].status == turns.HANDLED
    assert played.verdict.reason is td.Reason.END_TURN


def test_a_run_without_an_answer_is_an_error() -> None:
    played = Played().begun()
    played.settle()

    assert played.verdict.error == "The agent ended without an answer"


def test_an_old_pi_ends_with_its_last_attempt() -> None:
    failed = Played().begun()
    failed.message("Half", reason="error", error="overloaded")
    failed.event("agent_end", messages=[])
    failed.event("auto_retry_start", attempt=1, maxAttempts=3)
    assert failed.turn.deadline == td.NEVER
    failed.message("Half", reason="error", error="overloaded")
    failed.event("agent_end", messages=[])
    failed.event("session_info_changed")
    failed.tick()
    assert failed.verdict.error == "overloaded"

    well = Played().begun()
    well.message("Whole.")
    well.event("agent_end", messages=[])
    assert well.verdict.reason is td.Reason.END_TURN


# The stop.


def test_a_stop_waits_until_the_agent_has_settled() -> None:
    played = Played().begun()
    assert scope(played) is td.AbortScope.OURS
    played.take(played.turn.begin_stop(played.now))
    played.take(played.turn.begin_stop(played.now + 1))
    assert played.commands[-2:] == ["clear_queue", "abort"]
    assert played.turn.deadline == turns.STOP_S
    played.respond("clear_queue")
    played.message("late")
    assert not played.of(td.TextDelta)
    played.tick()

    assert played.verdict.reason is td.Reason.CANCELED
    assert scope(played) is td.AbortScope.NONE
    assert played.turn.begin_stop(played.now) is None
    assert played.turn.deadline == td.NEVER


@pytest.mark.parametrize("kind", ["agent_settled", "agent_end", "response", "lost"])
def test_a_stop_ends_with_what_the_agent_says_first(kind: str) -> None:
    played = Played().begun()
    played.take(played.turn.begin_stop(played.now))
    if kind == "lost":
        played.take(played.turn.connection_lost(played.now))
    elif kind == "response":
        played.respond("abort")
    else:
        played.event(kind)

    assert played.verdict.reason is td.Reason.CANCELED


def test_a_stop_before_the_agent_answers_is_a_stop() -> None:
    played = Played()
    assert played.turn.begin_stop(played.now) is None
    played.opened()
    played.take(played.turn.begin_stop(played.now))
    played.begin("hi")
    played.event("agent_settled")

    assert played.verdict.reason is td.Reason.CANCELED


def test_an_abort_of_somebody_else_is_an_abort() -> None:
    played = Played().begun()
    played.message("Half", reason="toolUse")
    played.event("agent_settled", aborted=True)

    assert played.verdict.reason is td.Reason.CANCELED


def test_a_process_that_is_gone_interrupts_the_turn() -> None:
    assert Played().begun().turn.connection_lost(0.0) is None


# A process that is shared.


def shared() -> Played:
    played = Played(is_alone=False)
    played.state()
    return played


def test_an_abort_of_a_shared_process_hits_our_turn_alone_or_is_not_sent() -> None:
    played = shared()
    assert scope(played) is td.AbortScope.SHARED
    assert not played.turn.abort()
    played.accepted()
    played.begin("hi")
    assert scope(played) is td.AbortScope.OURS
    played.event("queue_update", steering=[], followUp=["theirs"])
    assert scope(played) is td.AbortScope.SHARED
    played.event("queue_update", steering=[], followUp=[])
    assert len(played.turn.abort()) == 1

    stale = shared()
    stale.begin("hi")
    stale.turn.mark_stale()
    assert scope(stale) is td.AbortScope.NONE


def test_what_others_do_in_a_shared_process_is_not_ours() -> None:
    played = shared()
    played.begin("hi\n\nthey say")
    played.message("Their secret.")
    played.ui("confirm", "q1", title="Theirs?")
    played.event("queue_update", steering=[], followUp=["hi"])
    played.event("queue_update", steering=[], followUp=["hi"])
    assert played.events == [td.Queued()]
    assert played.turn.queued
    played.user("hi")
    played.message("Ours.")
    played.user("theirs again")
    played.message("Another secret.")

    assert [each.text for each in played.of(td.TextDelta)] == ["Ours."]
    assert played.verdict.reason is td.Reason.END_TURN


def test_a_message_with_images_is_ours_though_pi_adds_to_its_text() -> None:
    played = Played(is_alone=False, attachments=(IMAGE,))
    played.state()
    played.begin("hi there")
    assert not played.of(td.TurnStarted)
    played.begin("hi\n\n[Image 1: 20x20]")

    assert played.of(td.TurnStarted)


def test_responses_to_others_are_not_ours() -> None:
    played = shared()
    played.prompt_id = "theirs"
    played.respond("prompt", success=False, error="busy")
    played.event("response", command="parse", success=False)

    assert not played.events


def test_half_of_a_surrogate_pair_is_told_as_it_came() -> None:
    played = Played().begun()
    played.start()
    delta = {"type": "text_delta", "contentIndex": 0, "delta": "HALF"}
    update = {"type": "message_update", "assistantMessageEvent": delta}
    for half in (r"\ud83d", r"\ude00"):
        line = json.dumps(update).replace("HALF", half).encode()
        played.take(played.turn.receive_frame(line, 0.0))

    assert "".join(each.text for each in played.of(td.TextDelta)) == "\ud83d\ude00"
