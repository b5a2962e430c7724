"""The command ``recallm view``."""

from __future__ import annotations

import contextlib
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from recallm.cli.app import Opener, command
from recallm.viewer import viewer_class

__all__ = ["view"]


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
    allow_forget: Annotated[
        bool,
        typer.Option("--allow-forget", help="Let the page forget statements and passages."),
    ] = False,
) -> None:
    """Open a local web page that shows the memory; Ctrl-C ends it (needs the extra 'viewer')."""
    viewer = viewer_class()
    with open_memory(**({} if memory is None else {"db": memory})) as opened:
        server = viewer(opened, port=port, may_forget=allow_forget)
        with contextlib.suppress(KeyboardInterrupt):  # how the command ends
            typer.echo(server.url)
            typer.echo("recallm: the page is open until Ctrl-C", err=True)
            with tempfile.TemporaryDirectory(prefix="recallm-") as folder:
                if not no_browser:
                    _open_browser(server.url, Path(folder))
                server.run()


def _open_browser(url: str, folder: Path) -> None:
    """Open the address by a file that leads there: other users of the machine see the command line
    of a browser, and the address has the token. Only this user can read the folder."""
    page = folder / "open.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={url}">', encoding="utf-8")
    webbrowser.open(page.as_uri())
