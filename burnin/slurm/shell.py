"""Running a command where Slurm is: on this machine, or on a login host over SSH."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol

import paramiko

from burnin.slurm.cluster import ClusterUnreachable, HostKeyRefused, LoginRefused, NoSlurm

CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 30
CHUNK_BYTES = 1 << 15


@dataclass(frozen=True)
class Completed:
    exit_code: int
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    def run(
        self, argv: Sequence[str], stdin: bytes | BinaryIO = b"", *, timeout_s: float
    ) -> Completed:
        """Run a command to its end; raise ClusterUnreachable when its outcome is not known."""
        ...


class LocalShell:
    """Commands on this machine, each in its own process group, which ends with its time limit.

    `environment` is added to this process's own.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def run(
        self, argv: Sequence[str], stdin: bytes | BinaryIO = b"", *, timeout_s: float
    ) -> Completed:
        try:
            process = self._start(argv)
        except FileNotFoundError as error:
            raise NoSlurm(f"{argv[0]} is not in PATH on this machine") from error
        content = stdin if isinstance(stdin, bytes) else stdin.read()
        try:
            stdout, stderr = process.communicate(content, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise ClusterUnreachable(
                f"`{argv[0]}` did not end within {timeout_s:g} s on this machine"
            ) from error
        finally:
            _end_group(process)
        return Completed(process.returncode, stdout, stderr)

    def _start(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **self._environment},
            start_new_session=True,
        )


class SshShell:
    """Commands on a login host, over one connection that is opened when first needed.

    Safe to share between threads, and across a fork: the child opens its own connection.
    """

    def __init__(
        self,
        *,
        host: str,
        port: int,
        user: str,
        key_file: Path,
        known_hosts: Path,
        environment: Mapping[str, str],
    ) -> None:
        self._host, self._port, self._user = host, port, user
        self._key_file, self._known_hosts = key_file, known_hosts
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._client: paramiko.SSHClient | None = None
        self._owner_pid = os.getpid()

    def run(
        self, argv: Sequence[str], stdin: bytes | BinaryIO = b"", *, timeout_s: float
    ) -> Completed:
        deadline = time.monotonic() + timeout_s
        # What ~/.bashrc prints comes before the mark, and is dropped.
        mark = f"mark-{secrets.token_hex(8)}\n".encode()
        line = f"echo {mark.decode().strip()}; exec {quoted(argv, self._environment)}"
        channel = self._open_channel()
        try:
            channel.exec_command(line)
            stdout, stderr = _exchange(channel, stdin, deadline)
            exit_code = _exit_code(channel, deadline)
        except (OSError, EOFError, paramiko.SSHException) as error:
            words = f"`{argv[0]}` did not end within {timeout_s:g} s, or the connection broke"
            raise ClusterUnreachable(f"{self._place}: {words}") from error
        finally:
            channel.close()
        _, found, output = stdout.partition(mark)
        if not found:
            words = stderr.decode(errors="replace").strip() or "it printed nothing"
            raise ClusterUnreachable(f"{self._place}: the login shell ran no command: {words}")
        return Completed(exit_code, output, stderr)

    def close(self) -> None:
        """Close the connection; the next command opens it again."""
        with self._lock:
            if self._client is not None and self._owner_pid == os.getpid():
                self._client.close()
            self._client = None

    @property
    def _place(self) -> str:
        return f"{self._user}@{self._host}:{self._port}"

    def _open_channel(self) -> paramiko.Channel:
        """Open a channel; nothing has run yet, so a connection that died is replaced once."""
        transport = self._transport()
        try:
            return transport.open_session(timeout=CONNECT_TIMEOUT_S)
        except paramiko.ChannelException as error:
            raise ClusterUnreachable(f"{self._place} opens no more sessions: {error}") from error
        except (OSError, EOFError, paramiko.SSHException):
            self.close()
        try:
            return self._transport().open_session(timeout=CONNECT_TIMEOUT_S)
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise ClusterUnreachable(f"{self._place} opened no session: {error}") from error

    def _transport(self) -> paramiko.Transport:
        if self._owner_pid != os.getpid():
            self._forget_parent()
        with self._lock:
            transport = self._client.get_transport() if self._client else None
            if transport is None or not transport.is_active():
                self._client = self._connect()
                transport = self._client.get_transport()
        if transport is None:
            raise ClusterUnreachable(f"{self._place} closed the connection at once")
        return transport

    def _forget_parent(self) -> None:
        """After a fork: the parent's connection is not ours to use, nor to close."""
        self._parents_client = self._client  # kept, for its end would close the socket
        self._client, self._lock, self._owner_pid = None, threading.Lock(), os.getpid()

    def _connect(self) -> paramiko.SSHClient:
        client = paramiko.SSHClient()
        self._pin_host_keys(client)
        try:
            client.connect(
                self._host,
                self._port,
                self._user,
                pkey=self._read_key(),
                timeout=CONNECT_TIMEOUT_S,
                banner_timeout=CONNECT_TIMEOUT_S,
                auth_timeout=CONNECT_TIMEOUT_S,
                allow_agent=False,
                look_for_keys=False,
            )
        except (HostKeyRefused, LoginRefused):
            client.close()
            raise
        except (OSError, EOFError, paramiko.SSHException) as error:
            client.close()
            self._explain(error)
        transport = client.get_transport()
        if transport is not None and isinstance(transport.sock, socket.socket):
            transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport.set_keepalive(KEEPALIVE_S)
        return client

    def _read_key(self) -> paramiko.PKey:
        try:
            return paramiko.PKey.from_path(self._key_file)
        except (OSError, ValueError, TypeError, paramiko.SSHException) as error:
            raise LoginRefused(
                f"the SSH key {self._key_file} cannot be used: give a private key without a "
                f"passphrase ({error})"
            ) from error

    def _pin_host_keys(self, client: paramiko.SSHClient) -> None:
        try:
            client.load_host_keys(str(self._known_hosts))
        except OSError as error:
            raise HostKeyRefused(
                f"no host key is pinned: {self._known_hosts} cannot be read; put the login "
                "host's key there (ssh-keyscan, checked by hand)"
            ) from error
        client.set_missing_host_key_policy(_RefuseUnknownHost(self._place, self._known_hosts))

    def _explain(self, error: Exception) -> NoReturn:
        """Raise our error in place of paramiko's."""
        if isinstance(error, paramiko.BadHostKeyException):
            raise HostKeyRefused(
                f"{self._place} shows another host key than {self._known_hosts} pins: either the "
                "host was reinstalled or someone is in between; check before you change the file"
            ) from error
        if isinstance(error, paramiko.AuthenticationException):
            raise LoginRefused(
                f"{self._place} refuses the key {self._key_file}: {error}"
            ) from error
        raise ClusterUnreachable(f"{self._place} cannot be reached: {error}") from error


