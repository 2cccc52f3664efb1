"""SIGKILL at every commit and between the awaits of a turn: the next process goes on with it.

Short runs take a sample of the moments. KILLS=0 takes them all (`make agent-chaos`).
"""

from pathlib import Path

import pytest

from runtime.kill.lanes import SAMPLE, lives, spread
from runtime.kill.mortal import Death
from runtime.kill.scene import SCENES, Scene

STORES = pytest.mark.parametrize("store", ["sqlite", "postgres"])


@STORES
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.timeout(0 if not SAMPLE else 300)
async def test_a_turn_survives_a_death_at_any_commit_and_any_await(
    scene: Scene, store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lives(tmp_path, store, lambda: request.getfixturevalue("postgres")) as many:
        whole = await many.live(scene, Death())
        commits, rounds, _ = whole.agents[0].counted()
        assert commits > 5
        at_commits = [
            death
            for number in range(1, commits + 1)
            for death in (Death(before_commit=number), Death(after_commit=number))
        ]
        at_awaits = [Death(at_round=number) for number in range(1, rounds + 1)]
        some = (SAMPLE + 1) // 2
        await many.live_all(scene, [*spread(at_commits, some), *spread(at_awaits, SAMPLE - some)])


@STORES
async def test_a_question_survives_the_death_of_who_asked_it(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lives(tmp_path, store, lambda: request.getfixturevalue("postgres")) as many:
        for answer in (True, False):
            scene = Scene(("use erase",), answer=answer, ends_at_question=True)
            story = await many.live(scene, Death())
            assert story.told[1][0]["data"]["runnerBusy"] is True


@STORES
@pytest.mark.parametrize("name", ["tools", "parallel", "approved"])
async def test_a_process_that_was_stopped_writes_nothing_when_it_goes_on(
    name: str, store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lives(tmp_path, store, lambda: request.getfixturevalue("postgres")) as many:
        whole = await many.live(SCENES[name], Death())
        commits, rounds, _ = whole.agents[0].counted()
        deaths = [Death(before_commit=number, stops=True) for number in range(3, commits + 1)]
        deaths += [Death(at_round=number, stops=True) for number in range(20, rounds + 1)]
        stories = await many.live_all(SCENES[name], spread(deaths, SAMPLE))
        assert sum(story.agents[0].counted()[2] for story in stories) > 0, "nobody came too late"
