"""The prompts of a session and the turns that answer them, oldest first.

A prompt stands in the history from the moment it is accepted, and its turn right behind it once the
turn begins. So the two are one exchange.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from turnwire_agent.llm.transcript import Transcript
from turnwire_agent.session import files
from turnwire_agent.session.events import Channel, Part, Prompted, Reason, TurnBegun, TurnEnded

SHOWN_MAX: Final = 200
"""Most prompts and turns that `init` repeats."""

EXCHANGES_MAX: Final = 1_000
"""Most exchanges that are kept in memory, for models too. The journal keeps all."""

FILES_MAX: Final = 64 * 1024 * 1024
"""Most characters and bytes of files that are kept in memory. Of more, those of the oldest turns
are forgotten, and models are sent a word in their place."""

PROMPT_IDS_MAX: Final = 64
"""Most prompt ids of a message that comes again and again. Of more, the oldest is forgotten."""


@dataclass(slots=True, eq=False)
class Exchange:
    """A prompt, and its turn once that has begun."""

    prompt: Prompted
    turn_id: str | None = None
    """None: the prompt waits."""
    prompt_ids: list[str] = field(default_factory=list)
    """What a request may name to mean this prompt or its turn."""
    reason: Reason | None = None
    """How the turn ended; None: it has not."""
    finish_reason: str = ""
    """Why its answer is no longer."""
    error: str | None = None
    """Why it failed, for people."""
    parts: tuple[Part, ...] = ()
    """Of a turn that is over."""
    compacted: Transcript | None = None
    """If the turn has compacted the transcript: all that models are sent before `messages`."""
    messages: Transcript = ()
    """Of a turn that is over: what models are sent of it."""
    files_size: int = 0
    """Characters and bytes of all files in it."""
    is_shown: bool = True
    """Whether `init` repeats it."""

    @property
    def is_over(self) -> bool:
        return self.reason is not None

    def goes_by(self, name: str | None) -> bool:
        """Whether a client that has this prompt calls it so: by its own id, or by ours."""
        return name is not None and name in {self.prompt.client_message_id, self.prompt.entry_id}

    def forget_files(self) -> None:
        """Drop the content of all files."""
        self.prompt = files.prompt_without_files(self.prompt)
        self.parts = files.parts_without_files(self.parts)
        self.messages = files.messages_without_files(self.messages)
        self.files_size = 0


class History:
    """The exchanges of all channels of a session."""

    __slots__ = ("_exchanges", "_has_files")

    def __init__(self) -> None:
        self._exchanges: list[Exchange] = []
        self._has_files = False

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self._exchanges)

    def __reversed__(self) -> Iterator[Exchange]:
        return reversed(self._exchanges)

    @property
    def queue(self) -> list[Exchange]:
        """The prompts that wait, the next one first."""
        return [exchange for exchange in self._exchanges if exchange.turn_id is None]

    def add(self, prompt: Prompted) -> None:
        """A prompt was accepted."""
        prompt_ids = [] if prompt.prompt_id is None else [prompt.prompt_id]
        size = files.size_of(prompt)
        self._exchanges.append(Exchange(prompt, prompt_ids=prompt_ids, files_size=size))
        self._has_files |= size > 0
        self._forget()

    def waiting(self, entry_id: str) -> Exchange | None:
        """The prompt with this id, if it waits."""
        return next((each for each in self.queue if each.prompt.entry_id == entry_id), None)

    def by_entry(self, entry_id: str) -> Exchange | None:
        """The exchange of a prompt, waiting or not."""
        return next((each for each in self if each.prompt.entry_id == entry_id), None)

    def repeat(self, entry_id: str, prompt_id: str) -> None:
        """A prompt came again, with another prompt id."""
        for each in self._exchanges:
            if each.prompt.entry_id == entry_id and prompt_id not in each.prompt_ids:
                each.prompt_ids.append(prompt_id)
                if len(each.prompt_ids) > PROMPT_IDS_MAX:
                    del each.prompt_ids[1]  # the first is that of the prompt

    def remove(self, exchange: Exchange) -> None:
        """A prompt was taken back."""
        self._exchanges.remove(exchange)

    def begin(self, exchange: Exchange, begun: TurnBegun) -> None:
        """The turn of a prompt that waits begins. What the prompt replaces is removed."""
        gone = self.replaced_by(exchange.prompt)
        self._exchanges = [each for each in self._exchanges if each not in gone]
        exchange.turn_id = begun.turn_id
        self._forget()

    def end(
        self,
        exchange: Exchange,
        ended: TurnEnded,
        parts: tuple[Part, ...],
        messages: Transcript,
    ) -> None:
        """A turn is over. `parts` and `messages` are all of it."""
        exchange.reason, exchange.error = ended.reason, ended.error
        exchange.finish_reason = ended.finish_reason
        exchange.parts, exchange.messages = parts, messages
        exchange.files_size = files.size_of(exchange.prompt, parts, messages)
        self._has_files |= exchange.files_size > 0
        self._forget()

    def replaced_by(self, prompt: Prompted) -> list[Exchange]:
        """What a prompt replaces, to the end of its channel. What waits there stays."""
        if not (prompt.edit or prompt.regenerate):
            return []
        ours = [each for each in self.of(prompt.channel) if each.turn_id is not None]
        # A message that was edited before is there once more; the last is meant.
        named = [place for place, each in enumerate(ours) if each.goes_by(prompt.client_message_id)]
        if not named:
            return ours[-1:] if prompt.regenerate else []
        return ours[named[-1] :]

    def of(self, channel: Channel) -> list[Exchange]:
        """The exchanges of a channel."""
        return [each for each in self._exchanges if each.prompt.channel == channel]

    def same_message(self, prompt: Prompted) -> Exchange | None:
        """The exchange of the same message, if it waits, runs or ended well."""
        if prompt.client_message_id is None or prompt.edit or prompt.regenerate:
            return None
        same = [
            each
            for each in self.of(prompt.channel)
            if each.prompt.client_message_id == prompt.client_message_id
        ]
        for each in same:
            if each.turn_id is None:
                return each
        return same[-1] if same and same[-1].reason in {None, "end_turn"} else None

    def _forget(self) -> None:
        while len(self._exchanges) > EXCHANGES_MAX and self._exchanges[0].is_over:
            del self._exchanges[0]
        if 2 * len(self._exchanges) > SHOWN_MAX:
            self._hide()
        if self._has_files:
            self._forget_files()

    def _hide(self) -> None:
        shown = [each for each in self._exchanges if each.is_shown]
        entries = sum(1 if each.turn_id is None else 2 for each in shown)
        too_many = shown[: max(0, (entries - SHOWN_MAX + 1) // 2)]
        for each in takewhile(_is_over, too_many):
            each.is_shown, each.parts = False, ()

    def _forget_files(self) -> None:
        room = FILES_MAX
        for each in reversed(self._exchanges):
            room -= each.files_size
            if room < 0 and each.is_over:
                each.forget_files()


def _is_over(exchange: Exchange) -> bool:
    return exchange.is_over
