"""The command line ``recallm``.

Results go to standard output, progress and errors to standard error, so that a pipe gets the
results alone. Exit codes: 0 done, also if nothing was found; 1 an error, in one line; 2 wrong
usage; 130 interrupted. No text, stored or given, controls the terminal that shows it.
"""

from __future__ import annotations

import io
import logging
import sys

import recallm.distribution  # noqa: F401 - refuses another project's files among ours
from recallm.cli import (  # noqa: F401 - they add their commands to the application
    asking,
    demo,
    doctor,
    init,
    serving,
    writing,
)
from recallm.cli.app import app
from recallm.cli.output import PrintableFormatter

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line (the script ``recallm``)."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    log = logging.StreamHandler()
    log.setFormatter(PrintableFormatter("recallm: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # an error says the same
    app()
