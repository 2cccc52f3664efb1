"""The turns of others, as far as all dialects keep them alike."""

from turnwire.core.wire.open_turns import OpenTurns


class Channels(OpenTurns[str]):
    """Turns with their channels."""

    def saw(self, turn_id: str, channel: str) -> None:
        if not self._is_known(turn_id):
            self._put(turn_id, channel)

    def ignore(self, turn_id: str) -> None:
        self._ignore(turn_id)

    def channel_idle(self, channel: str) -> None:
        self._close_matching(lambda other: other == channel)

    def agent_busy(self) -> None:
        self._has_unnamed = True

    @property
    def open_ids(self) -> list[str]:
        return [*self._turns, *(["?"] if self._has_unnamed else [])]


def test_a_late_frame_does_not_open_a_turn_again() -> None:
    turns = Channels()
    turns.saw("t1", "a")
    turns.turn_closed("t1")
    turns.ignore("t2")

    turns.saw("t1", "a")
    turns.saw("t2", "a")

    assert turns.open_ids == []


def test_the_end_of_a_new_id_is_that_of_the_turn_without_a_name() -> None:
    turns = Channels()
    turns.agent_busy()
    turns.saw("t1", "a")

    turns.turn_closed("t1")
    turns.turn_closed("t1")
    assert turns.open_ids == ["?"]

    turns.turn_closed("t2")
    assert turns.open_ids == []


def test_only_what_matches_is_closed() -> None:
    turns = Channels()
    for turn_id, channel in [("t1", "a"), ("t2", "b"), ("t3", "a")]:
        turns.saw(turn_id, channel)

    turns.channel_idle("a")

    assert turns.open_ids == ["t2"]


def test_the_oldest_are_forgotten() -> None:
    turns = Channels()
    many = [f"t{number}" for number in range(OpenTurns.KEPT_MAX + 1)]

    for turn_id in many:
        turns.saw(turn_id, "a")
    assert turns.open_ids == many[1:]

    for turn_id in many:
        turns.turn_closed(turn_id)
    turns.saw(many[0], "a")
    turns.saw(many[1], "a")

    assert turns.open_ids == [many[0]]