class _RefuseUnknownHost(paramiko.MissingHostKeyPolicy):
    def __init__(self, place: str, known_hosts: Path) -> None:
        self._place, self._known_hosts = place, known_hosts

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> NoReturn:
        raise HostKeyRefused(
            f"no host key of {self._place} is in {self._known_hosts}; it shows the "
            f"{key.get_name()} key {key.fingerprint}: check it on the host, then pin it"
        )


def _exchange(
    channel: paramiko.Channel, stdin: bytes | BinaryIO, deadline: float
) -> tuple[bytes, bytes]:
    """Feed and drain the three streams at once: one that fills up would stop the others."""
    channel.settimeout(max(0.01, deadline - time.monotonic()))
    errors = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(channel, stdin), daemon=True),
        threading.Thread(target=_drain_errors, args=(channel, errors), daemon=True),
    ]
    for thread in threads:
        thread.start()
    output = bytearray()
    while chunk := channel.recv(CHUNK_BYTES):
        output += chunk
        channel.settimeout(max(0.01, deadline - time.monotonic()))
    threads[1].join(max(0.01, deadline - time.monotonic()))
    return bytes(output), bytes(errors)


def _feed(channel: paramiko.Channel, stdin: bytes | BinaryIO) -> None:
    try:
        if isinstance(stdin, bytes):
            channel.sendall(stdin)
        else:
            while chunk := stdin.read(CHUNK_BYTES):
                channel.sendall(chunk)
        channel.shutdown_write()
    except (OSError, EOFError, paramiko.SSHException):
        return  # the command ended without reading it all; its exit code tells


def _drain_errors(channel: paramiko.Channel, into: bytearray) -> None:
    try:
        while chunk := channel.recv_stderr(CHUNK_BYTES):
            into += chunk
    except (OSError, EOFError, paramiko.SSHException):
        return


def _exit_code(channel: paramiko.Channel, deadline: float) -> int:
    """Return the command's exit code; OSError when the connection broke before it came."""
    if not channel.status_event.wait(max(0.01, deadline - time.monotonic())):
        raise TimeoutError
    exit_code = channel.recv_exit_status()
    if exit_code < 0:
        raise ConnectionResetError
    return exit_code


def quoted(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return one shell line that runs `argv` with `environment` added."""
    if not environment:
        return shlex.join(argv)
    return shlex.join(["env", *(f"{name}={value}" for name, value in environment.items()), *argv])


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left when the command did not end by itself, and reap it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
