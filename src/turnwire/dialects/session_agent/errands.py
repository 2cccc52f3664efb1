"""What all errands of this wire do: wait for `init`, then for what comes of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from turnwire.core.dialect import NEVER, Tally
from turnwire.core.errand import Errant
from turnwire.core.refusal import Refusal
from turnwire.dialects.session_agent import hydration, looking, wire
from turnwire.dialects.session_agent.channel import Channel
from turnwire.dialects.session_agent.hello import Hello, hello


class Errand(ABC):
    """Waits for `init` at most `init_s`. What R tells before it is passed over."""

    def __init__(self, errant: Errant) -> None:
        self.tally = Tally()
        self.deadline = NEVER
        self.channel: Channel = (errant.channel_type, errant.channel_id)
        self._init_s = errant.init_s
        self._verdict_s = errant.verdict_s
        self._is_greeted = False
        self._ahead = hydration.Ahead()

    def open(self, now: float) -> Sequence[bytes]:
        self.deadline = now + self._init_s
        return ()

    def look_into(self, frame: bytes) -> Iterator[None]:
        return looking.look_into(frame, self._ahead)

    def hear(self, frame: bytes, now: float) -> Sequence[bytes]:
        heard = wire.read(frame, self.tally)
        try:
            if isinstance(heard, wire.Init) and not self._is_greeted:
                told = self._greeted(heard, hello(heard), now)
                self._is_greeted = True
                return told
            return () if heard is None or not self._is_greeted else self._heard(heard, now)
        except RecursionError:  # nested just so deeply that the first look at it went well
            self.tally.unread(frame)
            return ()
        finally:
            if isinstance(heard, wire.Init):
                self._ahead.drop()

    def tick(self, now: float) -> Sequence[bytes]:
        if now < self.deadline:
            return ()
        if self._is_greeted:
            return self._late(now)
        self._refuse(Refusal.SILENT)
        return ()

    @abstractmethod
    def _greeted(self, init: wire.Init, said: Hello, now: float) -> Sequence[bytes]:
        """The agent said hello: a result, frames to send, or a deadline by which to look on."""
        ...

    @abstractmethod
    def _heard(self, heard: wire.Read, now: float) -> Sequence[bytes]:
        """A frame came after it."""
        ...

    @abstractmethod
    def _late(self, now: float) -> Sequence[bytes]:
        """The deadline passed after it."""
        ...

    @abstractmethod
    def _refuse(self, why: Refusal) -> None:
        """There is no other result than this."""
        ...

    def _tell(self, frame: bytes, now: float) -> Sequence[bytes]:
        """Send this, and wait for the verdict."""
        self.deadline = now + self._verdict_s
        return [frame]
