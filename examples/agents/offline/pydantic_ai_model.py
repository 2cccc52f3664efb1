"""The offline model in the form of pydantic-ai."""

from collections.abc import AsyncIterator

from pydantic_ai.messages import (
    ModelMessage,
    RetryPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import (
    AgentInfo,
    DeltaThinkingCalls,
    DeltaThinkingPart,
    DeltaToolCall,
    DeltaToolCalls,
    FunctionModel,
)

from offline.script import Call, Thought, answer


async def _stream(
    messages: list[ModelMessage], _: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls | DeltaThinkingCalls]:
    prompt, results, calls = "", [], 0
    for part in (part for message in messages for part in message.parts):
        match part:
            case UserPromptPart():
                prompt, results = str(part.content), []
            case ToolReturnPart() | RetryPromptPart():
                results.append(str(part.content))
            case ToolCallPart():
                calls += 1
    async for said in answer(prompt, results, calls):
        match said:
            case str():
                yield said
            case Thought():
                yield {0: DeltaThinkingPart(content=said.text)}
            case Call():
                first, *rest = said.pieces
                yield {said.number: DeltaToolCall(said.tool, first, tool_call_id=said.id)}
                for piece in rest:
                    yield {said.number: DeltaToolCall(json_args=piece)}


def offline_model() -> FunctionModel:
    return FunctionModel(stream_function=_stream, model_name="offline")
