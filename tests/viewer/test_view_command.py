"""The command ``recallm view``, as a process, and what importing recallm costs."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recallm import RecallM
from recallm.cli import app
from recallm.viewer import Viewer

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-c", "from recallm.cli import main; main()")


@contextmanager
def viewing(*arguments: str) -> Iterator[str]:
    """The address of a viewer that runs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        (*COMMAND, "view", *arguments, "--no-browser"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, ""), errors
        assert "Traceback" not in errors


@pytest.fixture
def db(tmp_path: Path) -> str:
    file = tmp_path / "memory.db"
    with RecallM(file) as memory:
        memory.update("Ingrid lives in Malaga.")
        memory.in_namespace("other").update("Bo lives in Rome.")
    return str(file)


@pytest.mark.slow
def test_the_printed_address_opens_the_page_on_the_loopback_address(db: str) -> None:
    with viewing("--db", db, "--namespace", "other") as url:
        found = re.fullmatch(r"(http://127\.0\.0\.1:(\d+))/\?token=([\w-]{43})", url)
        assert found, url
        address, port, token = found.groups()
        with urllib.request.urlopen(url) as page:
            assert "recallm" in page.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)
        own = socket.gethostbyname(socket.gethostname())
        if not own.startswith("127."):
            with pytest.raises(OSError, match="refused"):
                socket.create_connection((own, int(port)), timeout=5)
        request = urllib.request.Request(
            f"{address}/api/concepts", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        assert "Rome" in text
        assert "Ingrid" not in text


def test_each_start_has_a_token_of_its_own() -> None:
    with RecallM() as memory:
        viewers = [Viewer(memory) for _ in range(2)]
        assert viewers[0].url.partition("token=")[2] != viewers[1].url.partition("token=")[2]
        for viewer in viewers:
            viewer.stop()
            viewer.run()  # closes its socket


def test_a_port_that_is_taken_is_named(db: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["view", db, "--no-browser", "--port", port])
    assert done.exit_code == 1
    assert port in done.stderr
    assert "Traceback" not in done.output


def test_a_memory_that_is_missing_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    done = CliRunner().invoke(app, ["view", str(missing), "--no-browser"])
    assert done.exit_code == 1
    assert "there is no memory" in done.stderr
    assert not missing.exists()


@pytest.mark.slow
def test_without_their_extra_servers_say_what_to_install(db: str) -> None:
    """And importing recallm imports none of them."""
    code = (
        "import sys, recallm, recallm.cli\n"
        "assert not {'mcp', 'starlette', 'uvicorn'} & sys.modules.keys()\n"
        "sys.modules['mcp'] = sys.modules['uvicorn'] = None\n"
        "for sys.argv in (['recallm', 'mcp', *sys.argv[1:]], ['recallm', 'view', *sys.argv[1:]]):\n"
        "    try:\n"
        "        recallm.cli.main()\n"
        "    except SystemExit as ended:\n"
        "        assert ended.code == 1\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", code, "--db", db),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == "".join(
        f"recallm: {name} is not installed; "
        f"install it with: pip install 'recallm-memory[{extra}]'\n"
        for name, extra in (("mcp", "mcp"), ("uvicorn", "viewer"))
    )


def test_no_command_line_shows_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other users see the arguments of a browser."""

    class Viewer:
        url = "http://127.0.0.1:1/?token=secret"

        def __init__(self, *_: object, **__: object) -> None: ...

        def run(self) -> None:
            [address] = opened
            page = Path(address.removeprefix("file://"))
            assert "secret" not in address
            assert f"url={self.url}" in page.read_text(encoding="utf-8")
            assert page.parent.stat().st_mode & 0o077 == 0

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("recallm.viewer.Viewer", Viewer)
    RecallM(tmp_path / "m.db").close()
    done = CliRunner().invoke(app, ["view", str(tmp_path / "m.db")])
    assert done.exit_code == 0, done.output
    assert not Path(opened[0].removeprefix("file://")).exists()
