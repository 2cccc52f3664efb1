"""Interrupts of one run that have one id.

The next run answers an interrupt by its id, so there is one answer to all that have the same. An
agent may tell one twice. If it asks for several yes or no under one id, one question is about all
of them: a yes to it allows each, and a no denies each. All else has no common answer.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Raw

from turnwire.dialects.ag_ui import interrupts
from turnwire.dialects.ag_ui.content.calls import Calls
from turnwire.dialects.ag_ui.decisions import About, Action
from turnwire.dialects.ag_ui.interrupts import Interrupt

_EXPIRES_AT = "expiresAt"


def one_for_each_id(asked: Iterable[Interrupt], calls: Calls) -> Sequence[Interrupt] | None:
    """Return one interrupt for each id; None if some have one id and no common answer."""
    by_id: dict[str, list[Interrupt]] = {}
    for each in asked:
        same = by_id.setdefault(each.question_id, [])
        if each not in same:
            same.append(each)
    found: list[Interrupt] = []
    for same in by_id.values():
        if len(same) == 1:
            found += same
        elif all(each.asks_yes_or_no and each.actions is None for each in same):
            found.append(_about_all(same, calls))
        else:
            return None
    return found


def _about_all(same: Sequence[Interrupt], calls: Calls) -> Interrupt:
    """One question that shows what each of them would show."""
    described = [calls.described(each.call_id or "") for each in same]
    texts = [
        each.text or "" if call is None else Action(*call, each.text or "").whole_text
        for each, call in zip(same, described, strict=True)
    ]
    shown = [
        interrupts.question(each, call, as_approval=False).payload
        for each, call in zip(same, described, strict=True)
    ]
    times = [each.fields[_EXPIRES_AT] for each in same if _EXPIRES_AT in each.fields]
    fields = {"value": Raw(msgspec.json.encode(shown))}
    if times:
        fields[_EXPIRES_AT] = min(times, key=int)
    return Interrupt(
        question_id=same[0].question_id,
        text="\n\n".join(filter(None, texts)),
        about=[About((each.call_id,)) for each in same if each.call_id is not None],
        fields=fields,
        asks_yes_or_no=True,
        takes_reason=all(each.takes_reason for each in same),
    )
