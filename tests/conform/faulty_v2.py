"""Agents of the `v2` wire that work, but for one fault each."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.frames import Frame, Opcode

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Abort, Answer, Habits, Prompt
from turnwire_lab.agents.v2.parts import Called
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.agents.v2.session import Session

DELTA = "message.part.text-delta"
TOOL = "message.part.tool-update"
LATE_S = 0.45
"""Too late, for a trial's patience."""


class Sound(Session):
    """The session of an agent without a fault. Each subclass has one."""

    def tell(self, frame: Json) -> None:
        for each in self.changed(frame):
            super().tell(each)

    def changed(self, frame: Json) -> Iterator[Json]:
        """What is sent in place of a frame."""
        yield frame

    def later(self, act: Any, *given: Any) -> None:
        asyncio.get_running_loop().call_later(LATE_S, act, *given)


class NeverEnds(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] not in {"message.finalize", "complete"}:
            yield frame


class SaysNothing(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] != DELTA:
            yield {k: v for k, v in frame.items() if k != "finalText"}


class TalksAfterTheEnd(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        yield frame
        if frame["type"] == "complete":
            yield {"type": DELTA, "turnId": frame["turnId"], "delta": "one more thing"}


class TakesNothingBack(Sound):
    """A lost attempt stays."""

    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] != "message.part.retract":
            yield frame


class RepeatsALostAttempt(Sound):
    """Its final text is all that was ever told."""

    told = ""

    def changed(self, frame: Json) -> Iterator[Json]:
        self.told += frame["delta"] if frame["type"] == DELTA else ""
        is_lost = frame["type"] == "message.finalize" and "line to the model" in self.told
        yield frame | {"finalText": self.told} if is_lost else frame


class HoldsTextBack(Sound):
    """All deltas of a turn come as one."""

    held = ""

    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] == DELTA:
            self.held += frame["delta"]
            return
        if frame["type"] == "message.finalize" and self.held:
            yield {"type": DELTA, "turnId": frame["turnId"], "delta": self.held}
            self.held = ""
        yield frame


class RepeatsADelta(Sound):
    count = 0

    def changed(self, frame: Json) -> Iterator[Json]:
        yield frame
        self.count = self.count + 1 if frame["type"] == DELTA else self.count
        if frame["type"] == DELTA and frame["delta"].startswith("10 of"):
            yield frame


class LosesADelta(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] != DELTA or not frame["delta"].startswith("10 of"):
            yield frame


class CutsBytes(Sound):
    """A character of several bytes is cut: one frame is not UTF-8."""

    def tell(self, frame: Json) -> None:
        if frame["type"] == DELTA and "\xfc" in frame["delta"]:
            data = msgspec.json.encode(frame)
            first = next(at for at, byte in enumerate(data) if byte > 0x7F)
            broadcast(self._sockets, data[: first + 1] + b'"}', text=True)
            return
        super().tell(frame)


class ReplacesCharacters(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] in {DELTA, "message.finalize"}:
            for name in {"delta", "finalText"} & frame.keys():
                frame |= {name: frame[name].encode("ascii", "replace").decode()}
                frame |= {name: frame[name].replace("??", "\ufffd")}
        yield frame


class ReadsLatin1(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        for name in {"delta", "finalText"} & frame.keys():
            frame |= {name: frame[name].encode().decode("latin-1")}
        yield frame


class LeavesToolsOpen(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] != TOOL or frame["status"] in {"pending", "running"}:
            yield frame


class TellsFailuresAsSuccess(Sound):
    """A habit: it is noted, and no failure."""

    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] == TOOL and frame["status"] == "error":
            frame = {**frame, "status": "completed", "result": frame["error"]}
            del frame["error"]
        yield frame


class FailsWithItsTool(Sound):
    """A tool that fails takes the turn with it, without an end."""

    failed = False

    def changed(self, frame: Json) -> Iterator[Json]:
        self.failed = self.failed or (frame.get("status") == "error" and frame["type"] == TOOL)
        if not self.failed or frame["type"] == TOOL:
            yield frame
        if frame["type"] == "complete":
            self.failed = False


