"""Play scenarios against an agent of the lab, with little patience."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from turnwire.config.settings import Settings
from turnwire.conform.bench import Patience, Who, opened
from turnwire.conform.given import Choices, Given, Prompts
from turnwire.conform.run import Report, Verdict, play_all
from turnwire.conform.scenarios.telling import UNICODE
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

PATIENCE = Patience(
    dial_s=5.0,
    turn_s=5.0,
    greet_s=0.25,
    greet_most_s=0.6,
    abort_s=0.25,
    stop_s=0.5,
    look_s=1.5,
    settle_s=0.2,
    idle_s=0.3,
    restart_s=3.0,
    pong_s=1.0,
)
BIG = "search for five megabytes"
PROMPTS = Prompts(
    plain="say 3 deltas",
    long="be slow",
    tool="what is 12*7?",
    unicode=UNICODE,
    failing_tool="make the tool fail",
    question="ask me: tea or coffee?",
    big_output=BIG,
    quiet="be slow",
    lost_attempt="lose an attempt",
)


def big_result(_args: object) -> dict[str, object]:
    """What the tool `search` returns that is asked for five megabytes."""
    return {"pages": 1, "hits": [], "found": "x" * 5_000_000}


@dataclass
class Trial:
    """What is played, and how."""

    dialect: str
    prompts: Prompts = PROMPTS
    choices: Choices = field(default_factory=Choices)
    patience: Patience = PATIENCE
    settings: dict[str, Any] = field(default_factory=dict)

    async def report(self, url: str, only: Collection[str] = ()) -> Report:
        dialect = DIALECTS[self.dialect]
        settings = Settings(
            dialect=self.dialect,
            agent_url=url,
            agent_auth="service",
            agent_token="a-token",
            **self.settings,
        )
        given = Given(dialect, TRANSPORTS[dialect.transport], self.prompts, self.choices)
        who = Who(session_id="s1", user_id="ana")
        async with opened(settings, given, who, self.patience) as bench:
            return await play_all(bench, url, only=only)


def failures(report: Report) -> dict[str, str]:
    """What was seen of each scenario that failed."""
    return {result.name: result.seen for result in report.of(Verdict.FAILED)}


def notes(report: Report) -> dict[str, list[str]]:
    """The notes of each scenario that has some."""
    return {result.name: list(result.notes) for result in report.results if result.notes}


def reasons(report: Report) -> dict[str, str]:
    """Why scenarios are not applicable."""
    return {result.name: result.reason for result in report.of(Verdict.NOT_APPLICABLE)}
