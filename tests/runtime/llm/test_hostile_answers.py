"""Whatever a server sends, a decoder says events, and at last one `Finish` or one `Fault`."""

import copy
import json
import os
import random
from types import ModuleType
from typing import Any, Final

import pytest

from runtime.llm import messages_events, test_messages_answers
from runtime.llm import test_chat_answers as of_chat
from runtime.llm import test_google_answers as of_google
from runtime.llm import test_responses_answers as of_responses
from turnwire_agent.llm import events
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shapes import chat, google, messages, responses
from turnwire_agent.llm.sse import ServerSentEvent
from turnwire_agent.llm.transcript import Result, Results, Text, User

EXAMPLES: Final = int(os.environ.get("RUNTIME_EXAMPLES", "300")) * 3
STREAMS: Final[dict[str, tuple[ModuleType, Model, Any]]] = {
    "chat": (chat, of_chat.MODEL, of_chat.WHOLE),
    "google": (google, of_google.MODEL, of_google.WHOLE),
    "messages": (messages, messages_events.MODEL, test_messages_answers.WHOLE),
    "responses": (responses, of_responses.MODEL, of_responses.WHOLE),
}
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 10**30, 1.5, "", "x", "\x00", "é" * 100, "call-0", "c1", "0"),
    *([], {}, [[]], [{}], [None], {"": {}}, {"text": 1}, {"type": []}, {"id": {}}),
)


def places(value: object, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    found = [where] if where else []
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            found += places(value[key], (*where, key))
    return found


def changed(stream: list[Any], dice: random.Random) -> None:
    """Change one thing: a value, a key, the order, or how often an event comes."""
    *way, key = dice.choice(places(stream))
    holder: Any = stream
    for step in way:
        holder = holder[step]
    match dice.randrange(6):
        case 0:
            del holder[key]
        case 1:
            source: Any = stream
            for step in dice.choice(places(stream)):
                source = source[step]
            holder[key] = copy.deepcopy(source)
        case 2 if isinstance(holder, list):
            holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case 3 if isinstance(holder, list):
            dice.shuffle(holder)
        case 4 if isinstance(holder, dict):
            holder[dice.choice((*holder, "index", "id", "error", "thought"))] = holder.pop(key)
        case _:
            holder[key] = copy.deepcopy(dice.choice(VALUES))


def written(event: object, dice: random.Random) -> bytes:
    data = event.encode() if isinstance(event, str) else json.dumps(event).encode()
    if dice.random() < 0.01:
        cut = dice.randrange(len(data) + 1)
        return dice.choice((data[:cut], data[:cut] + b"\xff" + data[cut:], b"[" * 5000 + data))
    return data


def asked_again(shape: ModuleType, model: Model, answer: Answer) -> None:
    """What was heard goes back to the model that said it, with a result for each call."""
    message = answer.message()
    assert message is not None
    results = tuple(Result(call.id, call.name, (Text("it"),)) for call in message.calls)
    transcript = (User((Text("hi"),)), message, Results(results), User((Text("on"),)))
    body = json.loads(shape.encode(model, Request(transcript=transcript)).body)
    assert body


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_stream_with_anything_in_it_is_events_and_an_end(name: str) -> None:
    shape, model, whole = STREAMS[name]
    last = {"Finish": 0, "Fault": 0}
    for seed in range(EXAMPLES):
        dice = random.Random(f"{name}{seed}")  # noqa: S311 (a seed makes one case)
        stream = copy.deepcopy(list(whole))
        for _ in range(dice.randint(1, 4)):
            if stream:
                changed(stream, dice)
        decoder = shape.decoder(model)
        answer = Answer(model)
        heard: list[Any] = []
        for event in stream:
            kind = event.get("type") if isinstance(event, dict) else ""
            named = kind if isinstance(kind, str) else ""
            heard += decoder.event(ServerSentEvent(named, written(event, dice)))
        heard += decoder.end()

        assert all(type(event).__module__ in (events.__name__, Fault.__module__) for event in heard)
        ends = [event for event in heard if isinstance(event, events.Finish | Fault)]
        assert ends == heard[-1:], seed
        ids = [event.id for event in heard if isinstance(event, events.ToolCall)]
        assert len(ids) == len(set(ids)) or shape is messages, seed
        last[type(ends[0]).__name__] += 1
        if isinstance(ends[0], events.Finish):
            for event in heard:
                answer.add(event)
            asked_again(shape, model, answer)

    assert min(last.values()) > EXAMPLES / 10
