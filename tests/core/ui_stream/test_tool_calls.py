import time

import pytest

from support.shown import brief, shown, tool
from turnwire.core.events import Phase, ToolUpdate
from turnwire.core.ui_stream.tool_calls import CALLS_MAX, Calls

PENDING = tool(Phase.PENDING)
RUNNING = tool(Phase.RUNNING, args={"a": 1})
BARE = tool(Phase.RUNNING)
DONE = tool(Phase.COMPLETED, result=4)
FAILED = tool(Phase.ERROR, error="exit 1")
SETTLED = tool(Phase.ERROR, error="No result", preliminary=True)
INPUT = "tool-input-available c {'a': 1}"
NO_INPUT = "tool-input-available c {}"
OUTPUT = "tool-output-available c 4"


@pytest.mark.parametrize(
    ("before", "update", "chunks"),
    [
        pytest.param([], PENDING, ["tool-input-start c"], id="pending"),
        pytest.param([PENDING], PENDING, [], id="pending again"),
        pytest.param([], BARE, ["tool-input-start c"], id="running without args, first seen"),
        pytest.param([PENDING], BARE, [], id="running without args"),
        pytest.param([PENDING], RUNNING, [INPUT], id="running with args"),
        pytest.param([], RUNNING, [INPUT], id="running, first seen"),
        pytest.param([RUNNING], RUNNING, [], id="running again"),
        pytest.param(
            [RUNNING], tool(Phase.RUNNING, args=9), [], id="later changes of args are not repeated"
        ),
        pytest.param(
            [], tool(Phase.RUNNING, args=None), ["tool-input-available c None"], id="null is args"
        ),
        pytest.param([RUNNING], DONE, [OUTPUT], id="completed"),
        pytest.param([PENDING], DONE, [NO_INPUT, OUTPUT], id="completed before it ran"),
        pytest.param([], DONE, [NO_INPUT, OUTPUT], id="completed, first seen"),
        pytest.param(
            [],
            tool(Phase.COMPLETED, args={"a": 1}),
            [INPUT, "tool-output-available c None"],
            id="completed with args and without a result",
        ),
        pytest.param([RUNNING], FAILED, ["tool-output-error c exit 1"], id="failed"),
        pytest.param([], FAILED, [NO_INPUT, "tool-output-error c exit 1"], id="failed, first seen"),
        pytest.param(
            [RUNNING],
            tool(Phase.ERROR),
            ["tool-output-error c Tool execution failed"],
            id="failed without a word",
        ),
        *(
            pytest.param([ended], again, [], id=f"{again.phase.value} after {ended.phase.value}")
            for ended in (DONE, FAILED)
            for again in (DONE, FAILED, BARE, RUNNING)
        ),
        pytest.param([RUNNING], SETTLED, ["tool-output-error c No result"], id="no outcome yet"),
        pytest.param([SETTLED], DONE, [OUTPUT], id="completed after no outcome"),
        pytest.param([SETTLED], FAILED, ["tool-output-error c exit 1"], id="failed after none"),
        *(
            pytest.param(before, again, [], id=f"{again.phase.value} after {len(before)}, settled")
            for before, again in (
                *(([SETTLED], SETTLED), ([SETTLED], RUNNING), ([DONE], SETTLED)),
                *(([SETTLED, DONE], DONE), ([SETTLED, FAILED], DONE)),
                ([tool(Phase.COMPLETED, preliminary=True)], DONE),
            )
        ),
        pytest.param([DONE], PENDING, ["tool-input-start c#2"], id="a new call under an old id"),
        pytest.param(
            [DONE, PENDING],
            DONE,
            ["tool-input-available c#2 {}", "tool-output-available c#2 4"],
            id="the outcome of the new call",
        ),
        pytest.param(
            [tool(Phase.PENDING, "c#2"), DONE],
            PENDING,
            ["tool-input-start c#3"],
            id="a new call does not take the id of another",
        ),
    ],
)
def test_what_a_phase_is_worth(
    before: list[ToolUpdate], update: ToolUpdate, chunks: list[str]
) -> None:
    calls = Calls()
    for earlier in before:
        calls.update(earlier)

    assert brief(calls.update(update)) == chunks


def test_running_in_a_later_step_is_a_new_call() -> None:
    calls = Calls()
    calls.update(DONE)
    calls.next_step()

    assert brief(calls.update(DONE)) == []
    assert brief(calls.update(RUNNING)) == ["tool-input-available c#2 {'a': 1}"]


def test_the_first_name_of_a_call_stays() -> None:
    calls = Calls()
    calls.update(tool(Phase.PENDING, name="first"))

    (given,) = shown(calls.update(tool(Phase.RUNNING, name="second", args={})))

    assert given["toolName"] == "first"


