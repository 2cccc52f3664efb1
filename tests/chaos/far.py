"""A host of its own, in a network namespace, that can vanish without a goodbye.

What is dropped is dropped inside the namespace; the machine's own firewall is left alone.
"""

import ctypes
import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self

from gateway.needed import forbidden, program

_NEW_NET: Final = 0x4000_0000
"""CLONE_NEWNET of sched.h."""


class FarHost:
    """`with FarHost() as far:`; `far.address` is its own, `far.near` ours on the line to it."""

    def __init__(self) -> None:
        self._ip, self._iptables = program("ip"), program("iptables")
        number = os.getpid()
        self.name = f"turnwire-{number}"
        self._near_end, self._far_end = f"tw{number % 10**8}n", f"tw{number % 10**8}f"
        subnet = f"198.18.{number // 64 % 256}.{number % 64 * 4}"  # of RFC 2544: nobody's
        first, _, last = subnet.rpartition(".")
        self.near, self.address = f"{first}.{int(last) + 1}", f"{first}.{int(last) + 2}"

    @property
    def prefix(self) -> tuple[str, ...]:
        """Goes before a command that is to run there."""
        return (self._ip, "netns", "exec", self.name)

    def new_socket(self) -> socket.socket:
        """A new TCP socket of that host, for this process."""
        with ThreadPoolExecutor(1) as thread:  # which moves over there, and ends
            return thread.submit(self._made_there).result()

    def vanish(self) -> None:
        """From here on nothing gets in or out, and nobody is told."""
        for chain in ("INPUT", "OUTPUT"):
            _run(*self.prefix, self._iptables, "-A", chain, "-j", "DROP")

    def __enter__(self) -> Self:
        try:
            _run(self._ip, "netns", "add", self.name)
        except subprocess.CalledProcessError as exc:
            subprocess.run(  # it may have come half-way
                [self._ip, "netns", "del", self.name], check=False, capture_output=True
            )
            forbidden(f"a network namespace: {exc.stderr.strip()}")
        pair = ("veth", "peer", "name", self._far_end, "netns", self.name)
        try:
            _run(self._ip, "link", "add", self._near_end, "type", *pair)
            _run(self._ip, "addr", "add", f"{self.near}/30", "dev", self._near_end)
            _run(self._ip, "link", "set", self._near_end, "up")
            far = (self._ip, "-n", self.name)
            _run(*far, "addr", "add", f"{self.address}/30", "dev", self._far_end)
            _run(*far, "link", "set", self._far_end, "up")
            _run(*self.prefix, self._iptables, "-L")
            self.new_socket().close()
        except (subprocess.CalledProcessError, OSError) as exc:
            self.__exit__(None, None, None)
            forbidden(f"a network of its own: {getattr(exc, 'stderr', None) or exc}")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The line first: the namespace itself lives on while a socket in it does.
        subprocess.run([self._ip, "link", "del", self._near_end], check=False, capture_output=True)
        _run(self._ip, "netns", "del", self.name)

    def _made_there(self) -> socket.socket:
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(there, _NEW_NET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(there)
        return socket.socket()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
