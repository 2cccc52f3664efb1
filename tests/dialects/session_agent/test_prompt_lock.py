"""Prompts that the agent swallows without a word, and who waits for them."""

import json

import pytest

from support import session_agent_frames as f
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.turn import RESPONSE_S


class Tab:
    """One prompt of a user, in a stream of its own."""

    def __init__(self, group: SessionGroup, user_id: str, revision: str) -> None:
        self.sent = 0
        self.member = Member(group)
        ask = PromptRequest(text="two", prompt_id="p1", user_id=user_id)
        self.turn = Turn(SessionAgent().prompt(ask, self.member), Limits(), UIMessageStream())
        self._count(self.turn.handle(Opened(), 0).to_agent)
        self._count(self.turn.frames([f.init(revision, runnerBusy=False)], 0).to_agent)

    def tick(self, now: float) -> None:
        self._count(self.turn.handle(Tick(), now).to_agent)
        if self.turn.outcome is not None:
            self.member.leave()  # as its stream does

    def _count(self, told: object) -> None:
        assert isinstance(told, tuple | list)
        self.sent += sum(json.loads(frame)["type"] == "prompt" for frame in told)


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.attack(
    "many prompts of one user that the agent drops without an answer",
    "users take turns: the prompt of another user waits for at most one of these, 30 s",
)
def test_dropped_prompts_of_one_user_hold_up_others_for_one_prompt_alone(revision: str) -> None:
    group = SessionGroup()
    anns = [Tab(group, "ann", revision) for _ in range(20)]
    bob = Tab(group, "bob", revision)
    assert [tab.sent for tab in anns] == [1] + [0] * 19
    assert bob.sent == 0

    now = 0.0
    while not bob.sent:
        now += 1
        for tab in [*anns, bob]:
            tab.tick(now)
        assert now <= RESPONSE_S + 2

    assert [tab.turn.outcome for tab in anns if tab.turn.outcome] == [Outcome.FAILED]
