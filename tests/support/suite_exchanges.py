"""The turns that ask, and two side by side, on each of our own wires that has them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from support import acp_messages, ag_ui_frames, openai_responses_frames
from support import session_agent_frames as sa
from support import ui_chunks as ui
from support import v2_frames as v2
from support.v2_operations import hello, turn
from turnwire.testing import (
    ANSWER,
    INPUT,
    OUTPUT,
    PROMPT,
    QUESTION,
    SIDE_BY_SIDE,
    TOOL_NAME,
    Exchange,
    Script,
)

_ARGS: Final = json.dumps(INPUT)
_OF_A_CALL: Final = ("approved", "denied")

Json = dict[str, Any]


def alternating(one: Sequence[bytes], other: Sequence[bytes]) -> list[bytes]:
    """The frames of two turns of which each has as many."""
    return [frame for pair in zip(one, other, strict=True) for frame in pair]


# v2


def on_v2(script: Script, prompt_id: str) -> Exchange:
    about: Json = {"questionId": "q1", "text": QUESTION}
    call: Json = {"callId": "c1", "toolName": TOOL_NAME, "args": INPUT}
    answer: Any = {"approved": True, "denied": False}.get(script.name, ANSWER)
    before, after = [v2.part(script.texts[0])], [v2.part(text) for text in script.texts[1:]]
    if script.name in _OF_A_CALL:
        about |= {"kind": "approval", **call}
        before.append(v2.tool("running", "c1", TOOL_NAME, args=INPUT))
        outcome: Json = {"result": [OUTPUT]} if script.calls else {"error": "denied"}
        status = "completed" if script.calls else "error"
        after.insert(0, v2.tool(status, "c1", TOOL_NAME, **outcome))
    closed = v2.frame("question.resolved", questionId="q1", answer=answer)
    expired = v2.frame("question.expired", questionId="q1")
    part = {"type": "question", **about}
    question = json.dumps(part | {"turnId": v2.OURS}).encode()
    parts = (
        [{"type": "tool-call", "status": "running", **call}] if script.name in _OF_A_CALL else []
    )
    running = {"runnerBusy": True, "runningTurnId": v2.OURS}
    told = {"type": "text", "text": script.texts[0]}
    goes_on = [expired if script.name == "expired" else closed, *after, v2.finalize()]
    return Exchange(
        asks=[v2.begin(prompt=prompt_id), *before, question],
        goes_on=goes_on,
        resumes=lambda _: [hello(turn(told, *parts, part), **running), *goes_on],
        operation=[hello(turn(*parts, part), **running), closed],
        late=[hello(turn(*parts, part | {"answer": answer}), **running)],
    )


def both_on_v2(first: str, second: str) -> list[bytes]:
    return alternating(
        *(
            [
                v2.begin(f"turn-{prompt}", prompt),
                *(v2.part(text, f"turn-{prompt}") for text in texts),
                v2.finalize(f"turn-{prompt}"),
            ]
            for prompt, texts in zip((first, second), SIDE_BY_SIDE, strict=True)
        )
    )


# session-agent


def on_session_agent(script: Script, opening: Sequence[bytes], revision: str) -> Exchange | None:
    if script.name in _OF_A_CALL:
        return None  # an approval is of an action, and names no call
    closed = sa.answered(revision, answer=ANSWER)
    expired = sa.expired(revision)
    return Exchange(
        asks=[*opening, sa.chunk(script.texts[0]), sa.asked(revision, said=QUESTION)],
        goes_on=[
            expired if script.name == "expired" else closed,
            *(sa.chunk(text) for text in script.texts[1:]),
            sa.done(script.text),
        ],
        operation=[sa.init(revision), sa.asked(revision, said=QUESTION), closed],
        late=[sa.init(revision)],
    )


def both_on_session_agent(revision: str) -> list[bytes]:
    """One after the other: the agent has one turn at a time, and echoes prompts in their order."""
    return [sa.init(revision), *_turns_of_session_agent()]


def _turns_of_session_agent() -> Iterator[bytes]:
    for number, texts in enumerate(SIDE_BY_SIDE, start=1):
        made = f"turn-{number}"
        yield sa.user(PROMPT, f"P{number}", by="user-1")
        yield sa.audit("user.prompt")
        yield sa.begin(made)
        yield from (sa.chunk(text, made) for text in texts)
        yield sa.done("".join(texts), made)


# acp

_OPTIONS: Final = [
    {"optionId": "harvest", "name": "Harvest", "kind": "allow_always"},
    {"optionId": "wait", "name": "Wait", "kind": "reject_once"},
]
"""No yes: a permission with these options is a question."""


def on_acp(script: Script) -> Exchange:
    f = acp_messages
    after = [*map(f.text, script.texts[1:]), f.done()]
    before = [*f.OPENED, f.text(script.texts[0])]
    if script.name in _OF_A_CALL:
        before += [f.call("c1", kind=TOOL_NAME, rawInput=INPUT), f.permission(rawInput=INPUT)]
        if script.calls:
            after.insert(0, f.state("completed", content=f.shown(OUTPUT)))
        else:
            after.insert(0, f.state("failed", content=f.shown("denied")))
    else:
        before.append(f.permission(title=QUESTION, options=_OPTIONS))
    if script.name == "expired":
        after.insert(0, f.message(method="$/cancel_request", params={"requestId": 0}))
    return Exchange(asks=before, goes_on=after, answer="harvest")


# ag-ui


def on_ag_ui(script: Script, prompt_id: str) -> Exchange | None:
    f = ag_ui_frames
    if script.name == "expired":
        return None  # the run that asked is over, and takes nothing back
    asked: Json = {"id": "q1", "reason": "input", "message": QUESTION}
    before = [f.started(prompt_id), f.text(script.texts[0]), f.text_end()]
    after = [*(f.text(text, "m2") for text in script.texts[1:]), f.text_end("m2")]
    if script.name in _OF_A_CALL:
        asked |= {"reason": "tool_call", "toolCallId": "c1"}
        before += f.whole_call("c1", TOOL_NAME, _ARGS)
        after.insert(0, f.result(OUTPUT if script.calls else "denied"))

    def next_run(run: str) -> list[bytes]:
        return [f.started(run), *after, f.finished(run)]

    return Exchange(
        asks=[*before, f.interrupted(asked, run=prompt_id)],
        goes_on=next_run(f"{prompt_id}-2"),
        leaves=True,
        resumes=lambda request: next_run(json.loads(request.body)["runId"]),
    )


# ui-stream


def on_ui_stream(script: Script) -> Exchange | None:
    if script.name not in _OF_A_CALL:
        return None  # it asks about calls alone
    end = ui.output(OUTPUT) if script.calls else ui.denied()
    goes_on = [
        *(ui.start(messageId="m1"), end, ui.step(), ui.text_start("t2")),
        *(ui.text(text, "t2") for text in script.texts[1:]),
        *(ui.text_end("t2"), ui.step_end(), ui.finish(), ui.DONE),
    ]
    return Exchange(
        asks=[
            *(ui.start(messageId="m1"), ui.step(), ui.text_start(), ui.text(script.texts[0])),
            *(ui.text_end(), ui.given("c1", TOOL_NAME, input=INPUT), ui.ask()),
            *(ui.step_end(), ui.finish(), ui.DONE),
        ],
        goes_on=goes_on,
        leaves=True,
        resumes=lambda _: goes_on,
    )


# openai-responses


def on_openai_responses(script: Script) -> Exchange | None:
    f = openai_responses_frames
    if script.name not in _OF_A_CALL:
        return None  # it asks about calls alone
    ran = f.tool("mcp_call", name=TOOL_NAME, approval_request_id="mcpr_1", output=OUTPUT)
    texts = [f.text(text, 1) for text in script.texts[1:]]
    outcome = [f.added(ran, 0), f.item_done(ran, 0)] if script.calls else []
    goes_on = [f.created(), *outcome, *texts, f.completed()]
    return Exchange(
        asks=[
            *(f.created(), f.text(script.texts[0]), f.item_done(f.message(script.texts[0]), 0)),
            *(f.item_done(f.asks(name=TOOL_NAME, arguments=_ARGS)), f.completed()),
        ],
        goes_on=goes_on,
        leaves=True,
        resumes=lambda _: goes_on,
    )
