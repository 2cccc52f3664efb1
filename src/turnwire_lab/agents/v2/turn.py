"""One turn: sends each step of an answer to the session's sockets and writes it down.

Rule: each step is sent and written down together, with no await in between. So a socket that joins
at any moment finds in its `init` exactly what the other sockets have got, and no `init` comes
between the two frames of one delta.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import Tool, ToolDenied, ToolFailed
from turnwire_lab.agents.common.wording import pieces
from turnwire_lab.agents.v2.asking import Asking
from turnwire_lab.agents.v2.frames import Habits, Prompt
from turnwire_lab.agents.v2.history import Entry
from turnwire_lab.agents.v2.parts import (
    Called,
    Ended,
    Failed,
    File,
    Question,
    Reason,
    Retracted,
    Source,
    StepBegan,
    TextBlock,
    position,
    standing,
)


class Turn:
    """What the brain holds in its hand while it answers."""

    def __init__(
        self,
        prompt: Prompt,
        *,
        user_id: str | None,
        habits: Habits,
        tools: Mapping[str, Tool],
        now: Callable[[], datetime],
        tell: Callable[[Json], None],
        hang_up: Callable[[], None],
    ) -> None:
        self.id = _new_id("turn")
        self.prompt = prompt
        self.user_id = user_id
        self.habits = habits
        self.hang_up = hang_up
        self.tools = tools
        self.asking = Asking(tell)
        self.prompt_ids = {prompt.prompt_id}
        """What an abort may name to mean this turn."""
        self._now = now
        self._tell = tell
        self._deltas = 0
        self._thoughts = 0
        self.finish_reason: str | None = None
        """Why the model stopped, if the end of the turn says so."""
        origin = prompt.channel.fields()
        if habits.prompt_ids and prompt.prompt_id is not None:
            origin["promptId"] = prompt.prompt_id
        self._origin = origin
        self.prompted = self._as_asked()
        self.entry = Entry(self.id, "assistant", origin)

    def begin(self) -> None:
        user = {} if self.user_id is None else {"userId": self.user_id}
        self._tell({"type": "message.create", "turnId": self.id, **self._origin, **user})
        self.status("thinking")

    def status(self, status: str, detail: str | None = None) -> None:
        frame: Json = {"type": "agentStatus", "status": status, "turnId": self.id}
        if detail is not None:
            frame["detail"] = detail
        self._tell(frame | self.prompt.channel.fields())

    async def say(self, text: str) -> None:
        for piece in pieces(text):
            self.say_delta(piece)
            await self.pause()

    async def think(self, text: str) -> None:
        for piece in pieces(text):
            self._block("reasoning").pieces.append(piece)
            self._thoughts += 1
            self._tell({"type": "message.part.reasoning-delta", "turnId": self.id, "delta": piece})
            await self.pause()

    def say_delta(self, piece: str) -> None:
        """One delta of text, in every spelling this agent uses."""
        if self.entry.open_block("text") is None:
            self.status("streaming")
        self._block("text").pieces.append(piece)
        self._deltas += 1
        for spelling in self.habits.spellings:
            match spelling:
                case "chunk":
                    frame = {"type": "chunk", "content": piece, "messageId": self.id}
                    self._tell(frame | self.prompt.channel.fields())
                case "text-delta":
                    delta = {"type": "message.part.text-delta", "turnId": self.id, "delta": piece}
                    self._tell(delta)

    def begin_step(self) -> int:
        """Say that the model is called again. Returns the position of what it tells."""
        self.entry.close()
        self.entry.parts.append(StepBegan())
        self._tell({"type": "message.part.step", "turnId": self.id})
        return position(self.entry.parts)

    def retract(self, since: int) -> None:
        """Take back what was told from the position `since` on: the attempt was lost."""
        self.entry.close()
        self.entry.parts.append(Retracted(since))
        self._tell({"type": "message.part.retract", "turnId": self.id, "since": since})

    async def write_input(self, tool_name: str, text: str) -> Called:
        """Begin a call with the text of its input, in pieces as a model writes it."""
        self.entry.close()
        call = Called(_new_id("call"), tool_name)
        self.entry.parts.append(call)
        self.status("tool_calling", tool_name)
        for piece in pieces(text):
            call.input_text += piece
            update = {"type": "message.part.tool-update", "turnId": self.id, **call.fields()}
            self._tell(update | {"argsDelta": piece})
            await self.pause()
        return call

    async def use(
        self,
        tool_name: str,
        args: Json,
        *,
        approval: str | None = None,
        call: Called | None = None,
    ) -> Any:
        """Run a tool and return its result. Clients get `ToolFailed` before it is raised.

        `approval` is the question that has to be approved before the tool runs. `call` is one
        whose input was written already.
        """
        self.entry.close()
        if call is None:
            call = Called(_new_id("call"), tool_name)
            self.entry.parts.append(call)
            self.status("tool_calling", tool_name)
            self._tell_tool(call)
            await self.pause()
        call.status, call.args = "running", args
        self._tell_tool(call)
        await self.pause()
        try:
            if approval is not None:
                await self._ask_approval(approval, call)
            call.result = self.tools[tool_name](args)
        except ToolFailed as failure:
            call.status, call.error = "error", str(failure)
            self._tell_tool(call)
            raise
        call.status = "completed"
        self._tell_tool(call)
        return call.result

    def question(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        wait_s: float | None = None,
        about: Called | None = None,
    ) -> Question:
        """A question that has yet to be asked."""
        wait_s = self.habits.question_s if wait_s is None else wait_s
        expires_at = int((self._now().timestamp() + wait_s) * 1000)
        return Question(_new_id("question"), self.id, text, options, expires_at, wait_s, about)

    async def ask(self, *questions: Question) -> None:
        """Ask all at once, and return when each is answered or expired."""
        self.entry.close()
        for question in questions:
            self.entry.parts.append(question)
            self.asking.begin(question)
        self._tell_snapshot()
        await asyncio.gather(*(self.asking.end(question) for question in questions))
        self._tell_snapshot()

    def hand_out(self, file: File) -> None:
        self._show("message.part.file", file)

    def cite(self, source: Source) -> None:
        self._show("message.part.source", source)

    async def pause(self, pause_s: float | None = None) -> None:
        """Let other tasks run: an abort can only arrive while the turn pauses."""
        await asyncio.sleep(self.habits.pace_s if pause_s is None else pause_s)

    def end(self, reason: Reason, error: str | None = None) -> None:
        self.asking.give_up()
        self.entry.close()
        for part in standing(self.entry.parts):
            if isinstance(part, Called) and part.status in {"pending", "running"}:
                part.status, part.error = "error", "Canceled"
        if error is not None:
            self.entry.parts.append(Failed(error))
        self.entry.parts.append(Ended(reason))
        self._tell_snapshot()
        frame: Json = {"type": "message.finalize", "turnId": self.id, "reason": reason}
        if text := self.entry.text:
            frame["finalText"] = text
        if error is not None:
            frame["error"] = error
        if self.finish_reason is not None:
            frame["finishReason"] = self.finish_reason
        self._tell(frame | {"usage": self._usage()})
        if error is not None:
            self.status("error", error)
        ids = {k: v for k, v in self._origin.items() if k == "promptId"}
        self._tell({"type": "complete", "turnId": self.id, **ids})

    def _as_asked(self) -> Entry:
        """The prompt as the history keeps it, from now on until its turn begins in the queue."""
        origin = dict(self._origin)
        if self.prompt.client_message_id is not None:
            origin["clientMessageId"] = self.prompt.client_message_id
        if self.user_id is not None:
            origin["userId"] = self.user_id
        entry = Entry(_new_id("prompt"), "user", origin, queued=True)
        if self.prompt.content:
            entry.parts.append(TextBlock("text", [self.prompt.content], streaming=False))
        entry.parts += [File(a.mime, a.url, a.filename) for a in self.prompt.attachments]
        return entry

    async def _ask_approval(self, text: str, call: Called) -> None:
        question = self.question(text, ("approve", "deny"), about=call)
        await self.ask(question)
        if question.expired:
            raise ToolDenied("No answer in time")
        if not question.approved:
            raise ToolDenied("Denied")

    def _show(self, kind: str, part: File | Source) -> None:
        self.entry.close()
        self.entry.parts.append(part)
        self._tell({"type": kind, "turnId": self.id, **part.fields()})

    def _block(self, kind: Literal["text", "reasoning"]) -> TextBlock:
        block = self.entry.open_block(kind)
        if block is None:
            self.entry.close()
            block = TextBlock(kind)
            self.entry.parts.append(block)
        return block

    def _tell_tool(self, call: Called) -> None:
        self._tell({"type": "message.part.tool-update", "turnId": self.id, **call.fields()})
        self._tell_snapshot()

    def _tell_snapshot(self) -> None:
        # The whole turn once more, as the real backend does after each step of a tool: nothing a
        # gateway may add to the text of the deltas.
        if self.habits.noise:
            self._tell({"type": "message.updated", "data": self.entry.written()})

    def _usage(self) -> Json:
        """Words for tokens: made up, but the same every time."""
        prompt, completion = len(self.prompt.content.split()), self._deltas
        total = prompt + completion
        used = {"promptTokens": prompt, "completionTokens": completion, "totalTokens": total}
        return used | {"cachedInputTokens": prompt // 2, "reasoningTokens": self._thoughts}


def _new_id(kind: str) -> str:
    return f"{kind}-{uuid4().hex[:12]}"
