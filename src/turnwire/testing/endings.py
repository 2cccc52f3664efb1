"""Tests of all ways in which a turn ends, after each of its frames."""

from collections.abc import Callable
from typing import Final

import msgspec

from turnwire.core.turn.inputs import ClientLeft, Drain, Input, Stopped
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.testing.base import ScriptedAgent, about
from turnwire.testing.client_model import need
from turnwire.testing.playing import LIMITS, Played
from turnwire.testing.scripts import Script

_POLICIES: Final = (DisconnectPolicy.ABORT, DisconnectPolicy.GRACE, DisconnectPolicy.CONTINUE)


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
