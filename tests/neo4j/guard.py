"""Keeps one server process and ends it when the pipe on standard input says so, or closes.

Called as ``guard.py HOME COMMAND …``. Orders are lines: ``stop`` lets the server close its files,
``kill`` does not. A pipe that closes without an order means that the tests are gone: the server is
killed and HOME deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def guard(home: Path, command: list[str], orders: IO[str]) -> None:
    """Run `command` until an order comes or the pipe of orders closes."""
    with (home / "output.txt").open("ab") as output:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=home
        )
    ordered = threading.Event()

    def leave_when_the_server_ends() -> None:
        server.wait()
        if not ordered.is_set():
            os._exit(1)

    threading.Thread(target=leave_when_the_server_ends, daemon=True).start()
    order = orders.readline().strip()
    ordered.set()
    if order == "stop":
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=30)
    server.kill()
    server.wait()
    if not order:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    guard(Path(sys.argv[1]), sys.argv[2:], sys.stdin)
