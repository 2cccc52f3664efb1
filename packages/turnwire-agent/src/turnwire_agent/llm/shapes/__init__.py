"""The four wires by their names."""

from typing import Final

from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.shape import Shape
from turnwire_agent.llm.shapes import chat, google, messages, responses

SHAPES: Final[dict[ShapeName, Shape]] = {
    "chat": chat,
    "messages": messages,
    "responses": responses,
    "google": google,
}
