"""A conversation with the gateway whose every answer a test writes."""

from collections.abc import Callable

from turnwire_client.events import ToolApprovalRequest
from turnwire_client.limits import Limits
from turnwire_client.requests import Place, Request, Verdicts, prompt_of
from turnwire_client.sending import Sending
from turnwire_client.steps import Close, Open, Outcome, Read, Reply, Wait

LIMITS = Limits(waits_s=(0.0, 0.4, 5.0))
PLACE = Place(session_id="s 1", query={"threadId": "t"})
STREAM = Reply(200, {}, is_open=True)


def play(
    *outcomes: Outcome,
    is_repeated: bool = False,
    resumes: bool = False,
    decides: Callable[[ToolApprovalRequest, Verdicts], None] = lambda *_: None,
    sent: list[Request] | None = None,
    verdicts: Verdicts | None = None,
) -> tuple[list[str], Sending]:
    """What was asked of the shell, and what came of it. Each outcome is for one step.

    `decides` is called with each approval; `sent` gets the requests; `verdicts` has what was
    decided before. Each stream must be closed before the next request, and at the end.
    """
    verdicts = Verdicts() if verdicts is None else verdicts
    prompt = prompt_of("hi", "m1")
    sending = Sending(PLACE, LIMITS, None if resumes else "m1", verdicts, [prompt])
    steps = sending.resume() if resumes else sending.send(is_repeated=is_repeated)
    left, asked, outcome = [*outcomes], list[str](), None
    is_open = False
    while True:
        try:
            step = steps.send(outcome)
        except StopIteration:
            assert (left, is_open) == ([], False)
            return asked, sending
        outcome = None
        match step:
            case Open(request):
                assert not is_open
                if sent is not None:
                    sent.append(request)
                asked.append(f"{request.method} {request.path.rpartition('/')[2]}")
                outcome = left.pop(0)
                is_open = isinstance(outcome, Reply) and outcome.is_open
            case Read():
                outcome = left.pop(0)
            case Wait(seconds):
                asked.append(f"wait {seconds}")
            case Close():
                is_open = False
            case event:
                if isinstance(event, ToolApprovalRequest):
                    decides(event, verdicts)
                asked.append(type(event).__name__)
