"""Whoever joins a session at any moment has the same message as who never left, by the gateway."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from runtime.session.story import Story
from runtime.v2 import judged
from turnwire.core.requests import Channel
from turnwire.testing.client_model import Client
from turnwire_agent.session.events import AttemptLost, Event, TurnBegun, TurnEnded
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2.frames import Frames
from turnwire_agent.v2.init import init_frame

STORIES = 30


def no_secrets(_tool: str) -> frozenset[str]:
    return frozenset()


@dataclass
class Watched:
    """A turn of a story: what the sockets are sent, and `init` before each of it."""

    prompt_id: str
    channel: Channel
    turn_id: str
    inits: list[bytes]
    frames: list[list[bytes]]
    after: bytes = b""
    """`init` once it is over."""
    has_losses: bool = False


def watched(events: Sequence[Event], frames: Frames) -> Iterator[Watched]:
    state = SessionState()
    turn: Watched | None = None
    for event in events:
        if isinstance(event, TurnBegun):
            prompt = state.queue[0]
            channel = Channel(prompt.channel.type, prompt.channel.id)
            turn = Watched(prompt.prompt_id or "", channel, event.turn_id, [], [])
        if turn is not None:
            turn.inits.append(init_frame("s1", state, frames))
            turn.frames.append(frames.of(event, state))
            turn.has_losses |= isinstance(event, AttemptLost)
        state.apply(event)
        if isinstance(event, TurnEnded) and turn is not None:
            turn.after = init_frame("s1", state, frames)
            if turn.prompt_id:
                yield turn
            turn = None


def turns(*, orderly: bool) -> Iterator[tuple[int, Watched]]:
    frames = Frames(no_secrets)
    for seed in range(STORIES):
        for turn in watched(list(Story(seed, orderly=orderly).events()), frames):
            yield seed, turn


def all_of(turn: Watched, *, resets: bool) -> Client:
    frames = [frame for step in turn.frames for frame in step]
    return judged.sent(turn.prompt_id, turn.channel, frames, resets=resets)


def rejoined(turn: Watched, seed: int, *, resets: bool) -> Iterator[Client]:
    dice = Random(seed)  # noqa: S311
    for at in dice.sample(range(len(turn.inits)), min(3, len(turn.inits))):
        frames = [turn.inits[at], *(frame for step in turn.frames[at:] for frame in step)]
        yield judged.resumed(turn.prompt_id, turn.channel, frames, resets=resets)


@pytest.mark.parametrize("resets", [False, True], ids=["portable", "resets"])
def test_whoever_joins_an_orderly_turn_has_the_same_message(*, resets: bool) -> None:
    for seed, turn in turns(orderly=True):
        stayed = all_of(turn, resets=resets)
        for client in rejoined(turn, seed, resets=resets):
            assert client.parts == stayed.parts, (seed, turn.turn_id)
            assert (client.message_id, client.error) == (turn.turn_id, stayed.error)


@pytest.mark.parametrize("resets", [False, True], ids=["portable", "resets"])
def test_whoever_joins_any_turn_has_all_of_it_once(*, resets: bool) -> None:
    for seed, turn in turns(orderly=False):
        stayed = all_of(turn, resets=resets)
        for client in rejoined(turn, seed, resets=resets):
            expected = judged.content_of(stayed.parts)
            assert judged.content_of(client.parts) == expected, (seed, turn.turn_id)


def test_the_history_of_an_orderly_turn_is_the_same_message() -> None:
    compared = 0
    for seed, turn in turns(orderly=True):
        stayed = all_of(turn, resets=True)
        messages = judged.history(turn.after, turn.channel)
        loaded = next(each for each in messages if each["id"] == turn.turn_id)
        if not turn.has_losses:
            assert loaded["parts"] == stayed.parts, (seed, turn.turn_id)
            compared += 1
    assert compared > STORIES
