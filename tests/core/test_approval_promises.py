"""Turns of any shape with approvals in them: over all their streams, one right message."""

import json
from random import Random
from typing import Any

from msgspec import Raw

from support import v2_frames as f
from support.seeds import each_seed
from turnwire.core.approvals import ApprovalIssuer, Signed, Signer
from turnwire.core.body.continuation import ApprovalResponse, read_in_steps
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.steps import run_steps
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

Json = dict[str, Any]

SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
REQUESTS = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)
ROUNDS = 60


class Agent:
    """An agent that sends text, runs tools and asks at random. Its `init` repeats all of it."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.parts: list[Json] = []
        self.text = ""
        self.thought = ""
        self.files = 0
        self.steps = dice.randrange(4, 24)
        self.calls: dict[str, Json] = {}
        self.approvals: dict[str, Json] = {}
        self.questions: dict[str, Json] = {}
        """Questions that are not approvals: other clients answer them."""
        self.over = False

    @property
    def open_calls(self) -> list[Json]:
        return [call for call in self.calls.values() if call["status"] == "running"]

    @property
    def waiting(self) -> list[Json]:
        return [question for question in self.approvals.values() if "answer" not in question]

    @property
    def wondering(self) -> list[Json]:
        return [question for question in self.questions.values() if "answer" not in question]

    @property
    def waits(self) -> bool:
        """Whether the agent only waits for approvals."""
        about = {question["callId"] for question in self.waiting}
        if self.wondering:
            return False
        return bool(about) and {call["callId"] for call in self.open_calls} == about

    def act(self) -> list[bytes]:
        self.steps -= 1
        if self.wondering and (self.steps < 0 or self.dice.random() < 0.5):
            return [self._settle(self.wondering[0])]
        free = [c for c in self.open_calls if c["callId"] not in self._about()]
        if self.steps < 0:
            if free:
                return [self._end(free[0])]
            if self.open_calls:
                return []
            self.over = True
            return [f.finalize(finalText=self.text)]
        acts = ["say", "say", "think", "call", "end", "ask", "ask", "file", "wonder", "poll"]
        match self.dice.choice(acts):
            case "call":
                return [self._call()]
            case "end" if free:
                return [self._end(self.dice.choice(free))]
            case "ask" if free:
                return [self._ask(self.dice.choice(free))]
            case "wonder":
                return [self._wonder()]
            case "poll":  # so quick that a hydration has only its end
                return [self._wonder(), self._settle(self.wondering[-1])]
            case "think":
                return [self._words("reasoning")]
            case "file":
                self.files += 1
                self.parts.append(
                    {"type": "file", "url": "data:image/png;base64,QQ==", "mime": "image/png"}
                )
                return [f.file()]
            case _:
                return [self._words("text")]

    def answer(self, reply: Json) -> list[bytes]:
        question = self.approvals[reply["questionId"]]
        assert "answer" not in question, "answered twice"
        question["answer"] = reply["answer"]
        resolved = f.frame(
            "question.resolved", questionId=question["questionId"], answer=reply["answer"]
        )
        return [resolved]

    def hello(self) -> bytes:
        turn = {"id": f.OURS, "role": "assistant", "parts": self.parts}
        data = {"runnerBusy": True, "runningTurnId": f.OURS}
        return f.frame("init", session={"messages": [turn]}, data=data)

    def _about(self) -> set[str]:
        return {question["callId"] for question in self.waiting}

    def _words(self, kind: str) -> bytes:
        words = self.dice.choice(["a", "bc ", "\U0001f600", "def"])
        if not self.parts or self.parts[-1]["type"] != kind:
            self.parts.append({"type": kind, "text": ""})
        self.parts[-1]["text"] += words
        if kind == "text":
            self.text += words
            return f.part(words)
        self.thought += words
        return f.reasoning(words)

    def _call(self) -> bytes:
        call: Json = {"type": "tool-call", "callId": f"c{len(self.calls)}", "toolName": "bash"}
        call |= {"status": "running", "args": {"n": len(self.calls)}}
        self.calls[call["callId"]] = call
        self.parts.append(call)
        return f.tool("running", call["callId"], args=call["args"])

    def _end(self, call: Json) -> bytes:
        call["status"] = self.dice.choice(["completed", "error"])
        return f.tool(call["status"], call["callId"], result=1, error="no")

    def _ask(self, call: Json) -> bytes:
        question: Json = {
            "questionId": f"q{len(self.approvals)}",
            "kind": "approval",
            "turnId": f.OURS,
        }
        question |= {name: call[name] for name in ("callId", "toolName", "args")}
        self.approvals[question["questionId"]] = question
        part = question
        part["type"] = "question"
        self.parts.append(part)
        return json.dumps(part).encode()

    def _wonder(self) -> bytes:
        question: Json = {"questionId": f"w{len(self.questions)}", "turnId": f.OURS, "text": "Tea?"}
        self.questions[question["questionId"]] = question
        question["type"] = "question"
        self.parts.append(question)
        return json.dumps(question).encode()

    def _settle(self, question: Json) -> bytes:
        question["answer"] = self.dice.choice(["tea", "coffee"])
        ids = {name: question[name] for name in ("questionId", "answer")}
        return f.frame("question.resolved", **ids)


class Message:
    """The message that a client builds from all streams of the turn."""

    def __init__(self) -> None:
        self.parts: list[Json] = []
        self.blocks: dict[str, Json] = {}
        self.cards: dict[str, Json] = {}
        self.questions: dict[str, Json] = {}

    def texts(self, kind: str) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == kind)

    def read(self, chunk: Json) -> None:
        match chunk["type"].split("-", 1):
            case ["start", "step"]:
                waiting = [c for c in self.cards.values() if "output" not in c["state"]]
                assert not waiting, "a new step parts a card from its outcome"
                self.parts.append({"type": "step-start"})
            case ["text" | "reasoning" as kind, "start"]:
                assert chunk["id"] not in self.blocks, "a block's id comes twice"
                self.blocks[chunk["id"]] = {"type": kind, "text": "", "open": True}
                self.parts.append(self.blocks[chunk["id"]])
            case ["text" | "reasoning", "delta"]:
                assert self.blocks[chunk["id"]]["open"]
                self.blocks[chunk["id"]]["text"] += chunk["delta"]
            case ["text" | "reasoning", "end"]:
                self.blocks[chunk["id"]]["open"] = False
            case ["tool", kind]:
                self._tool(kind, chunk)
            case ["file"]:
                self.parts.append(chunk)
            case ["data", "question"]:
                part = self.questions.setdefault(chunk["id"], {"type": chunk["type"]})
                if part not in self.parts:
                    self.parts.append(part)
                part |= chunk
            case _:
                pass

    @property
    def answers(self) -> Json:
        return {name: part["data"].get("answer") for name, part in self.questions.items()}

    def _tool(self, kind: str, chunk: Json) -> None:
        card = self.cards.get(chunk["toolCallId"])
        if kind == "input-available":
            if card is None:
                card = self.cards[chunk["toolCallId"]] = {"type": "tool-bash"}
                self.parts.append(card)
            else:
                position = [p is card for p in self.parts].index(True)
                steps = [n for n, p in enumerate(self.parts) if p["type"] == "step-start"]
                assert position > max(steps), "a second card in another step"
        assert card is not None
        assert kind == "input-available" or "output" not in card["state"], "a second outcome"
        card |= {"state": kind, "providerExecuted": True}
        if kind == "approval-request":
            card |= {"state": "approval-requested", "approval": {"id": chunk["approvalId"]}}

    @property
    def requested(self) -> list[Json]:
        return [card for card in self.cards.values() if card["state"] == "approval-requested"]


def take(act: Output, message: Message) -> list[str]:
    lines = act.to_client.decode().split("\n")
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    for chunk in chunks:
        message.read(chunk)
    return [chunk["type"] for chunk in chunks]


def respond(message: Message, dice: Random) -> tuple[list[QuestionReply], Any]:
    """Respond to some or all requests, and send the message back as a client does."""
    some = dice.sample(message.requested, dice.randint(1, len(message.requested)))
    for card in some:
        card["state"] = "approval-responded"
        card["approval"] |= {"approved": dice.random() < 0.5}
    continuation = run_steps(
        read_in_steps("m1", [Raw(json.dumps(part).encode()) for part in message.parts])
    )
    replies = []
    for response in continuation.responses:
        assert isinstance(response, ApprovalResponse)
        signed = SIGNER.read(response.approval_id, 1)
        assert isinstance(signed, Signed)
        answer = Raw(json.dumps(response.approved).encode())
        replies.append(QuestionReply(signed.question_id, answer, signed.subject))
    return replies, continuation.client_copy


@each_seed(250)
def test_one_message_over_all_streams(seed: int) -> None:
    dice = Random(seed)  # noqa: S311 (dice)
    agent, message = Agent(dice), Message()
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(StreamOptions(approvals=REQUESTS)),
    )
    turn.handle(Opened(), 0)
    types = take(turn.frames([f.begin()], 0), message)
    for _ in range(ROUNDS):
        while turn.outcome is None:
            burst = [frame for _ in range(dice.randint(1, 4)) for frame in agent.act()]
            assert burst or not agent.waits, "all waits, and the stream stays open"
            types += take(turn.frames(burst, 1), message)
        assert types[-1] == "finish"
        assert types.count("start") == types.count("finish") == 1
        assert not any(block["open"] for block in message.blocks.values())
        if turn.outcome is not Outcome.ASKED:
            break
        agent.act() if dice.random() < 0.5 else None
        replies, client_copy = respond(message, dice)
        look = ResumeRequest(user_id="u1", init_s=5, replies=replies)
        turn = Turn(
            DIALECTS["v2"].resume(look),
            Limits(),
            UIMessageStream(StreamOptions(client_copy=client_copy, approvals=REQUESTS)),
        )
        turn.handle(Opened(), 1)
        act = turn.frames([agent.hello()], 1)
        types = take(act, message)
        for frame in act.to_agent:
            types += take(turn.frames(agent.answer(json.loads(frame)), 1), message)

    assert (turn.outcome, agent.over) == (Outcome.COMPLETED, True)
    assert message.texts("text") == agent.text
    assert message.texts("reasoning") == agent.thought
    assert message.answers == {
        name: question["answer"] for name, question in agent.questions.items()
    }
    assert sum(part["type"] == "file" for part in message.parts) == agent.files
    outcomes = {call: "error" in c["status"] for call, c in agent.calls.items()}
    assert {c: "error" in card["state"] for c, card in message.cards.items()} == outcomes
