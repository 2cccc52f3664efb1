"""Which model is asked, by which wire, and where its server differs from that wire."""

from typing import Literal

from msgspec import Struct

ShapeName = Literal["chat", "messages", "responses", "google"]


class Quirks(Struct, frozen=True, kw_only=True):
    """Where one server, or one model, differs from its wire: data, never code.

    The defaults are the wire as its maker speaks it.
    """

    max_tokens_field: str = "max_completion_tokens"
    """`chat`: what the bound of the answer is called. Older servers know `max_tokens` only."""
    stream_usage: bool = True
    """`chat`: ask for `stream_options.include_usage`. Some servers refuse the field."""
    reasoning_field: str = ""
    """`chat`: in which field of an assistant's message the server wants its reasoning back."""
    effort_field: bool = True
    """`chat`: the server knows `reasoning_effort`."""
    strict_tools: bool = True
    """The server knows `strict` of a tool."""
    system_role: Literal["system", "developer"] = "system"
    """`chat`: the role of the instructions."""
    thinking: Literal["adaptive", "budget", "none"] = "adaptive"
    """`messages`: how the model thinks: as much as it finds right for an effort; at most so many
    tokens, as older ones do; or never."""
    sampling: bool = False
    """`messages`: the model takes `temperature` and `top_p`, as older ones do."""
    sealed_reasoning: bool = True
    """`responses`: the model gives its reasoning encrypted. One that does not think refuses to."""
    result_images: bool = False
    """The model takes pictures in the result of a tool. Else they follow as a user's."""


class Model(Struct, frozen=True, kw_only=True):
    """A model of a provider."""

    provider: str
    """As `anthropic`. With `shape` and `name` it decides whether native blocks may go back."""
    name: str
    shape: ShapeName
    base_url: str
    """As `https://api.example.com/v1`, without a slash at its end."""
    quirks: Quirks = Quirks()
    max_output_tokens: int = 8192
    """`messages` wants a bound in every request: this one, if the request has none."""
