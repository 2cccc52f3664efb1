"""The faults of the core and of the `v2` wire that `make mutants` plants, one at a time."""

from typing import Final

from mutants.mutant import Mutant

CORE: Final = (
    Mutant(
        "a tool leaves the text before it open",
        "core/translate.py",
        "return [*self._close_block(), *parts] if parts else []",
        "return parts",
    ),
    Mutant(
        "the turn ends over an open block",
        "core/translate.py",
        "                *self._close_block(),\n                *self.questions.expire(),",
        "                *self.questions.expire(),",
    ),
    Mutant(
        "open tools get no outcome at the end",
        "core/translate.py",
        "                *self.calls.settle(unanswered),\n",
        "",
    ),
    Mutant(
        "block ids are used twice",
        "core/translate.py",
        "        self._blocks[kind] += 1\n",
        "",
    ),
    Mutant(
        "a step ends while a tool runs",
        "core/translate.py",
        "step_has_calls and (self.steady or not self.calls.open):",
        "step_has_calls:",
    ),
    Mutant(
        "a half of a pair is dropped",
        "core/translate.py",
        "            text = block.half + text\n",
        "            pass\n",
    ),
    Mutant(
        "a closed translator still speaks",
        "core/translate.py",
        "        self.state = _CLOSED\n        match reason",
        "        match reason",
    ),
    Mutant(
        "open questions are forgotten",
        "core/translate.py",
        "                *self.questions.expire(),\n",
        "",
    ),
    Mutant(
        "the half that waits is told twice at the end",
        "core/translate.py",
        '            self._block.half = ""\n        return self._write',
        "            pass\n        return self._write",
    ),
    Mutant(
        "a repeated outcome is sent again",
        "core/tools.py",
        "            if event.phase is not Phase.PENDING and not later:\n",
        "            if event.phase is Phase.RUNNING and not later:\n",
    ),
    Mutant(
        "an outcome comes without its input",
        "core/tools.py",
        "        return [*self._given(call, event.args), self._done(call, outcome)]",
        "        return [self._done(call, outcome)]",
    ),
    Mutant(
        "a reused call id is not told apart",
        "core/tools.py",
        "        count = 1 if before is None else before.count + 1\n",
        "        count = 1\n        self._shown_ids.clear()\n",
    ),
    Mutant(
        "finish is not followed by [DONE]",
        "core/sse.py",
        'end = DONE if kind is chunks.Finish else b""',
        'end = b""',
    ),
    Mutant(
        "line separators go out raw",
        "core/sse.py",
        "    if json.isascii():\n",
        "    if json:\n",
    ),
    Mutant(
        "a key __proto__ goes out",
        "core/harmless.py",
        '"__proto__": "_proto_", ',
        "",
    ),
    Mutant(
        "the short lane is not told of",
        "core/turn.py",
        '                self._translator.told.add("".join(row))\n',
        "",
    ),
    Mutant(
        "frames after the end are heard",
        "core/turn.py",
        "                if self.outcome is not None:\n                    break\n",
        "",
    ),
    Mutant(
        "an end of our own says nothing",
        "core/turn.py",
        "        if outcome.text is not None:\n",
        "        if outcome.text is None:\n",
    ),
    Mutant(
        "drain aborts the agent's turn",
        "core/turn.py",
        "return self._end(Outcome.DRAINING, now)",
        "return self._end(Outcome.DRAINING, now, abort=True)",
    ),
    Mutant(
        "a silent agent's turn is not aborted",
        "core/turn.py",
        "return self._end(Outcome.SILENT, now, abort=True)",
        "return self._end(Outcome.SILENT, now)",
    ),
    Mutant(
        "a pause of the client counts as silence",
        "core/deadlines.py",
        "self.heard_at += now - max(since, self.heard_at)",
        "pass",
    ),
    Mutant(
        "an abort may hit another turn",
        "dialects/v2/whose.py",
        "return _OTHERS if self.queued else _OURS",
        "return _OURS",
    ),
    Mutant(
        "another turn's reasoning is shown",
        "dialects/v2/wire.py",
        "case ReasoningDelta(turn_id, delta) if turn_id == ours:",
        "case ReasoningDelta(_, delta):",
    ),
    Mutant(
        "any message.create is ours",
        "dialects/v2/whose.py",
        "            return prompt_id == self._prompt_id\n        return (\n",
        "            return True\n        return (\n",
    ),
    Mutant(
        "one channel's turns block another's",
        "dialects/v2/others.py",
        "its is None or its == channel for",
        "True for",
    ),
    Mutant(
        "nesting is not measured",
        "core/prompt.py",
        "    if _deeper(raw, DEPTH_MAX):\n",
        "    if _deeper(raw, len(raw)):\n",
    ),
)
