"""Questions of the `v2` wire: `question` makes the event, `OpenQuestions` keeps the open ones.

A question comes in a frame, or in a part of `init`; both become the same event.

Some agents make question ids that are unique only within one turn. So a frame that
closes a question is matched by all ids that the frame names. If the frame might
also be about another turn's question of the same id, it closes neither of them:
otherwise users could see an answer that is not for them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import events, safe_json
from turnwire.core.requests import Channel
from turnwire.core.wire import open_questions

APPROVAL: Final = "approval"
"""The `kind` of a question about a tool call that waits (docs/v2.md)."""

_ROUTING_FIELDS: Final = frozenset({"turnId", "promptId", "channelType", "channelId", "expiresAt"})
"""Fields of an approval that do not say what it asks for, and may be different in `init`."""

_NONE: Final = Raw()


class TurnRef(Struct, frozen=True):
    """The turn that a frame belongs to, as far as the frame names it. None: not named."""

    turn_id: str | None = None
    prompt_id: str | None = None
    channel: Channel | None = None

    def may_match(self, other: "TurnRef") -> bool:
        """Whether both may be the same turn: by turn id, else by prompt id, else by channel."""
        if self.turn_id and other.turn_id:
            return self.turn_id == other.turn_id
        if self.prompt_id and other.prompt_id:
            return self.prompt_id == other.prompt_id
        return self.channel is None or other.channel is None or self.channel == other.channel


class OpenQuestions(open_questions.OpenQuestions[TurnRef]):
    """The open questions of a session. Those of other turns are kept with the turn."""

    __slots__ = ()

    def add_elsewhere(self, question_id: str, place: TurnRef) -> None:
        """Add a question of another turn. It replaces an earlier one that may be the same."""
        self._remove(self._matches(question_id, place))  # the agent repeats the question
        super().add_elsewhere(question_id, place)

    def is_open_elsewhere(self, question_id: str, *, but: str) -> bool:
        """Whether a turn other than `but` has an open question of this id."""
        return any(key == question_id and turn.turn_id != but for key, turn in self._elsewhere)

    def turn_finished(self, turn_id: str) -> None:
        """This turn is over, or is ours: remove its questions from the foreign ones."""
        if self._elsewhere:
            self._remove([key for key in self._elsewhere if key[1].turn_id == turn_id])

    def channel_idle(self, channel: Channel | None) -> None:
        """The agent is idle on this channel; None: on all channels."""
        idle = TurnRef(channel=channel)
        self._remove([key for key in self._elsewhere if idle.may_match(key[1])])

    def question_closed(self, question_id: str, turn: TurnRef, *, is_ours: bool) -> bool:
        """A question is closed. Returns True if it is certainly our question.

        `turn` is what the frame names, `is_ours` whether that is our turn.
        """
        is_exact = is_ours and bool(turn.turn_id or turn.prompt_id)
        elsewhere = [] if is_exact else self._matches(question_id, turn)
        return self._close(question_id, elsewhere, may_be_ours=is_ours)

    def _matches(self, question_id: str, turn: TurnRef) -> list[tuple[str, TurnRef]]:
        """The foreign questions of this id that may belong to this turn."""
        return [key for key in self._elsewhere if key[0] == question_id and turn.may_match(key[1])]

    def _remove(self, keys: Iterable[tuple[str, TurnRef]]) -> None:
        for key in keys:
            del self._elsewhere[key]


def question(question_id: str, payload: Mapping[str, Raw]) -> events.Question:
    """The event of a question. The fields of `payload` go to the client unchanged."""
    encoded = Raw(msgspec.json.encode(payload))
    if _string(payload, "kind") != APPROVAL:
        return events.Question(question_id, encoded)
    approval = _approval(payload)
    if approval is not None:
        return events.Question(question_id, encoded, approval)
    shown = {name: value for name, value in payload.items() if name not in _ROUTING_FIELDS}
    return events.Question(question_id, encoded, shown=Raw(msgspec.json.encode(shown)))


def _approval(payload: Mapping[str, Raw]) -> events.Approval | None:
    """The tool call that an approval names; None if its id or its tool is missing."""
    call_id, tool_name = _string(payload, "callId"), _string(payload, "toolName")
    if not call_id or not tool_name:
        return None
    return events.Approval(call_id, tool_name, payload.get("args"))


def _string(payload: Mapping[str, Raw], field: str) -> str | None:
    return safe_json.short_string(payload.get(field, _NONE))
