"""The official libraries read in scripted streams what we read: Chat, Responses and Google."""

import json
import random
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from gateway.needed import lacking
from runtime.llm import test_chat_answers as of_chat
from runtime.llm import test_google_answers as of_google
from runtime.llm import test_responses_answers as of_responses
from runtime.llm.streams import read, sse
from runtime.llm.transcripts import arguments, words
from turnwire_agent.llm.events import Finish
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes import chat, google, responses

HERE: Final = Path(__file__).parent
PYTHON: Final = HERE.parents[2] / ".venv/runtime-witnesses/bin/python"
SCRIPTS: Final = 40
SHAPES: Final[dict[str, tuple[ModuleType, Model]]] = {
    "chat": (chat, of_chat.MODEL),
    "google": (google, of_google.MODEL),
    "responses": (responses, of_responses.MODEL),
}


def pieces(text: str, dice: random.Random) -> list[str]:
    cuts = sorted(dice.randrange(len(text) + 1) for _ in range(dice.randrange(5)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]


def of_a_chat(dice: random.Random) -> bytes:
    told = [of_chat.chunk(role="assistant", content="")]
    told += [of_chat.chunk(content=piece) for piece in pieces(words(dice), dice)]
    calls = [pieces(arguments(dice), dice) for _ in range(dice.randrange(4))]
    for index in range(len(calls)):
        begin = of_chat.fragment(index, f"c{index}", "t", "") | {"type": "function"}
        told.append(of_chat.chunk(tool_calls=[begin]))
    while any(calls):
        index = dice.choice([at for at, call in enumerate(calls) if call])
        more = of_chat.fragment(index, arguments=calls[index].pop(0))
        told.append(of_chat.chunk(tool_calls=[more]))
    last = of_chat.chunk("tool_calls" if calls else "stop")
    usage = of_chat.USAGE | {"total_tokens": 15}
    told += [last, last | {"choices": [], "usage": usage}]
    kind = {"object": "chat.completion.chunk", "created": 1}
    return sse(*(chunk | kind for chunk in told), "[DONE]")


def of_a_response(dice: random.Random) -> bytes:
    ev, told, output = of_responses.ev, [of_responses.CREATED], []
    whole: dict[str, Any]
    for place in range(dice.randint(1, 5)):
        item_id = f"i{place}"
        told_of: dict[str, Any] = {"item_id": item_id, "output_index": place}
        kind = dice.choice(("message", "function_call", "reasoning"))
        if kind == "function_call":
            given = arguments(dice)
            whole = {**of_responses.CALL, "id": item_id, "call_id": f"c{place}", "arguments": given}
            begun = whole | {"arguments": ""}
            deltas = [
                ev("function_call_arguments.delta", delta=piece, **told_of)
                for piece in pieces(given, dice)
            ]
        elif kind == "message":
            text = words(dice)
            part = {"type": "output_text", "text": text, "annotations": []}
            whole = {**of_responses.MESSAGE, "id": item_id, "content": [part]}
            begun = whole | {"content": []}
            told_of["content_index"] = 0
            deltas = [ev("content_part.added", part=part | {"text": ""}, **told_of)]
            deltas += [
                ev("output_text.delta", delta=piece, logprobs=[], **told_of)
                for piece in pieces(text, dice)
            ]
        else:
            whole, deltas = {**of_responses.REASONING, "id": item_id}, []
            begun = whole
        told.append(ev("output_item.added", output_index=place, item=begun))
        told += [*deltas, ev("output_item.done", output_index=place, item=whole)]
        output.append(whole)
    usage = of_responses.USAGE | {"total_tokens": 15}
    told.append(of_responses.over(output=output, usage=usage))
    return sse(*told, named=True)


def of_google_s(dice: random.Random) -> bytes:
    told = []
    for number in range(dice.randint(1, 6)):
        signed = {"thoughtSignature": "c2ln"} if dice.random() < 0.3 else {}
        call = {"functionCall": {"name": f"t{number}", "args": json.loads(arguments(dice))}}
        part = dice.choice(({"text": words(dice)}, {"text": words(dice), "thought": True}, call))
        told.append(of_google.chunk(part | signed))
    return sse(*told, of_google.chunk(finish="STOP", usageMetadata=of_google.USAGE))


SCRIPTED: Final = {"chat": of_a_chat, "google": of_google_s, "responses": of_a_response}


def bodies(shape: str) -> list[bytes]:
    return [SCRIPTED[shape](random.Random(seed)) for seed in range(SCRIPTS)]  # noqa: S311


@cache
def libraries() -> dict[str, list[Any]]:
    """What they have at the end. They take seconds to import: one process for all."""
    if not PYTHON.exists():
        lacking("`make witnesses` has not run")
    asked = [(shape, body.decode()) for shape in SCRIPTED for body in bodies(shape)]
    lines = "".join(json.dumps({"shape": shape, "body": body}) + "\n" for shape, body in asked)
    command = [PYTHON, HERE / "read_answers.py"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    finals = [json.loads(line) for line in done.stdout.splitlines()]
    assert None not in finals, done.stderr
    return {shape: finals[at * SCRIPTS : (at + 1) * SCRIPTS] for at, shape in enumerate(SCRIPTED)}


def ours(shape: str) -> list[tuple[Finish, Any]]:
    """The end of each answer, and its native blocks."""
    module, model = SHAPES[shape]
    ends = []
    for body in bodies(shape):
        end = read(module, model, [body])[-1]
        assert isinstance(end, Finish)
        ends.append((end, json.loads(bytes(end.native))))
    return ends


def told(value: Any) -> Any:
    """A value without what says nothing, and without what the library made of it."""
    if isinstance(value, list):
        return [told(each) for each in value]
    if isinstance(value, dict):
        made = ("parsed", "parsed_arguments")
        return {
            key: told(each)
            for key, each in value.items()
            if each not in (None, [], "") and key not in made
        }
    return value


def test_chat_is_what_the_library_reads() -> None:
    for (end, (message,)), final in zip(ours("chat"), libraries()["chat"], strict=True):
        (choice,) = final["choices"]
        theirs = told(choice["message"])
        for index, call in enumerate(theirs.get("tool_calls", [])):
            assert call.pop("index", index) == index
            assert told(call["function"]) == call["function"]

        assert told(message) == theirs
        assert end.raw == choice["finish_reason"]
        assert end.usage.input == final["usage"]["prompt_tokens"]
        assert end.usage.output == final["usage"]["completion_tokens"]


def test_responses_is_what_the_library_reads() -> None:
    for (end, items), final in zip(ours("responses"), libraries()["responses"], strict=True):
        output = final["output"]
        while output and output[-1]["type"] == "reasoning":  # nothing follows: it cannot be sent
            output.pop()

        assert told(items) == told(output)
        assert end.raw == final["status"]
        assert end.usage.input == final["usage"]["input_tokens"]
        assert end.usage.output == final["usage"]["output_tokens"]


def joined(parts: list[Any]) -> list[Any]:
    """Parts, where neighbours that are only words are one."""
    whole: list[Any] = []
    for part in parts:
        before = whole[-1] if whole else {}
        if "text" in before and before.keys() == part.keys() <= {"text", "thought"}:
            before["text"] += part["text"]
        else:
            whole.append(part)
    return whole


def test_google_is_what_the_library_reads() -> None:
    for (end, parts), chunks in zip(ours("google"), libraries()["google"], strict=True):
        candidates = [each for chunk in chunks for each in chunk["candidates"]]
        theirs = [part for each in candidates for part in each["content"].get("parts", [])]

        assert parts == joined(theirs)
        assert end.raw == candidates[-1]["finishReason"]
        assert end.usage.input == chunks[-1]["usageMetadata"]["promptTokenCount"]
