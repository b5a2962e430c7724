"""Ingest of saved pages: how many concepts and relations, how fast, how large?

    python -m benchmarks.pages FOLDER [--db FILE] [--json OUT]

After the paper's run on web pages cited by TruthfulQA. Every file in FOLDER and in its folders is
a page: HTML (by its name or its first tag), of which the main text is taken, or plain text in
UTF-8. A page is one knowledge update, its path the id, the source and the session. Files that are
empty, hold no text or only rows of a table are reported and passed over. A page
that is in the memory already is not read again, so that a run that was stopped can go on (``--db``;
without it the memory is a temporary file).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.report import report, show
from recallm import DocumentError, InvalidInputError, RecallM

_PAPER = {"run": "the paper (10 % of TruthfulQA's pages)", "concepts": 10_970, "relations": 40_649}


def main(arguments: Sequence[str] | None = None) -> None:
    """Ingest the folder, report."""
    parser = argparse.ArgumentParser(description="Concepts and relations of saved pages")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--db", type=Path, help="the SQLite file; default: a temporary one")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is no folder")
    with tempfile.TemporaryDirectory() as temporary:
        row, unreadable = ingest(options.folder, options.db or Path(temporary, "pages.db"))
    if unreadable:
        show("Pages that were passed over", [{"page": k, "why": v} for k, v in unreadable.items()])
    report("Pages", [row, {name: _PAPER.get(name) for name in row}], options.json)


def ingest(folder: Path, database: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Write all pages of a folder into a memory. A row of counts, times and sizes; and why pages
    were passed over, by their paths in the folder."""
    unreadable: dict[str, str] = {}
    statements = written = 0
    began = time.perf_counter()
    with RecallM(database) as memory:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in tqdm(paths, desc="pages", leave=False, disable=None):
            name = str(path.relative_to(folder))
            if memory.get(name) is not None:
                continue
            try:
                done = memory.update_from_file(path, id=name, source=name, session=name)
            except DocumentError as error:
                unreadable[name] = error.problem
                continue
            except InvalidInputError as error:
                unreadable[name] = str(error)
                continue
            written += 1
            statements += len(done.statements)
        seconds = time.perf_counter() - began
        stats = memory.stats()
    row = {
        "run": folder.resolve().name,
        "concepts": stats.concepts,
        "relations": stats.relations,
        "statements": stats.statements,
        "pages": stats.passages,
        "passed over": len(unreadable),
        "written now": written,
        "seconds": seconds,
        "statements/s": statements / seconds,
        "file MB": database.stat().st_size / 1e6,
    }
    return row, unreadable


if __name__ == "__main__":
    main()
