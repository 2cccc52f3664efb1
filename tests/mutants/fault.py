"""A planted fault that is addressed by its function, whatever the text of its source.

    Fault(
        "a repeated final text is told again",        # what is wrong, in a few words
        "turnwire.core.ui_stream.sent_text:SentText.unsent_suffix",
                                                      # module:function, or module:Class.function
        everything_is_missing,                        # takes the function, returns the wrong one
        ("core/ui_stream/test_sent_text.py",),                       # who is asked, below tests/
    )

    def everything_is_missing(_unsent_suffix: Function) -> Function:
        def wrong(_self: SentText, final_text: str) -> str:
            return final_text

        return wrong

Write yours into a module in mutants/faults/, in the tuple `FAULTS`: it is found there. The wrong
function takes the parameters of the right one, by the same names but for a leading underscore, or
`*args`; `test_planted.py` fails where a target is gone or its parameters are others. `wrong` has
some that fit many a place, `edit` makes one by a small change in the middle of the right one. A
property, a static and a class method are addressed like any function.

A fault is planted in the process of pytest alone, before tests are imported, and wherever a module
of the product names the function. A process that a test starts, and a table, a default or a
`partial` that holds the function, keep the right one: then `make mutants` says that nobody noticed.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Function = Callable[..., Any]


class Fault(NamedTuple):
    """`becomes(function)` goes in place of the function that `target` names.

    `tests` (below tests/) are those that are asked; none: all of core/ and dialects/, and apart
    from them the properties.
    """

    name: str
    target: str
    becomes: Callable[[Function], Function]
    tests: tuple[str, ...] = ()


def found(target: str) -> tuple[Any, str, Any]:
    """Whoever holds the target, its name there, and how it stands there.

    Raises:
        LookupError: there is no such function.

    """
    module, _, path = target.partition(":")
    *holders, name = path.split(".")
    try:
        holder: Any = importlib.import_module(module)
        for inner in holders:
            holder = vars(holder)[inner]
        held = vars(holder)[name]
    except (ImportError, KeyError) as missing:
        raise LookupError(f"{target}: there is no {missing}") from missing
    if not inspect.isfunction(function_of(held)):
        raise LookupError(f"{target} is no function")
    return holder, name, held


def function_of(held: Any) -> Any:
    """The function itself: a property and a method of the class hold it."""
    match held:
        case property():
            return held.fget
        case staticmethod() | classmethod():
            return held.__func__
        case _:
            return held


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Plant it, for as long as this lasts.

    Raises:
        LookupError: its target does not exist, or has not the structure that it changes.

    """
    holder, name, held = found(fault.target)
    wrong: Any = fault.becomes(function_of(held))
    if isinstance(held, property):
        wrong = held.getter(wrong)
    elif isinstance(held, staticmethod | classmethod):
        wrong = type(held)(wrong)
    places = [(holder, name)]
    if inspect.ismodule(holder):  # others may have imported it by its name
        places += [
            (module, its_name)
            for module in list(sys.modules.values())
            if getattr(module, "__name__", "").startswith("turnwire") and module is not holder
            for its_name, value in list(vars(module).items())
            if value is held
        ]
    for place, its_name in places:
        setattr(place, its_name, wrong)
    try:
        yield
    finally:
        for place, its_name in places:
            setattr(place, its_name, held)
