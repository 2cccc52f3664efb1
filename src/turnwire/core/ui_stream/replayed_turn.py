"""A turn that a client continues: what the client's copy of the message lacks of it.

The dialect replays the turn from its beginning. At first everything is in the client's copy. From
`ReplayUncertain` on, parts may be in it, and are skipped as far as the copy reaches.
"""

from typing import assert_never

from turnwire.core import safe_json
from turnwire.core.body.client_copy import ClientCopy, PartKind, Remaining
from turnwire.core.bounds import DATA_PARTS_MAX, WAITING_BYTES_MAX
from turnwire.core.ui_stream import chunks


class ReplayedTurn:
    """From `ReplayStarted` to `ReplayFinished`. The translator asks it what to send."""

    def __init__(self, client_copy: ClientCopy) -> None:
        self.is_silent = True
        """Whether the client has everything that the current events describe: nothing is sent."""
        self._client_copy = client_copy
        self._remaining = Remaining(client_copy)
        self._before_step = Remaining(client_copy)
        self._late_inputs: dict[str, chunks.Chunk] = {}
        """Inputs of calls that have none in the client's copy, by the client's id."""
        self._late_outcomes: dict[str, chunks.Chunk] = {}
        """Outcomes of calls and questions that are open in the client's copy, by the client's id.

        They come while `is_silent`, and are sent after it.
        """
        self._late_data: dict[tuple[str, str], chunks.DataPart] = {}
        """Data parts with an id, by type and id: the client may have an older state of each."""
        self._late_bytes = 0
        """Bytes of data in `_late_data`."""

    def mark_step(self) -> None:
        """Note that a step begins: the client may forget what comes of it."""
        self._before_step = self._remaining.copy()

    def reset_step(self) -> None:
        """Note that the client has forgotten the parts of the step."""
        self._remaining = self._before_step.copy()

    def take(self, kind: PartKind, count: int = 1) -> int:
        """Return how many of the next `count` units the client has (see `Remaining.take`)."""
        return self._remaining.take(kind, count)

    def keep_late(self, replayed: list[chunks.Chunk]) -> None:
        """Keep those of the replayed chunks that the client's copy lacks."""
        for chunk in replayed:
            match chunk:
                case (
                    chunks.ToolOutputAvailable(item_id)
                    | chunks.ToolOutputError(item_id)
                    | chunks.DataQuestion(item_id)
                ) if item_id in self._client_copy.pending:
                    self._late_outcomes[item_id] = chunk
                case chunks.ToolInputAvailable(item_id) if item_id in (
                    self._client_copy.without_input
                ):
                    self._late_inputs[item_id] = chunk
                case chunks.DataPart(id=str(part_id)) if not chunk.transient:
                    self._keep_data(part_id, chunk)
                case (
                    chunks.Start()
                    | chunks.StartStep()
                    | chunks.FinishStep()
                    | chunks.ResetStep()
                    | chunks.TextStart()
                    | chunks.TextDelta()
                    | chunks.TextEnd()
                    | chunks.ReasoningStart()
                    | chunks.ReasoningDelta()
                    | chunks.ReasoningEnd()
                    | chunks.ToolInputStart()
                    | chunks.ToolInputDelta()
                    | chunks.ToolInputAvailable()
                    | chunks.ToolOutputAvailable()
                    | chunks.ToolOutputPreliminary()
                    | chunks.ToolOutputError()
                    | chunks.ToolApprovalRequest()
                    | chunks.File()
                    | chunks.SourceUrl()
                    | chunks.DataAgentStatus()
                    | chunks.DataQuestion()
                    | chunks.DataPart()
                    | chunks.Error()
                    | chunks.Abort()
                    | chunks.Finish()
                ):
                    pass
                case _:
                    assert_never(chunk)

    def _keep_data(self, part_id: str, chunk: chunks.DataPart) -> None:
        """Keep the last data of a part; if too much waits, the client keeps what it has."""
        key = chunk.type, part_id
        former = self._late_data.pop(key, None)
        if former is not None:
            self._late_bytes -= len(former.data)
        is_full = len(self._late_data) >= DATA_PARTS_MAX
        if not is_full and self._late_bytes + len(chunk.data) <= WAITING_BYTES_MAX:
            self._late_bytes += len(chunk.data)
            self._late_data[key] = chunk

    def begin_sending(self) -> list[chunks.Chunk]:
        """End the silence: continue the client's message with what came late.

        Inputs come before outcomes: a tool output follows that tool's input (P3).
        """
        self.is_silent = False
        message_id = self._client_copy.message_id
        start = (
            chunks.Start()
            if message_id is None
            else chunks.Start(safe_json.join_surrogates(message_id))
        )
        return [
            start,
            *self._late_inputs.values(),
            *self._late_outcomes.values(),
            *self._late_data.values(),
        ]
