"""Tests of two streams of one session, which receive the same frames."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final
from unittest import SkipTest

from turnwire.core.session_group import SessionGroups
from turnwire.core.turn.inputs import ClientLeft, Tick
from turnwire.core.turn.outcome import Outcome
from turnwire.testing.base import PROMPT_ID, ScriptedAgent, about
from turnwire.testing.client_model import need
from turnwire.testing.exchanges import SIDE_BY_SIDE
from turnwire.testing.playing import Played

_PROMPTS: Final = (PROMPT_ID, "p2")
_TEXTS: Final = tuple("".join(texts) for texts in SIDE_BY_SIDE)


class SideBySide(ScriptedAgent):
    def test_each_stream_tells_its_own_turn(self) -> None:
        """Two streams of a session receive all frames: each shows its own turn, and all of it."""
        frames = self._shared()
        with self._streams() as streams:
            _tell(streams, frames)
            for played, text in zip(streams, _TEXTS, strict=True):
                played.settle().close()
                shown = played.client.streamed_text
                need(shown == text, f"the client has {shown!r}, not {text!r}")
                outcome = played.turn.outcome
                need(outcome is Outcome.COMPLETED, f"the outcome is {outcome}")

    def test_one_that_leaves_takes_nothing_from_the_other(self) -> None:
        """A client that has some text hangs up: the other stream shows its turn, and all of it."""
        frames = self._shared()
        for count in range(len(frames) + 1):
            for gone, stays in ((0, 1), (1, 0)):
                with about(f"Stream {gone} left after {count} frames"), self._streams() as streams:
                    _tell(streams, frames[:count])
                    if not streams[gone].client.streamed_text:
                        continue  # its prompt may not be sent yet: no agent would tell its turn
                    streams[gone].handle(ClientLeft())
                    _tell(streams, frames[count:])
                    played = streams[stays].settle().close()
                    shown = played.client.streamed_text
                    need(shown == _TEXTS[stays], f"the client has {shown!r}")

    def _shared(self) -> Sequence[bytes]:
        frames = self.shared_frames(*_PROMPTS)
        if frames is None:
            raise SkipTest("`shared_frames` has none: no stream receives another one's frames")
        return frames

    @contextmanager
    def _streams(self) -> Iterator[list[Played]]:
        """Two streams of a session, whose connections are open."""
        groups, streams = SessionGroups(), list[Played]()
        with ExitStack() as stack:
            for prompt_id in _PROMPTS:
                member = stack.enter_context(groups.member("s1"))
                played = Played(self.dialect.prompt(self.request(prompt_id), member))
                member.on_change = played.wake
                streams.append(played)
            yield streams


def _tell(streams: Sequence[Played], frames: Sequence[bytes]) -> None:
    for frame in frames:
        for played in streams:
            played.read([frame])
        while woken := [played for played in streams if played.is_woken]:
            for played in woken:
                played.is_woken = False
                played.handle(Tick())
