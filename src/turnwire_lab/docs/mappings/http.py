"""What a mapping table of a wire over HTTP is made with: events in, types of chunks out."""

import json
from collections.abc import Sequence
from typing import Any, Final

from turnwire.core.agent import Dialect
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire_lab.docs.mapping import shown

Frame = dict[str, Any]

END: Final = "(the end of the body)"
"""In the place of an event."""

APPROVALS: Final = ApprovalIssuer(
    signer=Signer(keys=[b"a key"], session_id="S", user_id="U"), epoch=0.0, valid_s=60.0
)
"""What a client of the profiles `6` and `7` has."""


def chunks_of(
    dialect: Dialect,
    before: Sequence[Frame | str],
    frame: Frame | str,
    approvals: ApprovalIssuer | None = None,
) -> str:
    """Return the types of the chunks that an event becomes behind those `before` it."""
    protocol = dialect.prompt(PromptRequest(text="", prompt_id="P"))
    turn = Turn(protocol, Limits(), UIMessageStream(StreamOptions(approvals=approvals)))
    turn.handle(Opened(), 0)
    turn.frames([_encoded(each) for each in before], 0)
    output = turn.handle(AgentLeft(), 0) if frame == END else turn.frames([_encoded(frame)], 0)
    lines = [line for line in output.to_client.decode().split("\n") if line.startswith("data: {")]
    kinds = [shown(json.loads(line.removeprefix("data: "))) for line in lines]
    return " → ".join(kinds) or "nothing"


def _encoded(frame: Frame | str) -> bytes:
    return frame.encode() if isinstance(frame, str) else json.dumps(frame).encode()
