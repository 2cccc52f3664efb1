"""Once a prompt is sent nobody has its files any more: a turn may go on for hours."""

import gc
from types import FunctionType, ModuleType

import pytest

from support import session_agent_frames as session_agent
from turnwire.core.agent import Decoded
from turnwire.core.body.attachments import Attachment
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import SessionGroups
from turnwire.dialects import DIALECTS

URL = "data:image/png;base64," + "A" * 100_000
TEXT = "t" * 50_000


def strings(root: object) -> set[str]:
    """All strings that an object holds, however deep."""
    seen: set[int] = set()
    found: set[str] = set()
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            found.add(one)
        waiting += gc.get_referents(one)
    return found


def sent(told: object) -> list[bytes]:
    assert isinstance(told, Decoded)
    return list(told.to_agent)


@pytest.mark.parametrize("revision", ["v2", "R", "A", "V"])
def test_the_files_go_with_the_prompt(revision: str) -> None:
    ask = PromptRequest(
        text=TEXT,
        prompt_id="p1",
        user_id=session_agent.ME,
        attachments=(Attachment("image/png", URL),),
    )
    with SessionGroups().member(("s1", "")) as member:
        dialect = DIALECTS["v2" if revision == "v2" else "session-agent"]
        conversation = dialect.prompt(ask, member)
        assert URL in strings(conversation)
        told = conversation.connection_opened(0)
        if revision != "v2":
            told = conversation.receive_frame(session_agent.init(revision), 1)  # type: ignore[assignment]
        (prompt,) = sent(told)
        assert URL.encode() in prompt

        held = strings(conversation)
        assert URL not in held
        # The agent echoes the text, and that is all that says which turn is ours.
        assert (TEXT in held) == (revision != "v2")


def test_an_ask_without_files_is_light_already() -> None:
    ask = PromptRequest(text=TEXT, prompt_id="p1")

    assert ask.without_attachments() is ask
