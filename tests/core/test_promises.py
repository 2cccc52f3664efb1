"""P1 to P6 of `core.ui_stream.translator`, whatever events arrive in whatever order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec import Raw

from support.stream_text import StreamText, mend
from turnwire.core import events
from turnwire.core.events import Event, Phase, Reason
from turnwire.core.ui_stream import sse
from turnwire.core.ui_stream.translator import State, Translator
from turnwire.testing.client_model import Client

# What breaks line formats, and halves of surrogate pairs, which meet or stay alone.
TEXT = st.lists(
    st.sampled_from(
        ["a", "b ", "\n\n", "\r", "\u2028", "\x85", "\0", "\U0001f600", "\ud83d", "\ude00"]
    ),
    max_size=4,
).map("".join)
KEYS = st.sampled_from(["", "m1", "m2", "x\ud83d"])
CALLS = st.sampled_from(["c1", "c2", "c2", "c1#2", "x\ud83d"])
VALUES = st.sampled_from(
    [
        None,
        Raw(b"{}"),
        Raw(b"null"),
        Raw('{"a":\r\n"\u2028"}'.encode()),
        Raw(b'{"__proto__":1,"constructor":{"prototype":2}}'),
        Raw(rb'{"\u005f_proto__":{"b":["\ud83d"]}}'),
    ]
)
ERRORS = st.sampled_from([None, "", "it broke\x1b", "\ud83d"])
QUESTIONS = st.sampled_from(["q1", "q2"])
PAYLOADS = st.sampled_from([Raw(b'{"text":"ok?"}'), Raw(b'{"__proto__":1}'), Raw(b"[]")])
URLS = st.sampled_from(["https://a.example/\u2028", "data:image/png;base64,QQ==", "javascript:1"])
PIECES = st.sampled_from(['{"a":', "1}", "", " ", "\ud83d", "\ude00", '{"a":1}', "\u2028"])
DATA_NAMES = st.sampled_from(["state", "my_Data-2", "state", "question", "agent-status", "", "a b"])
DATA_IDS = st.sampled_from([None, None, "", "d1", "d1", "x\ud83d"])
TAILS = st.sampled_from(["", "tail", "\U0001f600 \u2028"])


class AnyEvents(RuleBasedStateMachine):
    """Model: `client` reads along; `said` and `thought` are what the agent wrote.

    An ending is not allowed before step `quiet_until`: without that, most runs
    end at once and spend the rest of their steps on a closed translator.
    """

    def __init__(self) -> None:
        super().__init__()
        self.translator = Translator(usage=True)
        self.client = Client()
        self.pieces: dict[str, str] = {}
        """What the agent sent of each call's input in pieces, by the client's id of the call."""
        self.said = StreamText(self.client, self.client.texts)
        self.thought = StreamText(self.client, self.client.reasonings)
        self.steps = 0
        self.quiet_until = 0
        self.is_retracted = False
        """Whether parts were taken back: then the final text has less than was sent."""
        self.is_interleaved = False
        """Whether the agent told several texts at once: then it cannot repeat them as one."""
        self.expected_end: str | None = None

    @initialize(
        started=st.sampled_from([True, True, True, False]),
        quiet_until=st.integers(0, 20),
        profile=st.sampled_from(["portable", "7", "7.1"]),
    )
    def begin(self, *, started: bool, quiet_until: int, profile: str) -> None:
        self.native = native = profile != "portable"
        resets = profile == "7.1"
        self.translator = Translator(usage=True, native=native, resets=resets)
        self.client = Client(native=native, resets=resets)
        self.said = StreamText(self.client, self.client.texts)
        self.thought = StreamText(self.client, self.client.reasonings)
        self.quiet_until = quiet_until
        self.started_over = False
        if started:
            self.feed(events.TurnStarted("turn"))

    @property
    def streaming(self) -> bool:
        return self.translator.state is State.STREAMING

    def feed(self, event: Event) -> None:
        self.steps += 1
        self.show(sse.record(chunk) for chunk in self.translator.feed(event))

    def show(self, records: object) -> None:
        assert hasattr(records, "__iter__")
        self.client.read(b"".join(records))

    @rule(turn_id=st.sampled_from(["turn", "turn-2", "t\ud83d"]))
    def start_again(self, turn_id: str) -> None:
        self.started_over = self.streaming
        self.feed(events.TurnStarted(turn_id))

    @rule(text=TEXT)
    def write(self, text: str) -> None:
        heard = self.streaming
        self.feed(events.TextDelta(text))
        self.started_over = self.started_over and not text
        self.said.add(text if heard else "")

    @rule(text=TEXT)
    def think(self, text: str) -> None:
        heard = self.streaming
        self.feed(events.ReasoningDelta(text))
        self.thought.add(text if heard else "")

    @rule()
    def break_text(self) -> None:
        before = len(self.client.open_blocks)
        self.feed(events.TextBreak())
        assert before - len(self.client.open_blocks) in {0, 1}
        assert self.translator.text_block is None

    @rule()
    def begin_step(self) -> None:
        self.feed(events.StepStarted())
        assert not self.client.open_blocks

    @rule(since=st.integers(0, 4))
    def retract(self, since: int) -> None:
        questions = dict(self.client.questions)
        before = len(self.client.parts)
        self.feed(events.PartsRetracted(since))
        self.is_retracted = self.is_retracted or self.streaming
        assert not self.client.open_blocks
        assert self.client.questions == questions
        if since == 0 and self.native and len(self.client.parts) < before:
            assert self.client.parts[-1]["type"] == "step-start"

    @rule(left=KEYS, entered=KEYS)
    def switch_text(self, left: str, entered: str) -> None:
        heard = self.streaming
        before = len(self.client.open_blocks)
        self.feed(events.TextSwitch(left, entered))
        assert before - len(self.client.open_blocks) in {0, 1}
        if heard:
            self.is_interleaved = self.is_interleaved or bool(self.client.open_blocks)
            self.said.switch(left, entered)
            self.thought.switch(left, entered)

    @rule(call=CALLS, piece=PIECES)
    def write_input(self, call: str, piece: str) -> None:
        heard = self.streaming
        self.feed(events.ToolInputDelta(call, "x", piece))
        shown = self.translator.calls.open_id(call)
        if heard and shown is not None and self.client.tools[shown] == "input-start":
            self.pieces[shown] = self.pieces.get(shown, "") + piece

    @rule(call=CALLS, args=VALUES, output=VALUES)
    def preview(self, call: str, args: Raw | None, output: Raw | None) -> None:
        before = {call: len(shown) for call, shown in self.client.previews.items()}
        self.feed(
            events.ToolUpdate(
                call_id=call,
                tool_name="x",
                phase=Phase.RUNNING,
                args=args,
                result=output,
                preliminary=True,
            )
        )
        shown = self.translator.calls.open_id(call)
        if self.streaming and self.native and shown is not None and output is not None:
            assert len(self.client.previews[shown]) == before.get(shown, 0) + 1
        if not self.native:
            assert not self.client.previews

    @rule(name=DATA_NAMES, part_id=DATA_IDS, data=VALUES, transient=st.booleans())
    def hand_out_data(
        self, *, name: str, part_id: str | None, data: Raw | None, transient: bool
    ) -> None:
        before, blocks = len(self.client.data), list(self.client.open_blocks)
        self.feed(events.DataPart(name, part_id, data or Raw(b"1"), transient))
        may_come = self.expected_end is None and (transient or self.streaming)
        is_sent = may_come and name in {"state", "my_Data-2"}
        assert len(self.client.data) - before == is_sent
        if transient or not is_sent:
            assert list(self.client.open_blocks) == blocks

    @rule(
        call=CALLS, phase=st.sampled_from(Phase), name=st.sampled_from("xy"),
        args=VALUES, result=VALUES, error=ERRORS,
    )  # fmt: skip
    def use_tool(
        self, *, call: str, phase: Phase, name: str, args: Raw, result: Raw, error: str
    ) -> None:
        before = dict(self.client.tools)
        self.feed(
            events.ToolUpdate(
                call_id=call, tool_name=name, phase=phase, args=args, result=result, error=error
            )
        )
        if self.streaming and phase in {Phase.COMPLETED, Phase.ERROR}:
            assert "output" in self.client.tools.values()
        if self.streaming and phase is Phase.PENDING:
            assert len(before) <= len(self.client.tools)
            assert self.translator.calls.open

    @rule(url=URLS, title=st.sampled_from([None, "", "\ud83d\u2028"]), page=st.booleans())
    def hand_out(self, *, url: str, title: str | None, page: bool) -> None:
        before = len(self.client.media)
        self.feed(events.SourceUrl("s1", url, title) if page else events.FilePart(url, "image/png"))
        passes = url.startswith("https:") or (url.startswith("data:") and not page)
        assert len(self.client.media) - before == (self.streaming and passes)

    @rule(question=QUESTIONS, payload=PAYLOADS)
    def ask(self, question: str, payload: Raw) -> None:
        self.feed(events.Question(question, payload))
        if self.streaming:
            assert self.client.questions[question] == "open"

    @rule(question=QUESTIONS, expired=st.booleans(), answer=VALUES)
    def close_question(self, *, question: str, expired: bool, answer: Raw) -> None:
        was_open = self.streaming and question in self.client.questions
        self.feed(events.QuestionClosed(question, expired=expired, answer=answer))
        if was_open:
            assert self.client.questions[question] != "open"

    @rule(event=st.sampled_from([events.AgentStatus("thinking", "d\ud83d"), events.Queued()]))
    def tell_status(self, event: Event) -> None:
        self.feed(event)

    @precondition(lambda self: self.steps >= self.quiet_until and self.expected_end is None)
    @rule(reason=st.sampled_from(Reason), error=ERRORS, tail=TAILS, kind=st.integers(0, 3))
    def finish(self, reason: Reason, error: str, tail: str, kind: int) -> None:
        whole, since, before = self.said.whole, self.said.since_last_block, dict(self.client.texts)
        final = [None, whole + tail, "another story" + tail, None][kind]
        heard = self.streaming and not self.is_interleaved and not self.is_retracted
        self.feed(
            events.TurnFinished(
                reason=reason, error=error, final_text=final, usage=Raw(b'{"totalTokens":1}')
            )
        )
        self.expected_end = reason.value
        if heard and kind == 1:
            assert self.client.text == whole + tail
        # Of a turn that was started over and said nothing since, it is the whole text.
        is_other = final is not None and not final.startswith(whole.strip())
        if heard and is_other and since and not self.client.tools and not self.started_over:
            assert self.client.text == whole
        assert all(self.client.texts[block].startswith(text) for block, text in before.items())

    @precondition(lambda self: self.steps >= self.quiet_until and self.expected_end is None)
    @rule()
    def fail(self) -> None:
        self.show(sse.record(chunk) for chunk in self.translator.fail("Stream interrupted"))
        self.expected_end = "error"

    @invariant()
    def shows_the_text(self) -> None:
        if self.expected_end is None:
            self.said.check()
        self.thought.check()

    @invariant()
    def shows_the_pieces_of_inputs(self) -> None:
        for call, shown in self.client.pieces.items():
            text = self.pieces[call]
            waits = "\ud800" <= text[-1] <= "\udbff"
            assert shown == mend(text[:-1] if waits else text)

    @invariant()
    def is_over_when_the_turn_is(self) -> None:
        assert (self.client.at == "done") == (self.expected_end is not None)

    def teardown(self) -> None:
        self.show(sse.record(chunk) for chunk in self.translator.fail("Stream interrupted"))
        self.client.close()
        verdict = None if self.client.verdict is None else self.client.verdict["type"]
        expected = {"end_turn": None, "canceled": "abort"}.get(self.expected_end or "", "error")
        assert verdict == expected


TestAnyEvents = AnyEvents.TestCase
TestAnyEvents.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, database=None
)
