"""Released clients whose users approve, deny, answer and ignore: what they show and send.

No stream may make a client send again by itself: every job has all helpers on
that the client offers, and its POSTs are counted.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from conformance.clients import CLIENTS, Job, Message, report_of, version
from gateway.tokens import KEY, token
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.gateway import Gateway

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

SETTINGS: Final = {
    "TURNWIRE_SIGNING_KEYS": "a key that signs approvals and nothing else",
    "TURNWIRE_ON_DISCONNECT": "continue",
    "TURNWIRE_LAG_S": "0",
}
NATIVE: Final = [client for client in CLIENTS if version(client) >= (6,)]
# Its own helper overlooks tools that the provider runs, which ours all are; so an app asks itself.
OVERLOOKS: Final = "v6.0.0"
RUN_S: Final = 120
# Long enough for a turn to come to its request on a machine that stands still for seconds.
EXPIRY_S: Final = 12
HASTY_S: Final = 0.5

YES: Final = {"approved": True}
NO: Final = {"approved": False, "reason": "Not now"}
ASK: Final = {"send": "approve 12*7"}

NATIVE_JOBS: Final[dict[str, list[Job]]] = {
    "approved": [ASK, {"respond": [YES]}],
    "denied": [ASK, {"respond": [NO]}],
    "two": [{"send": "approve two things"}, {"respond": [YES, NO]}],
    "one by one": [
        {"send": "approve two things"},
        {"respond": [YES]},
        {"resend": True},
        {"respond": [YES]},
    ],
    "twice": [ASK, {"respond": [YES]}, {"repeat": 1}, {"tamper": 1}],
    "expired": [ASK, {"respond": [YES], "waitMs": 1_000 * EXPIRY_S + 200}],
    "ignored": [ASK, {"send": "what is 1+2?"}],
    "too late": [ASK, {"send": "what is 1+2?"}, {"respond": [YES]}],
    "reloaded": [ASK, {"reload": True}, {"respond": [YES]}],
    "next turn": [ASK, {"respond": [YES]}, {"send": "what is 1+2?"}],
    "a question": [{"send": "ask quickly"}],
}
PORTABLE_JOBS: Final[dict[str, list[Job]]] = {
    "answered": [{"ask": "ask me: tea or coffee?"}, {"answer": "tea"}],
    "answered both": [{"ask": "ask two things", "open": 2}, {"answer": "red"}],
    "approved by answer": [{"ask": "approve 12*7"}, {"answer": True}],
    "nothing new": [{"send": "what is 1+2?"}, {"resend": True}],
}
HASTY: Final = {"ignored", "too late", "a question"}


class Post(msgspec.Struct, frozen=True):
    body: dict[str, Any]
    status: int | None


class Played(msgspec.Struct, frozen=True):
    """One job; the fields are explained in `approvals.mjs`."""

    name: str
    messages: list[Message]
    status: str
    error: str | None
    errors: list[str]
    posts: list[Post]
    again: list[dict[str, Any]]
    shown: list[list[Message]]

    @property
    def statuses(self) -> list[int | None]:
        return [post.status for post in self.posts]

    def outline(self, message: int = 1) -> list[str]:
        """The parts of a message, tools and questions with their state."""
        return [_outlined(part) for part in self.messages[message].parts]

    @property
    def tools(self) -> list[dict[str, Any]]:
        return [p for m in self.messages for p in m.parts if p["type"].startswith("tool-")]


class Report(msgspec.Struct, frozen=True):
    jobs: list[Played]
    unhandled: list[str]

    def job(self, name: str) -> Played:
        return next(job for job in self.jobs if job.name == name)


# For `convert`: a `Struct` that two threads read for the first time at once ends the process.
msgspec.json.Decoder(Report)


def _outlined(part: dict[str, Any]) -> str:
    match part:
        case {"type": "text", "text": text}:
            return str(text).strip()
        case {"type": "data-question", "data": {"state": state}}:
            return f"question {state}"
        case {"type": str(kind), "state": state}:
            return f"{kind} {state}"
        case _:
            return str(part["type"])


def play(client: str, jobs: list[Job]) -> Report:
    return msgspec.convert(
        report_of("approvals.mjs", client, {"jobs": jobs}, timeout_s=RUN_S), Report
    )


class Urls(NamedTuple):
    """Where a job's gateway is: most, one whose approvals expire, one whose agent is hasty."""

    most: str
    expiring: str
    hasty: str

    def of(self, name: str) -> str:
        return self.hasty if name in HASTY else self.expiring if name == "expired" else self.most


