"""The mapping table of `openai-chat`: events of the wire fed to a real `Turn`."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.dialects.openai_chat import OpenAiChat
from turnwire_lab.docs.mappings.http import END, Frame, chunks_of

_DONE: Final = "[DONE]"


def _chunk(finish: str | None = None, /, **delta: Any) -> Frame:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _call(call_id: str | None, name: str, arguments: str, index: int = 0) -> Frame:
    function = {"name": name, "arguments": arguments}
    return _chunk(tool_calls=[{"index": index, "id": call_id, "function": function}])


def _progress(status: str, **fields: Any) -> Frame:
    return {"tool": "bash", "toolCallId": "c1", "status": status, **fields}


_START: Final = _chunk(role="assistant", content="")
_TEXT: Final = _chunk(content="Hi")
_HEAD: Final = _call("c1", "bash", "")
_ARGS: Final = _call(None, "", '{"n":1}')
_CALLED: Final = [_START, _HEAD, _ARGS]
_RUNS: Final = _progress("running", label="ls")
_STOP: Final = _chunk("stop")
_CALLS: Final = _chunk("tool_calls")
_ERROR: Final = {"error": {"message": "no model", "code": "500"}}
_CITED: Final = _chunk(annotations=[{"url_citation": {"url": "https://a.example"}}])
_THOUGHT: Final = _chunk(content=[{"type": "thinking", "thinking": "Hm"}])
_PICTURE: Final = _chunk(images=[{"image_url": {"url": "data:image/png;base64,QQ=="}}])
_OUTPUT: Final = _chunk(role="tool", tool_call_id="c1", content="21")
_USAGE: Final[Frame] = {"choices": [], "usage": {}}

_ROWS: Final[Sequence[tuple[str, Sequence[Frame | str], Frame | str]]] = (
    ("the first chunk", [], _START),
    ("`delta.content`, the first", [_START], _TEXT),
    ("… the next one", [_START, _TEXT], _TEXT),
    ("… in parts", [_START], _chunk(content=[{"type": "text", "text": "Hi"}])),
    ("`delta.reasoning_content`, `delta.reasoning`", [_START], _chunk(reasoning="Hm")),
    ("… a part of the type `thinking`", [_START], _THOUGHT),
    ("`delta.refusal`", [_START, _TEXT], _chunk(refusal="No.")),
    ("`delta.tool_calls`: the head of a call", [_START], _HEAD),
    ("… a piece of its input", [_START, _HEAD], _ARGS),
    ("… the head of another one", _CALLED, _call("c2", "bash", "", 1)),
    ("… while the name has not come", [_START], _call("c1", "", '{"n":')),
    ("`finish_reason` `tool_calls`", _CALLED, _CALLS),
    ("… and then text", [*_CALLED, _CALLS], _TEXT),
    ("`delta` with the role `tool`, after its call", [*_CALLED, _CALLS], _OUTPUT),
    ("`hermes.tool.progress`: `running`", [_START, _TEXT], _RUNS),
    ("… `completed`", [_START, _RUNS], _progress("completed")),
    ("… `failed`, `error`, `cancelled`", [_START, _RUNS], _progress("failed", error="exit 1")),
    ("… any other word", [_START, _RUNS], _progress("loading")),
    ("`delta.images`", [_START], _PICTURE),
    ("`delta.annotations`, `citations`, until the end", [_START, _TEXT], _CITED),
    ("… and then the end", [_START, _TEXT, _CITED, _STOP], _DONE),
    ("`finish_reason` `stop`, until the usage and the end", [_START, _TEXT], _STOP),
    ("… `[DONE]`, the end of the body, or two seconds of silence", [_START, _TEXT, _STOP], _DONE),
    ("… `length`, and the end", [_START, _TEXT, _chunk("length")], _DONE),
    ("… `content_filter`, after text", [_START, _TEXT, _chunk("content_filter")], _DONE),
    ("… without text", [_START, _chunk("content_filter")], _DONE),
    ("… after a refusal", [_START, _chunk(refusal="No."), _STOP], _DONE),
    ("… any word that is not known as that of a whole answer", [_START, _chunk("abort")], _DONE),
    ("… `tool_calls`, and nobody ran them", [*_CALLED, _CALLS], _DONE),
    ("… and the agent named its tool, but not what came of it", [_START, _RUNS, _STOP], _DONE),
    ("the end of the body while tools run", [*_CALLED, _CALLS], END),
    ("`usage`, `x_groq`: the last one, with `TURNWIRE_USAGE`", [_START], _USAGE),
    ("an `error` in any form", [_START, _TEXT], _ERROR),
    ("… beside `finish_reason` `length`, and the end", [_START, _chunk("length") | _ERROR], _DONE),
    ("`[DONE]` without a `finish_reason`, until the end", [_START, _TEXT], _DONE),
    ("the end of the body without one", [_START, _TEXT], END),
    ("an event of any other shape", [_START], {"ping": 1}),
    ("another choice (`n`)", [_START], {"choices": [{"index": 1, "delta": {"content": "Hi"}}]}),
)  # fmt: skip


def rows() -> Iterator[tuple[str, str]]:
    """Events of the agent, and the types of the chunks that they become."""
    for label, before, frame in _ROWS:
        yield label, chunks_of(OpenAiChat(), before, frame)
