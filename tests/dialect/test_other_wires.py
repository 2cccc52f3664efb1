"""What docs/write-a-dialect.md says of other wires, each written with the surface alone."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import pytest
from msgspec import Raw, Struct

import turnwire.dialect as td
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, chunks, is_whole, new_client, outline, post, said
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, until
from support.http_dialect import CHUNKED, END, chunk
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets


class Say(Struct, tag="say"):
    text: td.HandedOn


class Ask(Struct, tag="ask"):
    id: td.Id
    question: td.HandedOn


class Done(Struct, tag="done"):
    pass


FRAMES: Final = (Say, Ask, Done)
DECODER: Final[td.FrameDecoder[Say | Ask | Done]] = td.frame_decoder(*FRAMES)


class Turn(td.OneResponse):
    """A turn on one of the wires below."""

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request.prompt_id)
        self._request = request

    def connect_request(self) -> td.ConnectRequest:
        return self._post(msgspec.json.encode({"text": self._request.text}))

    def _post(self, body: bytes) -> td.ConnectRequest:
        return td.ConnectRequest(method="POST", body=body)

    def receive_frame(self, frame: bytes, _now: float) -> td.Decoded | str | None:
        match DECODER.read(frame, self.frame_stats):
            case Say(text=text):
                return text
            case Done():
                return self.finished()
            case _:
                return None


class Small(td.PromptsOnly):
    name = "small"
    schema = td.WireSchema(frames=FRAMES, deltas=frozenset({"say"}))

    def prompt(
        self, request: td.PromptRequest, _member: td.Member | None = None
    ) -> td.AgentProtocol:
        return Turn(request)


class SocketTurn(Turn):
    def connect_request(self) -> td.ConnectRequest:
        return td.ConnectRequest()

    def connection_opened(self, now: float) -> td.Decoded:
        events = super().connection_opened(now).events
        prompt = msgspec.json.encode({"type": "prompt", "text": self._request.text})
        return td.Decoded(events, to_agent=[prompt])

    def abort(self) -> Sequence[bytes]:
        return [b'{"type":"abort"}'] if self.abort_scope is td.AbortScope.OURS else ()


class OverWebSocket(Small):
    transport = "websocket"

    def prompt(
        self, request: td.PromptRequest, _member: td.Member | None = None
    ) -> td.AgentProtocol:
        return SocketTurn(request)


class ToldTurn(Turn):
    def connect_request(self) -> td.ConnectRequest:
        conversation = self._request.conversation
        assert conversation is not None
        return self._post(b"[" + b",".join(conversation.written) + b"]")


class Stateless(Small):
    """A wire whose client keeps the conversation. It has words for texts alone."""

    keeps_history = False

    def write_message(self, message: td.Message) -> Iterable[bytes]:
        match message:
            case td.UserMessage(parts=parts) | td.AssistantMessage(parts=parts):
                lost = [part for part in parts if not isinstance(part, td.Text)]
                if lost:
                    raise td.UnsayableError("no texts", lost)
                role = "user" if isinstance(message, td.UserMessage) else "agent"
                texts = "".join(part.text for part in parts if isinstance(part, td.Text))
                return [msgspec.json.encode({role: texts})]
            case _:
                raise td.UnsayableError("no texts")

    def prompt(
        self, request: td.PromptRequest, _member: td.Member | None = None
    ) -> td.AgentProtocol:
        return ToldTurn(request)


class NamedTurn(Turn):
    def receive_frame(self, frame: bytes, _now: float) -> td.Decoded | str | None:
        name = frame.name if isinstance(frame, td.NamedEvent) else "message"
        return self.finished() if name == "end" else f"{name}: {frame.decode()}, "


class Named(Small):
    def prompt(
        self, request: td.PromptRequest, _member: td.Member | None = None
    ) -> td.AgentProtocol:
        return NamedTurn(request)


class AskingTurn(Turn):
    """A turn of several requests: each answer begins another."""

    _is_open = False

    def receive_frame(self, frame: bytes, now: float) -> td.Decoded | str | None:
        match DECODER.read(frame, td.FrameStats()):
            case Ask(id=question_id, question=text):
                self._is_open = True
                payload = Raw(msgspec.json.encode({"question": text}))
                return td.Decoded([td.Question(question_id, payload)])
            case _:
                return super().receive_frame(frame, now)

    def connection_lost(self, _now: float) -> td.Decoded | None:
        return td.Decoded() if self._is_open else None

    def connection_opened(self, now: float) -> td.Decoded:
        return td.Decoded() if self._is_open else super().connection_opened(now)

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        closed = td.QuestionClosed(reply.question_id, answer=reply.answer)
        return td.Decoded([closed], connect=self._post(bytes(reply.answer)))


class Asking(Small):
    features = frozenset({td.Feature.QUESTIONS})

    def prompt(
        self, request: td.PromptRequest, _member: td.Member | None = None
    ) -> td.AgentProtocol:
        return AskingTurn(request)


@pytest.fixture(autouse=True)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wire that a test is marked with, under the name `small`."""
    kind: type[Small] = request.param
    dialect: td.Dialect = kind()
    monkeypatch.setitem(DIALECTS, dialect.name, dialect)


