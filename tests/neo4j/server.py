"""Starts a Neo4j Community server from its Maven artifacts, for tests.

Rules kept here:

* Nothing outlives the tests. Java is the child of a guard process (`guard.py`) that waits on a pipe
  from the tests; when the pipe closes, however the tests ended, the guard kills Java and deletes
  the server's directory.
* Authentication is on, ports are free ones, data lies in a temporary directory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

PASSWORD = "recallm-tests"
"""The password that a started server gets on its first login."""

FIRST_AUTH = ("neo4j", "neo4j")
"""What a new server accepts once, to set a password."""

_HERE = Path(__file__).resolve().parent
# The last two lines keep plans for longer: planning is most of what short tests wait for.
_CONFIG = """\
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.usage_report.enabled=false
server.memory.pagecache.size={page_cache}
db.tx_log.preallocate=false
db.shutdown_transaction_end_timeout=1s
dbms.cypher.min_replan_interval=10m
internal.cypher.use_parameter_size=false
"""

# Tests run each query a few times: the second compiler never earns back its time. To verify the
# server's classes takes a seventh of what a start and the first plans cost.
_FOR_SHORT_TESTS = [
    "-Xmx512m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
]


class ServerToolMissing(Exception):
    """Java or Maven is not installed, or Maven could not fetch the server."""


def classpath() -> str:
    """Return the Java class path of the server, fetched by Maven the first time (150 MB).

    Raises:
        ServerToolMissing: no ``java``, no ``mvn``, or no artifacts.
    """
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise ServerToolMissing(
                f"{tool} is not installed: the Neo4j tests need Java 17 and Maven, "
                "or a server of yours in NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD"
            )
    pom, found = _HERE / "pom.xml", _HERE / "target" / "classpath.txt"
    if found.exists() and found.stat().st_mtime >= pom.stat().st_mtime:
        jars = found.read_text().strip()
        if all(Path(jar).exists() for jar in jars.split(os.pathsep)):
            return jars
    build = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if build.returncode != 0:
        raise ServerToolMissing(f"Maven could not fetch Neo4j:\n{build.stdout[-2000:]}")
    return found.read_text().strip()


class Neo4jServer:
    """One server in a temporary directory; a context manager.

    Args:
        for_benchmarks: with both of Java's compilers and memory enough, as a server in use has
            them; one for tests is small and starts fast.

    Attributes:
        uri: where it listens, as ``neo4j://127.0.0.1:PORT``.
        auth: user name and password.
        home: its temporary directory.
    """

    def __init__(self, *, for_benchmarks: bool = False) -> None:
        self._classpath = classpath()
        self._java_options = ["-Xmx2g"] if for_benchmarks else _FOR_SHORT_TESTS
        self.home = Path(tempfile.mkdtemp(prefix="recallm-neo4j-"))
        self.port = _free_port()
        self.uri = f"neo4j://127.0.0.1:{self.port}"
        self.auth = ("neo4j", PASSWORD)
        self._guard: subprocess.Popen[str] | None = None
        (self.home / "conf").mkdir()
        (self.home / "conf" / "neo4j.conf").write_text(
            _CONFIG.format(port=self.port, page_cache="1g" if for_benchmarks else "64m")
        )

    @property
    def bolt_uri(self) -> str:
        """The same address without routing."""
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        """Whether the server has been started and not been stopped."""
        return self._guard is not None and self._guard.poll() is None

    def start(self, *, timeout: float = 90.0) -> None:
        """Start, or start again after `stop`, with the data as they were; wait until it answers."""
        if self.running:
            return
        java = [
            "java",
            *self._java_options,
            "-XX:+UseSerialGC",
            "-cp",
            self._classpath,
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'conf'}",
        ]
        # A session of its own: Ctrl-C in the terminal reaches the tests, which then close the pipe.
        self._guard = subprocess.Popen(
            [sys.executable, str(_HERE / "guard.py"), str(self.home), *java],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            self._wait_until_it_answers(time.monotonic() + timeout)
        except BaseException:
            self.close()
            raise

    def stop(self, *, kill: bool = False) -> None:
        """Stop the server and keep its data; with `kill`, without letting it say good-bye."""
        self._end("kill\n" if kill else "stop\n")

    def close(self) -> None:
        """Stop the server for good and delete its directory."""
        self._end("")
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _end(self, command: str) -> None:
        guard, self._guard = self._guard, None
        if guard is None or guard.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):
            guard.stdin.write(command)
            guard.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            guard.stdin.close()
        guard.wait(timeout=60)

    def _wait_until_it_answers(self, deadline: float) -> None:
        last: Exception | None = None
        while self.running and time.monotonic() < deadline:
            time.sleep(0.1)
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                with self._driver(self.auth) as driver:
                    driver.execute_query("RETURN 1", database_="neo4j")
                return
            except AuthError as error:
                last = error
                self._set_password()
            except (OSError, DriverError, Neo4jError) as error:
                last = error
        output = (self.home / "output.txt").read_text(errors="replace")
        raise RuntimeError(f"Neo4j did not start: {last}\n{output[-3000:]}") from last

    def _set_password(self) -> None:
        with contextlib.suppress(DriverError, Neo4jError), self._driver(FIRST_AUTH) as driver:
            driver.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
                old=FIRST_AUTH[1],
                new=PASSWORD,
                database_="system",
            )

    def _driver(self, auth: tuple[str, str]) -> Driver:
        return GraphDatabase.driver(self.bolt_uri, auth=auth, max_transaction_retry_time=0)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
