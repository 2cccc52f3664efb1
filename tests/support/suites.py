"""What the scripted agents of `turnwire.testing` send on each of our own wires."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from support import acp_messages, ag_ui_frames, openai_chat_frames, openai_responses_frames
from support import session_agent_frames as sa
from support import suite_exchanges as exchanges
from support import ui_chunks as ui
from support import v2_frames as v2
from turnwire.dialects import DIALECTS
from turnwire.testing import (
    ERROR,
    INPUT,
    OUTPUT,
    PROMPT,
    QUESTION,
    TOOL_NAME,
    DialectSuite,
    Exchange,
    Script,
)

_ARGS: Final = json.dumps(INPUT)
_CALLS_FIRST: Final = frozenset({"tool", "two_tools", "failing_tool"})


class OwnSuite(DialectSuite):
    """A suite of one of our wires: its author writes the parts of a script."""

    def opening(self, prompt_id: str) -> list[bytes]:
        """The frames before the first one that shows something."""
        del prompt_id
        return []

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        raise NotImplementedError

    def reasoning(self, text: str) -> list[bytes] | None:
        raise NotImplementedError

    def calls(self, script: Script) -> list[bytes] | None:
        """The calls of a script, and their outcomes."""
        raise NotImplementedError

    def end(self, script: Script) -> list[bytes] | None:
        """The last frames."""
        raise NotImplementedError

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        parts: list[list[bytes] | None] = [self.opening(prompt_id)]
        if script.reasoning:
            parts.append(self.reasoning(script.reasoning))
        if script.name in _CALLS_FIRST:
            parts.append(self.calls(script))
        parts.append(self.texts(script.texts[:1]))
        if script.name == "two_texts":
            parts.append(self.calls(script))
        parts += [self.texts(script.texts[1:]), self.end(script)]
        if any(part is None for part in parts):
            return None
        return [frame for part in parts if part is not None for frame in part]


class V2Suite(OwnSuite):
    dialect = DIALECTS["v2"]

    def opening(self, prompt_id: str) -> list[bytes]:
        return [v2.begin(prompt=prompt_id)]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [v2.part(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        return [v2.reasoning(text)]

    def calls(self, script: Script) -> list[bytes] | None:
        begun = [v2.tool("running", call, TOOL_NAME, args=INPUT) for call in script.calls]
        if script.name == "failing_tool":
            return [*begun, v2.tool("error", "c1", TOOL_NAME, error=ERROR)]
        done = [v2.tool("completed", call, TOOL_NAME, result=[OUTPUT]) for call in script.calls]
        return [*begun, *reversed(done)]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [v2.finalize(reason="error", error=ERROR)]
            case "canceled":
                return [v2.finalize(reason="canceled")]
            case "question":
                return [v2.frame("question", questionId="q1", turnId=v2.OURS, text=QUESTION)]
            case _:
                return [v2.finalize()]

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        return exchanges.on_v2(script, prompt_id)

    def shared_frames(self, first: str, second: str) -> Sequence[bytes] | None:
        return exchanges.both_on_v2(first, second)


class SessionAgentSuite(OwnSuite):
    dialect = DIALECTS["session-agent"]
    revision = "R"

    def opening(self, prompt_id: str) -> list[bytes]:
        del prompt_id  # its agent makes an id of its own
        return [
            sa.init(self.revision),
            sa.user(PROMPT, by="user-1"),
            sa.audit("user.prompt"),
            sa.begin(),
        ]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [sa.chunk(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        del text
        return None

    def calls(self, script: Script) -> list[bytes] | None:
        before = [sa.text(script.texts[0])] if script.name == "two_texts" else []
        parts = [sa.tool("running", call, TOOL_NAME, args=INPUT) for call in script.calls]
        frames = [sa.updated(*before, *parts[:count]) for count in range(1, len(parts) + 1)]
        for index in reversed(range(len(parts))):
            if script.name == "failing_tool":
                parts[index] |= {"status": "error", "error": ERROR}
            else:
                parts[index] |= {"status": "completed", "result": [OUTPUT]}
            frames.append(sa.updated(*before, *parts))
        return frames

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [sa.failure(ERROR)]
            case "canceled":
                return [sa.updated(sa.finish("canceled"))]
            case "question":
                return [sa.asked(self.revision, said=QUESTION)]
            case _:
                return [sa.done()]

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        return exchanges.on_session_agent(script, self.opening(prompt_id), self.revision)

    def shared_frames(self, first: str, second: str) -> Sequence[bytes] | None:
        del first, second  # a prompt is told by its author and its text
        return exchanges.both_on_session_agent(self.revision)


class AcpSuite(OwnSuite):
    dialect = DIALECTS["acp"]

    def opening(self, prompt_id: str) -> list[bytes]:
        del prompt_id  # a prompt is a request, with a number of its own
        return list(acp_messages.OPENED)

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [acp_messages.text(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        return [acp_messages.thought(text)]

    def calls(self, script: Script) -> list[bytes] | None:
        begun = [
            acp_messages.call(call, kind=TOOL_NAME, status="in_progress", rawInput=INPUT)
            for call in script.calls
        ]
        is_failed = script.name == "failing_tool"
        state, text = ("failed", ERROR) if is_failed else ("completed", OUTPUT)
        done = [
            acp_messages.state(state, call, content=acp_messages.shown(text))
            for call in script.calls
        ]
        return [*begun, *reversed(done)]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [acp_messages.failure(acp_messages.PROMPT, ERROR)]
            case "canceled":
                return [acp_messages.done("cancelled")]
            case "question":
                return [acp_messages.permission(title=QUESTION)]
            case _:
                return [acp_messages.done()]

    def unknown_frame(self) -> bytes:
        return acp_messages.message(method="turnwire/unknown", params={"text": "thistle"})

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        del prompt_id  # a prompt is a request, with a number of its own
        return exchanges.on_acp(script)


class AgUiSuite(OwnSuite):
    dialect = DIALECTS["ag-ui"]

    def opening(self, prompt_id: str) -> list[bytes]:
        return [ag_ui_frames.started(prompt_id)]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [ag_ui_frames.text(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        return [ag_ui_frames.thought(text), ag_ui_frames.thought_end()]

    def calls(self, script: Script) -> list[bytes] | None:
        if script.name == "failing_tool":
            return None  # the protocol itself has no word for it
        made = [ag_ui_frames.whole_call(call, TOOL_NAME, _ARGS) for call in script.calls]
        done = [ag_ui_frames.result(OUTPUT, call) for call in script.calls]
        return [*(frame for call in made for frame in call), *reversed(done)]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [ag_ui_frames.failed(ERROR)]
            case "canceled":
                return None
            case "question":
                asked = {"id": "q1", "reason": "input", "message": QUESTION}
                return [ag_ui_frames.interrupted(asked, run="p1")]
            case _:
                return [ag_ui_frames.finished("p1")]

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        return exchanges.on_ag_ui(script, prompt_id)


class UiStreamSuite(OwnSuite):
    dialect = DIALECTS["ui-stream"]

    def opening(self, prompt_id: str) -> list[bytes]:
        del prompt_id  # an agent makes ids of its own
        return [ui.start(messageId="m1"), ui.step()]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        frames = [ui.text(text) for text in texts]
        return [ui.text_start(), *frames] if frames else []

    def reasoning(self, text: str) -> list[bytes] | None:
        return [ui.thought(text), ui.thought_end()]

    def calls(self, script: Script) -> list[bytes] | None:
        made = [ui.given(call, TOOL_NAME, input=INPUT) for call in script.calls]
        if script.name == "failing_tool":
            return [*made, ui.failed(ERROR)]
        return [*made, *reversed([ui.output(OUTPUT, call) for call in script.calls])]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [ui.error(ERROR), ui.DONE]
            case "canceled":
                return [ui.chunk("abort"), ui.DONE]
            case "question":
                return None  # it asks about calls alone
            case _:
                return [ui.step_end(), ui.finish(), ui.DONE]

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        del prompt_id  # an agent makes ids of its own
        return exchanges.on_ui_stream(script)


class OpenAiChatSuite(OwnSuite):
    dialect = DIALECTS["openai-chat"]
    shows_outputs = False

    def opening(self, prompt_id: str) -> list[bytes]:
        del prompt_id  # a response is to its request
        return [openai_chat_frames.started()]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [openai_chat_frames.text(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        return [openai_chat_frames.thought(text)]

    def calls(self, script: Script) -> list[bytes] | None:
        f = openai_chat_frames
        made = [
            frame
            for index, call in enumerate(script.calls)
            for frame in (
                f.call(f.head(call, TOOL_NAME, index)),
                f.call(f.piece(_ARGS, index)),
            )
        ]
        status = "failed" if script.name == "failing_tool" else "completed"
        done = [f.progress(status, call, error=ERROR) for call in script.calls]
        return [*made, *reversed(done)]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [openai_chat_frames.failed(ERROR)]
            case "canceled" | "question":
                return None
            case _:
                return [openai_chat_frames.finished(), openai_chat_frames.DONE]

    def unknown_frame(self) -> bytes:
        return openai_chat_frames.event(object="turnwire.unknown", text="thistle")


class OpenAiResponsesSuite(OwnSuite):
    dialect = DIALECTS["openai-responses"]

    def opening(self, prompt_id: str) -> list[bytes]:
        del prompt_id  # a response is to its request
        return [openai_responses_frames.created()]

    def texts(self, texts: Iterable[str]) -> list[bytes]:
        return [openai_responses_frames.text(text) for text in texts]

    def reasoning(self, text: str) -> list[bytes] | None:
        return [openai_responses_frames.thought(text, index=9)]

    def calls(self, script: Script) -> list[bytes] | None:
        f = openai_responses_frames
        if script.name == "failing_tool":
            return None
        made, done = [], []
        for index, call_id in enumerate(script.calls, start=1):
            call = f.call(call_id, TOOL_NAME)
            made += [f.added(call, index), f.args(_ARGS, index), f.args_done(_ARGS, index)]
            made.append(f.item_done(call | {"arguments": _ARGS}, index))
            done.append(f.item_done(f.output(OUTPUT, call_id), index + 10))
        return [*made, *reversed(done)]

    def end(self, script: Script) -> list[bytes] | None:
        match script.name:
            case "error":
                return [openai_responses_frames.failed(ERROR)]
            case "canceled" | "question":
                return None
            case _:
                return [openai_responses_frames.completed(), openai_responses_frames.DONE]

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        del prompt_id  # a response is to its request
        return exchanges.on_openai_responses(script)
