"""P1 to P6 through a whole `Turn`, whatever messages come in whatever order, cut wherever."""

import random

from support import acp_messages as f
from support.acp_turn import Played, begun
from support.seeds import each_seed

WORDS = ["a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"', ""]
VALUES = ["21", [1], {"__proto__": 1}, None, {"constructor": {"prototype": 1}}]


def pool(dice: random.Random) -> bytes:
    """Any message of our turn, but for its end."""
    word, value = dice.choice(WORDS), dice.choice(VALUES)
    call_id = dice.choice(["c1", "c2", "c3"])
    choices = (
        *(f.text(word), f.text(word, messageId=call_id), f.thought(word), f.prompted(word)),
        *(f.call(call_id), f.call(call_id, status="in_progress", rawInput=value)),
        *(f.state("in_progress", call_id, rawInput=value), f.state(None, call_id, rawInput=value)),
        *(f.state("in_progress", call_id, content=f.shown(word)), f.state("other", call_id)),
        *(f.state("completed", call_id, rawOutput=value), f.state("failed", call_id)),
        *(f.permission(dice.randrange(100), call_id), f.permission(value, call_id), f.UNREADABLE),
        f.permission(word, call_id, options=[{"optionId": word, "kind": value}], rawInput=value),
        f.message(method="$/cancel_request", params={"requestId": dice.randrange(100)}),
        f.state(None, call_id, content=f.shown(word), locations=[{"path": word}]),
        f.update("plan", entries=[{"content": word}]),
        f.block(type="image", data="QUJD", mimeType="image/png"),
        dice.choice(f.NOISE),
    )
    return dice.choice(choices)


@each_seed(60)
def test_any_messages_in_any_order_make_a_stream_that_ends(seed: int) -> None:
    dice = random.Random(f"any {seed}")  # noqa: S311 (the same messages every time)
    played = Played(*(pool(dice) for _ in range(3)), *f.OPENED)

    for _ in range(80):
        played.tell(pool(dice))
        if played.client.questions and dice.random() < 0.2:
            played.reply(dice.choice(list(played.client.questions)), dice.choice(VALUES))
    match dice.randrange(4):
        case 0:
            played.stop()
        case 1:
            played.leave()
        case _:
            played.tell(dice.choice([f.done(), f.done("cancelled"), f.failure(f.PROMPT)]))
    played.tell(f.text("late"), f.done())

    assert played.turn.outcome is not None
    assert "late" not in played.client.text
    played.client.close()


@each_seed(40)
def test_the_text_is_what_was_told_in_order_and_once(seed: int) -> None:
    dice = random.Random(f"text {seed}")  # noqa: S311 (the same messages every time)
    told: list[str] = []
    played = begun()
    others = (f.call(), f.state(), f.state("completed"), f.thought("hm"), f.update("plan"))

    for number in range(80):
        if dice.randrange(4) == 0:
            played.tell(dice.choice(others))
            continue
        told.append(f"{number}{dice.choice(WORDS)}")
        played.tell(f.text(told[-1], messageId=dice.choice(["m1", "m2", None])))
    played.tell(f.done())

    assert played.client.text == "".join(told)
    played.client.close()


@each_seed(40)
def test_reads_make_no_difference(seed: int) -> None:
    dice = random.Random(f"reads {seed}")  # noqa: S311 (the same messages every time)
    frames = [*f.OPENED, *(pool(dice) for _ in range(60)), f.done()]

    assert Played(*frames).written == Played(*frames, at_once=True).written
