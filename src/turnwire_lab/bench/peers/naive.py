"""A first draft: FastAPI, sse-starlette, pydantic, and one `async for`."""

import json
import os
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import websockets
from fastapi import FastAPI
from pydantic import BaseModel, Field, TypeAdapter
from sse_starlette import EventSourceResponse, ServerSentEvent

AGENT_URL = os.environ["BENCH_AGENT_URL"]


class Part(BaseModel):
    type: str
    text: str = ""


class Message(BaseModel):
    role: str
    parts: list[Part] = []


class Body(BaseModel):
    messages: list[Message]


class Create(BaseModel):
    type: Literal["message.create"]
    turnId: str  # noqa: N815 (the wire's word)


class TextDelta(BaseModel):
    type: Literal["message.part.text-delta"]
    turnId: str  # noqa: N815
    delta: str


class Finalize(BaseModel):
    type: Literal["message.finalize"]
    turnId: str  # noqa: N815
    reason: str


Frame = Annotated[Create | TextDelta | Finalize, Field(discriminator="type")]
frames: TypeAdapter[Create | TextDelta | Finalize] = TypeAdapter(Frame)

app = FastAPI()


def chunks(frame: Create | TextDelta | Finalize) -> list[tuple[str, dict[str, Any]]]:
    """What a frame is worth."""
    turn = frame.turnId
    match frame:
        case Create():
            return [
                ("message-start", {"type": "start", "messageId": turn}),
                ("start-step", {"type": "start-step"}),
                ("text-start", {"type": "text-start", "id": turn}),
            ]
        case TextDelta():
            return [("text-delta", {"type": "text-delta", "id": turn, "delta": frame.delta})]
        case Finalize():
            return [
                ("text-end", {"type": "text-end", "id": turn}),
                ("finish-step", {"type": "finish-step"}),
                ("message-finish", {"type": "finish"}),
            ]


@app.post("/api/sessions/{session_id}/chat")
async def chat(session_id: str, body: Body) -> EventSourceResponse:  # noqa: ARG001
    """One turn."""
    text = "".join(part.text for part in body.messages[-1].parts if part.type == "text")

    async def records() -> AsyncIterator[ServerSentEvent]:
        async with websockets.connect(AGENT_URL) as socket:
            await socket.send(json.dumps({"type": "prompt", "content": text}))
            async for data in socket:
                frame = frames.validate_python(json.loads(data))
                for event, chunk in chunks(frame):
                    yield ServerSentEvent(
                        event=event, data=json.dumps(chunk, separators=(",", ":"))
                    )
                if isinstance(frame, Finalize):
                    yield ServerSentEvent(data="[DONE]")
                    return

    return EventSourceResponse(records(), sep="\n")
