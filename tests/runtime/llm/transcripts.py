"""Random transcripts that are valid: each call has its result. A seed makes one transcript."""

import json
import random
from typing import Final, Literal

from turnwire_agent.llm.request import OneTool, Request, ToolSpec
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Message,
    Outcome,
    Reasoning,
    Result,
    Results,
    Text,
    User,
)

PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000000020001e221bc330000000049454e44ae426082"
)
OUTCOMES: Final[tuple[Outcome, ...]] = ("done", "failed", "denied", "canceled", "unknown")
WORDS: Final = (
    "hello",
    "größer",
    "日本",
    "👩‍👩‍👧",
    '"quoted"',
    "line\nline",
    "a\u2028b",
    "a\tb",
    "</x>",
    "é" * 40,
)
CHOICES: Final[tuple[Literal["auto", "none", "required"], ...]] = ("auto", "none", "required")
NAMES: Final = ("search", "read_file", "send-mail", "t")
SCHEMA: Final = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query", "limit"],
    "additionalProperties": False,
}


def words(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, 6)))


def arguments(dice: random.Random) -> str:
    return json.dumps({"query": words(dice), "limit": dice.randint(-5, 5)}, ensure_ascii=False)


def call_id(dice: random.Random, number: int) -> str:
    ids = (f"call_{number}", f"toolu_{number:020}", f"t/{number}/ü", f"{'x' * 450}{number}")
    return dice.choice(ids)


def user(dice: random.Random) -> User:
    parts: list[Text | Image | File] = [Text(words(dice))]
    if dice.random() < 0.2:
        parts.append(Image("image/png", PNG))
    if dice.random() < 0.1:
        parts.append(Image("image/jpeg", url="https://example.com/a.jpg"))
    if dice.random() < 0.1:
        parts.append(File("application/pdf", b"%PDF-1.4 not really", name="a.pdf"))
    if dice.random() < 0.1:
        parts.append(File("text/plain", "some wörds".encode(), name="a.txt"))
    dice.shuffle(parts)
    return User(tuple(parts))


def assistant(dice: random.Random, number: int) -> Assistant:
    parts: list[Text | Reasoning | Call | Image | File] = []
    if dice.random() < 0.4:
        parts.append(Reasoning(words(dice)))
    if dice.random() < 0.7:
        parts.append(Text(words(dice)))
    if dice.random() < 0.5:
        parts += [
            Call(call_id(dice, number * 10 + each), dice.choice(NAMES), arguments(dice))
            for each in range(dice.randint(1, 4))
        ]
    return Assistant(tuple(parts) or (Text(words(dice)),))


def result(dice: random.Random, call: Call) -> Result:
    content: list[Text | Image | File] = [Text(words(dice))] if dice.random() < 0.9 else []
    if dice.random() < 0.15:
        content.append(Image("image/png", PNG))
    if dice.random() < 0.05:
        content.append(File("application/zip", b"PK", name="a.zip"))
    if dice.random() < 0.05:
        content.append(File("text/csv", b"a,b"))
    return Result(call.id, call.name, tuple(content), dice.choice(OUTCOMES))


def transcript(dice: random.Random) -> tuple[Message, ...]:
    messages: list[Message] = [user(dice)]
    for number in range(dice.randint(0, 6)):
        answer = assistant(dice, number)
        messages.append(answer)
        if answer.calls:
            messages.append(Results(tuple(result(dice, call) for call in answer.calls)))
        if not answer.calls or dice.random() < 0.2:
            messages.append(user(dice))
    if isinstance(messages[-1], Assistant):
        messages.append(user(dice))
    return tuple(messages)


def request(seed: int) -> Request:
    dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
    tools = tuple(
        ToolSpec(name, words(dice), SCHEMA, strict=dice.random() < 0.5)
        for name in NAMES[: dice.randint(0, 4)]
    )
    choice: Literal["auto", "none", "required"] = dice.choice(CHOICES)
    return Request(
        transcript=transcript(dice),
        instructions=words(dice) if dice.random() < 0.5 else "",
        tools=tools,
        tool_choice=OneTool(tools[0].name) if tools and dice.random() < 0.2 else choice,
        parallel_tools=dice.choice((None, True, False)),
        max_tokens=dice.choice((None, 100, 4000)),
        temperature=dice.choice((None, 0.0, 0.7)),
        stop=dice.choice(((), ("END",))),
        effort=dice.choice((None, None, "low", "high")),
        answer_schema=SCHEMA if dice.random() < 0.1 else None,
    )
