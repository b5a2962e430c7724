"""The commands that serve the memory until they are interrupted: mcp, view."""

from __future__ import annotations

import contextlib
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from recallm import RecallM
from recallm.cli.app import Opener, command


@command(creates=True)
def mcp(
    open_memory: Opener,
    *,
    allow_forget: Annotated[
        bool, typer.Option("--allow-forget", help="Let clients forget.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(help="Recall at most this many tokens.")] = 1000,
) -> None:
    """Serve the memory to MCP clients: Claude, Cursor, VS Code and others."""
    # Only this command needs the SDK.
    from recallm.mcp_server import create_server, serve_stdio

    with open_memory(asks=False) as memory:
        serve_stdio(create_server(memory, allow_forget=allow_forget, max_tokens=max_tokens))


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
