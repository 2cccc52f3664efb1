"""P1 to P6 through a whole `Turn`, whatever events come in whatever order, cut wherever."""

import random

from support import openai_chat_frames as f
from support.openai_turn import Played
from support.seeds import each_seed
from turnwire.dialects.openai_chat import OpenAiChat

WORDS = ["a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"', ""]
CALLS = ["c1", "c2", "c3"]
ARGUMENTS = ["{}", '{"a":', "1}", "[1]", "nonsense", '{"__proto__":1}', ""]


def pool(dice: random.Random) -> bytes:
    """Any event but the last ones."""
    word, call_id = dice.choice(WORDS), dice.choice([*CALLS, None, ""])
    index, args = dice.choice([0, 1, 2, None]), dice.choice(ARGUMENTS)
    name = dice.choice(["weather", "clock", "", None])
    citation = {"url_citation": {"url": dice.choice(["https://a", "javascript:x"]), "title": word}}
    choices = (
        *(
            f.text(word),
            f.text(word),
            f.thought(word),
            f.thought(word, "reasoning"),
            f.refusal(word),
        ),
        f.text([{"type": "text", "text": word}, {"type": "thinking", "thinking": word}]),
        *(f.call(f.head(call_id, name, index, args)), f.call(f.piece(args, index))),
        f.call(f.head("c1", "weather", 0), f.head("c2", "clock", 1), f.piece(args, index)),
        f.chunk({"function_call": {"name": name, "arguments": args}}),
        f.progress(dice.choice(["running", "completed", "failed", "50 %"]), dice.choice(CALLS)),
        f.chunk({"annotations": [citation]}, citations=["https://b"]),
        f.chunk({"images": [{"image_url": {"url": dice.choice(["data:,x", "https://i", "x:"])}}]}),
        *(f.finished("tool_calls"), f.usage(n=dice.randrange(9)), f.started()),
        f.event(choices=[{"index": 1, "delta": {"content": "other choice"}}]),
        dice.choice(f.NOISE),
    )
    return dice.choice(choices)


ENDINGS = [
    [f.finished(), f.DONE],
    [f.finished("length"), f.usage(n=1)],
    [f.finished("content_filter"), f.DONE, f.DONE],
    [f.failed("boom")],
    [f.finished("error", error="boom"), f.DONE],
    [f.DONE],
    [],
]


@each_seed(150)
def test_any_events_in_any_order_make_a_stream_that_ends(seed: int) -> None:
    dice = random.Random(f"any {seed}")  # noqa: S311 (the same events every time)
    played = Played(OpenAiChat(), f.started())

    for _ in range(80):
        played.tell(pool(dice))
        if dice.random() < 0.1:
            played.wait(dice.choice([0.05, 1.0]))
    played.tell(*dice.choice(ENDINGS))
    played.leave().tell(f.text("late"))

    assert played.turn.outcome is not None
    assert "late" not in played.client.text
    assert "other choice" not in played.client.text
    played.client.close()


@each_seed(80)
def test_the_text_is_what_was_sent_in_order_and_once(seed: int) -> None:
    dice = random.Random(f"text {seed}")  # noqa: S311 (the same events every time)
    sent: list[str] = []
    played = Played(OpenAiChat(), f.started())
    others = (
        *(f.call(f.head(args="{}")), f.progress("completed"), f.thought("hm"), f.chunk()),
        *(f.usage(n=1), f.finished("tool_calls"), f.event(ping=1)),
    )

    for number in range(80):
        word = f"{number}{dice.choice(WORDS)}"
        match dice.randrange(4):
            case 0:
                played.tell(dice.choice(others))
                continue
            case 1:
                played.tell(f.text([{"type": "text", "text": word}]))
            case 2:
                played.tell(f.refusal(word))
            case _:
                played.tell(f.text(word))
        sent.append(word)
    played.tell(f.finished(), f.DONE)

    assert played.client.text == "".join(sent)
    played.client.close()


@each_seed(60)
def test_reads_make_no_difference(seed: int) -> None:
    """All events at once, or each in a read of its own."""
    dice = random.Random(f"reads {seed}")  # noqa: S311 (the same events every time)
    frames = [f.started(), *(pool(dice) for _ in range(60)), f.finished(), f.DONE]

    one, other = (Played(OpenAiChat(), *frames, at_once=at_once) for at_once in (False, True))
    assert one.written == other.written
