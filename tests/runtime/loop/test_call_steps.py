import pytest
from msgspec import Raw
from msgspec.structs import replace

from runtime.loop.journal import (
    AGENT,
    NOW,
    TAKEN_OVER,
    answer,
    began,
    closed,
    done,
    following,
    outcomes,
    question,
    state,
    step,
)
from turnwire_agent.journal.port import Effect as EffectRow
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import Park, RunCall, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.calls.checked_input import input_hash
from turnwire_agent.loop.decide import decide
from turnwire_agent.loop.limits import Limits
from turnwire_agent.session.events import Event, QuestionAsked, QuestionClosed
from turnwire_agent.tools.contract import Context, Effect, Tools
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.keys import NO_KEY

IDLE = Running()
FIND = ("find", '{"n":1}')
CHARGE = ("charge", '{"n":1}')
MAIL = ("mail.send", '{"n":1}')
MOVE = ("move", '{"n":1}')
INPUT = Raw(b'{"n":1}')


def written(*events: Event, agent: Agent = AGENT, running: Running = IDLE) -> Write:
    [action] = following(*events, agent=agent, running=running)
    assert isinstance(action, Write)
    return action


def started(*events: Event, agent: Agent = AGENT, running: Running = IDLE) -> list[str]:
    """The calls that begin now."""
    actions = following(*events, agent=agent, running=running)
    assert all(isinstance(action, RunCall | Park) for action in actions)
    return [action.call_id for action in actions if isinstance(action, RunCall)]


def run(*events: Event, agent: Agent = AGENT) -> RunCall:
    [action] = following(*events, agent=agent)
    assert isinstance(action, RunCall)
    return action


def test_a_call_runs_with_its_value_and_its_key() -> None:
    action = run(step(), answer(CHARGE))

    assert action.value.n == 1
    assert (action.key, action.run, bytes(action.input)) == ("s/t/c0", 0, b'{"n":1}')
    assert action.begun(NOW) == began("c0", "charge")
    intent = EffectRow("s/t/c0", "s/t/c0", input_hash(INPUT), "intent")
    assert action.effects == (intent,)
    assert action.settled(action.ended("done")) == (replace(intent, state="done"),)


def test_calls_run_together_up_to_the_limit() -> None:
    agent = replace(AGENT, limits=Limits(concurrency=2))
    three = (step(), answer(FIND, FIND, FIND))

    assert started(*three, agent=agent) == ["c0", "c1"]
    one = Running(calls=frozenset({"c0"}))
    assert started(*three, began("c0", "find"), agent=agent, running=one) == ["c1"]
    both = Running(calls=frozenset({"c0", "c1"}))
    assert started(*three, agent=agent, running=both) == []


def test_a_sequential_tool_runs_alone_and_those_behind_it_wait() -> None:
    calls = (step(), answer(FIND, MOVE, FIND))
    found = (*calls, began("c0", "find"), done("c0"))

    assert started(*calls) == ["c0"]
    assert started(*calls, running=Running(calls=frozenset({"c0"}))) == []
    assert started(*found) == ["c1"]
    assert started(*found, running=Running(calls=frozenset({"c1"}))) == []
    assert started(*found, began("c1", "move"), done("c1", "move")) == ["c2"]


def test_a_call_in_hand_is_not_begun_again() -> None:
    in_hand = Running(calls=frozenset({"c0"}))

    assert following(step(), answer(MOVE), running=in_hand) == ()
    assert following(step(), answer(MOVE), began("c0", "move"), running=in_hand) == ()


@pytest.mark.parametrize(
    "arguments", ["{", '{"n":1', "[]", '{"n":"x"}', "{}", '{"n":1,"m":2}', '{"n":1}{']
)
def test_arguments_that_are_not_valid_are_answered(arguments: str) -> None:
    write = written(step(), answer(("find", arguments), FIND))

    [(call_id, outcome, error)] = outcomes(write.events)
    assert (call_id, outcome) == ("c0", "failed")
    assert str(error).startswith("The arguments are not valid: ")
    assert started(step(), answer(("find", arguments), FIND), *write.events) == ["c1"]


def test_an_invented_name_is_answered_with_the_real_ones() -> None:
    [(_, outcome, error)] = outcomes(written(step(), answer(("guess", "{}"))).events)

    assert outcome == "failed"
    assert error == (
        "There is no tool 'guess'. The tools are: charge, find, mail_send_b72927ae, move, pay."
    )


def test_calls_of_an_answer_that_was_cut_never_run() -> None:
    cut = (step(), answer(FIND, MAIL, ("find", "{"), finish="length"))
    write = written(*cut)

    assert outcomes(write.events) == [(each, "failed", words.CUT) for each in ("c0", "c1", "c2")]
    assert state(*cut, *write.events).refused_steps == {0}


@pytest.mark.parametrize("finish", ["content-filter", "error"])
def test_calls_of_an_answer_that_ends_the_turn_never_run(finish: str) -> None:
    assert outcomes(written(step(), answer(FIND, finish=finish)).events) == [
        ("c0", "canceled", words.NOT_RUN)
    ]


