"""The observers of streams: drift monitor, flight recorder, and traces.

`Observers.attach` decides at the start of a stream who observes it. A turn without observers makes
no value of its frames.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from turnwire.core.recording.recorder import Recording, header
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.outcome import final_outcome
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.relay.turn_stream import Stream
from turnwire.web.observe.drift_monitor import DriftMonitor
from turnwire.web.observe.flight_recorder import FlightRecorder, lacks
from turnwire.web.observe.guarded import Guarded


class Observers(Struct, frozen=True):
    """The observers that the settings ask for, shared by all streams."""

    drift_monitor: DriftMonitor | None = None
    recorder: FlightRecorder | None = None

    def attach(
        self,
        agent_request: PromptRequest | ResumeRequest,
        limits: Limits,
        *,
        request_id: str,
        token: str,
        dialect: str,
        options: StreamOptions,
        extra_observers: Sequence[TurnObserver],
        apart: bool = False,
    ) -> "ObservedStream":
        """Return the observers of a stream that begins. `extra_observers` observe it, too."""
        observers = list(extra_observers)
        recording = None
        if self.drift_monitor is not None and self.drift_monitor.is_stream_due():
            observers.append(self.drift_monitor)
        if self.recorder is not None:
            recording = self.recorder.new(
                header(
                    agent_request,
                    dialect=dialect,
                    limits=limits,
                    options=options,
                    apart=apart,
                )
            )
            observers.append(recording)
        left_out = lacks(agent_request, options)
        guarded = [Guarded(observer, request_id) for observer in observers]
        return ObservedStream(self, guarded, recording, request_id, token, left_out)


class ObservedStream(Struct, frozen=True):
    """One stream, and its observers."""

    process_observers: Observers
    observers: Sequence[TurnObserver]
    recording: Recording | None
    request_id: str
    token: str
    lacks: Collection[str]

    def finish(self, stream: Stream, frame_stats: FrameStats) -> None:
        """The stream has ended: update the drift monitor, and write the recording."""
        if self.process_observers.drift_monitor is not None:
            self.process_observers.drift_monitor.finish(frame_stats)
        if self.process_observers.recorder is not None and self.recording is not None:
            self.process_observers.recorder.finish(
                self.recording,
                final_outcome(stream.turn.outcome, stream.dial_status),
                request_id=self.request_id,
                token=self.token,
                lacks=self.lacks,
            )
