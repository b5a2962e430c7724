"""A stand-in for a cluster: members with a leader that can move, before one real server.

Each member listens at a port of its own and forwards Bolt to the server. Two kinds of messages are
changed on the way. The routing table that the server sends becomes that of the members. A write at
a member that does not lead becomes a query that the server must refuse, and the reply becomes the
failure of such a member: so each request still has its one reply, in order.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any, Self

from recallm.stores.neo4j.changes import PUT

_HANDSHAKE = b"\x60\x60\xb0\x17\x00\x04\x04\x05" + bytes(12)
"""Bolt 5.0 to 5.4: the routing table and the failures of later versions look otherwise."""
_RUN, _BEGIN, _COMMIT, _ROLLBACK, _RESET = 0x10, 0x11, 0x12, 0x13, 0x0F
_SUCCESS, _FAILURE = 0x70, 0x7F
_ROUTING_TABLE = b"\xb1\x70\xa1\x82rt"
_READS = b"\x84mode\x81r"
_COMMITS_ITSELF = PUT.splitlines()[-1].encode()
"""The end of a query that is a transaction of its own."""
_REFUSED = b"\xb3\x10\x81x\xa0\xa0"
"""RUN of a query that is no Cypher."""

NOT_A_LEADER = "Neo.ClientError.Cluster.NotALeader"


class Member:
    """One member of the cluster.

    Attributes:
        port: where it listens, on 127.0.0.1.
        reads: how many transactions that read it has begun.
        commits: how many transactions that write it has committed.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.reads = 0
        self.commits = 0
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def drop(self) -> None:
        """Drop all connections."""
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """Serve nobody any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._cluster.target)
            self._ends += [client, server]
            threading.Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            _exactly(client, 20)
            server.sendall(_HANDSHAKE)
            client.sendall(_exactly(server, 4))
            failures: list[str] = []  # what the next failures of the server become
            threading.Thread(
                target=self._answer, args=(server, client, failures), daemon=True
            ).start()
            self._ask(client, server, failures)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _ask(self, client: socket.socket, server: socket.socket, failures: list[str]) -> None:
        """Forward the client's messages until a move of the leader drops the connection."""
        open_ = False  # whether a transaction was begun
        writes = False  # whether the transaction writes
        for message in _messages(client):
            kind = message[1]
            begins = kind == _BEGIN or (kind == _RUN and not open_)
            if begins:
                writes = _READS not in message
                self.reads += not writes
            open_ = kind == _BEGIN or (open_ and kind not in (_COMMIT, _ROLLBACK, _RESET))
            if writes and kind in (_BEGIN, _RUN, _COMMIT):
                commits = kind == _COMMIT or (not open_ and _COMMITS_ITSELF in message)
                lost, code = self._cluster.meets(self, commits=commits)
                if lost == "before":
                    return
                if code is not None:
                    failures.append(code)
                    writes = False
                    message = _REFUSED
                elif commits:
                    self.commits += 1
                    if lost == "after":  # a query has two replies, before and behind its rows
                        failures += [""] if kind == _COMMIT else ["", ""]
            _send(server, message)

    def _answer(self, server: socket.socket, client: socket.socket, failures: list[str]) -> None:
        with contextlib.suppress(OSError, EOFError):
            for message in _messages(server):
                if "" in failures:  # a reply to a commit that is lost
                    if message[1] == _SUCCESS:
                        failures.remove("")
                        if "" not in failures:
                            break
                    continue
                if message.startswith(_ROUTING_TABLE):
                    message = b"\xb1\x70" + _packed({"rt": self._cluster.routing_table()})
                elif message[1] == _FAILURE and failures:
                    code = failures.pop(0)
                    message = b"\xb1\x7f" + _packed({"code": code, "message": "by the stand-in"})
                _send(client, message)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Cluster:
    """Three members before one server; a context manager.

    Args:
        target: host and port of the server.

    Attributes:
        members: all of them.
        leader: the member that takes writes; None while there is none.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._moves: list[tuple[str, int]] = []
        self.members = [Member(self) for _ in range(3)]
        self.leader: Member | None = self.members[0]

    @property
    def uri(self) -> str:
        """The address of a member, as ``neo4j://``."""
        return f"neo4j://127.0.0.1:{self.members[2].port}"

    @property
    def settled(self) -> bool:
        """Whether all that ``move_at`` asked for has happened."""
        return not self._moves

    def move_at(self, how: str, *, message: int = 1) -> None:
        """Let the leader move at its ``message``-th message of a write that comes from now on.

        ``how``: "refuse" (from then on the old leader refuses writes), "drop" (it drops the
        connection before the message), "commit" (it drops the connection after the next commit,
        whose reply is lost), or the code of an error, which the leader answers and stays.
        """
        with self._lock:
            self._moves.append((how, message))

    def meets(self, member: Member, *, commits: bool) -> tuple[str | None, str | None]:
        """What becomes of a message of a write: whether the connection is lost "before" or "after"
        the message, and the code of the failure that the member answers."""
        with self._lock:
            if member is not self.leader:
                return None, NOT_A_LEADER
            if not self._moves:
                return None, None
            how, left = self._moves[0]
            if how == "commit":
                if not commits:
                    return None, None
            elif left > 1:
                self._moves[0] = (how, left - 1)
                return None, None
            self._moves.pop(0)
            if how.startswith("Neo."):
                return None, how
            self.leader = self.members[(self.members.index(member) + 1) % 3]
            match how:
                case "refuse":
                    return None, NOT_A_LEADER
                case "drop":
                    return "before", None
                case _:
                    return "after", None

    def routing_table(self) -> dict[str, Any]:
        """What a member answers to a driver that asks for the members."""

        def servers(role: str, members: list[Member]) -> dict[str, Any]:
            return {"role": role, "addresses": [f"127.0.0.1:{member.port}" for member in members]}

        leader = self.leader
        return {
            "ttl": 60,
            "db": "neo4j",
            "servers": [
                servers("WRITE", [] if leader is None else [leader]),
                servers("READ", [member for member in self.members if member is not leader]),
                servers("ROUTE", self.members),
            ],
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.close()


def _exactly(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        chunk = source.recv(size - len(found))
        if not chunk:
            raise EOFError
        found += chunk
    return found


def _messages(source: socket.socket) -> Iterator[bytes]:
    """The messages, without their chunks; a chunk of no bytes ends each."""
    message = b""
    while True:
        size = int.from_bytes(_exactly(source, 2))
        if size:
            message += _exactly(source, size)
        elif message:
            yield message
            message = b""


def _send(sink: socket.socket, message: bytes) -> None:
    chunks = [message[at : at + 0xFFFF] for at in range(0, len(message), 0xFFFF)]
    sink.sendall(b"".join(len(chunk).to_bytes(2) + chunk for chunk in chunks) + b"\0\0")


def _packed(value: Any) -> bytes:
    """A value in PackStream: maps and lists of fewer than 16, texts of fewer than 256 bytes, small
    integers."""
    match value:
        case dict():
            pairs = b"".join(_packed(name) + _packed(each) for name, each in value.items())
            return bytes([0xA0 + len(value)]) + pairs
        case list():
            return bytes([0x90 + len(value)]) + b"".join(map(_packed, value))
        case int():
            return value.to_bytes()
        case _:
            text = str(value).encode()
            return b"\xd0" + len(text).to_bytes() + text
