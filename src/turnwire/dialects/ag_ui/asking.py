"""Which questions the interrupts of a run become: one for each call that wants a decision."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.dialects.ag_ui import decisions
from turnwire.dialects.ag_ui.content.calls import Calls, digest
from turnwire.dialects.ag_ui.decisions import Actions
from turnwire.dialects.ag_ui.interrupts import Interrupt


def questions_of(interrupts: Sequence[Interrupt], calls: Calls) -> list[Interrupt]:
    """Return each interrupt as the questions that the client is asked.

    A question is about one call if `calls` has it with the same input, so that its card shows what
    is approved, if its card has its id, and if no other interrupt asks about it. If a call is
    missing, or there are too many, one question is about all calls of the interrupt.
    """
    wanted = [each.actions for each in interrupts if each.actions is not None]
    asked = len(interrupts) - len(wanted) + sum(len(actions.calls) for actions in wanted)
    named = {each.call_id for each in interrupts if each.actions is None}
    waiting = _Waiting(calls if wanted and asked <= OPEN_QUESTIONS_MAX else Calls(), named)
    found: list[Interrupt] = []
    for each in interrupts:
        actions = each.actions
        if actions is None:
            is_apart = each.asks_yes_or_no and calls.is_reused(each.call_id)
            call = calls.described(each.call_id or "") if is_apart else None
            found.append(each if call is None else _apart(each, *call))
            continue
        call_ids = waiting.take(actions)
        if call_ids is None:
            found.append(_about_all(each, actions))
        else:
            found += _about_each(each, actions, call_ids)
    return found


class _Waiting:
    """The open calls about which nothing is asked yet."""

    def __init__(self, calls: Calls, named: Collection[str | None]) -> None:
        """`named` are the ids of calls that interrupts of another kind ask about."""
        self._ids: dict[bytes, list[str]] = {}
        """By tool and input. Of calls that are the same, the first one is the last of its list."""
        for call_id in reversed(calls.open_ids):
            if call_id in named or calls.is_reused(call_id):  # its card has no room, or another id
                continue
            name, whole = calls.described(call_id) or ("", Raw())
            self._ids.setdefault(digest(name, whole), []).append(call_id)

    def take(self, actions: Actions) -> Sequence[str] | None:
        """The ids of the calls of an interrupt, in their order; None if one is not there."""
        digests = [digest(each.name, each.input) for each in actions.calls]
        if any(count > len(self._ids.get(each, ())) for each, count in Counter(digests).items()):
            return None
        if actions.call_id is None:
            return [self._ids[each].pop() for each in digests]
        same = self._ids[digests[0]]
        if actions.call_id not in same:
            return None
        same.remove(actions.call_id)
        return [actions.call_id]


def _apart(interrupt: Interrupt, name: str, whole: Raw) -> Interrupt:
    """A question that shows the call itself: the client knows its card by another id."""
    encoded = Raw(msgspec.json.encode(safe_json.join_surrogates(name)))
    shown = {"toolName": encoded, "args": whole}
    return msgspec.structs.replace(interrupt, call_id=None, fields={**interrupt.fields, **shown})


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
        text="\n\n".join(filter(None, (interrupt.text, actions.whole_text))),
        call_id=None,
        fields={**interrupt.fields, "options": decisions.OPTIONS},
        asks_yes_or_no=True,
    )
