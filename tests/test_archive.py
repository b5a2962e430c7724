"""Archives: lossless, and known as damaged where they are."""

from __future__ import annotations

import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO, Any

import pytest

from recallm.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.errors import ArchiveError
from recallm.model import (
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)

MENTION = ConceptMention(name="pari", label="Paris ☂", kind="entity")
FULL = PreparedUpdate(
    id="p\x00'\"1",
    t_index=3,
    text="Paris.\u2028 Rain\x00.",
    statements=(
        ExtractedStatement(
            position=0, start=0, end=6, terms=("pari",), concepts=(MENTION,), traits=Trait.PLACE
        ),
        ExtractedStatement(position=2, start=8, end=14, terms=(), concepts=(), traits=Trait(0)),
    ),
    neighbours=(Neighbours(a="pari", b="rain", earlier=0, later=2),),
    source="s",
    session="c",
    speaker="Ana",
    speaker_concept="ana",
    timestamp=datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    metadata={"nested": [1, 2.5, None, {"é": True}]},
    path=("a", "b"),
    key="k",
    expires_at=datetime(2030, 1, 1, tzinfo=timezone(-timedelta(hours=3))),
    entities=(EntityUpsert(id="e", type="t", concept=MENTION, properties={"p": None}, position=2),),
    triplets=(TripletUpsert(subject="e", predicate="is", object="e", properties={"w": 0.5}),),
    vectors=(StatementVector(position=0, model="m", blob=b"\x00\xff"),),
)
GRAPH_ONLY = PreparedUpdate(id="", t_index=5, text=None, entities=FULL.entities[:0])
SUMMARY = Summary(
    concept="pari", t_index=3, text="It rains.", terms=("rain",), traits=Trait.PRESENT
)


def archived(*records: PreparedUpdate | Summary, t_index: int = 9) -> str:
    stream = io.StringIO()
    write_archive(stream, "n", t_index, records)
    return stream.getvalue()


def loaded(text: str) -> tuple[int, list[PreparedUpdate | Summary]]:
    t_index, records = read_archive(io.StringIO(text))
    return t_index, list(records)


def test_what_was_written_is_read() -> None:
    records: list[PreparedUpdate | Summary] = [FULL, GRAPH_ONLY, SUMMARY]
    assert loaded(archived(*records)) == (9, records)


def test_an_empty_archive_is_an_archive() -> None:
    assert loaded(archived(t_index=0)) == (0, [])


def test_every_cut_is_noticed() -> None:
    """However many whole lines are missing at the end, the archive is refused."""
    lines = list(io.StringIO(archived(FULL, SUMMARY)))
    for kept in range(len(lines)):
        with pytest.raises(ArchiveError):
            loaded("".join(lines[:kept]))


def test_a_missing_line_is_noticed() -> None:
    first, _, *rest = io.StringIO(archived(FULL, SUMMARY))
    with pytest.raises(ArchiveError, match="should hold"):
        loaded("".join([first, *rest]))


@pytest.mark.parametrize(
    "change",
    [
        {"t_index": 0},
        {"t_index": 10},
        {"t_index": None},
        {"text": "cut"},
        {"statements": [[0, 0, 6, "", [], 0], [0, 6, 7, "", [], 0]]},
        {"statements": [[0, 4, 6, "", [], 0], [1, 2, 7, "", [], 0]]},
        {"statements": [[0, 0]]},
        {"neighbours": [["a", "b", 0, 7]]},
        {"timestamp": "yesterday"},
        {"vectors": [[5, "m", ""]]},
        {"entities": [{}]},
    ],
)
def test_a_record_that_contradicts_itself_names_its_line(change: dict[str, Any]) -> None:
    header, line, end = archived(FULL).rstrip("\n").split("\n")
    update = json.loads(line)
    update["update"].update(change)
    with pytest.raises(ArchiveError, match="line 2") as caught:
        loaded("\n".join([header, json.dumps(update), end]))
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"format": "other"}'])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(ArchiveError):
        loaded(text)


def test_a_newer_version_is_refused() -> None:
    text = archived().replace('"version":2', '"version":3')
    with pytest.raises(ArchiveError, match="upgrade"):
        loaded(text)


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("old")

    def fail_half_way(stream: IO[str]) -> None:
        stream.write("new")
        raise RuntimeError

    with pytest.raises(RuntimeError), open_for_writing(path) as stream:
        fail_half_way(stream)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with open_for_writing(path) as stream:
        stream.write("new")
    assert path.read_text() == "new"


def test_what_follows_an_archive_is_not_passed_over() -> None:
    text = archived(FULL)
    with pytest.raises(ArchiveError, match="follows"):
        loaded(text + text)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "memory.jsonl", tmp_path / "link.jsonl"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with open_for_writing(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        with open_for_writing(pipe) as stream:
            stream.write("through")
        assert read.result(timeout=10) == "through"
    assert pipe.is_fifo()


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with (
        pytest.raises(ArchiveError, match="cannot be read"),
        open_for_reading(tmp_path / "none.jsonl"),
    ):
        pass
    with (
        pytest.raises(ArchiveError, match="cannot be written"),
        open_for_writing(tmp_path / "no" / "folder.jsonl"),
    ):
        pass


def test_bytes_that_are_no_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ArchiveError, match="no JSON line"), open_for_reading(path) as stream:
        read_archive(stream)
