"""A Redis behind TLS and a password, and one whose user has its own keys and channels alone."""

from pathlib import Path

import pytest

from gateway.certificates import authority_and_agent
from gateway.redis_server import RedisServer
from relay.turn_log.redis.rig import claim, is_read, new_rig
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets


@pytest.mark.usefixtures("patient")
async def test_it_is_trusted_by_its_authority_alone(tmp_path: Path) -> None:
    authority_and_agent(tmp_path)
    port = free_port()
    options = (
        *("--tls-port", str(port), "--tls-auth-clients", "no", "--requirepass", "hunter2"),
        *("--tls-cert-file", str(tmp_path / "agent.pem")),
        *("--tls-key-file", str(tmp_path / "agent.key")),
    )
    async with RedisServer(tmp_path, *options):
        url = f"rediss://:hunter2@localhost:{port}"
        for login, is_kept in (
            (f"{url}?ssl_ca_certs={tmp_path / 'ca.pem'}", True),
            (url, False),
            (f"{url.replace('hunter2', 'x')}?ssl_ca_certs={tmp_path / 'ca.pem'}", False),
        ):
            async with new_rig(login) as rig:
                assert (await claim(rig.logs[0])).is_kept is is_kept
                assert bool(rig.failures) is not is_kept


@pytest.mark.usefixtures("patient")
async def test_a_user_of_redis_needs_the_keys_and_channels_of_the_log_alone(
    own_redis: RedisServer,
) -> None:
    rights = ("~turnwire:*", "resetchannels", "&turnwire:*", "+@all", "-@admin", "-@dangerous")
    for name, its_rights in (("ann", rights), ("bob", ("~other:*", *rights[1:]))):
        asked = ("ACL", "SETUSER", name, "on", ">hunter2", *its_rights)
        assert await own_redis.ask(*asked) == "OK"
    assert await own_redis.ask("ACL", "SETUSER", "default", "off") == "OK"

    async with new_rig(f"redis://ann:hunter2@127.0.0.1:{own_redis.port}") as rig:
        await is_read(rig)
        assert rig.failures == 0
    for login in ("ann:x", "bob:hunter2"):
        async with new_rig(f"redis://{login}@127.0.0.1:{own_redis.port}") as rig:
            assert not (await claim(rig.logs[0])).is_kept
            assert rig.failures
