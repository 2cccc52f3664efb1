"""What an author gives the suite, and what its tests share."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from turnwire.core.agent import AgentProtocol
from turnwire.core.body.conversation import Conversation, Text, UserMessage
from turnwire.core.requests import DialectOptions, PromptRequest
from turnwire.core.turn.limits import Limits
from turnwire.testing.exchanges import Exchange
from turnwire.testing.playing import LIMITS, Played
from turnwire.testing.scripts import PROMPT, SCRIPTS, Script

PROMPT_ID: Final = "p1"


class ScriptedAgent:
    """A base of the suite. An author sets `dialect`, and writes `frames`."""

    dialect: Any
    """The dialect, a `core.agent.Dialect`."""
    seeds: int = 20
    """How many random orders of each script are played."""
    names_calls: bool = True
    """Whether the wire tells the id of a tool call. Otherwise the calls are compared in order."""
    shows_inputs: bool = True
    """Whether the wire tells the input of a tool call."""
    shows_outputs: bool = True
    """Whether the wire tells the output of a tool call."""

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        """Return the frames of a script, as an agent on this wire sends them.

        None: the wire has no words for it.
        """
        raise NotImplementedError

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        """Return the frames of a turn that asks (`EXCHANGES`). None: the agent never asks that."""
        del script, prompt_id
        return None

    def shared_frames(self, first: str, second: str) -> Sequence[bytes] | None:
        """Return the frames that two streams of a session both receive, by their prompts' ids.

        The turn of each prompt tells its texts of `SIDE_BY_SIDE`. None: no stream receives the
        frames of another one's turn.
        """
        del first, second
        return None

    def unknown_frame(self) -> bytes:
        """Return a frame of a type that the dialect does not know."""
        return b'{"type":"turnwire.unknown","text":"thistle"}'

    def request(self, prompt_id: str) -> PromptRequest:
        """Return the request of a prompt."""
        conversation = None
        if not self.dialect.keeps_history:
            message = UserMessage(message_id="u1", parts=(Text(PROMPT),))
            written = [piece for piece in self.dialect.write_message(message) if piece]
            conversation = Conversation(written=written, left_out={})
        return PromptRequest(
            text=PROMPT,
            prompt_id=prompt_id,
            user_id="user-1",
            session_id="s1",
            options=DialectOptions(model="m", cwd="/work"),
            conversation=conversation,
        )

    def protocol(self) -> AgentProtocol:
        """Return the protocol of a new turn."""
        protocol: AgentProtocol = self.dialect.prompt(self.request(PROMPT_ID))
        return protocol

    def play(self, *, limits: Limits = LIMITS, **options: Any) -> Played:
        """Return a new turn, whose connection is open."""
        return Played(self.protocol(), limits=limits, **options)

    def scripted(self, script: Script) -> list[bytes]:
        """Return the frames of a script that the wire has words for."""
        return list(self.frames(script, PROMPT_ID) or ())

    def scripts(self) -> Mapping[str, Script]:
        """Return the scripts that the wire has words for, by name."""
        return {
            name: script
            for name, script in SCRIPTS.items()
            if self.frames(script, PROMPT_ID) is not None
        }


@contextmanager
def about(where: str) -> Iterator[None]:
    """Add to an exception where it was raised: after which frame, with which seed."""
    try:
        yield
    except Exception as exc:
        exc.add_note(where)
        raise
