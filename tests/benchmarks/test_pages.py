"""Saved pages: what is text, and what a folder adds to a memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.pages import ingest

_ARTICLE = """<!DOCTYPE html><html><head><title>Boats</title><script>var secret = 1;</script></head>
<body><article><h1>Boats</h1><p>Ann bought a boat in Málaga. She sailed it to Porto.</p>
<p>Ben bakes bread in the old harbour, where the boats arrive.</p></article></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "deeper").mkdir(parents=True)
    (folder / "boats.html").write_text(_ARTICLE, encoding="utf-8")
    (folder / "deeper" / "saved").write_text(_ARTICLE.replace("Ann", "Zoë"), encoding="utf-16")
    (folder / "notes.txt").write_text("Cy plays the piano in Ávila.", encoding="utf-8")
    (folder / "table.csv").write_text("name,town\nCy,Bern\n")
    (folder / "empty.txt").write_bytes(b" \n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 5)
    (folder / "blank.html").write_text("<html><body></body></html>")
    return folder


def test_a_folder_is_counted_and_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    row, unreadable = ingest(folder, tmp_path / "pages.db")
    assert unreadable.keys() == {"blank.html", "empty.txt", "picture.png", "table.csv"}
    assert (unreadable["empty.txt"], unreadable["blank.html"]) == (
        "it is empty",
        "a page without text",
    )
    assert "UTF-8" in unreadable["picture.png"]
    assert "no prose" in unreadable["table.csv"]
    assert row["pages"] == row["written now"] == 3
    assert row["concepts"] >= 10
    assert row["relations"] >= 10
    assert row["statements"] >= 7
    (folder / "more.txt").write_text("Di found an owl.")
    again, _ = ingest(folder, tmp_path / "pages.db")
    assert (again["pages"], again["written now"]) == (4, 1)
    assert again["concepts"] > row["concepts"]


def test_the_table_stands_beside_the_papers(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages.main([str(folder), "--json", str(tmp_path / "out")])
    mine, paper = json.loads((tmp_path / "out").read_text())["rows"]
    assert mine["passed over"] == 4
    assert (paper["concepts"], paper["relations"]) == (10_970, 40_649)
    assert "picture.png" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        pages.main([str(tmp_path / "nowhere")])
