"""What others' code lacks to be a dialect is named."""

import math
from typing import Any

import pytest

from support.telling_dialect import Telling
from turnwire.config.dialect_members import lacking, problem_of
from turnwire.core.operations import OperationName
from turnwire.core.requests import PromptRequest
from turnwire.dialect import OneResponse
from turnwire.dialects import DIALECTS


class Lacking:
    """A good one, but for one member."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            raise AttributeError(name)
        return getattr(Telling(), name)


async def answered_later(request: object, member: object = None) -> object:
    return request, member


@pytest.mark.parametrize("name", DIALECTS)
def test_our_own_ones_have_everything(name: str) -> None:
    assert problem_of(DIALECTS[name]) is None


@pytest.mark.parametrize(
    "name",
    [
        *("name", "transport", "operations", "features", "idle_s", "schema", "keeps_history"),
        *("names_sessions", "needs", "request_fields", "write_message", "prompt", "resume"),
        *("stop", "answer", "read_history"),
    ],
)
def test_what_is_missing_is_named(name: str) -> None:
    assert problem_of(Telling()) is None
    assert problem_of(Lacking(name)) == f"`{name}` is missing"


@pytest.mark.parametrize(
    ("name", "wrong", "wanted"),
    [
        ("name", 5, "a str"),
        ("transport", None, "a str"),
        ("operations", {OperationName.STOP}, "a frozenset of OperationName"),
        ("operations", frozenset({"stop"}), "a frozenset of OperationName"),
        ("features", frozenset({1}), "a frozenset of Feature"),
        ("idle_s", 0, "a number of seconds above 0, at most 1000000"),
        ("idle_s", math.nan, "a number of seconds above 0, at most 1000000"),
        ("idle_s", math.inf, "a number of seconds above 0, at most 1000000"),
        ("idle_s", True, "a number of seconds above 0, at most 1000000"),
        ("idle_s", "20", "a number of seconds above 0, at most 1000000"),
        ("schema", {}, "a WireSchema"),
        ("keeps_history", 1, "a bool"),
        ("names_sessions", None, "a bool"),
        ("needs", frozenset({"jwt_key"}), "a frozenset of some of agent_auth, agent_cwd, "),
        ("needs", ("agent_auth",), "a frozenset of some of agent_auth, agent_cwd, "),
        ("request_fields", frozenset({b"x"}), "a frozenset of str"),
        ("prompt", "hi", "a method that takes 1 or 2 arguments"),
        ("prompt", lambda request: request, "a method that takes 1 or 2 arguments"),
        ("resume", lambda request, member: (request, member), "a method that takes 1 or 2 arg"),
        ("prompt", answered_later, "a method that is not async"),
        ("stop", lambda: None, "a method that takes 1 argument"),
    ],
)
def test_what_is_of_the_wrong_type_is_named(name: str, wrong: Any, wanted: str) -> None:
    dialect = Telling()
    setattr(dialect, name, wrong)

    assert (problem_of(dialect) or "").startswith(f"`{name}` must be {wanted}")


def test_a_method_in_c_is_taken_at_its_word() -> None:
    dialect = Telling()
    vars(dialect)["stop"] = max  # it has no signature

    assert problem_of(dialect) is None


def test_what_a_protocol_lacks_is_named() -> None:
    request = PromptRequest(text="hi", prompt_id="p1")

    assert lacking(OneResponse("t")) == ["connect_request", "receive_frame"]
    assert all(
        lacking(DIALECTS[name].prompt(request)) == []
        for name in ("v2", "session-agent", "acp", "ag-ui")
    )


def test_a_method_that_cannot_be_called_is_missing() -> None:
    class Broken(OneResponse):
        begin_stop = None  # type: ignore[assignment]

        def connect_request(self) -> None:
            """Return nothing: it is not called."""

        def receive_frame(self, frame: bytes, now: float) -> None:
            """Return nothing: it is not called."""

    assert lacking(Broken("t1")) == ["begin_stop"]
