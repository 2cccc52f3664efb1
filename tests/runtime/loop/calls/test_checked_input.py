from typing import Any

import pytest
from msgspec import UNSET, Raw
from msgspec.structs import replace

from runtime.loop.scenarios import find, mail, pay
from turnwire_agent.loop.calls.checked_input import checked, input_hash, of_json


def test_valid_arguments_become_a_value_and_json_with_each_key_once() -> None:
    fresh = checked(find, '{ "n": 2, "n": 1 }')

    assert fresh.value.n == 1
    assert fresh.input == Raw(b'{"n":1}')
    assert (fresh.problem, fresh.asks) == (None, False)


@pytest.mark.parametrize("arguments", ["{", "[]", '{"n":1}}', '{"n":"\ud800"}'])
def test_arguments_that_are_no_json_object_have_no_input(arguments: str) -> None:
    fresh = checked(find, arguments)

    assert fresh.problem
    assert fresh.input is UNSET


def test_arguments_that_do_not_fit_keep_their_json() -> None:
    fresh = checked(find, '{"n": "x"}')

    assert fresh.problem
    assert fresh.input == Raw(b'{"n":"x"}')


def test_the_rule_of_approval_is_asked_where_nobody_has_allowed_the_call() -> None:
    assert checked(mail, '{"n":1}').asks
    assert not of_json(mail, Raw(b'{"n":1}')).asks
    assert checked(pay, '{"n":1}').asks
    assert not checked(pay, '{"n":2}').asks


def test_a_rule_of_approval_that_fails_asks() -> None:
    assert checked(pay, '{"n":3}').asks


def test_a_check_that_fails_is_a_problem_without_any_value() -> None:
    def validate(text: str) -> Any:
        raise RuntimeError(text)

    fresh = checked(replace(find, validate=validate), '{"n":1234}')

    assert fresh.problem == "The arguments are not valid: they cannot be read."
    assert fresh.input == Raw(b'{"n":1234}')


def test_what_was_checked_is_not_shown() -> None:
    assert repr(checked(find, '{"n":1234}')) == "CheckedInput(…)"


def test_the_hash_names_the_content() -> None:
    assert input_hash(Raw(b"{}")) == input_hash(Raw(b"{}"))
    assert input_hash(Raw(b"{}")) != input_hash(Raw(b'{"n":1}'))
