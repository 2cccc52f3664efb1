"""An approval begins one run in a process, for as long as its id may be valid."""

from collections.abc import Sequence

import pytest
from msgspec import Raw

from turnwire.core.requests import QuestionReply
from turnwire.errors import QuestionClosed
from turnwire.relay.agent.failures import DialFailure
from turnwire.web.used_approvals import UsedApprovals

SESSION, OTHER = ("", "s1"), ("", "s2")


def reply(
    question_id: str = "q1", subject: bytes | None = b"subject", answer: bytes = b"true"
) -> QuestionReply:
    return QuestionReply(question_id, Raw(answer), subject)


def give(used: UsedApprovals, *replies: QuestionReply, session: tuple[str, str] = SESSION) -> None:
    with used.use(session, replies or [reply()]) as use:
        use.ended(None)


async def test_it_counts_once() -> None:
    used = UsedApprovals(60)
    give(used)

    for again in ([reply()], [reply(answer=b"false")], [reply("q2"), reply()]):
        with pytest.raises(QuestionClosed):
            used.use(SESSION, again)
    give(used, reply("q2"))


async def test_it_counts_while_its_run_goes_on() -> None:
    used = UsedApprovals(60)

    with used.use(SESSION, [reply()]), pytest.raises(QuestionClosed):
        used.use(SESSION, [reply()])


@pytest.mark.parametrize(
    ("session", "replies"),
    [
        (OTHER, [reply()]),
        (SESSION, [reply("q2")]),
        (SESSION, [reply(subject=b"another input")]),
        (SESSION, [reply(subject=None)]),
        (SESSION, [reply("\ud800")]),
    ],
)
async def test_another_approval_is_another_one(
    session: tuple[str, str], replies: Sequence[QuestionReply]
) -> None:
    used = UsedApprovals(60)
    give(used)
    give(used, reply(subject=None))

    give(used, *replies, session=session)


@pytest.mark.parametrize(
    ("failure", "is_given"),
    [
        (None, True),
        (DialFailure.CONNECT, False),
        (DialFailure.DNS, False),
        (DialFailure.TLS, False),
        (DialFailure.STATUS, False),
        (DialFailure.TIMEOUT, True),
        (DialFailure.HANDSHAKE, True),
    ],
)
async def test_if_the_agent_surely_has_not_begun_it_was_not_given(
    failure: DialFailure | None, *, is_given: bool
) -> None:
    used = UsedApprovals(60)
    with used.use(SESSION, [reply(), reply("q2")]) as use:
        use.ended(failure)

    assert len(used) == (2 if is_given else 0)


async def test_without_a_stream_it_was_not_given() -> None:
    used = UsedApprovals(60)
    with used.use(SESSION, [reply()]):
        pass

    assert len(used) == 0


async def test_it_is_remembered_no_longer_than_its_id_is_valid() -> None:
    used = UsedApprovals(0)
    give(used)
    give(used)

    assert len(used) == 1


async def test_no_more_than_so_many_are_remembered() -> None:
    used = UsedApprovals(60, most=3)
    for number in range(10):
        give(used, reply(f"q{number}"))

    assert len(used) == 3
    give(used, reply("q0"))
    with pytest.raises(QuestionClosed):
        used.use(SESSION, [reply("q9")])
