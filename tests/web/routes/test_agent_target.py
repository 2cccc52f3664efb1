"""Where a request's agent is, and what its rejections are as HTTP errors."""

import pytest

from turnwire.core.rejection import Rejection
from turnwire.errors import NotFound, RequestRefused, Unauthorized, Unavailable
from turnwire.web.routes.agent_target import http_error_for, http_error_for_status

STATUSES = {
    Rejection.SESSION: 409,
    Rejection.UNNAMED: 409,
    Rejection.OTHER_TURN: 409,
    Rejection.SHARED: 409,
    Rejection.UNKNOWN: 404,
    Rejection.CLOSED: 409,
    Rejection.UNSIGNED: 400,
    Rejection.UNSUPPORTED: 501,
    Rejection.SILENT: 503,
    Rejection.NO_TURN: 409,
}


@pytest.mark.parametrize("rejection", Rejection)
def test_every_rejection_has_its_status_and_its_reason(rejection: Rejection) -> None:
    error = http_error_for(rejection)

    assert error.status == STATUSES[rejection]
    assert str(error) == rejection.value


@pytest.mark.parametrize(
    ("status", "agent_auth", "kind"),
    [
        (401, "forward", Unauthorized),
        (404, "forward", NotFound),
        (403, "forward", Unavailable),
        (500, "forward", Unavailable),
        (401, "service", Unavailable),
        (404, "none", Unavailable),
    ],
)
def test_what_a_handshake_says_of_the_users_own_token_alone_is_the_users_concern(
    status: int, agent_auth: str, kind: type[RequestRefused]
) -> None:
    error = http_error_for_status(status, agent_auth)

    assert type(error) is kind
    assert str(status) in str(error)
