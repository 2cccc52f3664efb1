"""What must be true of a session, wherever its agent died."""

import json
from collections import Counter

from runtime.host.hosted import Frame
from runtime.kill.heard import turns
from runtime.kill.provider import STAY, WORDS, wanted_by
from runtime.kill.scene import Scene, text_of, whole_text
from runtime.kill.story import LAST, Story
from runtime.kill.world import acts
from runtime.v2.judged import content_of, history, resumed, sent
from turnwire.core.requests import Channel
from turnwire.testing.client_model import Client
from turnwire_agent.journal.open import open_journal
from turnwire_agent.session.codec import event_of
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import (
    CallBegun,
    CallEnded,
    Event,
    StepEnded,
    Streamed,
    TurnBegun,
    TurnEnded,
)

WEB = Channel("web", "default")
ONCE = {"mail", "erase", "stall"}


async def judge(story: Story, scene: Scene) -> None:
    """Check all that is promised."""
    at_last = turns(story.told[-1][0])
    assert list(at_last) == [*scene.ids, LAST], "a turn is doubled or lost"
    assert at_last[LAST][-1]["reason"] == "end_turn", f"not usable any more: {at_last[LAST]}"
    for prompt, prompt_id in zip(scene.prompts, scene.ids, strict=True):
        _judge_turn(scene, prompt, at_last[prompt_id])
    _judge_world(story, scene, [part for parts in at_last.values() for part in parts])
    _judge_told(story)
    await _judge_journal(story)


def _judge_turn(scene: Scene, prompt: str, parts: list[Frame]) -> None:
    reason = parts[-1]["reason"]
    assert reason in scene.reasons(prompt)
    text = text_of(parts)
    if reason == "end_turn":
        assert text == whole_text(prompt), "text is lost or doubled"
    elif prompt == STAY:
        assert "".join(WORDS).startswith(text), "text is doubled"
    else:
        assert whole_text(prompt).startswith(text), "text is doubled"
    calls = [part["toolName"] for part in parts if part["type"] == "tool-call"]
    wanted = [name for step in wanted_by(prompt) for name in step.split("+")]
    assert calls == wanted[: len(calls)]
    assert reason == "canceled" or calls == wanted, "a call is lost or doubled"


def _judge_world(story: Story, scene: Scene, parts: list[Frame]) -> None:
    """What was done is what people are told of it."""
    done = acts(story.world)
    calls = [part for part in parts if part["type"] == "tool-call"]
    assert all(call["status"] in {"completed", "error"} for call in calls), "a call is open"
    for name in {call["toolName"] for call in calls}:
        ours = [call for call in calls if call["toolName"] == name]
        completed = [call for call in ours if call["status"] == "completed"]
        keys = [key for each, key in done if each == name]
        if name == "erase" and not scene.answer:
            assert keys == [], "what was denied was done"
        elif name in ONCE:
            assert len(keys) == len(set(keys)) <= len(ours), f"{name} was done twice"
            assert len(completed) <= len(keys), f"{name} is lost without a word"
        else:
            assert len(completed) == len(ours), f"{name} may run again, and has no outcome"
            assert len(set(keys)) == len(ours), f"{name} has another key in another run"


def _judge_told(story: Story) -> None:
    first, second = story.told[:2]
    last = story.told[-1][0]
    ids = {each["promptId"]: each["id"] for each in _answers(last)}
    for frame in [*first, *second]:
        if frame["type"] == "message.create":
            assert frame["turnId"] == ids[frame["promptId"]], "another turn answers the prompt"
    reasons = {
        frame["turnId"]: frame["reason"]
        for frame in [*first, *second]
        if frame["type"] == "message.finalize"
    }
    for each in _answers(last):
        assert reasons.get(each["id"], each["parts"][-1]["reason"]) == each["parts"][-1]["reason"]
    for prompt_id, message in messages_of(last).items():
        client = client_of(second, prompt_id, ids[prompt_id])
        if client is None:
            continue
        if "tool-erase" in {part.get("type") for part in message["parts"]}:
            # The response to a client ends where a person is asked for approval.
            assert text_of(message["parts"]).startswith(text_of(client.parts))
            continue
        assert content(client.parts) == content_of(message["parts"]), (
            f"a client sees {client.parts}, and others {message}"
        )
    for later in story.told[3:]:
        assert turns(later[0]) == turns(last) or LAST not in turns(later[0]), "agents disagree"


