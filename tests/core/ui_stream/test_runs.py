"""Rows of chunks of calls and questions: which numbers they take, and what waits for one."""

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.bounds import WAITING_BYTES_MAX
from turnwire.core.safe_json import TOO_LONG
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.numbering import RUN_COPIES, RUN_MAX, Renumbering, _size
from turnwire.core.ui_stream.tool_calls import CALLS_MAX

LONG = b"x" * (WAITING_BYTES_MAX - 2)


def tool(number: int, output: bytes = b"1") -> list[Chunk]:
    its_id = f"c{number}"
    return [
        chunks.ToolInputStart(its_id, "t"),
        chunks.ToolInputAvailable(its_id, "t", Raw(b"{}")),
        chunks.ToolOutputAvailable(its_id, Raw(output)),
    ]


def test_a_run_of_very_many_calls_is_filled_up_in_parts() -> None:
    recut = Renumbering()
    sizes = [len(recut.take(tool(number))) for number in range(20 * RUN_MAX)]

    filled = [number for number, size in enumerate(sizes) if size > 3]
    assert filled == list(range(RUN_MAX, 20 * RUN_MAX, RUN_MAX))
    assert max(sizes) <= RUN_MAX * 3 * RUN_COPIES + 3


@pytest.mark.parametrize("calls", range(4))
def test_the_end_has_room_for_an_outcome_of_each_call(calls: int) -> None:
    recut = Renumbering()
    for number in range(calls):
        recut.take(tool(number))

    end = recut.take([chunks.FinishStep(), chunks.Finish()])

    unused = calls * (3 * RUN_COPIES - 3)
    late = calls * RUN_COPIES
    assert [type(each) for each in end] == [
        *[chunks.DataAgentStatus] * (unused + late),
        chunks.FinishStep,
        chunks.Finish,
    ]


def test_the_end_has_room_for_all_that_may_be_late_and_no_more() -> None:
    recut = Renumbering()
    for number in range(2 * CALLS_MAX):
        recut.take(tool(number))

    end = recut.take([chunks.FinishStep(), chunks.Finish()])

    assert len(end) < (RUN_MAX * 3 + CALLS_MAX) * RUN_COPIES + 9


def test_an_output_that_is_late_and_too_long_to_wait_is_told_without_its_content() -> None:
    recut = Renumbering()
    recut.take(tool(1)[:2])
    recut.take([chunks.TextStart("t"), chunks.TextDelta("t", "a b "), chunks.TextEnd("t")])
    recut.take([chunks.ToolOutputAvailable("c1", Raw(b'"%b"' % (b"x" * (WAITING_BYTES_MAX + 9))))])

    end = recut.take([chunks.FinishStep(), chunks.Finish()])

    assert chunks.ToolOutputAvailable("c1", Raw(TOO_LONG)) in end


def test_data_that_is_late_and_too_long_to_wait_is_told_without_its_content() -> None:
    recut = Renumbering()
    recut.take([chunks.DataPart("data-s", Raw(b"1"), "d"), chunks.StartStep()])
    recut.take([chunks.DataPart("data-s", Raw(b'"%b"' % (b"x" * (WAITING_BYTES_MAX + 9))), "d")])

    end = recut.take([chunks.FinishStep(), chunks.Finish()])

    assert chunks.DataPart("data-s", Raw(TOO_LONG), "d") in end


def test_a_late_output_that_was_sent_leaves_its_room_to_the_next() -> None:
    recut = Renumbering()
    outputs = [chunks.ToolOutputAvailable(f"c{n}", Raw(b'"%b"' % LONG)) for n in (1, 2)]

    told = recut.take([*tool(1)[:2], chunks.StartStep(), outputs[0]])
    told += recut.take([*tool(2)[:2], chunks.StartStep(), outputs[1]])
    told += recut.take([chunks.FinishStep(), chunks.Finish()])

    assert [each for each in told if isinstance(each, chunks.ToolOutputAvailable)] == outputs


