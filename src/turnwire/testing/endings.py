"""Tests of all ways in which a turn ends, after each of its frames."""

from collections.abc import Callable, Sequence
from typing import Final
from unittest import SkipTest

import msgspec
from msgspec import Raw

from turnwire.core.agent import Redials
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import OperationName
from turnwire.core.requests import QuestionReply
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Drain, Input, Replied, Stopped, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.testing.base import ScriptedAgent, about
from turnwire.testing.client_model import need
from turnwire.testing.playing import LIMITS, Played
from turnwire.testing.scripts import Script

_POLICIES: Final = (DisconnectPolicy.ABORT, DisconnectPolicy.GRACE, DisconnectPolicy.CONTINUE)
_TO_NOTHING: Final = QuestionReply("never-asked", Raw(b'"yes"'))
_TICKS: Final = 8
"""Deadlines of a turn without a connection, until it must have asked for another one."""


class Endings(ScriptedAgent):
    def test_the_agent_leaves_after_each_frame(self, script: Script) -> None:
        """The connection ends: the stream ends too, with the text that came so far."""

        def check(played: Played, _rest: list[bytes]) -> None:
            played.leave().close()
            shown = played.client.streamed_text
            need(script.text.startswith(shown), f"the client has {shown!r}")

        self._after_each_frame(script, check)

    def test_the_agent_falls_silent_after_each_frame(self, script: Script) -> None:
        """Nothing more comes: deadlines end the stream, and each tick moves the next one."""
        self._after_each_frame(script, lambda played, _rest: played.wait().close())

    def test_the_turn_is_stopped_after_each_frame(self, script: Script) -> None:
        """A user stops the turn: the stream ends, and shows nothing that comes later."""

        def check(played: Played, rest: list[bytes]) -> None:
            shown = played.handle(Stopped()).client.streamed_text
            played.receive(rest).leave().close()
            need(played.client.streamed_text == shown, "a text is shown after the stop")

        self._after_each_frame(script, check)

    def test_the_gateway_stops_after_each_frame(self, script: Script) -> None:
        """The gateway drains: the stream ends in its time."""
        self._after_each_frame(script, lambda played, _rest: played.handle(Drain()).wait().close())

    def test_the_client_hangs_up_after_each_frame(self, script: Script) -> None:
        """Under each policy: nothing more is written, and the turn ends, with its agent or not."""

        def check(played: Played, rest: list[bytes]) -> None:
            written = played.written
            played.handle(ClientLeft()).receive(rest).leave()
            need(played.written == written, "bytes are written to a client that left")

        def check_alone(played: Played, _rest: list[bytes]) -> None:
            played.handle(ClientLeft()).wait()

        for policy in _POLICIES:
            limits = msgspec.structs.replace(LIMITS, on_disconnect=policy)
            with about(f"The policy is {policy.value}"):
                self._after_each_frame(script, check, limits)
                self._after_each_frame(script, check_alone, limits)

    def test_an_end_may_come_twice_after_each_frame(self, script: Script) -> None:
        """A stop, a hang-up, a stop and the other frames: nothing raises, and the turn ends."""
        ends: tuple[Input, ...] = (Stopped(), ClientLeft(), Stopped())

        def check(played: Played, rest: list[bytes]) -> None:
            for end in ends:
                played.handle(end)
            played.receive(rest).leave()

        self._after_each_frame(script, check)

    def test_it_may_forget_after_each_frame(self, script: Script) -> None:
        """`forget` is called for a turn whose client was behind: it goes on, and shows the same."""
        whole = self.play().receive(self.scripted(script))

        def check(played: Played, rest: list[bytes]) -> None:
            for _ in range(2):
                played.protocol.mark_stale()
                played.protocol.forget()
            _goes_on(played, rest, whole)

        self._after_each_frame(script, check)

    def test_an_answer_to_nothing_after_each_frame(self, script: Script) -> None:
        """An answer that no question waits for: nothing raises, and the turn goes on."""
        if OperationName.ANSWER in self.dialect.operations:
            return  # it never comes to the turn
        whole = self.play().receive(self.scripted(script))

        def check(played: Played, rest: list[bytes]) -> None:
            played.handle(Replied(_TO_NOTHING, "user-1"))
            _goes_on(played, rest, whole)

        self._after_each_frame(script, check)

    def reconnected(
        self, script: Script, request: ConnectRequest, sent: Sequence[bytes]
    ) -> Sequence[bytes] | None:
        """Return what the agent tells next on another connection of the turn of a script.

        `request` opened the connection, `sent` is what the agent was sent there. Called when it
        opens, and again after each answer of the dialect. None: a lost connection ends the turn.
        """
        del script, request, sent
        return None

    def test_a_connection_may_be_lost_after_each_frame(self, script: Script) -> None:
        """The agent tells the rest on another connection (`reconnected`): the same is shown."""
        if self.reconnected(script, self.play().request, ()) is None:
            raise SkipTest("`reconnected` has no frames: a lost connection ends the turn")
        frames = self.scripted(script)
        whole = self.play().receive(frames)
        refused_dials = (0, 1) if isinstance(whole.protocol, Redials) else (0,)
        for count in range(1, len(frames) + 1):
            for refused in refused_dials:
                where = f"The connection is lost after {count} of {len(frames)} frames"
                with about(f"{where}, and {refused} dials fail"):
                    played = self.play().receive(frames[:count])
                    if played.turn.outcome is None:
                        played.refused_dials = refused
                        self._reconnect(script, played)
                    _goes_on(played, [], whole)

    def _reconnect(self, script: Script, played: Played) -> None:
        opened, sent, asked = played.opened, len(played.sent), -1
        played.handle(AgentLeft())
        for _ in range(_TICKS):
            if played.opened == opened and played.turn.outcome is None:
                played.now = max(played.now, played.turn.deadline)
                played.handle(Tick())
        need(played.opened > opened, "the turn opens no other connection")
        while played.turn.outcome is None and asked < len(played.sent) - sent:
            asked = len(played.sent) - sent
            frames = self.reconnected(script, played.requests[-1], played.sent[sent:])
            played.receive(frames or ())

    def _after_each_frame(
        self,
        script: Script,
        check: Callable[[Played, list[bytes]], object],
        limits: Limits = LIMITS,
    ) -> None:
        """Check a turn that got none of the frames, one, … all. `check` gets the others too."""
        frames = self.scripted(script)
        for count in range(len(frames) + 1):
            with about(f"{count} of {len(frames)} frames had come"):
                check(self.play(limits=limits).receive(frames[:count]), frames[count:])


def _goes_on(played: Played, rest: list[bytes], whole: Played) -> None:
    """The rest comes: the turn is the one that got all frames."""
    played.receive(rest)
    need(played.client.parts == whole.client.parts, "the message is another one")
    need(played.turn.outcome is whole.turn.outcome, f"the outcome is {played.turn.outcome}")