def jobs(client: str, urls: Urls) -> list[Job]:
    def job(name: str, steps: list[Job], **headers: str) -> Job:
        session = f"{client}-{name.replace(' ', '-')}"
        return {
            "name": name,
            "url": f"{urls.of(name)}/api/sessions/{session}/chat",
            "headers": {"Authorization": f"Bearer {token(client)}", **headers},
            "helper": "app" if client == OVERLOOKS else "ai",
            "steps": steps,
        }

    all_jobs = [job(name, steps) for name, steps in PORTABLE_JOBS.items()]
    if client in NATIVE:
        profile = {"x-turnwire-profile": client[1]}
        all_jobs += [job(name, steps, **profile) for name, steps in NATIVE_JOBS.items()]
        all_jobs.append(job("own helper", NATIVE_JOBS["approved"], **profile) | {"helper": "ai"})
    return all_jobs


class Reports:
    """Those of all clients. One that failed is raised when its report is asked for."""

    def __init__(self, found: dict[str, Report | BaseException]) -> None:
        self._found = found

    def __getitem__(self, client: str) -> Report:
        report = self._found[client]
        if isinstance(report, BaseException):
            raise report
        return report


async def converse() -> Reports:
    def gateway(agent: ReferenceAgent, **more: str) -> Gateway:
        return Gateway(agent_url=agent.url, jwt_key=KEY, settings=SETTINGS | more)

    async with (
        ReferenceAgent(Habits()) as agent,
        ReferenceAgent(Habits(question_s=HASTY_S, quick_s=HASTY_S)) as hasty,
        gateway(agent) as most,
        gateway(agent, TURNWIRE_TURN_S=str(EXPIRY_S)) as expiring,
        gateway(hasty) as hastily,
    ):
        urls = Urls(most.url, expiring.url, hastily.url)
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(2) as pool:
            played = [
                loop.run_in_executor(pool, play, client, jobs(client, urls)) for client in CLIENTS
            ]
            found = await asyncio.gather(*played, return_exceptions=True)
            return Reports(dict(zip(CLIENTS, found, strict=True)))


@pytest.fixture(scope="module")
def reports() -> Reports:
    return asyncio.run(converse())


every_client = pytest.mark.parametrize("client", CLIENTS)
native_client = pytest.mark.parametrize("client", NATIVE)

ASKED: Final = ["step-start", "I need your approval for this."]


@every_client
def test_nothing_is_left_unhandled(client: str, reports: Reports) -> None:
    assert reports[client].unhandled == []


@native_client
def test_the_card_waits_for_its_user(client: str, reports: Reports) -> None:
    played = reports[client].job("approved")
    (_, answer) = played.shown[0]

    assert [_outlined(p) for p in answer.parts] == [*ASKED, "tool-calculator approval-requested"]
    assert answer.parts[2]["input"] == {"expression": "12*7"}


@native_client
def test_an_approved_tool_runs_in_its_card(client: str, reports: Reports) -> None:
    played = reports[client].job("approved")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert played.outline() == [
        *ASKED,
        "tool-calculator output-available",
        "step-start",
        "12*7 is **84**.",
    ]
    assert played.tools[0]["output"]["value"] == 84
    assert len(played.messages) == 2
    assert played.messages[1].id == played.shown[0][1].id


@native_client
def test_a_denied_tool_says_so_in_its_card(client: str, reports: Reports) -> None:
    played = reports[client].job("denied")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert played.outline()[2:] == [
        "tool-calculator output-error",
        "step-start",
        "I did not work out 12*7: denied.",
    ]
    card = played.tools[0]
    assert card["errorText"] == "Denied"
    assert (card["approval"]["approved"], card["approval"]["reason"]) == (False, "Not now")


