"""Builds the image and streams a chat through it. By hand: `make image-check`; five minutes.

It needs no Docker: buildah builds it, in a chroot, on a Debian that mmdebstrap makes. It is started
twice: by `buildah run`, as the image's own user; and, since that cannot make its root read-only, as
process 1 of namespaces of its own, on a read-only mount of the image.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import DEPLOY, ROOT, Json, as_json, run
from gateway.clients import ask, is_whole, new_client, said
from gateway.needed import lacking, program, root
from gateway.served import Served
from gateway.tokens import KEY, bearer
from gateway.waiting import until
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.timeout(1800)]

STORE: Final = ROOT / "build/image"
USER: Final = 10001

READ_ONLY: Final = """\
mount --bind "$1" "$1"
mount --options remount,bind,ro "$1"
mount --types tmpfs --options mode=0700,uid=10001 secrets "$1/run"
install --mode=0400 --owner=10001 "$2" "$1/run/jwt_key"
mount --types proc proc "$1/proc"
mount --rbind /dev "$1/dev"
root=$1
shift 2
exec chroot --userspec=10001:10001 "$root" "$@"
"""


def buildah(*words: object) -> str:
    command = [program("buildah"), "--root", STORE / "storage", "--runroot", STORE / "run"]
    code, out, err = run([*command, "--storage-driver", "vfs", *words])
    assert code == 0, err
    return out.strip()


class Container:
    """A container of the image, not started; its root, and what the image says of itself."""

    def __init__(self) -> None:
        self.name = buildah("from", "--pull-never", "localhost/turnwire-gateway")
        self.root = Path(buildah("mount", self.name))
        self.config: Json = as_json(buildah("inspect", self.name))["Docker"]["config"]
        self.command: list[str] = [*self.config["Entrypoint"], *self.config["Cmd"]]

    def under_buildah(self, values: dict[str, str], *words: str, key: Path) -> list[str]:
        env = [part for name, value in values.items() for part in ("--env", f"{name}={value}")]
        store = ["--root", str(STORE / "storage"), "--runroot", str(STORE / "run")]
        volume = f"{key}:/run/jwt_key:ro"
        run_ = ["run", "--isolation", "chroot", *env, "--volume", volume, self.name, "--"]
        return [program("buildah"), *store, "--storage-driver", "vfs", *run_, *words]

    def read_only(self, values: dict[str, str], *words: str, key: Path) -> list[str]:
        env = [*self.config["Env"], *(f"{name}={value}" for name, value in values.items())]
        spaces = [program("unshare"), "--mount", "--pid", "--fork", "--kill-child"]
        shell = ["sh", "-euc", READ_ONLY, "sh", str(self.root), str(key)]
        return [*spaces, *shell, "/usr/bin/env", "-i", *env, *words]


@pytest.fixture(scope="module")
def container() -> Iterator[Container]:
    root()
    if not shutil.which("buildah") or not shutil.which("mmdebstrap"):
        lacking("an image is built by Debian's buildah and mmdebstrap")
    if not os.environ.get("BUILT"):
        subprocess.run([DEPLOY / "docker/build.sh", STORE, "gateway"], cwd=ROOT, check=True)
    made = Container()
    yield made
    buildah("rm", made.name)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "jwt_key"
    path.write_text(KEY)
    path.chmod(0o444)
    return path


def test_the_image_says_what_it_should(container: Container) -> None:
    config = container.config

    assert config["User"] == f"{USER}:{USER}"
    assert config["StopSignal"] == "SIGTERM"
    assert config["Healthcheck"]["Test"][0] == "CMD"
    assert set(config["ExposedPorts"]) == {"8787/tcp", "9787/tcp"}
    assert config["Labels"]["org.opencontainers.image.title"] == "turnwire"


def test_it_has_no_tools_no_lab_and_nothing_that_its_user_owns(container: Container) -> None:
    root = container.root
    venv = root / "opt/turnwire"

    assert {path.name for path in (venv / "bin").iterdir()} >= {"python", "turnwire"}
    assert not [path for path in venv.rglob("*") if path.name in {"pip", "turnwire_lab"}]
    for name in ("gcc", "cc", "make", "git", "curl", "wget"):
        assert not (root / "usr/bin" / name).exists(), name
    assert not [path for path in venv.rglob("*") if path.lstat().st_uid == USER]
    assert not [
        path for path in venv.rglob("*") if path.lstat().st_mode & 0o022 and not path.is_symlink()
    ]


def status(pid: int, name: str) -> list[str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (found,) = (line.split()[1:] for line in lines if line.startswith(f"{name}:"))
    return found


def gateways(pid: int) -> list[int]:
    """The processes of the image's user under one of ours."""
    tasks = Path(f"/proc/{pid}/task").iterdir()  # buildah starts its children from any thread
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    own = [pid] if status(pid, "Uid")[0] == str(USER) else []
    return own + [found for child in children for found in gateways(int(child))]


def options(pid: int) -> list[str]:
    """How the root of a process is mounted."""
    mounts = Path(f"/proc/{pid}/mounts").read_text(encoding="utf-8").splitlines()
    (found,) = (line.split()[3] for line in mounts if line.split()[1] == "/")
    return found.split(",")


@pytest.mark.parametrize("way", ["under_buildah", "read_only"])
async def test_a_chat_streams_through_it(container: Container, key: Path, way: str) -> None:
    start: Callable[..., list[str]] = getattr(container, way)
    async with ReferenceAgent() as agent:
        gateway = Served(agent.url)
        values = {
            name: value
            for name, value in gateway._env.items()
            if name.startswith("TURNWIRE_") and name != "TURNWIRE_JWT_KEY"
        }
        values |= {"TURNWIRE_HOST": "127.0.0.1", "TURNWIRE_JWT_KEY_FILE": "/run/jwt_key"}
        gateway._command = tuple(start(values, *container.command, key=key))
        gateway._env = {"PATH": os.environ["PATH"]}
        async with gateway, new_client() as client:
            answer = await client.post(
                f"{gateway.url}/api/sessions/s1/chat", json=ask("what is 12*7?"), headers=bearer()
            )
            *_, pid = gateways(gateway.pid)  # the innermost: buildah's last helper is its parent
            groups = status(pid, "Gid")
            root_options = options(pid)
            health = [*container.config["Healthcheck"]["Test"][1:]]
            asked = {"TURNWIRE_PORT": str(gateway.port), "TURNWIRE_HOST": "127.0.0.1"}
            healthy = run(start(asked, *health, key=key))
            nobody = run(start({"TURNWIRE_PORT": "1"}, *health, key=key))
            os.kill(pid, signal.SIGTERM)
            await until(gateway._ending.done, 20)

    assert is_whole(answer.text)
    assert "84" in said(answer.text)
    assert groups == [str(USER)] * 4
    assert healthy[0] == 0, healthy
    assert nobody[0] == 1, nobody
    assert "Finished server process" in gateway.errors  # and then buildah has lines of its own
    if way == "read_only":
        assert "ro" in root_options
