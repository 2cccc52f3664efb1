"""The state, the activities and the results of an agent, as data parts of the client's message.

Off by default: a state may hold the whole conversation, ids of users, and secrets, and so may the
result of a run, which often is the last state. Of a state and an activity the latest value goes to
the client, with the agent's patches applied. A value that is too large, or a patch that does not
fit, is not sent, and counted.
"""

from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.events import DataPart, Event
from turnwire.core.requests import StateMode
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.content import json_patch
from turnwire.dialects.ag_ui.frames import ActivityDelta, ActivitySnapshot

STATE_BYTES_MAX: Final = 262_144
"""Longest state or result that is sent, in bytes of its JSON; and as much of all activities
together."""

ACTIVITIES_MAX: Final = 64
"""Most activities of a turn that are kept. Further ones are not sent."""

_STATE: Final = "state"
_decode = msgspec.json.Decoder().decode


class State:
    """What the client was sent of the agent's state and activities."""

    __slots__ = ("_activities", "_frame_stats", "_mode", "_state")

    def __init__(self, mode: StateMode, frame_stats: FrameStats) -> None:
        self._mode = mode
        self._frame_stats = frame_stats
        self._state: bytes | None = None
        self._activities: dict[str, tuple[str, bytes]] = {}
        """The type and the content of each activity, by the id of its message."""

    @property
    def is_off(self) -> bool:
        return self._mode is StateMode.OFF

    def snapshot(self, state: Raw) -> list[Event]:
        if not state or len(state) > STATE_BYTES_MAX:
            return self._leave_out("state that is too large", len(state))
        self._state = bytes(safe_json.sanitize(state))
        return [self._part(_STATE, _STATE, self._state)]

    def delta(self, patch: Raw) -> list[Event]:
        changed = self._patched(self._state or b"null", patch, STATE_BYTES_MAX)
        if changed is None:
            return self._leave_out("patch that does not fit", len(patch))
        self._state = changed
        return [self._part(_STATE, _STATE, changed)]

    def activity(self, frame: ActivitySnapshot) -> list[Event]:
        activities, message_id = self._activities, frame.message_id
        is_known = message_id in activities
        if is_known and frame.replace is False:
            return []
        if (
            not frame.content
            or len(frame.content) > self._room(message_id)
            or (len(activities) >= ACTIVITIES_MAX and not is_known)
        ):
            return self._leave_out("activity that is too large", len(frame.content))
        content = bytes(safe_json.sanitize(frame.content))
        activities[message_id] = (frame.activity_type, content)
        return [self._activity(message_id)]

    def activity_delta(self, frame: ActivityDelta) -> list[Event]:
        kind, content = self._activities.get(frame.message_id, (None, b""))
        changed = kind and self._patched(content, frame.patch, self._room(frame.message_id))
        if not kind or not changed:
            return self._leave_out("patch that does not fit", len(frame.patch))
        self._activities[frame.message_id] = (kind, changed)
        return [self._activity(frame.message_id)]

    def result(self, run_id: str, result: Raw) -> list[Event]:
        """Return the part of the result of a run. Each run of a turn has one of its own."""
        if len(result) > STATE_BYTES_MAX:
            return self._leave_out("result that is too large", len(result))
        return [self._part("result", run_id, bytes(safe_json.sanitize(result)))]

    def _room(self, message_id: str) -> int:
        """How many bytes the content of this activity may have."""
        others = (len(c) for each, (_, c) in self._activities.items() if each != message_id)
        return STATE_BYTES_MAX - sum(others)

    def _activity(self, message_id: str) -> DataPart:
        kind, content = self._activities[message_id]
        name = msgspec.json.encode(kind)
        return self._part(
            "activity", message_id, b'{"activityType":%b,"content":%b}' % (name, content)
        )

    def _part(self, name: str, part_id: str, data: bytes) -> DataPart:
        return DataPart(name, part_id, Raw(data), self._mode is StateMode.TRANSIENT)

    def _patched(self, document: bytes, patch: Raw, most_bytes: int) -> bytes | None:
        """The document with a patch applied; None if it does not fit."""
        try:
            changed = json_patch.apply(_decode(document), patch, most_bytes)
            encoded = bytes(safe_json.sanitize(Raw(msgspec.json.encode(changed))))
        except (msgspec.DecodeError, json_patch.BadPatchError, RecursionError):
            return None
        return encoded if len(encoded) <= most_bytes else None

    def _leave_out(self, what: str, size: int) -> list[Event]:
        self._frame_stats.count_left_out(what, size)
        return []
