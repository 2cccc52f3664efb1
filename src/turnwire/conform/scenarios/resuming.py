"""A client that comes back, and a question that it answers twice."""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, Shared
from turnwire.conform.scenario import Scenario, operation, prompt
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.events import Question, QuestionClosed, TextDelta
from turnwire.core.operations import Answered, OperationName
from turnwire.core.rejection import Rejection

BEGUN_DELTAS: Final = 5
_ANSWERS: Final = (Raw(b'"yes"'), Raw(b'"no"'))
_VERDICTS: Final = (Raw(b"true"), Raw(b"false"))
_MID_TURN: Final = "resume-in-mid-turn"


async def resumes_in_mid_turn(bench: Bench) -> Sequence[str]:
    """Follow a turn a second time, from its middle, and compare."""
    bench.expect_greeting()
    patience = bench.patience
    with bench.playing(bench.given.prompts.long) as first:
        await first.until(
            lambda: first.is_over or len(first.events(TextDelta)) >= BEGUN_DELTAS, patience.turn_s
        )
        if first.is_over:
            raise FailedError(f"the long turn {first.ending()}, before it could be resumed")
        with bench.resuming() as again:
            await first.to_end(patience.turn_s)
            expect_completed(first, "the long turn")
            await again.to_end(patience.look_s)
    if again.turn.rejection is Rejection.NO_TURN:
        raise FailedError("the agent says that no turn runs")
    expect_completed(again, "the resumed turn")
    if again.text == first.text:
        return ()
    raise FailedError(_difference(first.text, again.text))


async def resumes_nothing_after_the_end(bench: Bench) -> Sequence[str]:
    """Resume when the turn is over."""
    bench.expect_greeting()
    expect_completed(await bench.shared(Shared.PLAIN))
    with bench.resuming() as play:
        await play.to_end(bench.patience.look_s)
    if play.turn.rejection is Rejection.NO_TURN:
        return ()
    raise FailedError(f"a turn was told once more that is over: it {play.ending()}")


async def takes_one_answer(bench: Bench) -> Sequence[str]:
    """Answer a question twice, at the same moment and in different words."""
    patience = bench.patience
    with bench.playing(bench.given.prompts.question) as play:
        await play.until(lambda: play.is_over or bool(play.events(Question)), patience.turn_s)
        asked = play.events(Question)
        if not asked:
            raise FailedError(f"the agent asked nothing, and the turn {play.ending()}")
        question = asked[0]
        answers = _VERDICTS if question.is_approval else _ANSWERS
        results = await asyncio.gather(
            *(bench.answer(question.question_id, answer) for answer in answers)
        )
        await play.to_end(patience.turn_s)
        await asyncio.sleep(patience.settle_s)
    taken = sum(isinstance(result, Answered) for result in results)
    closed = {bytes(each.answer or b"") for each in play.events(QuestionClosed)}
    if taken > 1 or len(closed) > 1:
        raise FailedError(f"{max(taken, len(closed))} different answers were taken")
    if not taken:
        reasons = ", ".join(each.value for each in results if isinstance(each, Rejection))
        raise FailedError(f"no answer was taken: {reasons}")
    expect_completed(play, "the turn that asked")
    return ()


def _difference(whole: str, resumed: str) -> str:
    """How what was resumed differs from the whole text."""
    sizes = f"({len(resumed)} characters; the turn has {len(whole)})"
    if not resumed:
        return "the resumed turn has no text"
    if len(resumed) < len(whole):
        what = "begins in the middle" if whole.endswith(resumed) else "lacks a part of the text"
        return f"the resumed turn {what} {sizes}"
    return f"the resumed turn has text twice, or another text {sizes}"


SCENARIOS: Final = (
    Scenario(
        name=_MID_TURN,
        tries="follow a turn a second time, while it runs",
        expects="the same text as on the connection that sent the prompt, from beginning to end",
        matters="A user who reloads the page loses the answer, or sees it twice.",
        mend="Tell the turn so far in the first frame of a connection, then what comes: no gap.",
        play=resumes_in_mid_turn,
        turns=1,
        needs=(operation(OperationName.RESUME),),
        after=(ONE_TURN, "many-deltas", "each-delta-once", "greets"),
    ),
    Scenario(
        name="resume-after-the-end",
        tries="follow a turn that is over",
        expects="the agent says that no turn runs",
        matters="The user would see the last answer a second time.",
        mend="Name a turn as running only until its end was sent.",
        play=resumes_nothing_after_the_end,
        looks_at=frozenset({Shared.PLAIN}),
        needs=(operation(OperationName.RESUME),),
        after=(ONE_TURN, "greets"),
    ),
    Scenario(
        name="answered-twice",
        tries="answer a question twice at the same moment, in different words",
        expects="one answer is taken, and the turn is completed",
        matters="Two tabs answer: a tool may run that one of them has denied.",
        mend="Close a question with its first answer, and drop every later one.",
        play=takes_one_answer,
        turns=1,
        needs=(operation(OperationName.ANSWER), prompt("question")),
        after=(ONE_TURN,),
    ),
)
