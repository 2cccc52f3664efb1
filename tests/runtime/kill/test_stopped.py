"""SIGSTOP, and SIGCONT when another process has gone on: whoever comes back writes nothing."""

from pathlib import Path

import pytest

from runtime.kill.lanes import SAMPLE, lives, spread
from runtime.kill.mortal import Death
from runtime.kill.scene import SCENES


@pytest.mark.timeout(300 if SAMPLE else 0)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
@pytest.mark.parametrize("name", ["tools", "parallel", "approved"])
@pytest.mark.killed(
    "Not killed, but stopped, and it goes on later",
    "One turn",
    "After the lease another replica goes on. What the first one writes later is refused: its epoch"
    " is too old. In SQLite a process that is stopped in the middle of a write blocks the"
    " others for as long as it is stopped, in Postgres the one session for 5 s",
)
async def test_a_process_that_was_stopped_writes_nothing_when_it_goes_on(
    name: str, store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lives(tmp_path, store, lambda: request.getfixturevalue("postgres")) as many:
        whole = await many.live(SCENES[name], Death())
        commits, rounds, _ = whole.agents[0].counted()
        deaths = [Death(before_commit=number, stops=True) for number in range(3, commits + 1)]
        deaths += [Death(at_round=number, stops=True) for number in range(20, rounds + 1)]
        stories = await many.live_all(SCENES[name], spread(deaths, (SAMPLE + 1) // 2))
        assert sum(story.agents[0].counted()[2] for story in stories) > 0, "nobody came too late"
