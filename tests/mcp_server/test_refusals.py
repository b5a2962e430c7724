"""What the command ``recallm mcp`` refuses before it serves."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recallm import InvalidInputError
from recallm.cli import app
from recallm.mcp_server import check_exposure
from tests.command_line import enter


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    enter(tmp_path, monkeypatch)
    return tmp_path


def test_a_server_open_to_other_machines_needs_a_token(
    folder: Path, subtests: pytest.Subtests
) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.evil", ""):
        with subtests.test(host=host):
            done = CliRunner().invoke(app, ["mcp", "--http", "--host", host, "--db", "a.db"])
            assert done.exit_code == 1
            assert "open to other machines: give a token" in done.stderr
            assert not list(folder.iterdir())
            with pytest.raises(InvalidInputError, match="give a token") as refused:
                check_exposure(host, None)
            assert refused.value.argument == "host"
    for host in ("127.0.0.1", "::1", "localhost"):
        check_exposure(host, None)


def test_a_token_that_is_guessed_or_cannot_be_sent_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for token in ("", "short", "with space " * 3, "ü" * 32, "line\nbreak" * 4):
        with subtests.test(token=token):
            (folder / "token").write_text(token, encoding="utf-8")
            in_file = CliRunner().invoke(app, ["mcp", "--http", "--token-file", "token"])
            monkeypatch.setenv("RECALLM_MCP_TOKEN", token)
            in_variable = CliRunner().invoke(app, ["mcp", "--http"])
            monkeypatch.delenv("RECALLM_MCP_TOKEN")
            for done in (in_file, in_variable):
                assert done.exit_code == 1
                assert "the token must be at least 16" in done.stderr
                assert not token.strip() or token not in done.output


def test_token_files_that_cannot_be_used(folder: Path) -> None:
    (folder / "token").write_bytes(b"\xff" * 32)
    assert (
        "not text in UTF-8"
        in CliRunner().invoke(app, ["mcp", "--http", "--token-file", "token"]).stderr
    )
    assert CliRunner().invoke(app, ["mcp", "--http", "--token-file", "none"]).exit_code == 2


def test_options_of_http_go_with_it(folder: Path, subtests: pytest.Subtests) -> None:
    (folder / "token").write_text("0123456789abcdef")
    for option in ("--host=127.0.0.1", "--port=0", "--token-file=token"):
        with subtests.test(option=option):
            done = CliRunner().invoke(app, ["mcp", option])
            assert done.exit_code == 2
            assert "--http" in done.stderr
            assert [path.name for path in folder.iterdir()] == ["token"]


@pytest.mark.usefixtures("folder")
def test_no_password_is_read_from_the_clients_messages() -> None:
    initialize = '{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n'
    done = CliRunner().invoke(app, ["mcp", "--db", "neo4j://localhost:1"], input=initialize)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--password-file" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["mcp", "--http", "--port", port, "--db", "a.db"])
    assert done.exit_code == 1
    assert "Address already in use" in done.stderr
    assert "choose another --port" in done.stderr
    assert len(done.stderr.splitlines()) == 1