@pytest.mark.parametrize(
    ("chunk", "follows"),
    [
        (chunks.Start("m"), False),
        (chunks.StartStep(), False),
        (chunks.FinishStep(), False),
        (chunks.TextStart("t"), False),
        (chunks.TextDelta("t", "a"), False),
        (chunks.TextEnd("t"), False),
        (chunks.ReasoningStart("r"), False),
        (chunks.ReasoningDelta("r", "a"), False),
        (chunks.ReasoningEnd("r"), False),
        (chunks.ToolInputStart("c2", "t"), False),
        (chunks.ToolInputAvailable("c1", "t", Raw(b"{}")), True),
        (chunks.ToolInputAvailable("c2", "t", Raw(b"{}")), False),
        (chunks.ToolOutputAvailable("c1", Raw(b"1")), True),
        (chunks.ToolOutputError("c1", "no"), True),
        (chunks.ToolInputDelta("c1", "{"), True),
        (chunks.ToolOutputPreliminary("c1", Raw(b"1")), True),
        (chunks.DataPart("data-s", Raw(b"1"), "d"), False),
        (chunks.ToolApprovalRequest("a", "c1"), False),
        (chunks.File("data:,", "text/plain"), False),
        (chunks.SourceUrl("s", "https://a.example/"), False),
        (chunks.DataAgentStatus(chunks.StatusData("thinking")), False),
        (chunks.DataQuestion("q1", Raw(b"{}")), True),
        (chunks.DataQuestion("q2", Raw(b"{}")), False),
        (chunks.Error("no"), False),
        (chunks.Abort(), False),
        (chunks.Finish(), False),
    ],
)
def test_which_chunks_are_about_a_call_or_a_question_that_is_known(
    chunk: Chunk, *, follows: bool
) -> None:
    recut = Renumbering()
    recut.take([*tool(1)[:1], chunks.DataQuestion("q1", Raw(b"{}"))])

    assert recut.follows(chunk) is follows


def test_a_run_in_which_the_client_was_cut_off_is_sent_again_at_once() -> None:
    assert Renumbering(skip=2).take(tool(1)) == tool(1)


def test_what_fills_up_is_short() -> None:
    recut = Renumbering()
    said = chunks.StatusData("s" * 1_000, "d" * 100_000)

    out = recut.take([chunks.DataAgentStatus(said), *tool(1), chunks.FinishStep(), chunks.Finish()])

    fillers = [each for each in out if isinstance(each, chunks.DataAgentStatus)]
    assert fillers
    assert all(len(msgspec.json.encode(each)) < 200 for each in fillers)


def test_a_client_that_has_more_than_there_is_makes_nothing_pile_up() -> None:
    recut = Renumbering(skip=1_000_000)
    for number in range(3 * RUN_MAX):
        data = b'{"text":"%b","questionId":"q","state":"open"}' % (b"x" * 100_000)
        question = chunks.DataQuestion(f"q{number}", Raw(data))
        told = recut.take([*tool(number, b'"%b"' % (b"x" * 100_000)), question, question])
        assert told == []

    assert sum(map(_size, recut._late.values())) < 2 * WAITING_BYTES_MAX
    assert recut._run is not None
    assert len(recut._run.repeats) <= recut._run.size
    assert sum(map(_size, recut._run.repeats)) < 2 * WAITING_BYTES_MAX


def test_questions_without_end_are_not_all_kept() -> None:
    recut = Renumbering()
    for number in range(2 * CALLS_MAX):
        recut.take([chunks.DataQuestion(f"q{number}", Raw(b'{"state":"open"}'))])

    assert len(recut._questions) == CALLS_MAX


def test_a_question_asked_without_end_does_not_pile_up() -> None:
    recut = Renumbering(skip=1_000)
    for _ in range(50):
        recut.take([chunks.DataQuestion("q", Raw(b'{"state":"open"}'))])

    assert recut._run is not None
    assert len(recut._run.repeats) == recut._run.size
