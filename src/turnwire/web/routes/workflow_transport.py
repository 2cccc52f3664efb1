"""Clients with `WorkflowChatTransport` (`@ai-sdk/workflow`), which resumes a broken stream itself.

The transport posts `text/plain`, expects a run id in a header, and counts the chunks that it gets.
After a break it asks `GET {api}/{runId}/stream?startIndex=<count>` for the missing chunks, until
it gets a `finish`. The run id is `<prompt id>` or `<prompt id>.<chat id>`: enough to find the turn.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from turnwire.core.events import TurnStarted
from turnwire.core.operations import History, HistoryTurn
from turnwire.core.steps import Steps
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.errors import BadRequest
from turnwire.web.request import Request

_RUN_ID: Final = re.compile(r"([0-9a-f]{32})(?:\.(.*))?", re.DOTALL)
_STEP: Final = 64
"""Events that are translated in one step."""

_INDEX: Final = re.compile(r"-?[0-9]{1,9}")


class WorkflowClient(Struct, frozen=True):
    """One turn, for a client that counts its chunks. `skip` is the number of chunks that it has."""

    prompt_id: str | None
    """None: the client asks by the id of its chat, for any turn that runs there."""
    chat_id: str | None
    skip: int = 0

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The response header with the run id."""
        if self.prompt_id is None:
            return ()
        chat = "" if self.chat_id is None else f".{quote(self.chat_id, safe='')}"
        return [(b"x-workflow-run-id", f"{self.prompt_id}{chat}".encode())]

    def limits(self, limits: Limits) -> Limits:
        """Return `limits` with `GRACE` instead of `ABORT`: the client reconnects by itself."""
        if limits.on_disconnect is not DisconnectPolicy.ABORT:
            return limits
        return msgspec.structs.replace(limits, on_disconnect=DisconnectPolicy.GRACE)

    def missing_records(self, history: History, options: StreamOptions) -> Steps[bytes | None]:
        """Return, in steps, the bytes that the client lacks of a turn that is over.

        None if the history does not have the turn.
        """
        turns = [entry for entry in history.entries if isinstance(entry, HistoryTurn)]
        matching = [turn for turn in turns if turn.prompt_id == self.prompt_id]
        # An agent without prompt ids: take the last turn.
        matching = matching or [turn for turn in turns[-1:] if turn.prompt_id is None]
        if not matching:
            return None
        output = UIMessageStream(msgspec.structs.replace(options, skip=self.skip))
        turn = matching[-1]
        all_events = turn.events if turn.all_events is None else turn.all_events
        records = bytearray()
        for number, event in enumerate(itertools.chain([TurnStarted(turn.turn_id)], all_events)):
            records += output.feed(event, 0.0)
            if number % _STEP == 0:
                yield
        return bytes(records)


def detect(request: Request, prompt_id: str, chat_id: str | None) -> WorkflowClient | None:
    """Return the client of a prompt, if it uses `WorkflowChatTransport`; else None."""
    media_type = b"".join(request.headers(b"content-type")).split(b";")[0].strip().lower()
    return WorkflowClient(prompt_id, chat_id) if media_type == b"text/plain" else None


def detect_resume(request: Request, path_id: str) -> WorkflowClient | None:
    """Return the client of a resume, if it uses `WorkflowChatTransport`; else None.

    `path_id` is the id in the path: a run id, or a chat id.

    Raises:
        BadRequest: `startIndex` is not a number.

    """
    index = request.query.get("startIndex")
    if index is None:
        return None
    if _INDEX.fullmatch(index) is None:
        raise BadRequest("startIndex is a number")
    # A negative index counts from the end, which is not known yet: send all chunks.
    skip = max(0, int(index))
    match = _RUN_ID.fullmatch(path_id)
    if match is None:
        return WorkflowClient(None, path_id, skip)
    return WorkflowClient(match[1], None if match[2] is None else unquote(match[2]), skip)
