"""What a person sees of a chunk, on a terminal and in a pipe."""

import json
from io import StringIO
from typing import Any

from rich.console import Console

from turnwire_lab.chat.ending import Ending
from turnwire_lab.chat.screen import Screen
from turnwire_lab.client import message
from turnwire_lab.client.chunks import TextDelta, parse
from turnwire_lab.client.message import UIMessage
from turnwire_lab.client.question import Choice, Question


def screen(*, terminal: bool = False) -> tuple[Screen, StringIO]:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=60, highlight=False)
    return Screen(console), out


def show(shown: Screen, **chunk: Any) -> None:
    shown.show(parse(json.dumps(chunk)))


def test_tools_are_cards_with_input_and_outcome() -> None:
    shown, out = screen()
    show(shown, type="text-delta", id="a", delta="Let me see")
    show(shown, type="tool-input-start", toolCallId="c1", toolName="calculator")
    show(shown, type="tool-input-available", toolCallId="c1", toolName="calculator", input={})
    show(shown, type="tool-output-available", toolCallId="c1", output={"value": 84})
    show(shown, type="tool-input-available", toolCallId="c2", toolName="clock", input="x")
    show(shown, type="tool-output-error", toolCallId="c2", errorText="Broken")
    show(shown, type="tool-output-denied", toolCallId="c2")
    show(shown, type="tool-output-available", toolCallId="?", output="y" * 3000)

    lines = out.getvalue().splitlines()
    assert lines[0] == "Let me see"
    assert lines[1].startswith("╭─ calculator ─")
    assert "input   {}" in lines[2]
    assert 'output  {"value": 84}' in lines[3]
    assert "clock" in lines[5]
    assert "failed  Broken" in lines[7]
    assert "denied" in lines[11]
    assert "y…" in out.getvalue()


def test_a_terminal_shows_status_and_dims_reasoning() -> None:
    shown, out = screen(terminal=True)
    shown.wait("waiting")
    show(shown, type="data-agent-status", data={"status": "thinking"}, transient=True)
    show(shown, type="data-agent-status", data={"status": "queued", "detail": "behind one"})
    show(shown, type="reasoning-delta", id="r", delta="hm")
    show(shown, type="data-agent-status", data={"status": "streaming"})
    show(shown, type="reasoning-end", id="r")
    shown.ended(Ending.FINISHED, "")

    assert "\x1b[2;3mhm\x1b[0m" in out.getvalue()
    assert "queued: behind one" in out.getvalue()
    assert "streaming" not in out.getvalue()


def test_nothing_moves_while_a_person_types() -> None:
    shown, out = screen(terminal=True)
    with shown.asking():
        shown.prompt("answer")
        show(shown, type="data-agent-status", data={"status": "thinking"})

    assert "answer >" in out.getvalue()
    assert "thinking" not in out.getvalue()


def test_a_pipe_is_not_prompted() -> None:
    shown, out = screen()
    shown.prompt("answer")

    assert out.getvalue() == ""


def test_an_empty_answer_is_not_mistaken_for_a_lost_one() -> None:
    shown, out = screen()
    shown.ended(Ending.FINISHED, "")
    show(shown, type="text-delta", id="a", delta="Hi")
    shown.ended(Ending.FINISHED, "")

    assert out.getvalue() == "(the answer is empty)\nHi\n"


def test_a_question_is_shown() -> None:
    shown, out = screen()
    question = {"text": "Go on?", "options": ["yes", "no"], "state": "open"}
    show(shown, type="data-question", id="q1", data=question)
    show(shown, type="data-question", id="q2", data={"text": "Why?", "state": "expired"})
    show(shown, type="data-question", id="q1", data={"state": "resolved", "answer": "maybe"})
    approval = {"text": "May I?", "body": "Mail to Joe", "promptType": "approval"}
    show(shown, type="data-question", id="q3", data=approval)

    told = out.getvalue()
    for words in ("question, open", "Go on?", "1  yes", "2  no", "question, expired"):
        assert words in told
    for words in ("question, resolved", "maybe", "approval, open", "Mail to Joe", "2  deny"):
        assert words in told


def test_files_and_sources_are_a_line_each() -> None:
    shown, out = screen()
    show(shown, type="file", url="data:image/png;base64,AAAA", mediaType="image/png")
    show(shown, type="file", url="https://example.com/a.pdf", mediaType="application/pdf")
    show(shown, type="source-url", sourceId="s", url="https://example.com", title="A page")
    show(shown, type="source-url", sourceId="s", url="https://example.com")
    shown.ended(Ending.FINISHED, "")

    assert out.getvalue().splitlines() == [
        "[image/png] a file of 26 characters",
        "[application/pdf] https://example.com/a.pdf",
        "[source] A page (https://example.com)",
        "[source] https://example.com",
    ]


def test_the_history_looks_as_it_did() -> None:
    shown, out = screen()
    shown.show_message(UIMessage("u1", "user", [message.Text("hello")]))
    answer = UIMessage(
        "t1",
        "assistant",
        [
            message.StepStart(),
            message.Reasoning("hm"),
            message.Text("Hi "),
            message.Tool(name="clock", tool_call_id="c1", input={}, output={"time": "noon"}),
            message.Tool(name="clock", tool_call_id="c2", error_text="Broken"),
            message.Source("s", "https://example.com"),
            message.File("https://example.com/a.png", "image/png"),
            Question("q1", "Go on?", "resolved", (Choice("yes", "yes"),), answer="yes"),
        ],
    )
    shown.show_message(answer)
    shown.ended(Ending.FINISHED, "")

    told = out.getvalue()
    assert told.startswith("you > hello\nhm\nHi \n╭─ clock")
    for words in ('output  {"time": "noon"}', "failed  Broken", "question, resolved"):
        assert words in told
    assert told.endswith("(the answer is empty)\n")  # what was shown is not the next answer


def test_an_answer_cannot_play_with_the_terminal() -> None:
    shown, out = screen()
    shown.show(TextDelta("a", "a\x1b[2Jb\x07\x9bc\ud83d [red]d\n"))
    shown.show(TextDelta("a", ""))
    shown.ended(Ending.FAILED, "\x1b]0;title\x07")

    assert out.getvalue() == "a[2Jbc? [red]d\nThe turn failed: ]0;title\n"
