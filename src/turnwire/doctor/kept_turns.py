"""Whether a running turn could be resumed and stopped, asked where none of the doctor's runs."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from turnwire.doctor.checks import Symptom
from turnwire.doctor.client import Client
from turnwire.doctor.findings import Code

_NO_TURN: Final = {"turnId": "turnwire-doctor"}
"""The name of no turn: whoever else's turn runs goes on."""


async def resume_symptoms(client: Client) -> Sequence[Symptom]:
    """Ask for a running turn; if nobody can know of one, also to stop one that is not there.

    Raises:
        NoAnswerError: there is no answer.

    """
    async with client.resume() as stream:
        resume = stream.response.status_code
    if resume != HTTPStatus.NOT_IMPLEMENTED:
        return []
    path = f"{client.target.session_path}/stop"
    stop = (await client.exchange("POST", path, client.bearer(), _NO_TURN)).status_code
    return [(Code.NO_RESUME, f"asked for a running turn: {resume}, asked to stop a turn: {stop}")]
