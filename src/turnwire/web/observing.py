"""Who listens in on streams: the watch for drift, the flight recorder.

What a stream costs them is decided when it begins: one that nobody listens in on has a plain
`Turn`, and nothing of all this comes near its frames.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from turnwire.core.dialect import Ask, Look, Tally
from turnwire.core.limits import Limits
from turnwire.core.overheard import Ear, Overheard
from turnwire.core.recording import Recording, header
from turnwire.core.turn import Turn
from turnwire.relay.stream import Stream
from turnwire.web.drifting import Drifts
from turnwire.web.recorder import Recorder, outcome_of


class Observers(Struct, frozen=True):
    """Whoever listens in, as the settings say."""

    drifts: Drifts | None = None
    recorder: Recorder | None = None

    def begin(
        self,
        asked: Ask | Look,
        limits: Limits,
        *,
        request_id: str,
        token: str,
        dialect: str,
        event_lines: bool,
        usage: bool,
        taken_id: str | None,
        lacks: Collection[str],
        others: Sequence[Ear],
        apart: bool = False,
    ) -> "Observed":
        """A stream begins, which `others` listen in on too."""
        ears = list(others)
        recording = None
        if self.drifts is not None and self.drifts.watches():
            ears.append(self.drifts)
        if self.recorder is not None:
            recording = self.recorder.new(
                header(
                    asked,
                    dialect=dialect,
                    limits=limits,
                    taken_id=taken_id,
                    event_lines=event_lines,
                    usage=usage,
                    apart=apart,
                )
            )
            ears.append(recording)
        return Observed(self, ears, recording, request_id, token, lacks)


class Observed(Struct, frozen=True):
    """One stream, and who listens in on it."""

    by: Observers
    ears: Sequence[Ear]
    recording: Recording | None
    request_id: str
    token: str
    lacks: Collection[str]

    @property
    def turn(self) -> type[Turn]:
        """The class of its turn."""
        return Overheard if self.ears else Turn

    def listen(self, turn: Turn) -> None:
        if isinstance(turn, Overheard):
            turn.ears = self.ears

    def over(self, stream: Stream, tally: Tally) -> None:
        """The stream is over, and reported."""
        if self.by.drifts is not None:
            self.by.drifts.over(tally)
        if self.by.recorder is not None and self.recording is not None:
            self.by.recorder.over(
                self.recording,
                outcome_of(stream.turn.outcome, stream.dial_status),
                request_id=self.request_id,
                token=self.token,
                lacks=self.lacks,
            )
