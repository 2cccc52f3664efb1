"""The exchanges of a session: their order, what is taken back, what is forgotten."""

from random import Random

import pytest

from turnwire_agent.session import history
from turnwire_agent.session.events import (
    Attachment,
    Channel,
    FilePart,
    Prompted,
    TextPart,
    TurnBegun,
    TurnEnded,
)
from turnwire_agent.session.history import (
    EXCHANGES_MAX,
    PROMPT_IDS_MAX,
    SHOWN_MAX,
    Exchange,
    History,
)
from turnwire_lab.agents.v2.frames import Prompt as LabPrompt
from turnwire_lab.agents.v2.history import Entry as LabEntry
from turnwire_lab.agents.v2.history import History as LabHistory
from turnwire_lab.agents.v2.parts import Ended as LabEnded

SLACK = Channel("slack", "c1")


def prompt(number: int, message: str | None = None, **fields: object) -> Prompted:
    return Prompted(
        entry_id=f"e{number}",
        prompt_id=f"p{number}",
        client_message_id=message,
        **fields,  # type: ignore[arg-type] # each test gives fitting ones
    )


def asked(*prompts: Prompted) -> History:
    found = History()
    for each in prompts:
        found.add(each)
    return found


def begin(found: History) -> Exchange:
    exchange = found.queue[0]
    turn_id = exchange.prompt.entry_id.replace("e", "t")
    found.begin(exchange, TurnBegun(turn_id=turn_id, entry_id=exchange.prompt.entry_id))
    return exchange


def end(found: History, exchange: Exchange, reason: str = "end_turn") -> None:
    ended = TurnEnded(turn_id=exchange.turn_id or "", reason=reason)  # type: ignore[arg-type]
    found.end(exchange, ended, (TextPart("a"), FilePart("a/b", "data:,x")), ())


def answered(*prompts: Prompted) -> History:
    found = asked(*prompts)
    while found.queue:
        end(found, begin(found))
    return found


def ids(found: History) -> list[str]:
    return [each.prompt.entry_id for each in found]


def after(found: History, replacing: Prompted) -> list[str]:
    found.add(replacing)
    begin(found)
    return ids(found)


def test_a_prompt_waits_until_its_turn_begins() -> None:
    found = asked(prompt(1), prompt(2))

    exchange = begin(found)

    assert (exchange.turn_id, exchange.is_over) == ("t1", False)
    assert [each.prompt.entry_id for each in found.queue] == ["e2"]
    end(found, exchange)
    assert exchange.is_over


def test_a_prompt_that_waits_is_found_and_removed() -> None:
    found = asked(prompt(1), prompt(2))
    begin(found)

    assert found.waiting("e1") is None
    exchange = found.waiting("e2")
    assert exchange is not None
    assert (found.by_entry("e2"), found.by_entry("e3")) == (exchange, None)
    found.remove(exchange)

    assert ids(found) == ["e1"]


@pytest.mark.parametrize(
    ("replacing", "left"),
    [
        (prompt(4, "m2", regenerate=True), ["e1", "e4"]),
        (prompt(4, "e2", regenerate=True), ["e1", "e4"]),
        (prompt(4, "m9", regenerate=True), ["e1", "e2", "e4"]),
        (prompt(4, None, regenerate=True), ["e1", "e2", "e4"]),
        (prompt(4, "m2", edit=True), ["e1", "e4"]),
        (prompt(4, "m9", edit=True), ["e1", "e2", "e3", "e4"]),
        (prompt(4, None, edit=True), ["e1", "e2", "e3", "e4"]),
        (prompt(4, "m2"), ["e1", "e2", "e3", "e4"]),
        (prompt(4, "m2", edit=True, channel=SLACK), ["e1", "e2", "e3", "e4"]),
        (prompt(4, None, regenerate=True, channel=SLACK), ["e1", "e2", "e3", "e4"]),
    ],
)
def test_what_a_prompt_replaces_is_gone_when_its_turn_begins(
    replacing: Prompted, left: list[str]
) -> None:
    found = answered(prompt(1, "m1"), prompt(2, "m2"), prompt(3, "m3"))

    assert after(found, replacing) == left


def test_of_a_message_that_was_edited_before_the_last_is_meant() -> None:
    found = answered(prompt(1, "m1"), prompt(2, "m1"), prompt(3, "m2"))

    assert after(found, prompt(4, "m1", edit=True)) == ["e1", "e4"]


def test_other_channels_and_prompts_that_wait_stay() -> None:
    found = answered(prompt(1, "m1"), prompt(2, "m2", channel=SLACK))
    found.add(prompt(3, "m1", edit=True))
    found.add(prompt(4, "m4"))

    begin(found)

    assert ids(found) == ["e2", "e3", "e4"]