def on(kind: type[Small]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("wire", [kind], indirect=True, ids=[kind.__name__])


def events(*frames: dict[str, str]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames)


DONE: Final = {"type": "done"}


@on(OverWebSocket)
async def test_a_turn_over_a_websocket() -> None:
    async def script(line: Line) -> None:
        prompt = await line.prompt()
        await line.say({"type": "say", "text": prompt["text"]}, DONE)

    async with ScriptedAgent(script) as agent, Gateway(agent.url(), dialect="small") as gateway:
        shown = (await post(gateway, text="hello")).text

    assert said(shown) == "hello"
    assert is_whole(shown)


@on(OverWebSocket)
async def test_a_client_that_hangs_up_aborts_by_a_frame() -> None:
    async def script(line: Line) -> None:
        await line.prompt()
        await line.say({"type": "say", "text": "hello"})

    given: Any = {"dialect": "small", "turn_log": "off"}
    async with ScriptedAgent(script) as agent, Gateway(agent.url(), **given) as gateway:
        posted = asyncio.ensure_future(post(gateway))
        line = await agent.line()
        await line.prompt()
        posted.cancel()
        await asyncio.wait([posted], timeout=PATIENCE_S)
        await until(lambda: line.closed)

        assert line.aborts == [{"type": "abort"}]


@on(Stateless)
async def test_an_agent_that_keeps_nothing_is_sent_the_conversation() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED, chunk(events(DONE)), END)

    earlier = [
        {"id": "m0", "role": "user", "parts": [{"type": "text", "text": "first"}]},
        {
            "id": "a0",
            "role": "assistant",
            "parts": [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "one"}],
        },
    ]
    body = ask("second")
    body["messages"] = [*earlier, *body["messages"]]
    async with HttpAgent(script) as agent, Gateway(agent.url, dialect="small") as gateway:
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/chat"
            shown = (await client.post(url, json=body, headers=bearer())).text
        (asked,) = agent.requests

    assert is_whole(shown)
    assert json.loads(asked.body) == [{"user": "first"}, {"agent": "one"}, {"user": "second"}]


@on(Small)
async def test_a_file_is_refused_on_a_wire_without_files() -> None:
    body = ask("hello")
    picture = "data:image/png;base64,iVBORw0KGgo="
    body["messages"][-1]["parts"].append({"type": "file", "mediaType": "image/png", "url": picture})

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED, chunk(events(DONE)), END)

    async with (
        HttpAgent(script) as agent,
        Gateway(agent.url, dialect="small") as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        refused = await client.post(url, json=body, headers=bearer())

    assert refused.status_code == 400
    assert "Attachments are not accepted" in refused.text
    assert agent.requests == []


@on(Named)
async def test_an_event_has_its_name() -> None:
    body = b"data: a\n\nevent: note\ndata: b\n\nevent: end\ndata: c\n\n"

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED, chunk(body), END)

    async with HttpAgent(script) as agent, Gateway(agent.url, dialect="small") as gateway:
        assert said((await post(gateway)).text) == "message: a, note: b, "


@on(Asking)
async def test_an_answer_begins_another_request() -> None:
    async def script(asked: Asked) -> None:
        if len(agent.requests) == 1:
            question = {"type": "ask", "id": "q1", "question": "Which one?"}
            await asked.say(CHUNKED, chunk(events(question)), END)
        else:
            await asked.say(CHUNKED, chunk(events({"type": "say", "text": "Fine."}, DONE)), END)

    async with HttpAgent(script) as agent, Gateway(agent.url, dialect="small") as gateway:
        posted = asyncio.ensure_future(post(gateway))
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/answer"
            given = {"questionId": "q1", "answer": "the red one", "id": "chat-1"}
            answered = None
            while answered is None or not answered.is_success:  # the question comes first
                await asyncio.sleep(0.01)
                answered = await client.post(url, json=given, headers=bearer())
        shown = (await posted).text

    assert json.loads(agent.requests[1].body) == "the red one"
    assert said(shown) == "Fine."
    assert "data-question" in outline(shown)
    assert chunks(shown)[-1]["type"] == "finish"
