"""SIGKILL at every commit and between the awaits of a turn: the next process goes on with it."""

from pathlib import Path

import pytest

from runtime.kill.mortal import Death
from runtime.kill.provider import Provider
from runtime.kill.story import Story, Zygote

PROMPTS = {
    "text": [],
    "tools": ["read", "pay", "mail"],
    "parallel": ["read+pay+mail"],
    "approval": ["erase"],
}


def said(steps: list[str]) -> str:
    return f"use {' '.join(steps)}" if steps else "talk"


@pytest.mark.parametrize("name", PROMPTS)
async def test_a_turn_survives_a_death_at_any_commit(name: str, tmp_path: Path) -> None:
    steps = PROMPTS[name]
    async with Zygote() as zygote, Provider() as provider:
        journal = f"sqlite:{tmp_path / 'journal.db'}"

        def story(session: str) -> Story:
            return Story(zygote, provider.url, tmp_path, journal, session)

        whole = story("whole")
        await whole.live(said(steps), Death())
        whole.judge(steps)
        commits, _ = whole.counted()
        assert commits > 5
        for number in range(1, commits + 1):
            for death in (Death(before_commit=number), Death(after_commit=number)):
                one = story(f"s{number}-{'before' if death.before_commit else 'after'}")
                await one.live(said(steps), death)
                one.judge(steps)