class CutsBigResults(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if len(str(frame.get("result", ""))) > 1_000_000:
            frame = {**frame, "result": {"found": "x" * 1_000_000}}
        yield frame


class DropsTheLineAtBigResults(Sound):
    def changed(self, frame: Json) -> Iterator[Json]:
        if frame["type"] == TOOL and len(str(frame.get("result", ""))) > 1_000_000:
            self._hang_up()
        else:
            yield frame


class KillsTheFirst(Sound):
    def ask(self, socket: ServerConnection, prompt: Prompt) -> None:
        if self._running is not None:
            self._running[2].cancel()
        super().ask(socket, prompt)


class DropsTheSecond(Sound):
    def ask(self, socket: ServerConnection, prompt: Prompt) -> None:
        if self._running is None:
            super().ask(socket, prompt)


class RefusesTheSecond(Sound):
    """A habit: it says so, and is no failure."""

    def ask(self, socket: ServerConnection, prompt: Prompt) -> None:
        if self._running is None:
            super().ask(socket, prompt)
        else:
            self.tell_one(socket, {"type": "error", "error": "busy", "promptId": prompt.prompt_id})


class IgnoresAborts(Sound):
    def abort(self, socket: ServerConnection, abort: Abort) -> None:
        pass


class AbortsLate(Sound):
    def abort(self, _socket: ServerConnection, _abort: Abort) -> None:
        if self._running is not None:
            self.later(self._running[2].cancel)


class IgnoresAbortsInTools(Sound):
    def abort(self, socket: ServerConnection, abort: Abort) -> None:
        turn = self.running
        calls = (
            () if turn is None else [part for part in turn.entry.parts if isinstance(part, Called)]
        )
        if not calls:
            super().abort(socket, abort)


class StopsInSilence(Sound):
    """It stops, and tells nobody: what was stopped has no end."""

    told_nothing_of: ClassVar = {"message.finalize", "complete"}

    def changed(self, frame: Json) -> Iterator[Json]:
        canceled = frame.get("reason") == "canceled"
        last = list(self.history)[-1:]
        calls = [part for entry in last for part in entry.parts if isinstance(part, Called)]
        self.is_muted = getattr(self, "is_muted", False) or (canceled and bool(calls))
        if not self.is_muted or frame["type"] not in self.told_nothing_of:
            yield frame
        if frame["type"] == "complete":
            self.is_muted = False


class KeepsLateAborts(Sound):
    """An abort of a turn that is over hits the next turn."""

    is_due = False

    def abort(self, socket: ServerConnection, abort: Abort) -> None:
        self.is_due = self._running is None
        super().abort(socket, abort)

    def ask(self, socket: ServerConnection, prompt: Prompt) -> None:
        super().ask(socket, prompt)
        if self.is_due:
            self.is_due = False
            asyncio.get_running_loop().call_soon(self._cancel)

    def _cancel(self) -> None:
        if self._running is None:
            asyncio.get_running_loop().call_soon(self._cancel)
        else:
            self._running[2].cancel()


class Retold(Sound):
    """An agent whose `init` tells the turn that runs in another way."""

    def _init(self) -> Json:
        init = super()._init()
        running = init["data"].get("runningTurnId")
        for message in init["session"]["messages"]:
            if message["id"] == running:
                message["parts"] = self.retold(message["parts"])
        return init

    def retold(self, parts: Sequence[Json]) -> list[Json]:
        raise NotImplementedError


class TellsFromTheMiddle(Retold):
    def retold(self, parts: Sequence[Json]) -> list[Json]:
        return [part for part in parts if part["type"] != "text"]


class TellsTwice(Retold):
    def retold(self, parts: Sequence[Json]) -> list[Json]:
        return [p | {"text": p["text"] * 2} if p["type"] == "text" else p for p in parts]


class SaysThatNothingRuns(Sound):
    def _init(self) -> Json:
        init = super()._init()
        return {**init, "data": {"runnerBusy": False, "promptsQueued": 0}}


class NamesADeadTurn(Sound):
    """The last turn counts as running when it is over."""

    def _init(self) -> Json:
        init = super()._init()
        turns = [m for m in init["session"]["messages"] if m["role"] == "assistant"]
        if turns and self._running is None:
            last = turns[-1]
            last["parts"] = [part for part in last["parts"] if part["type"] != "finish"]
            init["data"] |= {"runnerBusy": True, "runningTurnId": last["id"]}
        return init


class ForgetsHistory(Sound):
    def _init(self) -> Json:
        init = super()._init()
        running = init["data"].get("runningTurnId")
        kept = [m for m in init["session"]["messages"] if running]
        return {**init, "session": {**init["session"], "messages": kept}}


class TakesEveryAnswer(Sound):
    """It confirms each answer to whoever gave it."""

    def answer(self, socket: ServerConnection, answer: Answer) -> None:
        ids = {"questionId": answer.question_id}
        self.tell_one(socket, {"type": "question.resolved", **ids, "answer": answer.answer})
        turn = self.running
        if turn is not None:
            self.later(turn.asking.answer, answer.question_id, answer.answer)


class TakesNoAnswer(Sound):
    def answer(self, socket: ServerConnection, answer: Answer) -> None:
        pass


class GreetsLate(Sound):
    def join(self, socket: ServerConnection, user_id: str | None) -> None:
        self._habits = msgspec.structs.replace(self._habits, init=False)
        super().join(socket, user_id)
        asyncio.get_running_loop().call_later(LATE_S, lambda: self.tell_one(socket, self._init()))


class AnswersNoPings(Sound):
    def join(self, socket: ServerConnection, user_id: str | None) -> None:
        protocol = socket.protocol
        send = protocol.send_frame

        def changed(frame: Frame) -> None:
            if frame.opcode is not Opcode.PONG:
                send(frame)

        protocol.send_frame = changed  # type: ignore[method-assign]
        super().join(socket, user_id)


class FaultyAgent(ReferenceAgent):
    """A `v2` agent whose sessions are of this kind."""

    def __init__(self, kind: type[Sound], habits: Habits) -> None:
        super().__init__(habits)
        self._kind = kind

    def _new_session(self, session_id: str) -> Session:
        return self._kind(
            session_id,
            habits=self._habits,
            tools=self._tools,
            now=self._now,
            journal=self.journal,
            group=self._group,
            changed=self._stir,
        )
