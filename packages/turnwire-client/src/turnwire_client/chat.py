"""What both kinds of chat have in common: their place, and the turn that was sent last."""

from collections.abc import Sequence
from uuid import uuid4

from turnwire_client.limits import Limits
from turnwire_client.message import Part, UIMessage
from turnwire_client.requests import Place, Verdicts, prompt_of
from turnwire_client.sending import Sending
from turnwire_client.steps import Steps


class BaseChat:
    """One chat of one session."""

    def __init__(self, place: Place, limits: Limits) -> None:
        self._place = place
        self._limits = limits
        self._sending: Sending | None = None
        self._verdicts = Verdicts()
        self._conversation: Sequence[UIMessage] = ()
        """The last prompt that was sent, and what went along before it."""

    @property
    def message(self) -> UIMessage:
        """The answer of the last turn, as far as its events were yielded."""
        return UIMessage("", "assistant") if self._sending is None else self._sending.turn.message

    @property
    def turn_id(self) -> str | None:
        """The id of the turn that is being read, or waits; None without one, or before it began."""
        turn = None if self._sending is None else self._sending.turn
        if turn is None or (turn.end is not None and not turn.is_asking):
            return None
        return turn.message_id

    def _send(
        self, prompt: str | Sequence[Part], message_id: str | None, before: Sequence[UIMessage]
    ) -> Steps[None]:
        # A decision is for the turn that asked. The next turn may number its calls alike.
        self._verdicts = Verdicts()
        prompt_id = message_id or uuid4().hex
        self._conversation = (*before, prompt_of(prompt, prompt_id))
        return self._new(prompt_id).send(is_repeated=message_id is not None)

    def _resume(self) -> Steps[None]:
        return self._new(None).resume()

    def _new(self, prompt_id: str | None) -> Sending:
        self._sending = Sending(
            self._place, self._limits, prompt_id, self._verdicts, self._conversation
        )
        return self._sending
