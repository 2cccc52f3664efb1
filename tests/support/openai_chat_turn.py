"""A turn on the `openai-chat` wire."""

from typing import Any

from support.openai_turn import Played
from turnwire.core.requests import PromptRequest
from turnwire.dialects.openai_chat import OpenAiChat
from turnwire.dialects.openai_chat.turn import TurnProtocol


def played(*frames: bytes, **asked: Any) -> Played:
    return Played(OpenAiChat(), *frames, **asked)


def protocol(*frames: bytes) -> TurnProtocol:
    made = OpenAiChat().prompt(PromptRequest(text="hi", prompt_id="p1"))
    for frame in frames:
        made.receive_frame(frame, 0)
    return made
