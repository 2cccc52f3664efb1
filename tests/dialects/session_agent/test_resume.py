"""Resuming on the `session-agent` wire, where `init` does not say what runs (A, V), and in all.

The limits by revision are listed in docs/session-agent.md, each with its test.
"""

import json
import re
from pathlib import Path

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import receive_frame, sent
from support.session_agent_resumed import (
    INIT_S,
    LATER,
    NOTHING,
    OTHER,
    busy,
    init_r,
    made,
    prompt,
    texts,
    turn,
)
from turnwire.core.agent import ALIVE, AbortScope, Decoded
from turnwire.core.events import (
    AgentStatus,
    Reason,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.session_group import Member, SessionGroup
from turnwire.dialects.session_agent import progress, resume

# Whether there is anything to resume.


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_nothing_runs_and_nothing_waits(revision: str) -> None:
    stream = made()

    assert stream.receive_frame(f.init(revision), 0) == NOTHING
    assert not stream.accepted


def test_a_turn_that_is_over_is_not_resumed() -> None:
    over = turn(f.text("a"), f.finish(), content="a")
    entries = [prompt("P1"), over]

    stream = made()

    told = json.loads(f.init("R"))
    told["session"]["messages"] = entries
    assert stream.receive_frame(json.dumps(told).encode(), 0) == NOTHING


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("alive", ["terminated", "archived", "error"])
def test_a_dead_session_has_nothing_to_resume(revision: str, alive: str) -> None:
    assert made().receive_frame(f.init(revision, alive=alive, runnerBusy=True), 0) == NOTHING


def test_a_session_that_dies_while_we_look_has_nothing_to_resume() -> None:
    stream = made(busy("V"))

    assert stream.receive_frame(f.status(status="terminated"), 0) == NOTHING


def test_a_session_that_is_dead_before_its_init_has_nothing_to_resume() -> None:
    assert made().receive_frame(f.status(status="terminated"), 0) == NOTHING


def test_a_session_that_dies_later_ends_the_stream() -> None:
    stream = made(busy("V"), f.chunk("b"))

    (end,) = receive_frame(stream, f.status(status="terminated"))

    assert end == TurnFinished(reason=Reason.ERROR, error=progress.SESSION_OVER)


def test_without_an_init_there_is_nothing_to_resume() -> None:
    stream = made()

    assert stream.deadline == INIT_S
    assert stream.tick(INIT_S - 1) == Decoded()
    assert stream.tick(INIT_S) == NOTHING


def test_a_frame_that_comes_before_the_timer_does_not_keep_us_waiting() -> None:
    stream = made()

    assert stream.receive_frame(f.init("V", runnerBusy=True), INIT_S) == NOTHING
    assert stream.receive_frame(f.chunk("b"), INIT_S) is None


def test_what_cannot_be_read_is_counted() -> None:
    stream = made()

    assert stream.receive_frame(b"{", 0) is None
    assert stream.frame_stats.malformed == 1


def test_a_second_init_says_nothing() -> None:
    stream = made(busy("V"), f.chunk("b"))

    assert receive_frame(stream, f.init("V")) == []


@pytest.mark.parametrize("revision", LATER)
def test_a_busy_runner_that_shows_nothing_of_our_channel_is_not_waited_for_long(
    revision: str,
) -> None:
    stream = made(busy(revision))

    assert stream.deadline == resume.SEARCH_S
    assert receive_frame(stream, f.chunk("b", **OTHER), f.doing("thinking", **OTHER)) == []
    assert not stream.accepted
    assert stream.tick(resume.SEARCH_S) == NOTHING


@pytest.mark.parametrize("revision", LATER)
def test_a_runner_that_is_done_while_we_look_has_nothing_to_resume(revision: str) -> None:
    assert made(busy(revision)).receive_frame(f.drained(revision), 1) == NOTHING


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(f.doing("idle"), id="an idle status"),
        pytest.param(f.begin(content="x"), id="a forwarded entry"),
        pytest.param(f.begin(content="", parts={"forwarded": True}), id="without a text"),
        pytest.param(f.begin(role="system"), id="an entry of the system"),
        pytest.param(f.begin(**OTHER), id="a turn of another channel"),
        pytest.param(f.user(**OTHER), id="a prompt of another channel"),
        pytest.param(f.updated(turn="P1", role="user"), id="a prompt that is told again"),
        pytest.param(f.status(runnerConnected=True), id="a lifecycle"),
    ],
)
def test_what_does_not_show_that_our_channel_is_at_work(revision: str, frame: bytes) -> None:
    stream = made(init_r() if revision == "R" else busy(revision), frame)

    assert stream.tick(resume.SEARCH_S) == NOTHING


