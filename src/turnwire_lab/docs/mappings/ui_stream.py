"""The mapping table of `ui-stream`: chunks of an agent fed to a real `Turn`, and what came out."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ui_stream import UiStream
from turnwire_lab.docs.mapping import shown

Frame = dict[str, Any] | str
"""A chunk, or what is sent as it is."""


def _chunk(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


_START: Final = _chunk("start", messageId="m1")
_TEXT: Final = _chunk("text-delta", id="t1", delta="Hi")
_OTHER_TEXT: Final = {**_TEXT, "id": "t2"}
_TEXT_END: Final = _chunk("text-end", id="t1")
_THOUGHT: Final = _chunk("reasoning-delta", id="r1", delta="Hm")
_CALL: Final = _chunk("tool-input-start", toolCallId="c1", toolName="bash")
_PIECE: Final = _chunk("tool-input-delta", toolCallId="c1", inputTextDelta='{"n":1}')
_GIVEN: Final = _chunk("tool-input-available", toolCallId="c1", toolName="bash", input={"n": 1})
_OUTPUT: Final = _chunk("tool-output-available", toolCallId="c1", output=2)
_ASK: Final = _chunk("tool-approval-request", approvalId="a1", toolCallId="c1")
_NAMELESS: Final = _chunk("tool-approval-request", toolCallId="c1")
_FINISH: Final = _chunk("finish", finishReason="stop")
_DONE: Final = "[DONE]"

_ROWS: Final[Sequence[tuple[str, Sequence[Frame], Frame | None]]] = (
    ("`start`, whatever id it has", [], _START),
    ("any other chunk before it", [], _TEXT),
    ("`start-step`, `finish-step`", [_START], _chunk("start-step")),
    ("… while a text is open", [_START, _TEXT], _chunk("finish-step")),
    ("`text-start`", [_START], _chunk("text-start", id="t1")),
    ("`text-delta`, whether its text started or not", [_START], _TEXT),
    ("… the next one", [_START, _TEXT], _TEXT),
    ("… of another text, while the first is open", [_START, _TEXT], _OTHER_TEXT),
    ("… and of the first one again", [_START, _TEXT, _OTHER_TEXT], _TEXT),
    ("… that is empty", [_START, _TEXT], {**_TEXT, "delta": ""}),
    ("… after a call of the same step", [_START, _TEXT, _GIVEN, _OUTPUT], _TEXT),
    ("`text-end`", [_START, _TEXT], _TEXT_END),
    ("`reasoning-delta`", [_START], _THOUGHT),
    ("`reasoning-end`", [_START, _THOUGHT], _chunk("reasoning-end", id="r1")),
    ("`tool-input-start`, without `providerExecuted`", [_START], _CALL),
    ("`tool-input-delta`", [_START, _CALL], _PIECE),
    ("`tool-input-available`", [_START, _CALL, _PIECE], _GIVEN),
    (
        "`tool-input-error`",
        [_START, _CALL],
        _chunk("tool-input-error", toolCallId="c1", toolName="bash", input={}, errorText="no n"),
    ),
    ("`tool-output-available`", [_START, _GIVEN], _OUTPUT),
    ("… of a call that never began", [_START], _OUTPUT),
    ("… `preliminary`", [_START, _GIVEN], {**_OUTPUT, "preliminary": True}),
    (
        "`tool-output-error`",
        [_START, _GIVEN],
        _chunk("tool-output-error", toolCallId="c1", errorText="offline"),
    ),
    ("`tool-output-denied`", [_START, _GIVEN], _chunk("tool-output-denied", toolCallId="c1")),
    ("`tool-approval-request`, until the response ends", [_START, _GIVEN], _ASK),
    ("… and then", [_START, _GIVEN, _ASK], _FINISH),
    ("… of a call that never began", [_START, _TEXT, _ASK], _FINISH),
    ("… that cannot be answered", [_START, _TEXT, _GIVEN, _NAMELESS], _FINISH),
    ("`source-url`", [_START], _chunk("source-url", sourceId="s1", url="https://a.example")),
    ("… that is no `http:` or `https:`", [_START], _chunk("source-url", url="ftp://a.example")),
    ("`file`", [_START], _chunk("file", url="https://a.example/f", mediaType="image/png")),
    ("… that is neither, and no `data:`", [_START], _chunk("file", url="x:", mediaType="a/b")),
    ("`data-…`", [_START], _chunk("data-weather", data={"t": 21}, id="w1")),
    ("… with the name of a part of the gateway", [_START], _chunk("data-question", data={})),
    ("`source-document`, `reasoning-file`, `custom`", [_START], _chunk("custom", kind="a.b")),
    ("`message-metadata`", [_START], _chunk("message-metadata", messageMetadata={})),
    ("`reset-step`", [_START, _TEXT], _chunk("reset-step")),
    ("`finish`, whatever fields it has", [_START, _TEXT], _FINISH),
    ("… while a call has no result", [_START, _GIVEN], _FINISH),
    ("… whose `finishReason` is `error`", [_START], {"type": "finish", "finishReason": "error"}),
    ("`[DONE]` without `finish`", [_START, _TEXT], _DONE),
    ("whatever comes after an end", [_START, _FINISH], _TEXT),
    ("`error`", [_START, _TEXT], _chunk("error", errorText="no model")),
    ("… while a call has no result", [_START, _GIVEN], _chunk("error", errorText="no model")),
    ("`abort`", [_START, _GIVEN], _chunk("abort")),
    ("the end of the body without any of these", [_START, _TEXT], None),
    ("a chunk of an unknown type", [_START], _chunk("new")),
)

_REQUESTS: Final = ApprovalIssuer(
    signer=Signer(keys=[b"a key"], session_id="S", user_id="U"), epoch=0.0, valid_s=60.0
)


def rows() -> Iterator[tuple[str, str]]:
    """Chunks of the agent, and the types of the chunks that they become."""
    for label, before, frame in _ROWS:
        yield label, _worth(before, frame)
        if label in {"… and then", "… `preliminary`"}:
            yield "… in the profiles `6` and `7`", _worth(before, frame, _REQUESTS)


def _worth(
    before: Sequence[Frame], frame: Frame | None, approvals: ApprovalIssuer | None = None
) -> str:
    request = PromptRequest(text="", prompt_id="P")
    stream = UIMessageStream(StreamOptions(approvals=approvals))
    turn = Turn(UiStream().prompt(request), Limits(), stream)
    turn.handle(Opened(), 0)
    turn.frames(list(map(_encoded, before)), 0)
    written = (
        turn.handle(AgentLeft(), 0) if frame is None else turn.frames([_encoded(frame)], 0)
    ).to_client
    lines = [line for line in written.decode().split("\n") if line.startswith("data: {")]
    kinds = [shown(json.loads(line.removeprefix("data: "))) for line in lines]
    return " → ".join(kinds) or "nothing"


def _encoded(frame: Frame) -> bytes:
    return (frame if isinstance(frame, str) else json.dumps(frame)).encode()
