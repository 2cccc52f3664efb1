"""Which questions the interrupts of a run become: one for each call that wants a decision."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.dialects.ag_ui import decisions
from turnwire.dialects.ag_ui.content.calls import Calls
from turnwire.dialects.ag_ui.content.inputs import digest
from turnwire.dialects.ag_ui.decisions import About, Actions
from turnwire.dialects.ag_ui.interrupts import Interrupt


def questions_of(interrupts: Sequence[Interrupt], calls: Calls) -> list[Interrupt]:
    """Return each interrupt as the questions that the client is asked.

    A question is about one call if `calls` has it with the same input, so that its card shows what
    is approved, if its card has its id, and if no other interrupt asks about it. If a call is
    missing, or there are too many, one question is about all calls of the interrupt.
    """
    wanted = [each.actions for each in interrupts if each.actions is not None]
    asked = len(interrupts) - len(wanted) + sum(len(actions.calls) for actions in wanted)
    others = [each for each in interrupts if each.actions is None]
    named = {each.call_id for each in others} | {*sure_ids(others)}
    cards = _Cards(calls if wanted and asked <= OPEN_QUESTIONS_MAX else Calls(), named)
    taken = [None if each.actions is None else cards.take(each.actions) for each in interrupts]
    unnamed = [call_id for call_id, is_named in cards.taken.items() if not is_named]
    decided = {each.call_id for each in others if each.decides} | {*sure_ids(others)}
    about = abouts(unnamed, {*decided, *cards.taken} - {*unnamed}, calls)
    found: list[Interrupt] = []
    for each, call_ids in zip(interrupts, taken, strict=True):
        actions = each.actions
        if actions is None:
            found.append(_about_one(each, calls))
        elif call_ids is None:
            found.append(_about_all(each, actions, calls))
        else:
            found += _about_each(each, actions, call_ids, about)
    return found


def sure_ids(questions: Iterable[Interrupt]) -> Iterator[str]:
    """The calls that questions for certain ask to allow, each as it is described."""
    for each in questions:
        for about in each.about:
            if about.is_sure and each.decides:
                yield from about.call_ids


def are_approvals(questions: Sequence[Interrupt], calls: Calls) -> bool:
    """Whether these questions are asked at the cards of their calls.

    Approvals are answered in another way than questions: so all are questions, if one is, or if a
    card has no room for its approval: two are about its call, or it shows an error. So they are,
    too, while a card shows less than its call has, which no turn log knows.
    """
    call_ids = {each.call_id or "" for each in questions}
    have_room = len(call_ids) == len(questions) and all(map(calls.is_open, call_ids))
    ask_yes_or_no = all(each.asks_yes_or_no for each in questions)
    return have_room and ask_yes_or_no and not calls.any_has_more


def abouts(
    asked: Collection[str], named: Collection[str | None], calls: Calls
) -> Mapping[str, About]:
    """What decisions are about that name no call, and are `asked` at the cards of these calls.

    Each may be about any call that is the same, but for those that other decisions name (`named`):
    in which order it tells and asks, the agent decides. So one no is a no to all of them. Each is
    about all of them for sure if each of them is asked about in this way.
    """
    same = _by_digest(calls) if asked else {}
    in_this_way, by_name = {*asked}, {*named}
    found: dict[str, About] = {}
    for call_id in asked:
        twins = {each: None for key in calls.digests(call_id) for each in same.get(key, ())}
        meant = [call_id, *(each for each in twins if each != call_id and each not in by_name)]
        found[call_id] = About(meant, is_sure=twins.keys() <= in_this_way)
    return found


def _by_digest(calls: Calls) -> Mapping[bytes, Sequence[str]]:
    """The calls without an outcome, by tool and input."""
    found: dict[bytes, list[str]] = {}
    for call_id in calls.waiting_ids:
        for key in calls.digests(call_id):
            found.setdefault(key, []).append(call_id)
    return found


class _Cards:
    """The cards at which decisions may be asked: each at one."""

    def __init__(self, calls: Calls, named: Collection[str | None]) -> None:
        """`named` are the ids of calls that interrupts of another kind ask about."""
        self.taken: dict[str, bool] = {}
        """The calls that decisions are asked about, each with whether it is named."""
        self._ids: dict[bytes, Sequence[str]] = {}
        """The calls that have room at their cards, by tool and input."""
        self._doubtful: set[str] = set()
        """Those that were denied, where a decision that names no call may be about another."""
        for key, same in _by_digest(calls).items():
            free = [
                call_id
                for call_id in same
                if call_id not in named and calls.is_open(call_id) and not calls.is_apart(call_id)
            ]
            self._ids[key] = free
            if len(same) > 1:
                self._doubtful.update(filter(calls.is_denied, free))

    def take(self, actions: Actions) -> Sequence[str] | None:
        """The ids of the calls of an interrupt, in their order; None if one is not there."""
        found: list[str] = []
        for each in actions.calls:
            free = [
                call_id
                for call_id in self._ids.get(digest(each.name, each.input), ())
                if call_id not in found and self._is_free(call_id, actions.call_id)
            ]
            if not free:
                return None
            found.append(free[0])
        self.taken |= dict.fromkeys(found, actions.call_id is not None)
        return found

    def _is_free(self, call_id: str, named: str | None) -> bool:
        is_meant = call_id not in self._doubtful if named is None else call_id == named
        return is_meant and call_id not in self.taken


def _about_one(interrupt: Interrupt, calls: Calls) -> Interrupt:
    """A question about the call that the interrupt names, or those whose decisions it wants."""
    call_id, requests = interrupt.call_id, interrupt.requests
    if requests and (call_id is None or len(requests) > 1):
        interrupt = msgspec.structs.replace(interrupt, about=_meant(Actions(requests), calls))
    elif call_id is not None:
        interrupt = msgspec.structs.replace(interrupt, about=(About((call_id,)),))
    if call_id is None:
        return interrupt
    is_apart = interrupt.asks_yes_or_no and calls.is_apart(call_id)
    call = calls.described(call_id) if is_apart else None
    return interrupt if call is None else _apart(interrupt, *call)


def _apart(interrupt: Interrupt, name: str, whole: Raw) -> Interrupt:
    """A question that shows the call itself: its card has another id, or is not there yet."""
    encoded = Raw(msgspec.json.encode(safe_json.join_surrogates(name)))
    shown = {"toolName": encoded, "args": whole}
    return msgspec.structs.replace(interrupt, call_id=None, fields={**interrupt.fields, **shown})


def _about_each(
    interrupt: Interrupt, actions: Actions, call_ids: Iterable[str], about: Mapping[str, About]
) -> Iterable[Interrupt]:
    for place, (action, call_id) in enumerate(zip(actions.calls, call_ids, strict=True)):
        yield msgspec.structs.replace(
            interrupt,
            question_id=actions.question_id(interrupt.question_id, place),
            text=action.text,
            call_id=call_id,
            about=(about.get(call_id, About((call_id,))),),
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
    by_digest = _by_digest(calls)
    by_name: dict[str, list[str]] = {}
    for call_id in calls.waiting_ids:
        name, _ = calls.described(call_id) or ("", Raw())
        by_name.setdefault(name, []).append(call_id)
    digests = [digest(each.name, each.input) for each in actions.calls]
    wanted = Counter(digests)
    named = () if actions.call_id is None else (actions.call_id,)
    found: list[About] = []
    for each, key in zip(actions.calls, digests, strict=True):
        same = by_digest.get(key, ())
        now = [call_id for call_id in same if calls.digests(call_id)[0] == key]
        if named and named[0] in now:
            found.append(About(named))
        elif now and not named:
            found.append(About(same, is_sure=len(same) == len(now) <= wanted[key]))
        else:
            found.append(About((*named, *by_name.get(each.name, ())), is_sure=False))
    return found
