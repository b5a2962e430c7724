"""The command ``recallm mcp``."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from recallm.cli.app import Opener, command
from recallm.cli.arguments import read_secret

__all__ = ["mcp"]

_TOKEN = "RECALLM_MCP_TOKEN"  # noqa: S105 (the name of a variable)


@command(creates=True)
def mcp(
    open_memory: Opener,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP instead of standard input and output.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            help="Where to listen; any but this machine's own needs a token. Default: 127.0.0.1."
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Default: 8765; 0 is any free port.", min=0, max=65535)
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the token that clients send as Authorization: Bearer; or set "
            f"{_TOKEN}.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    allow_forget: Annotated[
        bool, typer.Option("--allow-forget", help="Let clients forget.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(help="Recall at most this many tokens.")] = 1000,
) -> None:
    """Serve the memory to MCP clients: Claude, Cursor, VS Code and others."""
    # Only this command needs the SDK.
    from recallm.mcp_server import (
        check_exposure,
        create_server,
        hide_contents,
        serve_http,
        serve_stdio,
    )

    if not http and (host, port, token_file) != (None, None, None):
        raise typer.BadParameter("--host, --port and --token-file go with --http")
    host = "127.0.0.1" if host is None else host
    token = os.environ.get(_TOKEN) if token_file is None else read_secret(token_file, "token_file")
    if http:
        check_exposure(host, token)  # before the memory is opened: no file is left behind
    hide_contents()
    # Clients and supervisors end a server with SIGTERM: as Ctrl-C, so that the memory is closed.
    # asyncio takes SIGINT between two steps of its loop; an exception could come within a step.
    # A shell starts background jobs with SIGINT ignored, which asyncio would leave so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    with open_memory(asks=http) as memory:
        server = create_server(memory, allow_forget=allow_forget, max_tokens=max_tokens)
        if not http:
            serve_stdio(server)
            return
        serve_http(
            server,
            host=host,
            port=8765 if port is None else port,
            token=token,
            ready=lambda url: typer.echo(f"recallm: serving {url}", err=True),
        )
