"""The commands that serve the memory until they are interrupted: mcp, view."""

from __future__ import annotations

import contextlib
import os
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from recallm import RecallM
from recallm.cli.app import Opener, command, read_secret

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
    from recallm.mcp_server import check_exposure, create_server, serve_http, serve_stdio

    if not http and (host, port, token_file) != (None, None, None):
        raise typer.BadParameter("--host, --port and --token-file go with --http")
    host = "127.0.0.1" if host is None else host
    token = os.environ.get(_TOKEN) if token_file is None else read_secret(token_file, "token_file")
    if http:
        check_exposure(host, token)  # before the memory is opened: no file is left behind
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


@command()
def view(
    open_memory: Opener,
    *,
    memory: Annotated[
        str | None,
        typer.Argument(help="What --db names: a SQLite file, or the address of a server."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Of the page. Default: a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Open a local web page that shows the memory; Ctrl-C ends it (needs the extra 'viewer')."""
    import recallm.viewer  # noqa: F401 - fails without the extra, before the memory is opened

    with open_memory(**({} if memory is None else {"db": memory})) as opened:
        show_page(opened, port=port, opens_browser=not no_browser)


def show_page(
    memory: RecallM,
    *,
    port: int = 0,
    opens_browser: bool = True,
    question: str | None = None,
) -> None:
    """Serve the viewer until Ctrl-C. The browser opens at ``question``, or at an overview.

    Raises:
        MissingDependencyError: the extra "viewer" is not installed.
        OSError: the port is taken.

    """
    # Only those who look import a web server.
    from recallm.viewer import Viewer

    server = Viewer(memory, port=port)
    url = server.url if question is None else f"{server.url}#/ask/{quote(question)}"
    with contextlib.suppress(KeyboardInterrupt):  # how the command ends
        typer.echo(url)
        typer.echo("recallm: the page is open until Ctrl-C", err=True)
        with tempfile.TemporaryDirectory(prefix="recallm-") as folder:
            if opens_browser:
                _open_browser(url, Path(folder))
            server.run()


def _open_browser(url: str, folder: Path) -> None:
    """Open the address by a file that leads there: other users of the machine see the command line
    of a browser, and the address has the token. Only this user can read the folder."""
    page = folder / "open.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={url}">', encoding="utf-8")
    webbrowser.open(page.as_uri())