def messages_of(init: Frame) -> dict[str, Frame]:
    """The answers that a client loads, by prompt id."""
    shown = {each["id"]: each for each in history(json.dumps(init).encode(), WEB)}
    return {each["promptId"]: shown[each["id"]] for each in _answers(init)}


def history_by_prompt(init: Frame) -> dict[str, list[Frame]]:
    """What the answers say that a client loads, by prompt id."""
    return {key: content(each["parts"]) for key, each in messages_of(init).items()}


def content(parts: list[Frame]) -> list[Frame]:
    """What a message says. A call that was taken back and made again has a new id at a client."""
    for part in parts:
        if "toolCallId" in part:
            part["toolCallId"] = part["toolCallId"].partition("#")[0]
    return content_of(parts)


def client_of(frames: list[Frame], prompt_id: str, turn_id: str) -> Client | None:
    """What a client has in the end that came back, or that asked again; None: it came too late."""
    written = [json.dumps(each).encode() for each in frames]
    if frames[0]["data"].get("runningTurnId") == turn_id:
        return resumed(prompt_id, WEB, written, resets=True)
    if any(each["type"] == "message.create" and each["turnId"] == turn_id for each in frames):
        return sent(prompt_id, WEB, written, resets=True)
    return None


def _answers(init: Frame) -> list[Frame]:
    return [each for each in init["session"]["messages"] if each["role"] == "assistant"]


async def events_of(story: Story) -> list[tuple[int, Event]]:
    """All that is in the journal of the session, each with the epoch of its writer."""
    journal = open_journal(story.journal)
    await journal.start()
    try:
        rows = await journal.read(story.session, details=True, limit=10_000)
    finally:
        await journal.aclose()
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    return [(row.epoch, event_of(row.kind, row.body)) for row in rows]


async def _judge_journal(story: Story) -> None:
    written = await events_of(story)
    epochs = [epoch for epoch, _ in written]
    assert epochs == sorted(epochs), "a process wrote after another had taken the session over"
    events = [event for _, event in written]
    over: set[str] = set()
    for event in events:
        turn_id = getattr(event, "turn_id", None)
        assert turn_id not in over, "something comes after the end of its turn"
        if isinstance(event, TurnEnded):
            over.add(event.turn_id)
    assert over == {event.turn_id for event in events if isinstance(event, TurnBegun)}
    begun = Counter(
        (event.turn_id, event.call_id)
        for event in events
        if isinstance(event, CallBegun) and _is_once(event)
    )
    assert set(begun.values()) <= {1}, "what is done once was begun twice"
    _judge_calls(events)
    for turn_id in over:
        told = "".join(
            frame["delta"]
            for frame in story.told[0]
            if frame["type"] == "message.part.text-delta" and frame["turnId"] == turn_id
        )
        assert _streamed(events, turn_id).startswith(told), "told, and not committed"


def _is_once(event: Event) -> bool:
    return isinstance(event, CallBegun) and event.effect == "once"


def _judge_calls(events: list[Event]) -> None:
    canceled = {
        event.turn_id
        for event in events
        if isinstance(event, TurnEnded) and event.reason == "canceled"
    }
    called = [
        (event.turn_id, call_id)
        for event in events
        if isinstance(event, StepEnded)
        for call_id in event.call_ids
    ]
    ended = Counter(
        (event.turn_id, event.call_id) for event in events if isinstance(event, CallEnded)
    )
    assert set(ended.values()) <= {1}, "a call has two results"
    assert set(ended) <= set(called)
    assert {each for each in called if each not in ended} <= {
        each for each in called if each[0] in canceled
    }, "a call has no result"


def _streamed(events: list[Event], turn_id: str) -> str:
    return "".join(
        delta.text
        for event in events
        if isinstance(event, Streamed) and event.turn_id == turn_id
        for delta in event.deltas
        if isinstance(delta, TextAdded)
    )