def test_open_calls_and_the_calls_of_a_step_are_counted() -> None:
    calls = Calls()
    calls.update(PENDING)
    calls.update(tool(Phase.RUNNING, "d", args={}))

    assert (calls.open, calls.step_has_calls) == (2, True)

    calls.update(DONE)
    calls.next_step()

    assert (calls.open, calls.step_has_calls) == (1, False)


def test_settling_gives_every_open_call_an_input_and_an_outcome() -> None:
    calls = Calls()
    for update in (PENDING, tool(Phase.RUNNING, "d", args=1), tool(Phase.COMPLETED, "e")):
        calls.update(update)

    assert brief(calls.settle("Canceled")) == [
        *("tool-input-available c {}", "tool-output-error c Canceled"),
        "tool-output-error d Canceled",
    ]
    assert (calls.open, calls.settle()) == (0, [])


def test_values_and_names_are_made_harmless() -> None:
    calls = Calls()

    given, output = shown(
        calls.update(
            tool(Phase.COMPLETED, "\ud83d", "\ude00", args={"__proto__": 1}, result=["\u2028"])
        )
    )

    assert given == {
        "type": "tool-input-available",
        "toolCallId": "\ufffd",
        "toolName": "\ufffd",
        "input": {"_proto_": 1},
    }
    assert output["output"] == ["\u2028"]


@pytest.mark.parametrize("oldest", [PENDING, RUNNING], ids=["pending", "running"])
def test_a_call_stays_open_however_many_begin_and_end_beside_it(oldest: ToolUpdate) -> None:
    calls = Calls()
    calls.update(oldest)
    for number in range(5 * CALLS_MAX):
        calls.update(tool(Phase.COMPLETED, f"n{number}"))

    assert calls.open == 1
    assert brief(calls.update(DONE))[-1] == "tool-output-available c 4"
    assert brief(calls.update(DONE)) == [], "which is a repeat"


def test_of_too_many_done_the_oldest_are_forgotten() -> None:
    calls = Calls()
    for number in range(CALLS_MAX + 2):
        calls.update(tool(Phase.COMPLETED, f"n{number}"))

    repeated = (calls.update(tool(Phase.COMPLETED, f"n{n}")) for n in range(2, CALLS_MAX + 2))
    assert not any(repeated)
    assert (calls.is_done("n1"), calls.is_done("n2")) == (False, True)


@pytest.mark.parametrize(
    ("oldest", "chunks"),
    [
        (PENDING, ["tool-input-available c {}", "tool-output-error c No result"]),
        (RUNNING, ["tool-output-error c No result"]),
    ],
    ids=["pending", "running"],
)
def test_of_too_many_open_at_once_the_oldest_is_settled(
    oldest: ToolUpdate, chunks: list[str]
) -> None:
    """And has no second card when its outcome comes after all, nor when it says that it runs."""
    calls = Calls()
    calls.update(oldest)
    for number in range(CALLS_MAX - 1):
        calls.update(tool(Phase.PENDING, f"n{number}"))
    assert calls.open == CALLS_MAX

    assert brief(calls.update(tool(Phase.PENDING, "x"))) == [*chunks, "tool-input-start x"]
    calls.next_step()
    assert brief(calls.update(RUNNING)) == []
    assert brief(calls.update(DONE)) == []
    assert calls.open == CALLS_MAX


def test_no_id_of_a_card_comes_twice_in_however_long_a_turn() -> None:
    """Also where the agent's own ids look like ours."""
    calls = Calls()
    ids: list[str] = []

    def run(call_id: str) -> None:
        told = shown(calls.update(tool(Phase.PENDING, call_id)))
        ids.extend(chunk["toolCallId"] for chunk in told)
        calls.update(tool(Phase.COMPLETED, call_id))

    for again in range(4):
        for number in range(7_000):
            run(f"n{number}")
            if number % 1_000 == 0:
                run(f"n{number}#{14_000 + number + again}")

    assert len(ids) == len(set(ids)) == 4 * 7_007
    assert len(calls._shown_ids) == 4 * CALLS_MAX
    assert len(calls._done) == CALLS_MAX


def test_a_call_id_used_again_and_again_costs_neither_memory_nor_time() -> None:
    calls = Calls()
    began = time.process_time()

    for _ in range(20_000):
        calls.update(PENDING)
        calls.update(DONE)

    assert len(calls._done) == 1
    assert len(calls._shown_ids) <= 4 * CALLS_MAX
    assert time.process_time() - began < 10
    assert brief(calls.update(PENDING)) == ["tool-input-start c#20001"]
