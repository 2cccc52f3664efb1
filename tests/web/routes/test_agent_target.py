"""Where a request's agent is, and what its rejections are as HTTP errors."""

import pytest

from turnwire.core.rejection import Rejection
from turnwire.errors import NotFound, RequestRefused, Unauthorized, Unavailable
from turnwire.web.routes.agent_target import http_error_for, http_error_for_status, is_http_error

STATUSES = {
    Rejection.SESSION: 409,
    Rejection.UNNAMED: 409,
    Rejection.OTHER_TURN: 409,
    Rejection.SHARED: 409,
    Rejection.UNKNOWN: 404,
    Rejection.CLOSED: 409,
    Rejection.UNSIGNED: 400,
    Rejection.NO_VERDICT: 400,
    Rejection.UNSUPPORTED: 501,
    Rejection.SILENT: 503,
    Rejection.TOO_LONG: 410,
    Rejection.NO_TURN: 409,
    Rejection.TOO_LONG: 410,
}


@pytest.mark.parametrize("rejection", Rejection)
def test_every_rejection_has_its_status_and_its_reason(rejection: Rejection) -> None:
    error = http_error_for(rejection)

    assert error.status == STATUSES[rejection]
    assert str(error) == rejection.value


@pytest.mark.parametrize(
    ("status", "agent_auth", "kind", "kind_of_answer"),
    [
        (401, "forward", Unauthorized, Unauthorized),
        (404, "forward", NotFound, NotFound),
        (403, "forward", Unavailable, NotFound),
        (500, "forward", Unavailable, Unavailable),
        (401, "service", Unavailable, Unavailable),
        (403, "service", Unavailable, Unavailable),
        (404, "none", Unavailable, Unavailable),
    ],
)
def test_what_a_status_says_of_the_users_own_token_alone_is_the_users_concern(
    status: int,
    agent_auth: str,
    kind: type[RequestRefused],
    kind_of_answer: type[RequestRefused],
) -> None:
    for is_answer, expected in ((False, kind), (True, kind_of_answer)):
        error = http_error_for_status(status, agent_auth, is_answer=is_answer)

        assert type(error) is expected
        assert str(status) in str(error)


def test_which_statuses_are_http_errors() -> None:
    statuses = [None, *range(100, 600)]

    assert [each for each in statuses if is_http_error(each, is_answer=False)] == [401, 404]
    assert [each for each in statuses if is_http_error(each, is_answer=True)] == [
        *(401, 403, 404, 429, 503, 529)
    ]


@pytest.mark.parametrize(
    ("after_s", "header"), [(None, "5"), (0.0, "1"), (7.2, "8"), (3600.0, "3600")]
)
def test_the_agents_wish_to_be_left_alone_is_passed_on(after_s: float | None, header: str) -> None:
    error = http_error_for_status(429, "forward", is_answer=True, retry_after_s=after_s)

    assert (error.status, error.code, error.headers["retry-after"]) == (503, "unavailable", header)
