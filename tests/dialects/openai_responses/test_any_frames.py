"""P1 to P6 through a whole `Turn`, whatever events come in whatever order, cut wherever."""

import random

from support import openai_responses_frames as f
from support.openai_turn import Played
from support.seeds import each_seed
from turnwire.dialects.openai_responses import OpenAiResponses

WORDS = ["a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"', ""]
ARGUMENTS = ["{}", '{"a":', "1}", "[1]", "nonsense", '{"__proto__":1}', ""]
VALUES = ["21", "[1]", '{"__proto__":1}', [], [{"type": "input_text", "text": "x"}], None]
SERVER = ["web_search_call", "mcp_call", "file_search_call", "image_generation_call", "x_call"]


def pool(dice: random.Random) -> bytes:
    """Any event but the last ones, and those that ask."""
    word, index, part = dice.choice(WORDS), dice.randrange(4), dice.randrange(2)
    call_id, given = dice.choice(["c1", "c2", "c3", ""]), dice.choice(ARGUMENTS)
    cited = {"url": dice.choice(["https://a", "javascript:x"]), "title": word}
    item = dice.choice(
        [
            f.call(call_id, args=given),
            f.output(dice.choice(VALUES), call_id, status=dice.choice(["completed", "failed"])),
            f.tool(dice.choice(SERVER), name="x", output=word, result="QQ==", action={"q": word}),
            {"type": "reasoning", "summary": [{"text": word}]},
            {"type": "message", "content": []},
        ]
    )
    choices = (
        *(f.text(word, index, part), f.text(word), f.summary(word, index), f.thought(word, index)),
        *(f.refusal(word, index), f.added(item, index), f.item_done(item, index)),
        *(f.args(given, index), f.args_done(given, index), f.added(f.call(call_id), index)),
        f.event("response.output_text.annotation.added", annotation=cited),
        dice.choice(f.NOISE),
    )
    return dice.choice(choices)


ENDINGS = [
    [f.completed()],
    [f.incomplete(), f.DONE],
    [f.incomplete("content_filter")],
    [f.failed("boom")],
    [f.error("boom"), f.failed("boom")],
    [f.event("response.cancelled")],
    [f.DONE],
    [],
]


@each_seed(150)
def test_any_events_in_any_order_make_a_stream_that_ends(seed: int) -> None:
    dice = random.Random(f"any {seed}")  # noqa: S311 (the same events every time)
    played = Played(OpenAiResponses(), f.created())

    for _ in range(80):
        played.tell(pool(dice))
        if dice.random() < 0.1:
            played.wait(dice.choice([0.05, 1.0]))
    played.tell(*dice.choice(ENDINGS))
    played.leave().tell(f.text("late"))

    assert played.turn.outcome is not None
    assert "late" not in played.client.text
    played.client.close()


@each_seed(80)
def test_the_text_is_what_was_sent_in_order_and_once(seed: int) -> None:
    """However it is sent: in deltas, as a whole, or both; by one item or several."""
    dice = random.Random(f"text {seed}")  # noqa: S311 (the same events every time)
    sent: list[str] = []
    whole: dict[int, str] = {}
    played = Played(OpenAiResponses(), f.created())
    outcome = f.item_done(f.output("x"), 7)
    others = (*f.whole_call(index=9), outcome, f.summary("hm", 8), f.event("keepalive"))

    for number in range(80):
        word, index = f"{number}{dice.choice(WORDS)}", dice.randrange(3)
        match dice.randrange(5):
            case 0:
                played.tell(dice.choice(others))
                continue
            case 1:
                played.tell(f.text_done(whole.get(index, ""), index))
                continue
            case 2:
                played.tell(f.text_done(whole.get(index, "") + word, index))
            case _:
                played.tell(f.text(word, index))
        whole[index] = whole.get(index, "") + word
        sent.append(word)
    played.tell(*(f.item_done(f.message(text), index) for index, text in whole.items()))
    played.tell(f.completed()).leave()

    assert played.client.text == "".join(sent)
    played.client.close()


@each_seed(60)
def test_after_any_events_an_approval_is_asked_answered_and_the_turn_ends(seed: int) -> None:
    dice = random.Random(f"asked {seed}")  # noqa: S311 (the same events every time)
    frames = [pool(dice) for _ in range(30)]
    played = Played(
        OpenAiResponses(), f.created(), *frames, f.item_done(f.asks(), 9), f.completed()
    )
    assert played.leave().client.questions == {"mcpr_1/files": "open"}

    played.reply("mcpr_1/files", answer=dice.random() < 0.5).open_again()
    played.tell(*(pool(dice) for _ in range(30)), f.completed()).leave()

    assert played.client.questions == {"mcpr_1/files": "resolved"}
    played.client.close()


@each_seed(60)
def test_reads_make_no_difference(seed: int) -> None:
    """All events at once, or each in a read of its own."""
    dice = random.Random(f"reads {seed}")  # noqa: S311 (the same events every time)
    frames = [f.created(), *(pool(dice) for _ in range(60)), f.completed(), f.DONE]

    one, other = (Played(OpenAiResponses(), *frames, at_once=at_once) for at_once in (False, True))
    assert one.written == other.written


@each_seed(80)
def test_the_text_is_sent_once_whatever_the_indexes_are(seed: int) -> None:
    """Items by index, by id, by both or by nothing; parts counted on; again in the last event."""
    dice = random.Random(f"once {seed}")  # noqa: S311 (the same events every time)
    has_index, has_id, counts_on, is_repeated = (dice.random() < 0.5 for _ in range(4))
    sent: list[str] = []
    output: list[dict[str, object]] = []
    played = Played(OpenAiResponses(), f.created())
    part = 0

    for index in range(dice.randrange(1, 5)):
        place = {"output_index": index} if has_index else {}
        named = {"item_id": f"msg_{index}"} if has_id else {}
        whole = ""
        for number in range(dice.randrange(1, 5)):
            word = f"{index}.{number}{dice.choice(WORDS)}"
            part += counts_on
            fields = {**place, **named, "content_index": part, "delta": word}
            played.tell(f.event("response.output_text.delta", **fields))
            whole += word
        if dice.random() < 0.5:
            fields = {**place, **named, "content_index": part, "text": whole}
            played.tell(f.event("response.output_text.done", **fields))
        item = f.message(whole, id=f"msg_{index}")
        played.tell(f.event("response.output_item.done", item=item, **place))
        output.append(item)
        sent.append(whole)
    played.tell(f.completed(output=output if is_repeated else []))

    assert played.client.text == "".join(sent)
    assert played.left_out == {}
    played.client.close()
