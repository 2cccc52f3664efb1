"""The four wires by their names."""

from typing import Final

from turnwire_agent.llm import chat, google, messages, responses
from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.shape import Shape

SHAPES: Final[dict[ShapeName, Shape]] = {
    "chat": chat,
    "messages": messages,
    "responses": responses,
    "google": google,
}