@pytest.mark.parametrize("finish", ["tool-calls", "stop", "other", "newer"])
def test_calls_of_other_answers_run(finish: str) -> None:
    assert started(step(), answer(FIND, finish=finish)) == ["c0"]


def test_too_many_calls_of_one_answer_are_not_run() -> None:
    agent = replace(AGENT, limits=Limits(calls=1))
    events = (step(), answer(FIND, FIND))
    write = written(*events, agent=agent)

    assert outcomes(write.events) == [("c1", "canceled", words.TOO_MANY_CALLS)]
    assert started(*events, *write.events, agent=agent) == ["c0"]


def test_a_person_is_asked_with_the_input_that_will_run() -> None:
    write = written(step(), answer(("mail.send", '{ "n": 2, "n": 1 }')))

    registered = AGENT.tools.get("mail.send")
    assert registered
    assert write.events == (
        QuestionAsked(
            turn_id="t",
            question_id="t-c0",
            text="May mail.send run?",
            options=("approve", "deny"),
            expires_at=NOW + AGENT.limits.question_s,
            call_id="c0",
            tool="mail.send",
            input=INPUT,
            input_hash=input_hash(INPUT),
            tool_digest=registered.digest,
            at=NOW,
        ),
    )


def test_calls_that_need_nobody_run_meanwhile() -> None:
    asked = (step(), answer(MAIL, FIND), question("c0"))

    assert started(*asked) == ["c1"]
    assert following(*asked, began("c1", "find"), done("c1")) == (Park(NOW + 100),)


def test_on_approval_the_journaled_input_runs() -> None:
    other = question("c0", arguments='{"n":3}')
    action = run(step(), answer(MAIL), other, closed("c0", b'{"approved":true,"input":{"n":9}}'))

    assert bytes(action.input) == b'{"n":3}'
    assert action.value.n == 3


def test_the_first_answer_counts() -> None:
    asked = (step(), answer(MAIL), question("c0"))

    assert started(*asked, closed("c0", b"true"), closed("c0", b"false")) == ["c0"]
    denied = written(*asked, closed("c0", b"false"), closed("c0", b"true"))
    assert outcomes(denied.events) == [("c0", "denied", words.DENIED)]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (b"false", words.DENIED),
        (b'{"approved":false,"reason":"Too early."}', f"{words.DENIED} The reason: Too early."),
        (None, words.EXPIRED),
    ],
)
def test_a_call_that_nobody_allows_is_not_run(reply: bytes | None, sentence: str) -> None:
    write = written(step(), answer(MAIL), question("c0"), closed("c0", reply))

    assert outcomes(write.events) == [("c0", "denied", sentence)]


def test_a_tool_that_changed_since_is_asked_about_again() -> None:
    events = (step(), answer(MAIL), question("c0", digest="of before"), closed("c0"))
    [again] = written(*events).events

    assert isinstance(again, QuestionAsked)
    assert again.question_id == "t-c0-2"
    assert following(*events, again) == (Park(again.expires_at),)
    late = (closed("c0"), closed("c0", b"false"))
    assert following(*events, again, *late) == (Park(again.expires_at),)
    yes = replace(closed("c0"), question_id="t-c0-2")
    assert started(*events, again, yes) == ["c0"]


def test_a_tool_that_changed_since_may_not_take_the_input_any_more() -> None:
    events = (step(), answer(("mail.send", '{"n":"x"}')), question("c0", digest="d"), closed("c0"))

    assert [each[:2] for each in outcomes(written(*events).events)] == [("c0", "failed")]


def asking(answers: list[object]) -> Agent:
    def needed(_: object) -> bool:
        given = answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return bool(given)

    @tool(approval=needed)
    def ship(n: int) -> str:
        """Ship."""
        return str(n)

    return replace(AGENT, tools=Tools([ship, *AGENT.tools]))


def test_a_rule_of_approval_is_asked_once_and_then_its_answer_stands() -> None:
    agent = asking([False])
    folded = state(step(), answer(("ship", '{"n":1}')))

    for _ in range(3):
        [action] = decide(folded, agent, IDLE, NOW)
        assert isinstance(action, RunCall)


@pytest.mark.parametrize("needed", [True, RuntimeError("no idea")])
def test_a_rule_of_approval_that_says_yes_or_fails_asks_a_person(needed: object) -> None:
    write = written(step(), answer(("ship", '{"n":1}')), agent=asking([needed]))

    assert isinstance(write.events[0], QuestionAsked)


def test_a_rule_of_approval_is_not_asked_about_arguments_that_are_not_valid() -> None:
    write = written(step(), answer(("ship", "{}")), agent=asking([]))

    assert [each[:2] for each in outcomes(write.events)] == [("c0", "failed")]


@pytest.mark.parametrize("name", ["find", "charge"])
def test_a_call_that_may_run_twice_runs_again_with_its_key(name: str) -> None:
    events = (step(), answer((name, '{"n":1}')), began("c0", name), TAKEN_OVER)
    action = run(*events)

    assert (action.key, action.run) == ("s/t/c0", 1)
    again = run(*events, action.begun(NOW), TAKEN_OVER)
    assert (again.key, again.run) == ("s/t/c0", 2)


