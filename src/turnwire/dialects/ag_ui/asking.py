"""Which questions the interrupts of a run become: one for each call that wants a decision."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.dialects.ag_ui import decisions
from turnwire.dialects.ag_ui.content.calls import Calls
from turnwire.dialects.ag_ui.content.inputs import digest
from turnwire.dialects.ag_ui.decisions import About, Action, Actions
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
    taken = [None if each.actions is None else waiting.take(each.actions) for each in interrupts]
    found: list[Interrupt] = []
    for each, call_ids in zip(interrupts, taken, strict=True):
        actions = each.actions
        if actions is None:
            found.append(_about_one(each, calls))
        elif call_ids is None:
            found.append(_about_all(each, actions, calls))
        else:
            found += _about_each(each, actions, call_ids, waiting)
    return found


def sure_ids(questions: Iterable[Interrupt]) -> Iterator[str]:
    """The calls that questions are about for certain, each as it is described."""
    for each in questions:
        for about in each.about:
            if about.is_sure:
                yield from about.call_ids


class _Waiting:
    """The open calls about which nothing is asked yet."""

    def __init__(self, calls: Calls, named: Collection[str | None]) -> None:
        """`named` are the ids of calls that interrupts of another kind ask about."""
        self._ids: dict[bytes, list[str]] = {}
        """By tool and input. Of calls that are the same, those that were denied come last."""
        for call_id in sorted(calls.open_ids, key=calls.is_denied):
            if call_id in named or calls.is_apart(call_id):  # its card has no room, or shows less
                continue
            name, whole = calls.described(call_id) or ("", Raw())
            self._ids.setdefault(digest(name, whole), []).append(call_id)

    def take(self, actions: Actions) -> Sequence[str] | None:
        """The ids of the calls of an interrupt, in their order; None if one is not there."""
        digests = [digest(each.name, each.input) for each in actions.calls]
        if any(count > len(self._ids.get(each, ())) for each, count in Counter(digests).items()):
            return None
        if actions.call_id is None:
            return [self._ids[each].pop(0) for each in digests]
        same = self._ids[digests[0]]
        if actions.call_id not in same:
            return None
        same.remove(actions.call_id)
        return [actions.call_id]

    def left_like(self, action: Action) -> Sequence[str]:
        """The calls that are the same, and were not taken."""
        return tuple(self._ids.get(digest(action.name, action.input), ()))


def _about_one(interrupt: Interrupt, calls: Calls) -> Interrupt:
    """A question about the call that the interrupt names, if it names one."""
    call_id = interrupt.call_id
    if call_id is None:
        return interrupt
    named = msgspec.structs.replace(interrupt, about=(About((call_id,)),))
    is_apart = named.asks_yes_or_no and calls.is_apart(call_id)
    call = calls.described(call_id) if is_apart else None
    return named if call is None else _apart(named, *call)


def _apart(interrupt: Interrupt, name: str, whole: Raw) -> Interrupt:
    """A question that shows the call itself: its card has another id, or shows less."""
    encoded = Raw(msgspec.json.encode(safe_json.join_surrogates(name)))
    shown = {"toolName": encoded, "args": whole}
    return msgspec.structs.replace(interrupt, call_id=None, fields={**interrupt.fields, **shown})


def _about_each(
    interrupt: Interrupt, actions: Actions, call_ids: Iterable[str], waiting: _Waiting
) -> Iterable[Interrupt]:
    for place, (action, call_id) in enumerate(zip(actions.calls, call_ids, strict=True)):
        also = waiting.left_like(action) if actions.call_id is None else ()
        yield msgspec.structs.replace(
            interrupt,
            question_id=actions.question_id(interrupt.question_id, place),
            text=action.text,
            call_id=call_id,
            # One that names no call may be about another that is the same.
            about=(About((call_id,)), About(also, is_sure=False)),
            fields={name: each for name, each in interrupt.fields.items() if name != "value"},
            asks_yes_or_no=True,
        )


def _about_all(interrupt: Interrupt, actions: Actions, calls: Calls) -> Interrupt:
    return msgspec.structs.replace(
        interrupt,
        question_id=actions.question_id(interrupt.question_id),
        text="\n\n".join(filter(None, (interrupt.text, actions.whole_text))),
        call_id=None,
        about=_meant(actions, calls),
        fields={**interrupt.fields, "options": decisions.OPTIONS},
        asks_yes_or_no=True,
    )


def _meant(actions: Actions, calls: Calls) -> Sequence[About]:
    """The calls that one question is about, as far as their tools and their inputs tell."""
    by_digest: dict[bytes, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for call_id in calls.waiting_ids:
        name, whole = calls.described(call_id) or ("", Raw())
        by_digest.setdefault(digest(name, whole), []).append(call_id)
        by_name.setdefault(name, []).append(call_id)
    digests = [digest(each.name, each.input) for each in actions.calls]
    wanted = Counter(digests)
    named = () if actions.call_id is None else (actions.call_id,)
    found: list[About] = []
    for each, key in zip(actions.calls, digests, strict=True):
        same = by_digest.get(key, [])
        if named and named[0] in same:
            found.append(About(named))
        elif same and not named:
            found.append(About(same, is_sure=len(same) <= wanted[key]))
        else:
            found.append(About((*named, *by_name.get(each.name, ())), is_sure=False))
    return found
