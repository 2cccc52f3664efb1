"""`WorkflowChatTransport` (`@ai-sdk/workflow`): it takes a broken stream up by itself.

It posts `text/plain`, wants a run id in a header, counts the chunks that it
gets, and asks `GET {api}/{runId}/stream?startIndex=<count>` for the others
until one of them is `finish`. The run id is the prompt's, and the chat's where
the body named one: all that is needed to find the turn again.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from turnwire.core import sse
from turnwire.core.errand import Told, Transcript
from turnwire.core.events import TurnStarted
from turnwire.core.limits import Hangup, Limits
from turnwire.core.numbered import Numbered
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest
from turnwire.web.request import Request

_RUN_ID: Final = re.compile(r"([0-9a-f]{32})(?:\.(.*))?", re.DOTALL)
_STEP: Final = 64
"""Events of a step."""

_INDEX: Final = re.compile(r"-?[0-9]{1,9}")


class Run(Struct, frozen=True):
    """One turn for such a client. `skip` is the number of chunks that it has."""

    prompt_id: str | None
    """None: it asks by its chat's id, so for whatever runs there."""
    chat_id: str | None
    skip: int = 0

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        if self.prompt_id is None:
            return ()
        chat = "" if self.chat_id is None else f".{quote(self.chat_id, safe='')}"
        return [(b"x-workflow-run-id", f"{self.prompt_id}{chat}".encode())]

    def translator(self, usage: bool, taken_id: str | None = None) -> Numbered:  # noqa: FBT001 - a setting
        return Numbered(skip=self.skip, usage=usage, taken_id=taken_id)

    def limits(self, limits: Limits) -> Limits:
        """Its client comes back by itself, so a turn outlives its connection for a while."""
        if limits.on_hangup is not Hangup.ABORT:
            return limits
        return msgspec.structs.replace(limits, on_hangup=Hangup.GRACE)

    def retold(
        self, transcript: Transcript, *, usage: bool, event_lines: bool
    ) -> Steps[bytes | None]:
        """The records that the client lacks of the turn, now that it is over; in steps.

        None if nobody knows it.
        """
        told = [said for said in transcript.said if isinstance(said, Told)]
        ours = [said for said in told if said.prompt_id == self.prompt_id]
        # An agent that names no prompts: the last one was it.
        ours = ours or [said for said in told[-1:] if said.prompt_id is None]
        if not ours:
            return None
        translator = self.translator(usage)
        turn = ours[-1]
        records = bytearray()
        for number, event in enumerate(itertools.chain([TurnStarted(turn.turn_id)], turn.events)):
            for chunk in translator.feed(event):
                records += sse.record(chunk, event_line=event_lines)
            if number % _STEP == 0:
                yield
        return bytes(records)


def begun(request: Request, prompt_id: str, chat_id: str | None) -> Run | None:
    """The run that a prompt begins, if such a client sent it."""
    media_type = b"".join(request.headers(b"content-type")).split(b";")[0].strip().lower()
    return Run(prompt_id, chat_id) if media_type == b"text/plain" else None


def resumed(request: Request, path_id: str) -> Run | None:
    """The run that such a client asks to go on with.

    Raises:
        BadRequest: its index is no number.

    """
    index = request.query.get("startIndex")
    if index is None:
        return None
    if _INDEX.fullmatch(index) is None:
        raise BadRequest("startIndex is a number")
    # A negative one counts from an end that is not known yet: it gets all.
    skip = max(0, int(index))
    found = _RUN_ID.fullmatch(path_id)
    if found is None:
        return Run(None, path_id, skip)
    return Run(found[1], None if found[2] is None else unquote(found[2]), skip)