def refunding(keys: list[object]) -> Agent:
    """An agent whose tool makes these keys, one after another."""

    def key(n: int) -> str:
        made = keys.pop(0)
        if isinstance(made, Exception):
            raise made
        return f"{made}-{n}"

    @tool(effect=Effect.KEYED, key=key)
    def refund(n: int, context: Context) -> str:
        """Refund."""
        return f"{context.key}: {n}"

    return replace(AGENT, tools=Tools([refund, *AGENT.tools]))


REFUND = ("refund", '{"n":1}')


def test_the_key_of_a_tool_is_made_once_and_stands_in_the_intent() -> None:
    folded = state(step(), answer(REFUND))
    agent = refunding(["order"])

    for _ in range(3):
        [action] = decide(folded, agent, IDLE, NOW)
        assert isinstance(action, RunCall)
        assert action.begun(NOW).key == action.key == "order-1"
        assert action.effects == (EffectRow("s/t/c0", "s/t/c0", input_hash(INPUT), "intent"),)


@pytest.mark.parametrize("later", ["other", RuntimeError("a secret")])
def test_a_call_runs_again_with_the_key_that_is_journaled(later: object) -> None:
    events = (step(), answer(REFUND))
    begun = run(*events, agent=refunding(["order"])).begun(NOW)
    again = run(*events, begun, TAKEN_OVER, agent=refunding([later]))

    assert (again.key, again.run) == ("order-1", 1)


def test_a_call_whose_tool_makes_no_key_fails_before_it_begins() -> None:
    write = written(step(), answer(REFUND), agent=refunding([RuntimeError("a secret")]))

    assert outcomes(write.events) == [("c0", "failed", NO_KEY)]
    assert write.effects == ()


def test_a_call_that_is_run_once_is_not_run_again_and_the_model_is_told() -> None:
    write = written(step(), answer(MOVE), began("c0", "move"), TAKEN_OVER)

    assert outcomes(write.events) == [("c0", "unknown", words.UNKNOWN)]
    assert write.effects == (EffectRow("s/t/c0", "s/t/c0", input_hash(INPUT), "unknown"),)


def test_the_open_question_of_a_call_that_is_not_run_again_is_closed() -> None:
    asked = QuestionAsked(turn_id="t", question_id="q", text="Which?", asked_by="c0", at=NOW)
    events = (step(), answer(MOVE), began("c0", "move"), asked, TAKEN_OVER)
    write = written(*events)

    assert write.events[0] == QuestionClosed(turn_id="t", question_id="q", at=NOW)
    assert [each[:2] for each in outcomes(write.events)] == [("c0", "unknown")]
    assert state(*events, *write.events).questions == {}


def test_the_policy_that_is_journaled_counts_and_so_does_a_stricter_one() -> None:
    begun = began("c0", "charge")
    was_once = replace(begun, effect="once")
    events = (step(), answer(CHARGE))

    assert outcomes(written(*events, was_once).events) == [("c0", "unknown", words.UNKNOWN)]

    @tool(name="charge", effect=Effect.ONCE)
    def stricter(n: int) -> str:
        """Charge."""
        return str(n)

    agent = replace(AGENT, tools=Tools([stricter]))
    assert outcomes(written(*events, begun, agent=agent).events)[0][1] == "unknown"


def test_a_call_whose_tool_is_gone_or_takes_other_arguments_now_is_not_run_again() -> None:
    @tool(name="charge", effect=Effect.KEYED)
    def other(m: str, context: Context) -> str:
        """Charge."""
        return m + context.key

    events = (step(), answer(CHARGE), began("c0", "charge"))
    for tools in (Tools(), Tools([other])):
        write = written(*events, agent=replace(AGENT, tools=tools))
        assert outcomes(write.events) == [("c0", "unknown", words.UNKNOWN)]


def test_calls_that_began_under_a_wider_limit_get_their_outcome() -> None:
    agent = replace(AGENT, limits=Limits(steps=1))
    events = (step(), answer(FIND, FIND), began("c0", "find"))
    write = written(*events, agent=agent)

    assert outcomes(write.events) == [("c1", "canceled", words.STEP_LIMIT)]
    assert started(*events, *write.events, agent=agent) == ["c0"]


def test_an_answer_refused_too_often_asks_nobody() -> None:
    agent = replace(AGENT, limits=Limits(repairs=0))
    events = (step(), answer(MAIL, ("find", "{"), FIND, MOVE), began("c3", "move"))
    running = Running(calls=frozenset({"c3"}))
    write = written(*events, agent=agent, running=running)

    assert [each[:2] for each in outcomes(write.events)] == [
        ("c1", "failed"),
        ("c0", "canceled"),
        ("c2", "canceled"),
    ]
    assert len(write.events) == 3


def test_no_argument_is_shown() -> None:
    assert repr(run(step(), answer(FIND))) == "RunCall('c0', run=0)"
