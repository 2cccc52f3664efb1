"""What the runner reports, and which frames all clients get then (§4.2, §7).

Nothing of the runner reaches a client as it is: a new turn becomes `message`, a tool becomes
`message.updated` with the whole turn in it, a completion often makes no frame.
"""

from collections.abc import Sequence
from typing import Any

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import Revision, Status
from turnwire_lab.agents.session_agent.handlers import dispatching, lifecycle, questions
from turnwire_lab.agents.session_agent.state.message import TurnEntry
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import State
from turnwire_lab.agents.session_agent.state.tally import Finished


class Reports:
    """The session's end of the runner's line."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def revision(self) -> Revision:
        return self._state.revision

    def new_id(self) -> str:
        return self._state.new_id()

    def create(self, row: Row) -> str:
        """A turn begins; its id is the runner's and names no prompt (§5.2)."""
        state = self._state
        turn = TurnEntry(state.new_id(), row.channel, state.revision, state.seconds())
        state.keep(turn)
        where = row.channel.fields() if state.revision == "R" else row.channel.with_thread()
        message = {"id": turn.id, "role": "assistant", "content": "", "parts": []}
        state.tell({"type": "message", "data": {**message, "createdAt": turn.at, **where}})
        return turn.id

    def delta(self, turn_id: str, piece: str) -> None:
        if (turn := self._turn(turn_id)) is not None:
            turn.say(piece)
            frame = {"type": "chunk", "content": piece, "messageId": turn_id}
            self._state.tell(frame | turn.channel.fields())

    def tool(self, turn_id: str, update: Json) -> None:
        if (turn := self._turn(turn_id)) is not None:
            turn.tool(update)
            self._tell_snapshot(turn)

    def finalize(
        self, row: Row, turn_id: str, reason: str, final_text: str | None, error: str | None
    ) -> None:
        if (turn := self._turn(turn_id)) is None:
            return
        turn.finish(reason, final_text, error)
        self._tell_snapshot(turn)
        if row.line is not None:
            self._state.ended[row.line] = self._state.sockets.sent
        finished = Finished(
            session_id=self._state.id,
            prompt_id=row.id,
            turn_id=turn_id,
            user_id=row.user_id,
            reason=reason,
            line=row.line,
        )
        self._state.tally.finished.append(finished)

    async def settle(self) -> None:
        await self._state.sockets.settle()

    def complete(self, row: Row) -> None:
        if row in self._state.rows:
            dispatching.complete(self._state, row)

    def status(self, row: Row, status: str, detail: str | None = None) -> None:
        state = self._state
        if state.revision == "A" and not row.channel.known:
            return  # A drops all of these of prompts without a channel (§5.6)
        if state.revision != "R" and row not in state.rows:
            return  # and A and V those whose row is gone: there is no idle after a turn
        frame: Json = {"type": "agentStatus", "status": status}
        if detail is not None:
            frame["detail"] = detail
        where = row.channel.fields() if state.revision == "R" else row.channel.with_thread()
        state.tell(frame | where)

    def aborted(self, row: Row | None, where: Json) -> None:
        """The runner's answer to an abort: one, however many turns it stopped (§5.5)."""
        state = self._state
        state.tell_idle(where if state.revision == "V" else {})
        if state.revision == "R":
            state.tell_status(runnerBusy=False, aborted=True)
        if row is not None:
            dispatching.complete(state, row)
        if state.revision != "A":
            # Of no channel, so that others on the session have to ignore it.
            state.tell_idle({})

    def stopped(self, row: Row) -> None:
        """A turn will not go on; what it asked is forgotten."""
        questions.forget(self._state, row)

    def error(self, row: Row, error: Any) -> None:
        """The first shape: for all clients, under the id of a system entry (§4.2)."""
        state = self._state
        if state.revision != "R" and not row.channel.known:
            return
        where = row.channel.fields() if state.revision == "R" else row.channel.with_thread()
        frame = {"type": "error", "messageId": state.new_id(), "error": error}
        state.tell(frame | where)

    def ask(self, row: Row, question_id: str, text: str, options: Sequence[str]) -> None:
        questions.ask(self._state, row, question_id, text, options)

    def ask_approval(self, row: Row, invocation_id: str, tool: str, params: Json) -> None:
        questions.ask_approval(self._state, row, invocation_id, tool, params)

    def open_thread(self, row: Row) -> None:
        """The runner made a conversation for a thread."""
        thread = row.channel.thread
        if thread is not None and self.revision != "R":
            conversation = f"conversation-{thread}"
            frame = {"type": "thread.created", "threadId": thread}
            self._state.tell(frame | {"opencodeSessionId": conversation})

    def switch_model(self, row: Row) -> None:
        self._state.tell(
            {
                "type": "model-switched",
                "messageId": row.id,
                "fromModel": "none/none",
                "toModel": "none/other",
                "reason": "The model failed",
            }
        )

    def change_files(self) -> None:
        if self._state.habits.noise:
            file = {"path": "a.txt", "status": "modified", "additions": 1, "deletions": 0}
            self._state.tell({"type": "files-changed", "files": [file]})

    def tell(self, frame: Json) -> None:
        """Any other frame of a runner."""
        self._state.tell(frame)

    def tell_user(self, user_id: str, frame: Json) -> None:
        self._state.sockets.tell_user(user_id, frame)

    def tell_entry(self, role: str, content: str, parts: object) -> None:
        self._state.tell_entry(role, content, parts=parts)

    def note(self, event: str, summary: str) -> None:
        self._state.note(event, summary)

    def lose_runner(self) -> None:
        lifecycle.lose_runner(self._state)

    def hibernate(self) -> None:
        lifecycle.hibernate(self._state)

    def die(self, status: Status) -> None:
        lifecycle.die(self._state, status)

    def hang_up(self) -> None:
        self._state.sockets.hang_up()

    def _turn(self, turn_id: str) -> TurnEntry | None:
        entry = self._state.entries.get(turn_id)
        return entry if isinstance(entry, TurnEntry) else None

    def _tell_snapshot(self, turn: TurnEntry) -> None:
        self._state.tell({"type": "message.updated", "data": turn.snapshot()})
