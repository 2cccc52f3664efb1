"""A turn of several runs on the `ag-ui` wire, each of which ends with questions."""

from typing import Any

from support import ag_ui_frames as f
from support.ag_ui_turn import Played

APPROVE = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
WHY = {"id": "why", "reason": "input_required", "message": "Why?"}
MORE_A = f.whole_call("c1", "delete", '{"path":"a","force":true}')
FORCED = {"path": "a", "force": True}
"""The input of `MORE_A`: that of `CALL_A`, and more."""

YES, NO = True, False


def in_request(played: Played) -> list[tuple[str, str]]:
    """The calls and the results that the agent was sent last, in their order."""
    found: list[tuple[str, str]] = []
    for message in played.requests[-1]["messages"]:
        found += [
            (call["id"], call["function"]["arguments"]) for call in message.get("toolCalls", ())
        ]
        if message["role"] == "tool":
            found.append((message["toolCallId"], message["content"]))
    return found


def answer(played: Played, *answers: Any) -> Played:
    """Answer the open questions in their order. The next run begins."""
    open_ids = [each for each, state in played.client.questions.items() if state == "open"]
    for question_id, each in zip(open_ids, answers, strict=True):
        played.reply(question_id, each)
    return played.open_again()


def ask(played: Played, *told: Any) -> Played:
    """The run that began tells these events, and ends with the interrupts."""
    run = played.requests[-1]["runId"]
    frames = [each for each in told if isinstance(each, bytes)]
    interrupts = [each for each in told if not isinstance(each, bytes)]
    return played.tell(f.started(run), *frames, f.interrupted(*interrupts, run=run)).leave()


def asking(*told: Any) -> Played:
    return ask(Played(), *told)
