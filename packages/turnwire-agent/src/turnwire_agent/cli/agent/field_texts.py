"""What the fields of the settings are, in the words that stand below each of them in its class."""

import ast
import inspect
import textwrap
from functools import cache

from msgspec import Struct


@cache
def field_texts(kind: type[Struct]) -> dict[str, str]:
    """Return the text of each field; nothing where the source is not installed."""
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        return {}
    (defined,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(defined, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, below in zip(defined.body, defined.body[1:], strict=False):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            texts[field.target.id] = " ".join(str(below.value.value).split())
    return texts
