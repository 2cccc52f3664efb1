"""The dialect itself: its name, its defaults, and what it makes of every request."""

from collections.abc import Sequence

from turnwire.core.dialect import Ask, Look
from turnwire.core.errand import Answer, Recall, Stop
from turnwire.core.room import Seat
from turnwire.dialects.v2.continuing import Continuing
from turnwire.dialects.v2.errands import Answering, Recalling, Stopping
from turnwire.dialects.v2.resuming import Resuming
from turnwire.dialects.v2.vocabulary import VOCABULARY
from turnwire.dialects.v2.wire import Prompting


class V2:
    """The dialect named `v2`."""

    name = "v2"
    subprotocols: Sequence[str] = ()
    idle_s = 120.0
    vocabulary = VOCABULARY

    def prompt(self, ask: Ask, seat: Seat | None = None) -> Prompting:
        return Prompting(ask, seat or Seat())

    def resume(self, look: Look, seat: Seat | None = None) -> Resuming:
        return (Continuing if look.replies else Resuming)(look, seat or Seat())

    def stop(self, stop: Stop) -> Stopping:
        return Stopping(stop)

    def answer(self, answer: Answer) -> Answering:
        return Answering(answer)

    def recall(self, recall: Recall) -> Recalling:
        return Recalling(recall)
