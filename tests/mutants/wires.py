"""The faults of the `session-agent` wire, of errands, rooms and approvals."""

from typing import Final

from mutants.mutant import Mutant

_AGENT: Final = ("dialects/session_agent",)
_ERRANDS: Final = ("dialects/test_v2_errands.py",)
_ROOM: Final = ("core/test_room.py",)
_APPROVAL: Final = ("core/test_approval.py", "core/test_approval_turn.py")
_CONTINUATION: Final = ("core/test_continuation.py",)

WIRES: Final = (
    Mutant(
        "an abort may hit a neighbour",
        "dialects/session_agent/whose.py",
        "            return not self._place.length and not asked\n",
        "            return True\n",
        _AGENT,
    ),
    Mutant(
        "another author's prompt is ours",
        "dialects/session_agent/whose.py",
        "            and data.author_id == self._user_id\n",
        "",
        _AGENT,
    ),
    Mutant(
        "a prompt is claimed twice",
        "dialects/session_agent/whose.py",
        "            and self._seat.claim(data.id)\n",
        "",
        _AGENT,
    ),
    Mutant(
        "another channel's turn is ours",
        "dialects/session_agent/whose.py",
        "        elif channel == self.channel and bindable:\n",
        "        elif bindable:\n",
        _AGENT,
    ),
    Mutant(
        "a dead session is prompted",
        "dialects/session_agent/conversation.py",
        "        if said.is_dead or self._whose",
        "        if self._whose",
        _AGENT,
    ),
    Mutant(
        "a suspected end does not hold the abort back",
        "dialects/session_agent/conversation.py",
        "suspected = reach is Reach.OURS and doubtful",
        "suspected = False and doubtful",
        _AGENT,
    ),
    Mutant(
        "a sign of life takes nothing back",
        "dialects/session_agent/ending.py",
        '        """Our turn goes on."""\n        self.at = NEVER\n',
        '        """Our turn goes on."""\n',
        _AGENT,
    ),
    Mutant(
        "a repeated snapshot is told again",
        "dialects/session_agent/snapshot.py",
        "            if self._told.get(call_id) != state\n",
        "",
        _AGENT,
    ),
    Mutant(
        "somebody else's answer counts as ours",
        "dialects/session_agent/given.py",
        "sent is not None and (given is None or answers.plain(given) == sent.taken)",
        "sent is not None",
        _AGENT,
    ),
    Mutant(
        "a stop may stop a neighbour",
        "dialects/session_agent/stopping.py",
        "        elif said.prompts_queued:\n            self._refuse(Refusal.UNHARMED)\n",
        "",
        _AGENT,
    ),
    Mutant(
        "a stop takes whichever turn runs",
        "dialects/v2/errands.py",
        "e.channel == self.channel if named is None else e.id == named",
        "True",
        _ERRANDS,
    ),
    Mutant(
        "a stop before the hello was a stop",
        "dialects/v2/errands.py",
        "        if self._greeted:\n            self._late()\n        else:\n",
        "        if True:\n            self._late()\n        else:\n",
        _ERRANDS,
    ),
    Mutant(
        "a closed question is answered",
        "dialects/v2/errands.py",
        "return entry.is_open and self._question_id in entry.open_questions",
        "return True",
        _ERRANDS,
    ),
    Mutant(
        "an answer goes to a question of any channel",
        "dialects/v2/errands.py",
        "found = [entry for entry in waiting if id(entry) in admitted]",
        "found = waiting",
        ("dialects/test_v2_whose_answer.py",),
    ),
    Mutant(
        "the verdict on any question of that id is ours",
        "dialects/v2/errands.py",
        "            and said.may_be(self._turn)\n",
        "",
        ("dialects/test_v2_whose_answer.py",),
    ),
    Mutant(
        "a question is closed on whichever channel",
        "dialects/session_agent/asking.py",
        "ours = question_id in self._open and named in {None, self._ours}",
        "ours = question_id in self._open",
        ("dialects/session_agent/test_whose_question.py",),
    ),
    Mutant(
        "a prompt that another process may have sent is aborted",
        "dialects/session_agent/whose.py",
        "return self._is_echoed is not False and perhaps == [self.prompt_id]",
        "return True",
        ("dialects/session_agent/test_apart.py",),
    ),
    Mutant(
        "an early frame of ours stays another's",
        "dialects/session_agent/whose.py",
        "            self.others.ours(turn_id)\n",
        "",
        ("dialects/session_agent/test_whose_question.py",),
    ),
    Mutant(
        "a claim keeps nobody away",
        "core/room.py",
        "        return claims.setdefault(its_id, self) is self\n",
        "        return bool(claims.setdefault(its_id, self))\n",
        _ROOM,
    ),
    Mutant(
        "company goes unnoticed",
        "core/room.py",
        "len(self._room.followers[its_id]) > 1",
        "len(self._room.followers[its_id]) > 2",
        _ROOM,
    ),
    Mutant(
        "whoever waits for the floor is not told",
        "core/room.py",
        "            room.speaker.on_news()\n",
        "",
        _ROOM,
    ),
    Mutant(
        "an approval never expires",
        "core/approval.py",
        "        if now >= said.expires_at:\n",
        "        if now < 0:\n",
        _APPROVAL,
    ),
    Mutant(
        "an approval is anybody's",
        "core/approval.py",
        "_bytes(self.session_id), _bytes(self.user_id), body",
        '_bytes(self.session_id), b"", body',
        _APPROVAL,
    ),
    Mutant(
        "an approval is for any session",
        "core/approval.py",
        "_bytes(self.session_id), _bytes(self.user_id), body",
        'b"", _bytes(self.user_id), body',
        _APPROVAL,
    ),
    Mutant(
        "an approval is for any input",
        "core/approval.py",
        "(*map(_bytes, names), _canonical(approval.args))",
        "(*map(_bytes, names),)",
        _APPROVAL,
    ),
    Mutant(
        "a card shows another input than is approved",
        "core/tools.py",
        "args is None or call.given in {None, _digest(args)}",
        "True",
        ("attacks/test_approval_cards.py",),
    ),
    Mutant(
        "a client's own tool output is taken",
        "core/continuation.py",
        '{"output-available", "output-error"} and not tool.provider_executed',
        '{"output-error"} and not tool.provider_executed',
        _CONTINUATION,
    ),
    Mutant(
        "answers of earlier steps are news",
        "core/continuation.py",
        '        if kind == "step-start":\n            break\n',
        '        if kind == "step-start":\n            continue\n',
        _CONTINUATION,
    ),
)
