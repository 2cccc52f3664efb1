"""What a stream waits for, and until when. Times are seconds on the caller's clock."""

from turnwire.core.dialect import NEVER, Conversation, Reach
from turnwire.core.limits import Limits
from turnwire.core.presence import ABSENT, BLOCKED, Presence
from turnwire.core.translate import Translator

_OTHERS = Reach.OTHERS  # an enum's attributes are slow


class Deadlines:
    """What happened last, and when something has to happen next."""

    def __init__(
        self,
        limits: Limits,
        conversation: Conversation,
        translator: Translator,
        presence: Presence,
    ) -> None:
        self.heard_at = self.wrote_at = NEVER
        """Of our turn; to the client."""
        self.hold_until = self.drain_at = self._longest_at = NEVER
        self._limits = limits
        self._conversation = conversation
        self._translator = translator
        self._presence = presence

    def opened(self, now: float) -> None:
        self.heard_at = self.wrote_at = now
        self.hold_until = now + self._limits.hold_s
        self.began(now)

    def began(self, now: float) -> None:
        self._longest_at = now + self._limits.turn_s

    def drain(self, now: float) -> None:
        self.drain_at = min(self.drain_at, now + self._limits.drain_s)

    @property
    def is_spare(self) -> bool:
        """Whether the gateway stops, and the turn goes on as well without this stream."""
        asked = self.heard_at < NEVER and self._conversation.committed
        return self._presence.client is ABSENT and asked and self.drain_at < NEVER

    def paused(self, since: float, now: float) -> None:
        """Nothing was read from the agent: its silence stood still."""
        if self.heard_at < NEVER:
            self.heard_at += now - max(since, self.heard_at)
        self.wrote_at = now

    @property
    def silence_at(self) -> float:
        if self._presence.client is BLOCKED:
            return NEVER
        limits = self._limits
        waits = [limits.queue_wait_s] if self._conversation.queued else []
        if self._translator.calls.open:
            waits.append(limits.tool_silence_s)
        if self._translator.questions:
            waits.append(limits.question_wait_s)
        return max(self.heard_at + max(waits, default=limits.idle_s), self._decided_at)

    @property
    def longest_at(self) -> float:
        return max(self._longest_at, self._decided_at)

    @property
    def _decided_at(self) -> float:
        """While headers are held for its word, a dialect says itself that there is nothing."""
        return -NEVER if self._conversation.committed else self.hold_until

    @property
    def keepalive_at(self) -> float:
        """Where the headers are out."""
        quiet = self._presence.client is BLOCKED or self._presence.left
        return NEVER if quiet else self.wrote_at + self._limits.keepalive_s

    @property
    def expires_at(self) -> float:
        """The token's end cuts as a hang-up does: not while an abort would hit another's turn."""
        held = self._presence.left or self._conversation.reach is _OTHERS
        return NEVER if held else self._limits.expires_at

    def next(self, *, headers_due: bool) -> float:
        """The first of them."""
        held = NEVER if headers_due or self._presence.left else self.hold_until
        return min(
            held,
            self.keepalive_at if headers_due else NEVER,
            self.silence_at,
            self.longest_at,
            self.drain_at,
            self.expires_at,
            self._presence.until,
            self._conversation.deadline,
        )
