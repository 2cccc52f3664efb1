"""The offline model in the form of Google's ADK."""

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai.types import Content, FunctionCall, Part

from offline.script import Call, Thought, answer


class OfflineModel(BaseLlm):
    """It tells the pieces as they come, and then all of it at once, as Gemini's client does."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 (the framework's signature)
    ) -> AsyncGenerator[LlmResponse, None]:
        text, thoughts = "", ""
        calls: list[Part] = []
        async for said in answer(*_read(llm_request)):
            match said:
                case str():
                    text += said
                    if stream:
                        yield _response([Part(text=said)], partial=True)
                case Thought():
                    thoughts += said.text
                    if stream:
                        yield _response([Part(text=said.text, thought=True)], partial=True)
                case Call():
                    call = FunctionCall(id=said.id, name=said.tool, args=dict(said.arguments))
                    calls.append(Part(function_call=call))
        told = [Part(text=thoughts, thought=True)] if thoughts else []
        yield _response([*told, *([Part(text=text)] if text else []), *calls], partial=False)


def _read(request: LlmRequest) -> tuple[str, list[str], int]:
    prompt, results, calls = "", [], 0
    for content in request.contents:
        for part in content.parts or []:
            if part.function_call is not None:
                calls += 1
            elif part.function_response is not None:
                results.append(_result(part.function_response.response or {}))
            elif part.text and content.role == "user":
                prompt, results = part.text, []
    return prompt, results, calls


def _result(response: dict[str, Any]) -> str:
    return str(response.get("result") or response.get("error") or response)


def _response(parts: list[Part], *, partial: bool) -> LlmResponse:
    return LlmResponse(content=Content(role="model", parts=parts), partial=partial)
