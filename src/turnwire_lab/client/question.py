"""A question of the agent: what is asked, and what may be answered."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

OPEN: Final = "open"
APPROVAL: Final = "approval"


class Choice(Struct, frozen=True):
    """One answer among several: what a person reads, and what the agent gets."""

    label: str
    value: str | bool


class Question(Struct, frozen=True):
    """`state` is `open`, `resolved` or `expired`; without `choices` any text is an answer."""

    id: str
    text: str = ""
    state: str = OPEN
    choices: Sequence[Choice] = ()
    is_approval: bool = False
    body: str | None = None
    answer: Any = None
    approval_id: str | None = None
    """What its answer goes with, where approvals are signed."""

    @property
    def is_open(self) -> bool:
        return self.state == OPEN


class _Action(Struct):
    id: str
    label: str = ""


class _Asked(Struct, rename="camel"):
    text: str = ""
    state: str = OPEN
    options: Sequence[str] = ()
    actions: Sequence[_Action] = ()
    kind: str | None = None
    prompt_type: str | None = None
    body: str | None = None
    answer: Any = None
    approval_id: str | None = None


def question(question_id: str, data: Any) -> Question:
    """Read the payload of a `data-question`.

    Raises:
        msgspec.ValidationError: it has a field of another type.

    """
    asked = msgspec.convert(data, _Asked)
    is_approval = APPROVAL in {asked.kind, asked.prompt_type}
    choices = [Choice(option, option) for option in asked.options]
    choices += [Choice(action.label or action.id, action.id) for action in asked.actions]
    if is_approval and not choices:
        choices = [Choice("approve", value=True), Choice("deny", value=False)]
    return Question(
        question_id,
        asked.text,
        asked.state,
        tuple(choices),
        is_approval,
        asked.body,
        asked.answer,
        asked.approval_id,
    )
