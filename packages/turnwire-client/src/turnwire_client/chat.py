"""What both kinds of chat have in common: their place, and the turn that was sent last."""

from collections.abc import Sequence
from uuid import uuid4

from turnwire_client.limits import Limits
from turnwire_client.message import Part, UIMessage
from turnwire_client.requests import Place
from turnwire_client.sending import Sending
from turnwire_client.steps import Steps


class BaseChat:
    """One chat of one session."""

    def __init__(self, place: Place, limits: Limits) -> None:
        self._place = place
        self._limits = limits
        self._sending: Sending | None = None

    @property
    def message(self) -> UIMessage:
        """The answer of the last turn, as far as its events were yielded."""
        return UIMessage("", "assistant") if self._sending is None else self._sending.turn.message

    @property
    def turn_id(self) -> str | None:
        """The id of the turn that is being read; None if none is, or before it began."""
        if self._sending is None or self._sending.turn.end is not None:
            return None
        return self._sending.turn.message_id

    def _send(
        self, prompt: str | Sequence[Part], message_id: str | None, before: Sequence[UIMessage]
    ) -> Steps[None]:
        prompt_id = message_id or uuid4().hex
        request = self._place.prompt(prompt, prompt_id, before)
        self._sending = Sending(self._place, self._limits, prompt_id)
        return self._sending.send(request, is_repeated=message_id is not None)

    def _resume(self) -> Steps[None]:
        self._sending = Sending(self._place, self._limits, None)
        return self._sending.resume()
