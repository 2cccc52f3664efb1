"""P1 to P6 through a whole `Turn`, whatever frames come and whatever else happens."""

import itertools
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from support import v2_frames as f
from support.stream_text import StreamText
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    Drain,
    Held,
    Opened,
    Progressed,
    Tick,
    Unblocked,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client

TEXT = st.lists(
    st.sampled_from(["a", "b ", "\n\n", "\u2028", "\0", "\U0001f600", "\ud83d", "\ude00"]),
    min_size=1,
    max_size=4,
).map("".join)
OTHERS = st.sampled_from(["turn-0", "turn-9"])
CALLS = st.sampled_from(["c1", "c2", "__proto__"])
VALUES = st.sampled_from([{}, {"args": None}, {"args": {"__proto__": "\u2028"}, "result": [1.5]}])
STATUSES = st.sampled_from(["pending", "running", "completed", "error"])
SPELLINGS = st.sampled_from([0, 1])
ERROR = 4
"""An error ends the turn that it names."""
GONE = {Outcome.CLIENT_GONE, Outcome.ABANDONED}


class AnyFrames(RuleBasedStateMachine):
    """Model: the agent writes `written`, and tells each prefix of it in two spellings.

    `told` is how far each spelling is, in UTF-16 units. Nothing that ends the
    turn may happen before step `quiet_until`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conversation = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
        self.turn = Turn(self.conversation, Limits(), UIMessageStream())
        self.client = Client()
        self.said = StreamText(self.client, self.client.texts)
        self.thought = StreamText(self.client, self.client.reasonings)
        self.now = 0.0
        self.steps = 0
        self.quiet_until = 0
        self.begun = False
        self.client_left = False
        self.others: set[str] = set()
        self.ended: set[str] = set()
        self.written = b""
        self.told = [0, 0]
        self.turn_id = f.OURS
        self.final: str | None = None
        self.is_retracted = False
        """Whether parts were taken back: then the final text has less than was sent."""

    @initialize(quiet_until=st.integers(0, 25), begun=st.sampled_from([True, True, False]))
    def open(self, *, quiet_until: int, begun: bool) -> None:
        self.quiet_until = quiet_until
        act = self.turn.handle(Opened(), self.now)
        assert [json.loads(frame)["type"] for frame in act.to_agent] == ["prompt"]
        self.client.read(act.to_client)
        if begun:
            self.begin()

    @property
    def running(self) -> bool:
        return self.begun and self.turn.outcome is None

    def do(self, act: Output) -> None:
        assert not (self.client_left and act.to_client)
        self.client.read(act.to_client)
        self.client_left = self.client_left or act.disconnect_client
        for told in map(json.loads, act.to_agent):
            assert told["type"] == "abort"
            assert told["promptId"] == f.PROMPT
            assert self.begun or not self.others, "the abort may hit another turn"

    def receive_frame(self, *frames: bytes) -> None:
        self.steps += 1
        was_over = self.turn.outcome is not None
        act = self.turn.frames(frames, self.now)
        assert not (was_over and (act.to_client or act.to_agent))
        self.do(act)

    @rule()
    def begin(self) -> None:
        self.begun = self.begun or self.turn.outcome is None
        self.receive_frame(f.begin(self.turn_id))

    @precondition(lambda self: self.running)
    @rule()
    def start_over(self) -> None:
        self.turn_id += "'"
        self.written, self.told = b"", [0, 0]
        self.receive_frame(f.begin(self.turn_id))

    @precondition(lambda self: self.running and not self.client_left)
    @rule(text=TEXT, spelling=SPELLINGS, units=st.sampled_from([1, 2, 100]), split=st.booleans())
    def tell(self, *, text: str, spelling: int, units: int, split: bool) -> None:
        """One spelling goes on from where it is; what only it has told is shown."""
        ahead, start = max(self.told), self.told[spelling]
        if start == len(self.written) // 2:
            self.written += text.encode("utf-16-le", "surrogatepass")
        end = min(start + units, len(self.written) // 2)
        spell = (f.part, f.chunk)[spelling]
        cuts = [start, *([(start + end) // 2] if split else []), end]
        self.receive_frame(
            *(spell(self.units(a, b), self.turn_id) for a, b in itertools.pairwise(cuts))
        )
        self.told[spelling] = end
        self.said.add(self.units(ahead, end) if end > ahead else "")

    def units(self, start: int, end: int) -> str:
        return self.written[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")

    @rule(call=CALLS, status=STATUSES, fields=VALUES)
    def use_tool(self, call: str, status: str, fields: dict[str, Any]) -> None:
        self.receive_frame(f.tool(status, call, turn=self.turn_id, **fields))

    @rule(call=CALLS, text=TEXT)
    def write_input(self, call: str, text: str) -> None:
        self.receive_frame(f.tool_input(text, call, turn=self.turn_id))

    @rule(call=CALLS, status=STATUSES, text=TEXT)
    def write_input_with_state(self, call: str, status: str, text: str) -> None:
        self.receive_frame(f.tool(status, call, turn=self.turn_id, argsDelta=text))

    @rule()
    def begin_step(self) -> None:
        self.receive_frame(f.step(self.turn_id))

    @rule(since=st.integers(0, 3))
    def retract(self, since: int) -> None:
        if self.running and not self.client_left:
            self.told = [max(self.told)] * 2
            self.is_retracted = True
        self.receive_frame(f.retract(since, self.turn_id))

    @rule(call=CALLS, fields=VALUES)
    def preview(self, call: str, fields: dict[str, Any]) -> None:
        shown = {"result": 1, **fields}
        self.receive_frame(f.tool("running", call, turn=self.turn_id, preliminary=True, **shown))

    @rule(part_id=st.sampled_from([None, "d1", "d2"]), transient=st.booleans())
    def share_data(self, part_id: str | None, *, transient: bool) -> None:
        self.receive_frame(f.data(turn=self.turn_id, dataId=part_id, transient=transient))

    @rule(text=TEXT)
    def think(self, text: str) -> None:
        heard = self.running and not self.client_left
        self.receive_frame(f.reasoning(text, self.turn_id))
        self.thought.add(text if heard else "")

    @rule(closes=st.sampled_from([None, "question.resolved", "question.expired"]))
    def ask(self, closes: str | None) -> None:
        self.receive_frame(f.question(turnId=self.turn_id) if closes is None else _closed(closes))

    @rule(noise=st.sampled_from(f.NOISE))
    def say_noise(self, noise: bytes) -> None:
        self.receive_frame(noise)

    @rule(turn=OTHERS, what=st.integers(0, 11), text=TEXT)
    def say_of_another(self, turn: str, what: int, text: str) -> None:
        said = (
            f.create(turn, promptId="p0"),
            f.part(text, turn),
            f.chunk(text, turn),
            f.tool("running", turn=turn, args={}),
            f.frame("error", error="no", turnId=turn),
            f.frame("question", questionId="q9", turnId=turn),
            f.frame("agentStatus", status="thinking", promptId="p0"),
            f.reasoning("secret", turn),
            f.tool_input("secret", turn=turn),
            f.data("secret", turn),
            f.step(turn),
            f.retract(0, turn),
        )[what]
        if what == 0 and turn not in self.ended:  # no turn begins after its end
            self.others.add(turn)
        if what == ERROR:
            self.over(turn)
        self.receive_frame(said)

    def over(self, turn: str) -> None:
        self.others.discard(turn)
        self.ended.add(turn)

    @rule(turn=OTHERS)
    def end_another(self, turn: str) -> None:
        self.over(turn)
        self.receive_frame(f.finalize(turn), f.frame("complete", turnId=turn))

    @rule(status=st.sampled_from(["idle", "thinking"]))
    def say_status(self, status: str) -> None:
        self.receive_frame(f.frame("agentStatus", status=status))

    @rule(seconds=st.sampled_from([0.0, 1.0, 4.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        if self.steps >= self.quiet_until:
            self.do(self.turn.handle(Tick(), self.now))

    @rule()
    def block(self) -> None:
        self.do(self.turn.handle(Blocked(), self.now))
        self.do(self.turn.handle(Progressed(1), self.now))

    @rule()
    def unblock(self) -> None:
        self.do(self.turn.handle(Unblocked(), self.now))

    @precondition(lambda self: not self.begun and self.others and not self.client_left)
    @rule()
    def hang_up_in_the_queue(self) -> None:
        self.client_left = True
        self.do(self.turn.handle(ClientLeft(), self.now))

    @precondition(lambda self: self.steps >= self.quiet_until and self.turn.outcome is None)
    @rule(what=st.integers(0, 9), reason=st.sampled_from(["end_turn", "error", "canceled", "?"]))
    def end(self, what: int, reason: str) -> None:
        match what:
            case 0 | 1:
                self.receive_frame(f.finalize(self.turn_id, reason, error="boom"))
            case 2:
                whole = None if self.is_retracted else self.said.whole + "tail"
                self.final = whole if self.running and not self.client_left else None
                self.receive_frame(f.finalize(self.turn_id, reason, finalText=whole))
            case 3:
                self.receive_frame(f.frame("error", message="boom"))
            case 4:
                self.others.clear()
                self.receive_frame(f.frame("complete"))
            case 5:
                self.do(self.turn.handle(AgentLeft(), self.now))
            case 6:
                self.do(self.turn.handle(Drain(), self.now))
            case 7:
                self.do(self.turn.handle(Held(2**21), self.now))
            case 8:
                self.client_left = True
                self.do(self.turn.handle(ClientLeft(), self.now))
            case _:
                self.now += 700
                self.do(self.turn.handle(Tick(), self.now))

    @invariant()
    def shows_the_text(self) -> None:
        if not self.client_left:
            self.thought.check()
            if self.final is None:
                self.said.check()
            else:
                assert self.client.text == self.final

    @invariant()
    def is_over_when_the_turn_is(self) -> None:
        if not self.client_left:
            assert (self.client.at == "done") == (self.turn.outcome is not None)
        assert (self.turn.outcome not in GONE) or self.client_left

    @invariant()
    def has_a_deadline_while_it_lives(self) -> None:
        if self.turn.outcome is None:
            assert self.turn.deadline < self.now + 3700

    def teardown(self) -> None:
        self.do(self.turn.handle(AgentLeft(), self.now))
        if not self.client_left:
            self.client.close()


def _closed(kind: str) -> bytes:
    return f.frame(kind, questionId="q1", answer="yes")


TestAnyFrames = AnyFrames.TestCase
TestAnyFrames.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, database=None
)
