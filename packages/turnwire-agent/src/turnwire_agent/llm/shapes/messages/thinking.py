"""How much a model is to think."""

from collections.abc import Mapping
from typing import Any, Final

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Effort, Request
from turnwire_agent.llm.shape import native_blocks
from turnwire_agent.llm.shapes.fields import decoded
from turnwire_agent.llm.transcript import Assistant, User

BUDGET_MIN: Final = 1024
BUDGETS: Final[Mapping[Effort, float]] = {"low": 0.2, "medium": 0.5, "high": 0.8}
"""How much of `max_tokens` a model may think whose thinking has a bound in tokens."""


def thinking_of(
    model: Model, request: Request, max_tokens: int, losses: list[Loss]
) -> dict[str, Any]:
    """The field `thinking`; empty if nothing is asked."""
    effort, how = request.effort, model.quirks.thinking
    if effort is None or (effort == "none" and how == "none"):
        return {}
    if effort == "none":
        return {"type": "disabled"}
    if how == "none":
        losses.append(Loss("effort", "dropped", "the model does not think"))
        return {}
    if why := _why_not(model, request, max_tokens):
        losses.append(Loss("effort", "dropped", why))
        return {"type": "disabled"}
    if how == "adaptive":  # newer models do not show what they think, unless they are asked to
        return {"type": "adaptive", "display": "summarized"}
    return {"type": "enabled", "budget_tokens": max(BUDGET_MIN, int(BUDGETS[effort] * max_tokens))}


def _why_not(model: Model, request: Request, max_tokens: int) -> str:
    """Why the provider would refuse a request to think; empty if it would not."""
    if request.tools and request.tool_choice not in ("auto", "none"):
        return "a model that must call a tool does not think"
    if model.quirks.thinking == "budget":
        if max_tokens <= BUDGET_MIN:
            return "the bound of the answer leaves no room for it"
        if _began_without_thinking(model, request):
            return "the turn began without it"
    return ""


def _began_without_thinking(model: Model, request: Request) -> bool:
    """Whether the answers since the last user began with one that has no thinking in front."""
    began: Assistant | None = None
    for message in request.transcript:
        if isinstance(message, User):
            began = None
        elif isinstance(message, Assistant):
            began = began or message
    if began is None:
        return False
    blocks = native_blocks(began, model)
    first = decoded(bytes(blocks[0])).get("type") if blocks else ""
    return first not in ("thinking", "redacted_thinking")
