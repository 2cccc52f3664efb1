"""Whether turns can be resumed and stopped, asked of a gateway without a turn."""

import pytest

from gateway.running import Gateway
from gateway.tokens import token
from turnwire.doctor.client import Client, Target
from turnwire.doctor.findings import Code
from turnwire.doctor.kept_turns import resume_symptoms

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize(("turn_log", "codes"), [("off", [Code.NO_RESUME]), ("memory", [])])
async def test_what_the_turn_log_answers(turn_log: str, codes: list[Code]) -> None:
    async with Gateway("http://127.0.0.1:9/", dialect="ag-ui", turn_log=turn_log) as gateway:
        client = Client(Target(url=gateway.url, session="s1", token=token(), within_s=3))
        symptoms = await resume_symptoms(client)
        await client.aclose()

    assert [code for code, _ in symptoms] == codes
