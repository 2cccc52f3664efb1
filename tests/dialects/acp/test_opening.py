"""How a connection gets to its session."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.acp.opening import NO_SESSION, NOT_FOUND, OTHER_VERSION, Opening
from turnwire.dialects.acp.turn import AGAIN_S, BEGINS_ANEW, CANNOT_GO_ON, UNOPENED

NEW = ["initialize", "session/new", "session/prompt"]


def notices(played: Played) -> list[Any]:
    return [c["data"]["text"] for c in played.chunks if c["type"] == "data-notice"]


def test_a_first_prompt_makes_a_session_which_is_kept() -> None:
    played = Played(*f.OPENED)

    assert played.methods == NEW
    assert played.sent[1]["params"]["cwd"] == "/work"
    assert played.sent[2]["params"] == {
        "sessionId": f.SESSION,
        "prompt": [{"type": "text", "text": "hi"}],
    }
    assert (played.kept, notices(played)) == ([f.SESSION], [])


def test_the_past_of_a_session_that_is_loaded_is_not_shown() -> None:
    past = (f.prompted("before"), f.text("said before"), f.call(), f.state("completed"))
    played = Played(f.initialized(load=True), *past, f.response(2), known=f.SESSION)
    played.tell(f.text("now"), f.done())

    assert played.methods == ["initialize", "session/load", "session/prompt"]
    assert (played.client.text, played.kept) == ("now", [f.SESSION])
    assert (notices(played), played.protocol.frame_stats.foreign) == ([], 0)
    assert played.of_call() == []


def test_a_session_is_resumed_without_its_past_where_that_is_possible() -> None:
    played = Played(f.initialized(load=True, resume=True), f.response(2), known=f.SESSION)

    assert played.methods == ["initialize", "session/resume", "session/prompt"]
    assert notices(played) == []


@pytest.mark.parametrize("code", [NOT_FOUND, -32602])
@pytest.mark.parametrize("able", [{"load": True}, {"resume": True}])
def test_a_session_that_is_gone_begins_anew_and_says_so(able: dict[str, bool], code: int) -> None:
    gone = f.failure(2, "no such session", code)
    played = Played(f.initialized(**able), gone, f.made("session-2", 3), known=f.SESSION)

    assert played.methods[-2:] == ["session/new", "session/prompt"]
    assert (played.kept, notices(played)) == (["session-2"], [BEGINS_ANEW])


@pytest.mark.parametrize("able", [{"load": True}, {"resume": True}])
def test_a_session_that_fails_where_another_opens_begins_anew_and_says_so(
    able: dict[str, bool],
) -> None:
    """Agents have codes of their own for a session that is gone."""
    played = Played(f.initialized(**able), f.failure(2, "Internal error", -32603), known=f.SESSION)
    assert played.protocol.deadline == AGAIN_S
    played.wait().tell(f.failure(3, "Internal error", -32603), f.made("session-2", 4))

    opens = "session/load" if "load" in able else "session/resume"
    assert played.methods == ["initialize", opens, opens, "session/new", "session/prompt"]
    assert (played.kept, notices(played)) == (["session-2"], [CANNOT_GO_ON])
    assert played.protocol.frame_stats.left_out == {UNOPENED: 1}


@pytest.mark.parametrize("able", [{"load": True}, {"resume": True}])
def test_where_no_session_opens_the_turn_ends_and_the_session_stays(able: dict[str, bool]) -> None:
    for code in (-32603, NOT_FOUND):
        played = Played(f.initialized(**able), f.failure(2, "locked"), known=f.SESSION).wait()
        played.tell(f.failure(3, "overloaded"), f.failure(4, "busy", code))

        assert (played.turn.outcome, played.client.error) == (Outcome.FAILED, "overloaded")
        assert (played.kept, played.methods[-1]) == ([], "session/new")


@pytest.mark.parametrize("able", [{"load": True}, {"resume": True}, {"load": True, "resume": True}])
def test_a_session_that_opens_a_moment_later_goes_on(able: dict[str, bool]) -> None:
    """Its last process may still hold it."""
    played = Played(f.initialized(**able), f.failure(2, "locked"), known=f.SESSION)
    if len(able) > 1:  # then it is tried in both ways
        played.tell(f.failure(3, "locked"))
    sent = len(played.sent)
    played.wait().tell(f.prompted("before"), f.response(sent + 1), f.text("now"), f.done())

    assert (played.client.text, played.kept, notices(played)) == ("now", [f.SESSION], [])
    assert played.protocol.frame_stats.left_out == {}


def test_an_answer_to_nothing_does_not_put_it_off_again() -> None:
    played = Played(f.initialized(load=True), f.failure(2, "locked"), known=f.SESSION)
    played.do(played.turn.frames([f.response(99)], 1))

    assert played.protocol.deadline == AGAIN_S


def test_a_deadline_that_nothing_waits_for_asks_for_nothing() -> None:
    opening = Opening(f.SESSION, "/work")

    assert opening.ask_again() == []


def test_a_line_that_breaks_before_it_is_asked_again_keeps_the_session() -> None:
    played = Played(f.initialized(load=True), f.failure(2, "locked"), known=f.SESSION).leave()

    assert (played.turn.outcome, played.kept) == (Outcome.INTERRUPTED, [])


@pytest.mark.parametrize("count", [1, 2])
def test_a_line_that_breaks_while_a_session_is_opened_keeps_the_session(count: int) -> None:
    opening = (f.initialized(load=True), f.failure(2, "overloaded"))
    played = Played(*opening[:count], known=f.SESSION).leave()

    assert (played.turn.outcome, played.kept) == (Outcome.INTERRUPTED, [])


@pytest.mark.parametrize("code", [NOT_FOUND, -32603])
def test_a_session_that_cannot_be_resumed_is_loaded(code: int) -> None:
    opened = (f.initialized(load=True, resume=True), f.failure(2, "not in memory", code))
    loaded = Played(*opened, f.prompted("before"), f.response(3), known=f.SESSION)
    assert loaded.methods == ["initialize", "session/resume", "session/load", "session/prompt"]
    assert notices(loaded) == []

    gone = Played(*opened, f.failure(3, "gone", NOT_FOUND), f.made("s2", 4), known=f.SESSION)
    assert (gone.kept, notices(gone)) == (["s2"], [BEGINS_ANEW])


def test_an_error_about_no_request_ends_the_turn() -> None:
    """So an agent answers what it cannot read."""
    failed = f.message(id=None, error={"code": -32700, "message": "Parse error"})

    assert Played(failed).client.error == "Parse error"
    assert Played(f.initialized(), failed).client.error == "Parse error"


def test_an_agent_that_keeps_no_session_begins_anew_and_says_so() -> None:
    played = Played(*f.OPENED, known="session-0")

    assert (played.methods, notices(played)) == (NEW, [BEGINS_ANEW])


def test_a_load_that_tells_nothing_of_the_past_is_of_a_session_that_is_gone() -> None:
    """One of the agents in use knows every session."""
    played = Played(f.initialized(load=True), f.response(2), known=f.SESSION)

    assert notices(played) == [BEGINS_ANEW]


def test_what_a_new_session_sends_too_is_no_past() -> None:
    commands = f.update("available_commands_update", availableCommands=[])
    played = Played(f.initialized(load=True), commands, f.response(2), known=f.SESSION)

    assert notices(played) == [BEGINS_ANEW]


def test_a_null_error_is_none() -> None:
    opened = f.message(id=2, result=None, error=None)
    played = Played(f.initialized(load=True), f.prompted("x"), opened, known=f.SESSION)

    assert (played.kept, notices(played)) == ([f.SESSION], [])


def test_a_chat_that_goes_on_and_whose_session_nobody_kept_says_so() -> None:
    assert notices(Played(*f.OPENED, has_earlier=True)) == [BEGINS_ANEW]


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([f.initialized(version=2)], OTHER_VERSION),
        ([f.initialized(version="1")], OTHER_VERSION),
        ([f.failure(1, "not you")], "not you"),
        ([f.initialized(), f.failure(2, "log in first", -32000)], "log in first"),
        ([f.initialized(), f.message(id=2, error={"code": "x"})], NO_SESSION),
        ([f.initialized(), f.response(2)], NO_SESSION),
    ],
)
def test_a_session_that_cannot_be_opened_is_an_error(messages: list[bytes], error: str) -> None:
    played = Played(*messages)

    assert (played.turn.outcome, played.client.error) == (Outcome.FAILED, error)
    assert "session/prompt" not in played.methods


def test_answers_to_other_requests_do_not_count() -> None:
    played = Played(f.response(9), f.initialized(), f.response(9), f.made())

    assert played.methods == NEW
