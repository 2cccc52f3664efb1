"""The offline model in the form of LangChain, which LangGraph calls."""

from collections.abc import AsyncIterator
from typing import Any, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from offline.script import Call, ModelFailed, Thought, answer


class OfflineChatModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, *_: Any, **__: Any) -> Self:
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("it only streams")

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        prompt, results, calls = "", [], 0
        waiting: set[str | None] = set()
        for message in messages:
            match message:
                case HumanMessage():
                    prompt, results = message.text, []
                case ToolMessage():
                    results.append(message.text)
                    waiting.discard(message.tool_call_id)
                case AIMessage():
                    calls += len(message.tool_calls)
                    waiting |= {call["id"] for call in message.tool_calls}
        if waiting:
            raise ModelFailed("a call has no result")  # the hosts of models refuse it, too
        async for said in answer(prompt, results, calls):
            match said:
                case str():
                    yield _chunk(content=said)
                case Thought():
                    yield _chunk(
                        content=[{"type": "reasoning", "reasoning": said.text, "index": 0}]
                    )
                case Call():
                    first, *rest = said.pieces
                    yield _piece(said.number, name=said.tool, args=first, id=said.id)
                    for piece in rest:
                        yield _piece(said.number, name=None, args=piece, id=None)


def _chunk(**fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(**fields))


def _piece(index: int, **call: str | None) -> ChatGenerationChunk:
    return _chunk(
        content="", tool_call_chunks=[{**call, "index": index, "type": "tool_call_chunk"}]
    )
