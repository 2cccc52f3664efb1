"""What a very small model is asked, so that it calls the tool that a prompt names.

A model of 135 million parameters seldom calls a tool by itself. So words in the prompt choose the
tool, and the model writes its arguments, held to the tool's schema by the grammar of its server.
Whatever else it says, it says freely. Pure: bodies and chunks in, bodies and chunks out.
"""

import re
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

ARGUMENTS_MAX: Final = 60
"""Most tokens of a call's arguments."""
ANSWER_MAX: Final = 300
SENTENCE_MAX: Final = 60
RESULT_MAX: Final = 400
"""Most characters of a result that the model is told."""


class Rule(NamedTuple):
    """When a tool is called, and an example of how: the model needs one to do it alike."""

    tool: str
    wanted: re.Pattern[str]
    prompt: str
    arguments: str
    result: str
    answer: str


RULES: Final = (
    Rule(
        "survey",
        re.compile(r"\bsurvey\b", re.IGNORECASE),
        "survey the pages for hats",
        '{"word":"hats"}',
        '{"word":"hats","times":5,"top_page":"shop.md","pages":9}',
        "hats is there 5 times, most often in shop.md.",
    ),
    Rule(
        "write_note",
        re.compile(r"\bnote\b", re.IGNORECASE),
        "write a note: feed the cat",
        '{"text":"feed the cat"}',
        '{"written":"feed the cat","to":"notes.txt"}',
        "I wrote a note: feed the cat.",
    ),
    Rule(
        "search_docs",
        re.compile(r"\bsearch\b", re.IGNORECASE),
        "search for umbrella",
        '{"query":"umbrella"}',
        '{"query":"umbrella","pages":9,"hits":[{"page":"docs/rain.md","heading":"Wet days"}]}',
        'The word umbrella is in docs/rain.md, under "Wet days".',
    ),
    Rule(
        "clock",
        re.compile(r"\btime\b.*\bin\b", re.IGNORECASE | re.DOTALL),
        "what time is it in Cairo?",
        '{"place":"Cairo"}',
        '{"zone":"Africa/Cairo","time":"09:15","day":"Monday, 02 March 2026"}',
        "It is 09:15 in Cairo, on Monday.",
    ),
    Rule(
        "calculator",
        re.compile(r"\d\s*[-+*/%]+\s*\d"),
        "what is 31+6?",
        '{"expression":"31+6"}',
        '{"expression":"31+6","value":37}',
        "31+6 is 37.",
    ),
)
PROMPTS: Final = (
    ("survey the pages for journal", "a slow tool: kill the agent's process while it runs"),
    ("what is 12*7?", "runs a calculator"),
    ("what time is it in Tokyo?", "reads a clock"),
    ("search for keepalive", "looks through the project's pages"),
    ("write a note: buy bread", "needs your approval"),
    ("tell me a long story", "leaves time to reload, or to stop"),
)
"""What a visitor may ask, and what comes of it."""


class Steered(NamedTuple):
    """A request for the small model; `tool` is the one whose arguments it is asked for."""

    body: Json
    tool: str | None


def steered(body: Json) -> Steered:
    """Ask the model for the arguments of the tool that the last prompt names, or for an answer."""
    messages: list[Json] = body.get("messages", [])
    schemas = {
        each["function"]["name"]: each["function"].get("parameters", {})
        for each in body.get("tools", ())
    }
    rest = {k: v for k, v in body.items() if k not in {"messages", "tools", "tool_choice"}}
    place = max((n for n, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    prompt = _text(messages[place]) if messages else ""
    results = [_text(each) for each in messages[place + 1 :] if each.get("role") == "tool"]
    rule = _rule(prompt, schemas)
    limits: Json = {"max_tokens": ANSWER_MAX, "temperature": 0.2}
    if rule is None:
        asked = _plain(messages)
    elif results:
        asked = _about(rule, prompt, results)
        limits |= {"max_tokens": SENTENCE_MAX, "temperature": 0, "stop": ["\n"]}
    else:
        return Steered(rest | _arguments(rule, prompt, schemas[rule.tool]), rule.tool)
    return Steered(rest | limits | {"messages": asked}, None)


def as_call(chunk: Json, tool: str, *, first: bool) -> Json:
    """A chunk of text as one of a call's arguments. The first one says which tool it is."""
    choices = []
    for choice in chunk.get("choices", ()):
        text = choice.get("delta", {}).get("content") or ""
        call: Json = {"index": 0, "function": {"arguments": text}}
        if first:
            call |= {"id": chunk.get("id", "call"), "type": "function"}
            call["function"]["name"] = tool
        reason = choice.get("finish_reason")
        choices.append(
            choice
            | {
                "delta": {"tool_calls": [call]} if text or first else {},
                "finish_reason": "tool_calls" if reason == "stop" else reason,
            }
        )
    return chunk | {"choices": choices}


def _arguments(rule: Rule, prompt: str, schema: Json) -> Json:
    asked = f"Write the arguments of the tool {rule.tool} as JSON."
    return {
        "messages": [
            {"role": "system", "content": asked},
            {"role": "user", "content": rule.prompt},
            {"role": "assistant", "content": rule.arguments},
            {"role": "user", "content": prompt},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": rule.tool, "schema": schema},
        },
        "max_tokens": ARGUMENTS_MAX,
        "temperature": 0,
    }


def _rule(prompt: str, schemas: Json) -> Rule | None:
    return next(
        (each for each in RULES if each.tool in schemas and each.wanted.search(prompt)), None
    )


def _about(rule: Rule, prompt: str, results: list[str]) -> list[Json]:
    """Ask for an answer to the prompt by the results, after the example."""
    known = "\n".join(result[:RESULT_MAX] for result in results)
    return [
        {"role": "system", "content": "Answer in one short sentence."},
        {"role": "user", "content": f"{rule.prompt}\n{rule.tool}: {rule.result}"},
        {"role": "assistant", "content": rule.answer},
        {"role": "user", "content": f"{prompt}\n{rule.tool}: {known}"},
    ]


def _plain(messages: list[Json]) -> list[Json]:
    """The words of a conversation, without calls and their results."""
    return [
        {"role": each["role"], "content": text}
        for each in messages
        if each.get("role") != "tool" and (text := _text(each))
    ]


def _text(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)
