"""Which questions the interrupts of a run become: one for each call that wants a decision."""

from collections.abc import Iterable, Sequence

import msgspec

from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.dialects.ag_ui import decisions
from turnwire.dialects.ag_ui.content.calls import Calls
from turnwire.dialects.ag_ui.decisions import Actions
from turnwire.dialects.ag_ui.interrupts import Interrupt


def questions_of(interrupts: Sequence[Interrupt], calls: Calls) -> list[Interrupt]:
    """Return each interrupt as the questions that the client is asked.

    A question is about one call if `calls` has it, so that its card shows what is approved. If a
    call is missing, or there are too many, one question is about all calls of the interrupt.
    """
    asked = sum(1 if each.actions is None else len(each.actions.calls) for each in interrupts)
    has_room = asked <= OPEN_QUESTIONS_MAX
    found: list[Interrupt] = []
    for each in interrupts:
        actions = each.actions
        if actions is None:
            found.append(each)
            continue
        call_ids = _call_ids(actions, calls) if has_room else None
        if call_ids is None:
            found.append(_about_all(each, actions))
        else:
            found += _about_each(each, actions, call_ids)
    return found


def _call_ids(actions: Actions, calls: Calls) -> Sequence[str] | None:
    if actions.call_id is not None:
        return (actions.call_id,) if calls.is_open(actions.call_id) else None
    return calls.find((each.name, each.input) for each in actions.calls)


def _about_each(
    interrupt: Interrupt, actions: Actions, call_ids: Iterable[str]
) -> Iterable[Interrupt]:
    for place, (action, call_id) in enumerate(zip(actions.calls, call_ids, strict=True)):
        yield msgspec.structs.replace(
            interrupt,
            question_id=actions.question_id(interrupt.question_id, place),
            text=action.text,
            call_id=call_id,
            fields={name: each for name, each in interrupt.fields.items() if name != "value"},
            asks_yes_or_no=True,
        )


def _about_all(interrupt: Interrupt, actions: Actions) -> Interrupt:
    return msgspec.structs.replace(
        interrupt,
        question_id=actions.question_id(interrupt.question_id),
        call_id=None,
        fields={**interrupt.fields, "options": decisions.OPTIONS},
        asks_yes_or_no=True,
    )