def test_a_history_is_that_of_the_lab() -> None:
    """The reference agent of the wire takes back the same, and knows the same messages again."""
    for seed in range(200):
        dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
        ours, theirs = History(), LabHistory()
        for number in range(dice.randrange(1, 12)):
            kind = dice.choice(("", "", "edit", "regenerate"))
            message = dice.choice(("m1", "m2", "m3", "e1", None))
            channel = dice.choice((Channel(), SLACK))
            lab_prompt = LabPrompt(
                prompt_id=f"p{number}",
                client_message_id=message,
                channel_type=channel.type,
                channel_id=channel.id,
                edit=kind == "edit",
                regenerate=kind == "regenerate",
            )
            ours_prompt = prompt(
                number,
                message,
                channel=channel,
                edit=kind == "edit",
                regenerate=kind == "regenerate",
            )
            if not kind and message is not None:
                same, lab_same = ours.same_message(ours_prompt), theirs.answer_to(lab_prompt)
                assert (same and same.turn_id) == (lab_same and lab_same.id), seed
            origin = {"channelType": channel.type, "channelId": channel.id}
            if message is not None:
                origin["clientMessageId"] = message
            lab_entry = LabEntry(f"e{number}", "user", origin, queued=True)
            theirs.add(lab_entry)
            theirs.take_back(lab_prompt)
            lab_turn = LabEntry(f"t{number}", "assistant", origin)
            theirs.begin(lab_entry, lab_turn)
            reason = dice.choice(("end_turn", "error"))
            lab_turn.parts.append(LabEnded(reason))  # type: ignore[arg-type]
            ours.add(ours_prompt)
            end(ours, begin(ours), reason)

            listed = [name for each in ours for name in (each.prompt.entry_id, each.turn_id)]
            assert listed == [entry.id for entry in theirs], seed


def test_a_message_that_waits_or_runs_or_ended_well_is_known() -> None:
    found = asked(prompt(1, "m1"), prompt(2, "m2"))
    again = prompt(9, "m1")

    assert found.same_message(again) is found.queue[0]
    running = begin(found)
    assert found.same_message(again) is running
    end(found, running)
    assert found.same_message(again) is running
    assert found.same_message(prompt(9, "m1", channel=SLACK)) is None
    assert found.same_message(prompt(9, "m3")) is None


@pytest.mark.parametrize("reason", ["error", "canceled"])
def test_a_message_whose_turn_came_to_nothing_may_be_asked_again(reason: str) -> None:
    found = asked(prompt(1, "m1"))
    end(found, begin(found), reason)

    assert found.same_message(prompt(9, "m1")) is None
    found.add(prompt(2, "m1"))
    assert found.same_message(prompt(9, "m1")) is found.queue[0]


@pytest.mark.parametrize("fields", [{"edit": True}, {"regenerate": True}])
def test_a_prompt_that_replaces_another_is_never_the_same(fields: dict[str, object]) -> None:
    found = answered(prompt(1, "m1"))

    assert found.same_message(prompt(9, "m1", **fields)) is None
    assert found.same_message(prompt(9)) is None


def test_a_prompt_goes_by_the_ids_under_which_it_came_again() -> None:
    found = asked(prompt(1), prompt(2))

    found.repeat("e1", "p9")
    found.repeat("e1", "p9")
    found.repeat("e7", "p8")

    assert [each.prompt_ids for each in found] == [["p1", "p9"], ["p2"]]


def test_of_many_prompt_ids_the_first_and_the_newest_are_kept() -> None:
    found = asked(prompt(1))
    for number in range(2 * PROMPT_IDS_MAX):
        found.repeat("e1", f"again{number}")

    (exchange,) = found
    assert len(exchange.prompt_ids) == PROMPT_IDS_MAX
    assert exchange.prompt_ids[0] == "p1"
    assert exchange.prompt_ids[-1] == f"again{2 * PROMPT_IDS_MAX - 1}"


def test_a_prompt_without_an_id_has_none() -> None:
    (exchange,) = asked(Prompted(entry_id="e1"))

    assert exchange.prompt_ids == []


def test_of_a_long_history_the_oldest_exchanges_are_not_shown() -> None:
    found = answered(*(prompt(number) for number in range(SHOWN_MAX)))

    shown = [each for each in found if each.is_shown]
    hidden = [each for each in found if not each.is_shown]
    assert len(shown) == SHOWN_MAX // 2
    assert len(hidden) == SHOWN_MAX // 2
    assert all(each.parts for each in shown)
    assert not any(each.parts for each in hidden)
    assert ids(found)[-1] == shown[-1].prompt.entry_id


def test_what_waits_or_runs_is_never_forgotten() -> None:
    found = asked(*(prompt(number) for number in range(EXCHANGES_MAX + 10)))
    assert len(ids(found)) == EXCHANGES_MAX + 10
    running = begin(found)
    found.add(prompt(EXCHANGES_MAX + 10))
    assert len(ids(found)) == EXCHANGES_MAX + 11
    assert all(each.is_shown for each in found)

    end(found, running)
    found.add(prompt(EXCHANGES_MAX + 11))

    assert len(ids(found)) == EXCHANGES_MAX + 11
    assert "e0" not in ids(found)


def test_a_history_takes_no_more_memory_than_its_bound() -> None:
    found = answered(*(prompt(number) for number in range(EXCHANGES_MAX)))
    for number in range(5):
        found.add(prompt(EXCHANGES_MAX + number))
        end(found, begin(found))

    assert len(ids(found)) == EXCHANGES_MAX
    assert ids(found)[0] == "e5"
    assert [each.prompt.entry_id for each in reversed(found)] == ids(found)[::-1]


def test_files_of_the_oldest_turns_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Attachment("a/b", "data:,0123456789", "f")
    monkeypatch.setattr(history, "FILES_MAX", 4 * len(file.url))
    found = answered(*(prompt(number, attachments=(file, file)) for number in range(3)))
    found.add(prompt(3, attachments=(file,) * 9))

    assert [each.files_size for each in found] == [0, 0, 0, 9 * len(file.url)]
    found.remove(found.queue[0])
    found.add(prompt(4, attachments=(file,)))

    first = next(iter(found))
    assert first.prompt.attachments == (Attachment("a/b", "", "f"),) * 2
    assert first.parts == (TextPart("a"), FilePart("a/b", ""))
    assert found.queue[0].prompt.attachments == (file,)
