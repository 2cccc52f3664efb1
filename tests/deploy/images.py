"""An image that deploy/docker/build.sh made, started as a container without Docker.

In one of two ways: by `buildah run`, as the image's own user; and, since that cannot make its root
read-only, as process 1 of namespaces of its own, on a read-only mount of the image.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deploy.parts import DEPLOY, ROOT, Json, as_json, run
from gateway.needed import lacking, program, root

USER: Final = 10001
WAYS: Final = ("under_buildah", "read_only")

Files = Mapping[str, Path]
"""Where a container has a file, and what it is here."""

READ_ONLY: Final = """\
root=$1
shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  install -D /dev/null "$root$1"
  mount --bind "$2" "$root$1"
  mount --options remount,bind,ro "$root$1"
  shift 2
done
shift
mount --options remount,bind,ro "$root"
mount --types proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot --userspec=10001:10001 "$root" "$@"
"""


def store() -> Path:
    """The folder of the images; STORE is one that is there already."""
    return Path(os.environ.get("STORE") or ROOT / "build/image")


def _command(*words: object) -> list[str]:
    folder = store()
    where = ["--root", folder / "storage", "--runroot", folder / "run", "--storage-driver", "vfs"]
    return [program("buildah"), *map(str, [*where, *words])]


def buildah(*words: object) -> str:
    code, out, err = run(_command(*words))
    assert code == 0, err
    return out.strip()


class Container:
    """A container of an image, not started; its root, and what the image says of itself."""

    def __init__(self, target: str) -> None:
        self.name = buildah("from", "--pull-never", f"localhost/turnwire-{target}")
        self.root = Path(buildah("mount", self.name))
        self.config: Json = as_json(buildah("inspect", self.name))["Docker"]["config"]
        self.entry: list[str] = self.config["Entrypoint"]
        self.command: list[str] = [*self.entry, *self.config["Cmd"]]
        self.health: list[str] = self.config["Healthcheck"]["Test"][1:]

    def way(self, name: str) -> Callable[..., list[str]]:
        """`start(values, *words, files=files)` returns the command that runs words in it."""
        start: Callable[..., list[str]] = getattr(self, name)
        return start

    def under_buildah(self, values: Mapping[str, str], *words: str, files: Files) -> list[str]:
        env = [part for name, value in values.items() for part in ("--env", f"{name}={value}")]
        mounts = [part for to, of in files.items() for part in ("--volume", f"{of}:{to}:ro")]
        return _command("run", "--isolation", "chroot", *env, *mounts, self.name, "--", *words)

    def read_only(self, values: Mapping[str, str], *words: str, files: Files) -> list[str]:
        env = [*self.config["Env"], *(f"{name}={value}" for name, value in values.items())]
        spaces = [program("unshare"), "--mount", "--pid", "--fork", "--kill-child"]
        mounts = [str(part) for pair in files.items() for part in pair]
        shell = ["sh", "-euc", READ_ONLY, "sh", str(self.root), *mounts, "--"]
        return [*spaces, *shell, "/usr/bin/env", "-i", *env, *words]


@contextmanager
def built(target: str) -> Iterator[Container]:
    """A container of an image that is built now; BUILT says that it is there already."""
    root()
    if not shutil.which("buildah") or not shutil.which("mmdebstrap"):
        lacking("an image is built by Debian's buildah and mmdebstrap")
    if not os.environ.get("BUILT"):
        subprocess.run([DEPLOY / "docker/build.sh", store(), target], cwd=ROOT, check=True)
    made = Container(target)
    try:
        yield made
    finally:
        buildah("rm", made.name)


def secret(path: Path, text: str) -> Path:
    """A file that the image's user alone reads."""
    path.write_text(text)
    path.chmod(0o400)
    os.chown(path, USER, USER)
    return path


def has_no_tools_and_nothing_that_its_user_owns(container: Container, venv: Path) -> None:
    for name in ("gcc", "cc", "make", "git", "curl", "wget"):
        assert not (container.root / "usr/bin" / name).exists(), name
    assert not [path for path in venv.rglob("*") if path.name == "pip"]
    assert not [path for path in venv.rglob("*") if path.lstat().st_uid == USER]
    assert not [
        path for path in venv.rglob("*") if path.lstat().st_mode & 0o022 and not path.is_symlink()
    ]


def status(pid: int, name: str) -> list[str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (found,) = (line.split()[1:] for line in lines if line.startswith(f"{name}:"))
    return found


def innermost(pid: int) -> int:
    """The process of the image under one of ours: buildah's last helper is its parent."""
    *_, found = _of_user(pid)
    return found


def _of_user(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()  # buildah starts its children from any thread
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    own = [pid] if status(pid, "Uid")[0] == str(USER) else []
    return own + [found for child in children for found in _of_user(int(child))]


def root_options(pid: int) -> list[str]:
    """How the root of a process is mounted."""
    mounts = Path(f"/proc/{pid}/mounts").read_text(encoding="utf-8").splitlines()
    (found,) = (line.split()[3] for line in mounts if line.split()[1] == "/")
    return found.split(",")