# A and V: what the next frames say of it.


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_in_the_middle_is_told_from_its_next_snapshot_on(revision: str) -> None:
    stream = made(busy(revision))

    assert receive_frame(stream, f.chunk("b")) == [TurnStarted(f.TURN)]
    assert stream.accepted
    assert receive_frame(stream, f.chunk("c")) == []
    parts = [f.text("abc"), f.tool("pending")]
    assert texts(receive_frame(stream, f.updated(*parts, content="abc"))) == ["abc", "[c1 pending]"]
    assert texts(receive_frame(stream, f.chunk("d"))) == ["d"]
    parts = [f.text("abc"), f.tool("completed"), f.text("d"), f.END]
    told = receive_frame(stream, f.updated(*parts, content="d"))
    assert texts(told) == ["[c1 completed]", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_the_first_thing_seen_of_a_turn_may_be_a_snapshot(revision: str) -> None:
    stream = made(busy(revision))
    parts = [f.text("a"), f.tool("completed"), f.text("b"), f.tool("running", "c2")]

    told = receive_frame(stream, f.updated(*parts, content="ab"), f.chunk("c"))

    assert told[0] == TurnStarted(f.TURN)
    assert texts(told) == ["a", "[c1 completed]", "b", "[c2 running]", "c"]


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_whose_end_is_all_that_is_seen_is_told_whole(revision: str) -> None:
    stream = made(busy(revision))

    told = receive_frame(stream, f.updated(f.text("abc"), f.END, content="abc"))

    assert told[0] == TurnStarted(f.TURN)
    assert texts(told) == ["abc", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_v_a_turn_of_text_alone_is_told_at_its_end(revision: str) -> None:
    stream = made(busy(revision), f.chunk("b"), f.chunk("c"))

    assert texts(receive_frame(stream, f.done("abc"))) == ["abc", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_that_begins_while_we_look_misses_nothing(revision: str) -> None:
    stream = made(busy(revision))

    told = receive_frame(stream, f.user(prompt="P1", by="ann"), f.doing("thinking"), f.begin())

    assert told == [AgentStatus("thinking"), TurnStarted(f.TURN)]
    assert texts(receive_frame(stream, f.chunk("a"), f.done("a"))) == ["a", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_whose_start_is_the_first_sign_of_it_misses_nothing(revision: str) -> None:
    stream = made(busy(revision), f.begin())

    assert texts(receive_frame(stream, f.chunk("a"))) == ["a"]


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_that_is_seen_at_work_before_its_name_is_known(revision: str) -> None:
    """It may have begun, so what was said before is waited for."""
    stream = made(busy(revision))

    assert receive_frame(stream, f.doing("streaming")) == [AgentStatus("streaming")]
    assert receive_frame(stream, f.chunk("b")) == [TurnStarted(f.TURN)]
    assert texts(receive_frame(stream, f.done("ab"))) == ["ab", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_that_goes_on_under_another_id_misses_nothing_of_that(revision: str) -> None:
    stream = made(busy(revision), f.chunk("b"))

    assert receive_frame(stream, f.begin("T2")) == [TurnStarted("T2")]
    assert texts(receive_frame(stream, f.chunk("c", "T2"))) == ["c"]
    assert texts(receive_frame(stream, f.done("c", "T2"))) == ["<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_v_a_question_that_is_open_stands_above_the_text_before_it(revision: str) -> None:
    """It is all that is told of the turn, which has no id before its next snapshot."""
    stream = made(busy(revision))

    (question,) = receive_frame(stream, f.asked(revision))
    assert type(question).__name__ == "Question"
    receive_frame(stream, f.answered(revision))
    told = receive_frame(stream, f.updated(f.text("a"), f.tool("completed"), content="a"))

    assert told[0] == TurnStarted(f.TURN)
    assert texts(told) == ["a", "[c1 completed]"]


def test_a_question_of_another_channel_shows_nothing() -> None:
    elsewhere = {"id": "q1", "type": "question", "context": {**f.CHANNEL, **OTHER}}
    stream = made(busy("V"), f.frame("interactive_prompt", prompt=elsewhere))

    assert not stream.accepted


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_that_is_stopped_before_its_text_was_told_was_canceled(revision: str) -> None:
    """The text stays unknown: no snapshot follows an abort."""
    stream = made(busy(revision), f.chunk("b"), f.drained(revision))

    assert stream.tick(stream.deadline) == Decoded([TurnFinished(reason=Reason.CANCELED)])


# What it never does, and who follows with it.


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_it_never_aborts(revision: str) -> None:
    running = init_r(prompt("P1"), turn()) if revision == "R" else busy(revision)
    stream = made(running, f.chunk("b"))

    stream.client_detached()

    assert stream.abort_scope is AbortScope.NONE
    assert stream.abort() == ()
    assert not stream.has_other_watchers


def test_it_pings_as_every_stream_does() -> None:
    stream = made(busy("V"), f.chunk("b"))

    assert sent(stream.tick(30)) == [{"type": "ping"}]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_it_is_company_for_the_stream_that_asked(revision: str) -> None:
    group = SessionGroup()
    asked = Member(group)
    asked.follow(f.TURN)
    running = init_r(prompt("P1"), turn()) if revision == "R" else busy(revision)

    made(running, f.chunk("b"), member=Member(group))

    assert asked.has_other_watchers


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_it_is_company_for_the_prompt_that_waits(revision: str) -> None:
    group = SessionGroup()
    asked = Member(group)
    asked.follow(f.PROMPT)
    entries = (prompt("P1", **OTHER), prompt(f.PROMPT))
    pending = {"messageId": f.PROMPT, "content": "two"}
    waits = (
        init_r(*entries, promptsQueued=1) if revision == "R" else busy("V", pendingPrompt=pending)
    )

    made(waits, member=Member(group))

    assert asked.has_other_watchers


def test_it_tells_signs_of_life_while_text_is_withheld() -> None:
    stream = made(busy("V"), f.chunk("b"))

    assert stream.receive_frame(f.chunk("c"), 1) == ALIVE


def test_the_tests_that_the_documentation_names_are_here() -> None:
    page = (Path(__file__).parents[3] / "docs" / "session-agent.md").read_text()
    tests = "".join(
        path.read_text()
        for kind in ("resume", "continuation")
        for path in Path(__file__).parent.glob(f"test_{kind}*.py")
    )

    named = re.findall(r"`(test_\w+)`", page)

    assert named
    assert [name for name in named if f"def {name}(" not in tests] == []
