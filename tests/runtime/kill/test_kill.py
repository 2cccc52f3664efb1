"""SIGKILL at every commit and between the awaits of a turn: the next process goes on with it.

Short runs take a sample of the moments. KILLS=0 takes them all.
"""

from pathlib import Path

import pytest

from runtime.kill.lanes import SAMPLE, lives, spread
from runtime.kill.mortal import Death
from runtime.kill.scene import SCENES, Scene

STORES = pytest.mark.parametrize("store", ["sqlite", "postgres"])


@STORES
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "text",
            marks=pytest.mark.killed(
                "While a model answers",
                ("The words so far; then these are taken back, and the answer comes again"),
                (
                    "Another replica goes on after the lease, and asks the model again. "
                    "Nothing of the lost answer was run"
                ),
            ),
        ),
        pytest.param(
            "tools",
            marks=pytest.mark.killed(
                "Before, in or after a tool",
                "One call with one outcome",
                (
                    "A `safe` tool runs again, a `keyed` one with the same key. A "
                    "`once` tool that had begun does not: its call ends as an error, "
                    "and the model is told that nobody knows what it did"
                ),
            ),
        ),
        pytest.param(
            "parallel",
            marks=pytest.mark.killed(
                "While several tools run",
                "One outcome for each call",
                (
                    "Outcomes that were committed stay. For each of the others the "
                    "policy of its tool decides, as above"
                ),
            ),
        ),
        pytest.param(
            "approved",
            marks=pytest.mark.killed(
                "Before a question, or after its answer",
                "The question once; the answer counts",
                "The allowed call runs once, with the input that the question had",
            ),
        ),
        pytest.param(
            "denied",
            marks=pytest.mark.killed(
                "After a call was denied",
                "The call as denied",
                "It is not run, and the model is told",
            ),
        ),
        pytest.param(
            "queue",
            marks=pytest.mark.killed(
                "While prompts wait",
                "Their turns, in order",
                (
                    "A client that got no reply to its prompt sends it again by the "
                    "same id: it is one prompt"
                ),
            ),
        ),
        pytest.param(
            "stop-text",
            marks=pytest.mark.killed(
                "While a turn is being stopped, in its text",
                "`canceled`, or the turn goes on as if nobody had stopped it",
                (
                    "A stop that was committed counts at the next replica. One that was "
                    "not is sent again"
                ),
            ),
        ),
        pytest.param(
            "stop-tool",
            marks=pytest.mark.killed(
                "While a turn is being stopped, in a tool",
                "The same",
                "The tool does not run again if it is `once`",
            ),
        ),
    ],
)
@pytest.mark.timeout(300 if SAMPLE else 0)
async def test_a_turn_survives_a_death_at_any_commit_and_any_await(
    name: str, store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    scene = SCENES[name]
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
        in_tools = [
            Death(in_tool=name)
            for name in ("read", "pay", "mail", "erase", "stall")
            if name in str(scene.prompts) and scene.answer
        ]
        await many.live_all(
            scene, [*in_tools, *spread(at_commits, some), *spread(at_awaits, SAMPLE - some)]
        )


@STORES
@pytest.mark.killed(
    "While a person is asked",
    "The question, for as long as it may be answered",
    "Nobody holds the turn: whichever replica gets the answer goes on with it",
)
async def test_a_question_survives_the_death_of_who_asked_it(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lives(tmp_path, store, lambda: request.getfixturevalue("postgres")) as many:
        for answer in (True, False):
            scene = Scene(("use erase",), answer=answer, ends_at_question=True)
            story = await many.live(scene, Death())
            assert story.told[1][0]["data"]["runnerBusy"] is True
