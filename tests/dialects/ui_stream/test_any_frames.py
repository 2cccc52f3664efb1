"""P1 to P6 through a whole `Turn`, whatever chunks come in whatever order, cut wherever."""

import random
import re

from support import ui_chunks as f
from support.seeds import each_seed
from support.ui_stream_turn import Played

WORDS = ["a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"', ""]
CALLS = ["c1", "c2", "c3"]
VALUES = ["21", [1], {"__proto__": 1}, None, {"constructor": {"prototype": 1}}]


def pool(dice: random.Random) -> bytes:
    """Any chunk of a response, but for its end."""
    word, call, block = dice.choice(WORDS), dice.choice(CALLS), dice.choice(["t1", "t2", "c1"])
    value = dice.choice(VALUES)
    choices = (
        *(f.text(word, block), f.text(word), f.text_start(block), f.text_end(block)),
        *(f.thought(word, block), f.thought_end(block), f.step(), f.step_end(), f.start()),
        *(f.call(call), f.piece('{"a":1}', call), f.piece(word, call), f.given(call)),
        *(f.given(call, "other", input=value), f.refused(call), f.output(value, call)),
        *(f.output(value, call, preliminary=True), f.failed(word, call), f.denied(call)),
        *(f.data("x", value), f.data("x", value, id=block), f.data("x", 1, transient=True)),
        f.chunk("source-url", sourceId=word, url="https://a.example"),
        f.chunk("file", url=dice.choice(["https://a.example/f", "x:"]), mediaType="image/png"),
        dice.choice(f.NOISE),
    )
    return dice.choice(choices)


ENDINGS = [
    [f.finish()],
    [f.DONE],
    [f.chunk("abort"), f.DONE],
    [f.error("boom"), f.step_end(), f.finish(finishReason="error"), f.DONE],
    [f.ask("a9", "c9"), f.finish()],
    [],
]


@each_seed(120)
def test_any_chunks_in_any_order_make_a_stream_that_ends(seed: int) -> None:
    dice = random.Random(f"any {seed}")  # noqa: S311 (the same chunks every time)
    played = Played()

    played.tell(*(pool(dice) for _ in range(80)))
    played.tell(*dice.choice(ENDINGS)).leave()
    played.tell(f.text("late"), f.finish())

    assert played.turn.outcome is not None
    assert "late" not in played.client.text
    played.client.close()


@each_seed(60)
def test_the_text_is_what_was_told_in_order_and_once(seed: int) -> None:
    dice = random.Random(f"text {seed}")  # noqa: S311 (the same chunks every time)
    told: list[str] = []
    played = Played(f.start())
    others = (f.call(), f.given(), f.output("x"), f.thought("hm"), f.data("x", 1), f.step())

    for number in range(80):
        if dice.randrange(4) == 0:
            played.tell(dice.choice(others))
            continue
        block = dice.choice(["t1", "t2", "t3"])
        word = f"<{block}>{number}{dice.choice(WORDS)}"
        played.tell(f.text(word, block))
        told.append(word)
    played.tell(f.finish())

    assert played.client.streamed_text == "".join(told)
    blocks = played.client.texts.values()
    assert all(len(set(re.findall("<t.>", block))) == 1 for block in blocks)
    played.client.close()


@each_seed(40)
def test_reads_make_no_difference(seed: int) -> None:
    """All chunks at once, or each in a read of its own."""
    dice = random.Random(f"reads {seed}")  # noqa: S311 (the same chunks every time)
    frames = [*(pool(dice) for _ in range(60)), f.finish(), f.DONE]

    assert Played(*frames).written == Played(*frames, at_once=True).written


@each_seed(60)
def test_after_any_chunks_an_approval_is_asked_answered_and_the_turn_ends(seed: int) -> None:
    dice = random.Random(f"asked {seed}")  # noqa: S311 (the same chunks every time)
    frames = [pool(dice) for _ in range(30)]
    played = Played(*frames, f.given("c9", input={"a": 1}), f.ask("a9", "c9"), f.finish()).leave()
    assert played.client.questions == {"a9": "open"}

    request = played.reply("a9", answer=True).requests[1]
    played.open_again().tell(*(pool(dice) for _ in range(30)), f.DONE)

    parts = request["messages"][-1]["parts"]
    assert [part["toolCallId"] for part in parts if "approval" in part] == ["c9"]
    assert played.client.questions == {"a9": "resolved"}
    played.client.close()
