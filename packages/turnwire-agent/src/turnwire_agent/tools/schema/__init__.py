"""JSON Schemas of tools: their form, what providers take of them, and the way back.

`normalise` says a schema in the words of a request shape, `restore` undoes that in the arguments.
`check` refuses a schema that no tool may have.
"""

from turnwire_agent.tools.schema.form import BadSchemaError, check
from turnwire_agent.tools.schema.normalise import Normalised, normalise, too_strict
from turnwire_agent.tools.schema.restore import restore
from turnwire_agent.tools.schema.rules import Shape
from turnwire_agent.tools.schema.walk import Loss

__all__ = [
    "BadSchemaError",
    "Loss",
    "Normalised",
    "Shape",
    "check",
    "normalise",
    "restore",
    "too_strict",
]