@native_client
def test_two_at_once_are_answered_in_one_post(client: str, reports: Reports) -> None:
    played = reports[client].job("two")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert played.outline() == [
        "step-start",
        "I need your approval twice.",
        "tool-calculator output-available",
        "tool-calculator output-error",
        "step-start",
        "6*7 is **42**.\nI did not work out 7*8: denied.",
    ]


@native_client
def test_two_at_once_may_be_answered_one_by_one(client: str, reports: Reports) -> None:
    played = reports[client].job("one by one")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200, 200])
    assert [_outlined(part) for part in played.shown[2][1].parts[2:]] == [
        "tool-calculator output-available",
        "tool-calculator approval-requested",
    ]
    assert played.outline()[2:] == [
        *["tool-calculator output-available"] * 2,
        "step-start",
        "6*7 is **42**.\n7*8 is **56**.",
    ]


@native_client
def test_an_answer_that_comes_twice_is_refused(client: str, reports: Reports) -> None:
    played = reports[client].job("twice")
    repeated, tampered = played.again

    assert repeated["status"] == 409
    assert "The question is not open any more" in repeated["body"]
    assert tampered["status"] == 400
    assert "The approval is not one that you were asked for here" in tampered["body"]


@native_client
def test_an_approval_that_expired_is_an_error(client: str, reports: Reports) -> None:
    played = reports[client].job("expired")

    assert (played.status, played.statuses) == ("error", [200, 409])
    assert "The question is not open any more" in (played.error or "")
    assert played.outline()[2:] == ["tool-calculator approval-responded"]


@native_client
@pytest.mark.parametrize("name", ["ignored", "too late"])
def test_a_user_may_ignore_it(client: str, name: str, reports: Reports) -> None:
    """The new prompt waits until the agent gives the question up; a late click sends nothing."""
    played = reports[client].job(name)

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert [message.role for message in played.messages] == ["user", "assistant"] * 2
    assert [_outlined(part) for part in played.shown[1][1].parts] == [
        *ASKED,
        "tool-calculator approval-requested",
    ]
    assert played.outline(3)[-1] == "1+2 is **3**."


@native_client
def test_a_page_that_is_loaded_again_may_answer(client: str, reports: Reports) -> None:
    played = reports[client].job("reloaded")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert played.outline()[-1] == "12*7 is **84**."
    assert len(played.messages) == 2


@native_client
def test_the_next_prompt_is_a_prompt(client: str, reports: Reports) -> None:
    played = reports[client].job("next turn")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200] * 3)
    assert played.outline(3)[-1] == "1+2 is **3**."


@native_client
def test_a_question_that_is_no_approval_waits_in_its_stream(client: str, reports: Reports) -> None:
    played = reports[client].job("a question")

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200])
    assert played.outline()[2] == "question expired"
    assert played.outline()[3].endswith("in time.")


@native_client
def test_which_clients_send_a_response_by_themselves(client: str, reports: Reports) -> None:
    played = reports[client].job("own helper")

    assert played.statuses == ([200] if client == OVERLOOKS else [200, 200])


@every_client
@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("answered", "To 'Which one shall it be?' you said **tea**."),
        ("answered both", "And what is your name?' you said **red**."),
        ("approved by answer", "12*7 is **84**."),
    ],
)
def test_an_answer_in_the_message_goes_on_in_it(
    client: str, name: str, last: str, reports: Reports
) -> None:
    played = reports[client].job(name)
    outline = played.outline()

    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])
    assert outline[-1].endswith(last)
    questions = [part for part in outline if part.startswith("question")]
    assert set(questions) == {"question resolved"}
    assert len(played.messages) == 2


@every_client
def test_a_message_without_news_is_refused(client: str, reports: Reports) -> None:
    played = reports[client].job("nothing new")

    assert (played.status, played.statuses) == ("error", [200, 400])
    assert "Nothing to forward" in (played.error or "")


@native_client
def test_what_comes_back_is_read_as_it_is_sent(client: str, reports: Reports) -> None:
    """The continuation as this client writes it: the whole history, its own message last."""
    body = reports[client].job("denied").posts[1].body
    card = body["messages"][-1]["parts"][-1]

    assert (body["trigger"], body["messageId"]) == ("submit-message", body["messages"][-1]["id"])
    assert (card["state"], card["providerExecuted"]) == ("approval-responded", True)
    assert card["approval"].items() >= NO.items()
