"""What `init` says of a session: in all revisions, and what R alone says."""

import json
from typing import Any

import pytest

from support import session_agent_frames as f
from support.session_agent_resumed import init_r, prompt, turn
from turnwire.core.requests import Channel
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.session_agent import frames
from turnwire.dialects.session_agent.frames import Init, Snapshot
from turnwire.dialects.session_agent.init import (
    DEAD,
    Ahead,
    Session,
    is_turn,
    pending,
    prepare_frame,
    session,
    session_state,
)

WEB = Channel("web", "default")


def decoded(raw: bytes) -> Init:
    frame = frames.decoder.read(raw, FrameStats())
    assert isinstance(frame, Init)
    return frame


def described(*entries: Any, **data: Any) -> Session:
    """The session of R with these entries, whose runner is busy unless `data` says otherwise."""
    init = decoded(_with(entries, data))
    return session(init, session_state(init), Ahead())


def _with(entries: Any, data: dict[str, Any]) -> bytes:
    raw = json.loads(init_r(*entries))
    raw["data"] |= data
    return json.dumps(raw).encode()


def ids(*entries: Snapshot | None) -> list[str | None]:
    return [None if entry is None else entry.id for entry in entries]


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("alive", [*sorted(DEAD), "running", "hibernated", ""])
def test_which_sessions_are_over(revision: str, alive: str) -> None:
    state = session_state(decoded(f.init(revision, alive=alive)))

    assert state.is_dead is (alive in DEAD)
    assert state.echo_on_dispatch is (revision != "R")


@pytest.mark.parametrize(
    ("data", "runner_busy", "queued"),
    [
        ({"runnerBusy": True, "promptsQueued": 2}, True, 2),
        ({"runnerBusy": "yes", "promptsQueued": "2"}, False, 0),
        ({"runnerBusy": None, "promptsQueued": 2.5}, False, 0),
        ({"runnerBusy": {}, "promptsQueued": 3}, False, 3),
    ],
)
def test_an_odd_flag_does_not_spoil_the_others(
    data: dict[str, Any], queued: int, *, runner_busy: bool
) -> None:
    state = session_state(decoded(f.init("V", **data)))

    assert (state.runner_busy, state.prompts_queued) == (runner_busy, queued)


@pytest.mark.parametrize(
    ("waits", "pending_id", "on_our_channel"),
    [
        (None, None, None),
        ({"messageId": "P1", "content": "x"}, "P1", "P1"),
        ({"messageId": "P1", "content": "x", "threadId": "th1"}, "P1", None),
        ({"messageId": "P1", "content": "x", "channelType": "web", "channelId": "c2"}, "P1", None),
        ("odd", None, None),
    ],
)
def test_the_prompt_that_waits_and_its_channel(
    waits: object, pending_id: str | None, on_our_channel: str | None
) -> None:
    init = decoded(f.init("V", pendingPrompt=waits))

    assert session_state(init).pending_id == pending_id
    assert pending(init, WEB) == on_our_channel


def test_the_last_prompt_that_does_not_wait_is_at_work_and_its_turn_follows() -> None:
    found = described(
        prompt("P1"), turn(f.END, turn="t1"), prompt("P2"), turn(turn="t2"), prompt("P3"),
        promptsQueued=1,
    )  # fmt: skip

    assert ids(found.turn, found.prompt, *found.waiting) == ["t2", None, "P3"]
    assert found.asker == "ann"


@pytest.mark.parametrize(
    ("entries", "data", "running", "starting"),
    [
        pytest.param([prompt("P1")], {}, None, "P1", id="its turn has no id yet"),
        pytest.param([prompt("P1")], {"runnerBusy": False}, None, None, id="nothing runs"),
        pytest.param([prompt("P1"), turn(f.END)], {}, None, None, id="its turn is finished"),
        pytest.param(
            [prompt("P1"), turn()], {"runnerBusy": False}, None, None, id="the runner rests"
        ),
        pytest.param([turn()], {}, f.TURN, None, id="no prompt is left of it"),
        pytest.param(
            [prompt("P1")], {"promptsQueued": 5}, None, None, id="more wait than there are"
        ),
        pytest.param([prompt("P1")], {"promptsQueued": -1}, None, "P1", id="an odd number waits"),
        pytest.param([], {}, None, None, id="an empty history"),
    ],
)
def test_what_runs(
    entries: list[f.Fields], data: dict[str, Any], running: str | None, starting: str | None
) -> None:
    found = described(*entries, **data)

    assert ids(found.turn, found.prompt) == [running, starting]


def test_a_forwarded_message_is_no_turn() -> None:
    forwarded = {**turn(), "parts": {"forwardedFrom": "x"}}
    entries = described(turn(f.END), forwarded, prompt("P1")).entries

    assert [is_turn(entry) for entry in entries] == [True, False, False]


def test_what_is_odd_in_a_history_is_left_out() -> None:
    assert ids(*described(7, prompt("P1"), {"id": 7}, turn()).entries) == ["P1", f.TURN]


def test_entries_that_are_read_ahead_are_those_of_the_frame_and_are_taken_once() -> None:
    raw = init_r(prompt("P1"), turn(f.text("x" * 70_000)), prompt("P2"))
    seen: list[str] = []
    ahead = Ahead(lambda entry: seen.append(entry.id))
    init = decoded(raw)

    steps = len(list(prepare_frame(raw, ahead)))
    taken = ahead.take(init.session)

    assert steps > 3
    assert seen == ids(*taken) == ids(*ahead.take(init.session)) == ["P1", f.TURN, "P2"]


def test_entries_of_a_frame_that_is_not_used_are_dropped() -> None:
    ahead = Ahead()
    list(prepare_frame(init_r(prompt("P1")), ahead))

    ahead.drop()

    assert ids(*ahead.take(decoded(init_r(prompt("P2"))).session)) == ["P2"]
