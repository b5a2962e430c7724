"""Ingest of saved pages: how many concepts and relations, how fast, how large?

    python -m benchmarks.pages FOLDER [--db FILE] [--json OUT]

After the paper's run on web pages cited by TruthfulQA. Every file in FOLDER and in its folders is
a page: HTML (by its name or its first tag), of which the main text is taken, or plain text. A
page is one knowledge update, its path the id, the source and the session. Files that are empty,
that are not text in any encoding, or of which nothing is left are reported and passed over. A page
that is in the memory already is not read again, so that a run that was stopped can go on (``--db``;
without it the memory is a temporary file).
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trafilatura
from charset_normalizer import from_bytes
from tqdm import tqdm

from benchmarks.report import report, show
from recallm import RecallM

__all__ = ["UnreadablePageError", "ingest", "main", "page_text"]

_HTML = frozenset((".html", ".htm", ".xhtml"))
_MARKUP = re.compile(r"\s*(?:<\?xml|<!doctype html|<html)", re.IGNORECASE)
_PAPER = {"run": "the paper (10 % of TruthfulQA's pages)", "concepts": 10_970, "relations": 40_649}


class UnreadablePageError(ValueError):
    """A file holds no text; the message says why."""


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
    characters = statements = written = 0
    began = time.perf_counter()
    with RecallM(database) as memory:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in tqdm(paths, desc="pages", leave=False, disable=None):
            name = str(path.relative_to(folder))
            if memory.get(name) is not None:
                continue
            try:
                text = page_text(path)
            except (UnreadablePageError, OSError) as error:
                unreadable[name] = str(error)
                continue
            done = memory.update(text, id=name, source=name, session=name)
            written += 1
            characters += len(text)
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
        "characters": characters,
        "seconds": seconds,
        "statements/s": statements / seconds,
        "file MB": database.stat().st_size / 1e6,
    }
    return row, unreadable


def page_text(path: Path) -> str:
    """The text of a page; of HTML its main text.

    Raises:
        UnreadablePageError: the file is empty, is no text, or its page has no text.
        OSError: the file cannot be read.

    """
    content = path.read_bytes()
    if not content.strip():
        raise UnreadablePageError("empty")
    decoded = from_bytes(content).best()
    if decoded is None:
        raise UnreadablePageError("not text in any encoding")
    text: str | None = str(decoded)
    if path.suffix.lower() in _HTML or _MARKUP.match(str(decoded)):
        text = trafilatura.extract(str(decoded), favor_recall=True, include_comments=False)
    if text is None or not text.strip():
        raise UnreadablePageError("a page without text")
    return text


if __name__ == "__main__":
    main()
