"""An approval in the profiles `6` and `7`, and the stream of its answer, byte for byte."""

import os
from pathlib import Path
from typing import Final

from msgspec import Raw

from support.continued import REQUESTS
from turnwire.core.agent import AgentProtocol
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.events import Approval
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ui_stream import UiStream

GOLDEN: Final = Path(__file__).parents[2] / "golden/native/ui-stream"
CALL: Final = Call("c1", "delete_file", Raw(b'{"path":"notes.txt"}'))
KNOWN: Final = ClientCopy(
    message_id="p1", pending=frozenset({"c1"}), text_chars=len("I can delete it. "), text_blocks=1
)


def check(name: str, protocol: AgentProtocol, known: ClientCopy | None = None) -> Outcome | None:
    """Play a recording, and compare the stream with its transcript."""
    lines = (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()
    expected = GOLDEN / f"{name}.sse"
    options = StreamOptions(approvals=REQUESTS, client_copy=known)
    turn = Turn(protocol, Limits(), UIMessageStream(options))
    stream = turn.handle(Opened(), 0).to_client
    stream += turn.frames([line for line in lines if not line.startswith(b"#")], 0).to_client
    stream += turn.handle(AgentLeft(), 0).to_client

    if os.environ.get("GOLDEN") == "rewrite":
        expected.write_bytes(stream)
    assert stream.decode() == expected.read_text()
    return turn.outcome


def test_a_request_for_an_approval_ends_the_stream() -> None:
    asked = PromptRequest(text="hi", prompt_id="p1", user_id="u1", session_id="s1")

    assert check("approval", UiStream().prompt(asked)) is Outcome.ASKED


def test_the_response_that_the_answer_begins_goes_on_in_the_message() -> None:
    signed = subject("p1", Approval(CALL.call_id, CALL.name, CALL.input))
    request = ResumeRequest(
        user_id="u1",
        session_id="s1",
        init_s=5,
        message_id="p1",
        conversation=Conversation([], {}, (CALL,)),
        replies=(QuestionReply("a1", Raw(b"true"), signed),),
    )

    assert check("continued", UiStream().resume(request), KNOWN) is Outcome.COMPLETED
