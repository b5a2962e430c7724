"""The command line ``recallm``.

What is asked for goes to standard output, progress and errors to standard error, so that output
can be piped on. Exit codes: 0 done, also where nothing was found; 1 an error, said in one line;
2 a command that cannot be understood; 130 interrupted. No text that is stored or given steers the
terminal that shows it.
"""

from __future__ import annotations

import io
import logging
import sys

from recallm.cli import asking, writing
from recallm.cli.command import app
from recallm.cli.output import PrintableFormatter

__all__ = ["app", "asking", "main", "writing"]


def main() -> None:
    """Run the command line (the script ``recallm``)."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    notes = logging.StreamHandler()
    notes.setFormatter(PrintableFormatter("recallm: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[notes])
    app()
