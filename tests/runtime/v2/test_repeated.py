"""A turn once more, for the socket of a message that came again."""

import json
from typing import Any

from runtime.session.session_facts import folded
from runtime.session.story import Story
from runtime.v2 import judged
from turnwire.core.requests import Channel
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.v2.frames import Frames
from turnwire_agent.v2.repeated import repeated

FRAMES = Frames()
AGAIN = "again"


def again(*events: e.Event) -> list[dict[str, Any]]:
    state = folded(events)
    exchange = next(iter(state.history))
    return [json.loads(frame) for frame in repeated(exchange, AGAIN, state, FRAMES)]


def test_a_prompt_that_waits_has_nothing_yet() -> None:
    assert again(e.Prompted(entry_id="e1")) == []


def test_a_turn_that_is_over_ends_again() -> None:
    ended = e.TurnEnded(turn_id="t1", reason="error", finish_reason="error", error="It broke")

    found = again(
        e.Prompted(entry_id="e1", prompt_id="p1"), e.TurnBegun(turn_id="t1", entry_id="e1"), ended
    )

    assert found == [
        {
            "type": "message.create",
            "turnId": "t1",
            "promptId": AGAIN,
            "channelType": "web",
            "channelId": "default",
        },
        {
            "type": "message.finalize",
            "turnId": "t1",
            "reason": "error",
            "finishReason": "error",
            "error": "It broke",
        },
        {"type": "complete", "turnId": "t1", "promptId": AGAIN},
    ]


def test_a_file_that_is_too_old_is_not_repeated() -> None:
    state = folded(
        (
            e.Prompted(entry_id="e1"),
            e.TurnBegun(turn_id="t1", entry_id="e1"),
            e.Streamed("t1", (d.FileAdded("a/b", "data:,x"), d.TextAdded("a"))),
            e.TurnEnded(turn_id="t1", reason="end_turn"),
        )
    )
    (exchange,) = state.history
    assert len(repeated(exchange, AGAIN, state, FRAMES)) == 5

    exchange.forget_files()

    assert len(repeated(exchange, AGAIN, state, FRAMES)) == 4


def test_a_prompt_without_an_id_gets_its_turn_too() -> None:
    state = folded((e.Prompted(entry_id="e1"), e.TurnBegun(turn_id="t1", entry_id="e1")))
    ended = folded(
        (
            e.Prompted(entry_id="e1"),
            e.TurnBegun(turn_id="t1", entry_id="e1"),
            e.TurnEnded(turn_id="t1", reason="end_turn"),
        )
    )

    (created,) = repeated(next(iter(state.history)), None, state, FRAMES)
    *_, complete = repeated(next(iter(ended.history)), None, ended, FRAMES)

    assert "promptId" not in json.loads(created)
    assert json.loads(complete) == {"type": "complete", "turnId": "t1"}


def test_whoever_asks_again_has_the_same_message() -> None:
    """At any moment of a turn: what was, once more, and then what comes."""
    turns = 0
    for seed in range(15):
        state, sent, heads = folded(()), [b""], [(0, [b""])]
        for event in Story(seed).events():
            if isinstance(event, e.TurnBegun):
                state.apply(e.PromptRepeated(event.entry_id, "p0"))
                sent, heads = [], []
            sent += FRAMES.of(event, state)
            state.apply(event)
            if isinstance(event, e.Prompted | e.PromptTakenBack | e.PromptRepeated):
                continue
            exchange = next(each for each in state.history if "p0" in each.prompt_ids)
            heads.append((len(sent), repeated(exchange, AGAIN, state, FRAMES)))
            if not isinstance(event, e.TurnEnded):
                continue
            channel = Channel(exchange.prompt.channel.type, exchange.prompt.channel.id)
            stayed = judged.sent("p0", channel, sent, resets=True)
            if any(b"message.part.retract" in frame for frame in sent):
                del heads[-1]  # once the turn is over, a lost attempt is not repeated
            for count, head in heads[:: max(1, len(heads) // 3)]:
                found = judged.sent(AGAIN, channel, [*head, *sent[count:]], resets=True)
                assert found.parts == stayed.parts, (seed, exchange.turn_id, count)
            exchange.prompt_ids.clear()
            turns += 1
    assert turns > 30
