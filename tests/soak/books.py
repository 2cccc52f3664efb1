"""Four accounts of the same requests, which must agree, or say why not.

What clients heard, what the gateway logged, what its metrics count, and what
the agent's journal says. They are joined by request id, and by user: each
user of a soak prompts once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from chaos.verdicts import NONE
from soak.client import RequestRecord
from soak.lives import RecordedRun

AGREED: Final = ""
UNEXPLAINED: Final = "UNEXPLAINED"
UNHEEDED: Final = "the turn was over, or the abort was lost"
"""Each of which is rare."""

ENDED: Final = "stream ended"
REFUSED: Final = "refused"
GONE: Final = "gone before its body was whole"

_UNTOLD: Final = {"client_gone", "abandoned"}
_NEVER_ASKED: Final = {
    "unreachable",
    "interrupted",
    "client_gone",
    "abandoned",
    "failed",
    "silent",
    "expired",
}
"""Outcomes of a prompt that the agent need not know of."""

_REASONS: Final = {"completed": "end_turn", "failed": "error", "canceled": "canceled"}
"""The journal's words for the agent's own verdicts."""

_ABORTED: Final = {"client_gone", "silent", "slow_client", "abandoned", "too_long", "expired"}
"""Outcomes after which the agent is told to stop, if it can be told."""


class Books:
    """`causes` counts streams by outcome and by why the accounts differ; "" where they agree."""

    def __init__(
        self,
        heard: Iterable[RequestRecord],
        log: Iterable[Mapping[str, Any]],
        journal: Mapping[str, Sequence[RecordedRun]],
    ) -> None:
        self.causes: Counter[tuple[str, str]] = Counter()
        self.unexplained: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self._journal = journal
        lines: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for line in log:
            if line["event"] in {ENDED, REFUSED, GONE}:
                lines[line["request_id"]].append(line)
        for each in heard:
            self._balance(each, lines.pop(each.request_id, []))
        self.unexplained += [f"nobody asked for {left}" for left in lines.values()]

    def streams(self, outcome: str, cause: str = AGREED) -> int:
        return self.causes[outcome, cause]

    def table(self) -> str:
        rows = [f"{'streams':>8}  {'outcome':<12} why the accounts differ"]
        for (outcome, cause), count in sorted(self.causes.items()):
            rows.append(f"{count:>8}  {outcome:<12} {cause or '-'}")
        return "\n".join(rows)

    def _balance(self, heard: RequestRecord, lines: Sequence[Mapping[str, Any]]) -> None:
        ended = [line for line in lines if line["event"] == ENDED]
        refused = [line for line in lines if line["event"] == REFUSED]
        self.outcomes.update(line["outcome"] for line in ended)
        self.refusals.update(line["code"] for line in refused)
        outcome = ended[0]["outcome"] if ended else ""
        causes = {_of_refusal(heard, refused)}
        if heard.is_stream:
            causes.add(_of_client(heard, ended, lines))
        elif ended:
            causes.add(UNEXPLAINED)
        if heard.kind == "prompt":
            causes.add(_of_agent(heard, outcome, self._journal.get(heard.user, ())))
        if UNEXPLAINED in causes:
            told = self._journal.get(heard.user)
            self.unexplained.append(f"{heard}\n    {list(lines)}\n    {told}")
        if heard.is_stream:
            cause = ", ".join(sorted(causes - {AGREED}))
            self.causes[outcome or heard.code or "-", cause] += 1


def _of_refusal(heard: RequestRecord, refused: Sequence[Mapping[str, Any]]) -> str:
    """A refusal in the log is the one that the client got."""
    logged = [line["code"] for line in refused]
    if logged == ([heard.code] if heard.code else []):
        return AGREED
    if len(logged) == 1 and heard.left and not heard.code:
        return "refused, and the client had left"
    return UNEXPLAINED


def _of_client(
    heard: RequestRecord, ended: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]]
) -> str:
    """The outcome in the log is the one that the client was told."""
    if not ended:
        if heard.code or (heard.left and any(line["event"] == REFUSED for line in lines)):
            return AGREED  # refused before there was a stream
        is_lost = heard.left and heard.status == 0
        return "the client left before it had asked" if is_lost else UNEXPLAINED
    if len(ended) > 1:
        return UNEXPLAINED
    outcome = ended[0]["outcome"]
    match outcome:
        case "nothing" if heard.status == 204:
            return AGREED
        case "refused" if heard.code:
            return AGREED
        case _ if heard.verdict == outcome:
            return AGREED
        case "slow_client" if heard.verdict == NONE:
            return AGREED  # cut off, which it can see
        case _ if heard.act == "read_no_more" and heard.verdict == NONE:
            return "cut off because it did not read"
        case _ if heard.left and heard.verdict == NONE:
            return AGREED if outcome in _UNTOLD else "it ended as the client left"
        case _:
            return UNEXPLAINED


def _of_agent(heard: RequestRecord, outcome: str, runs: Sequence[RecordedRun]) -> str:
    """What became of the prompt is what the outcome says, or something was in the way."""
    if not runs:
        if outcome in _NEVER_ASKED or heard.code:
            return AGREED if outcome in {"", "unreachable", "refused"} else _lost(outcome)
        return AGREED if not outcome and heard.left else UNEXPLAINED
    if len(runs) > 1:
        return UNEXPLAINED  # a prompt was sent twice
    run, killed = runs[0].run, runs[0].killed
    if run.reason is not None and _REASONS.get(outcome) == run.reason:
        return AGREED
    if outcome in _ABORTED and run.reason == "canceled" and run.aborted:
        return AGREED
    if killed and run.reason is None:
        return "the agent was killed"
    if outcome in _ABORTED and run.reason in {"end_turn", "error", None}:
        return "the turn went on" if heard.policy != "abort" else UNHEEDED
    if outcome == "interrupted":
        return "the line broke, the turn went on"
    return UNEXPLAINED


def _lost(outcome: str) -> str:
    """The prompt was on its way, or refused with words."""
    return AGREED if outcome == "failed" else "the prompt never arrived"
