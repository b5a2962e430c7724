"""Archives: lossless, and known as damaged where they are."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations, product
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest

from recallm import NewEntity, NewItem, NewTriplet, RecallM
from recallm.errors import ArchiveError, InvalidInputError
from recallm.memory.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.model import (
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    Reference,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)
from recallm.stores.sqlite.open_files import is_open_database
from recallm.vectors import encode

from .neo4j.fixtures import RunningServer

MENTION = ConceptMention(name="pari", label="Paris ☂", kind="entity")
RAIN = ConceptMention(name="rain", label="Rain", kind="noun")
FULL = PreparedUpdate(
    id="p\x00'\"1",
    t_index=3,
    text="Paris.\u2028 Rain\x00. It went.",
    statements=(
        ExtractedStatement(
            position=0, start=0, end=6, terms=("pari",), concepts=(MENTION,), traits=Trait.PLACE
        ),
        ExtractedStatement(
            position=2, start=8, end=14, terms=(), concepts=(RAIN,), traits=Trait(0)
        ),
        ExtractedStatement(
            position=3,
            start=15,
            end=23,
            terms=("went",),
            concepts=(replace(RAIN, reference=Reference(0, 2)),),
            traits=Trait(0),
        ),
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
    entities=(
        EntityUpsert(
            id="e",
            type="t",
            concept=MENTION,
            properties={"p": None},
            position=2,
            vectors={"m": encode([3.0, -4.0])},
            mentioned=True,
        ),
    ),
    triplets=(
        TripletUpsert(subject="e", predicate="is", object="e", properties={"w": 0.5}, position=3),
    ),
    vectors=(StatementVector(position=0, model="m", blob=encode([3.0, -4.0])),),
)
FULL_ENTITIES = [
    NewEntity(id="Mary", type="person", properties={"at": 1}),
    NewEntity(id="c", concept=False, embeddings={"bag": [3.0, 4.0]}),
]
GRAPH_ONLY = PreparedUpdate(
    id="", t_index=5, text=None, entities=(EntityUpsert(id="f", type="t", concept=MENTION),)
)
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


def test_reading_returns_the_written_records() -> None:
    records: list[PreparedUpdate | Summary] = [FULL, GRAPH_ONLY, SUMMARY]
    assert loaded(archived(*records)) == (9, records)
    assert loaded(archived(t_index=0)) == (0, [])


def test_damage_is_noticed() -> None:
    """Lines that are missing, repeated, exchanged or changed in any character, and bytes that
    came, went or moved: nothing is loaded, and the error names the line."""
    header, *rest = lines = list(io.StringIO(archived(FULL, GRAPH_ONLY, SUMMARY)))
    whole = "".join(lines)
    for kept in range(len(lines)):
        with pytest.raises(ArchiveError):
            loaded("".join(lines[:kept]))
    with pytest.raises(ArchiveError, match="cut short"):
        loaded("".join(lines[:-1]))
    chance = random.Random(7)
    damaged = ["".join(order) for order in permutations(lines) if order != tuple(lines)]
    damaged += [header + "".join(rest[:n] + rest[n - 1 :]) for n in range(1, len(rest) + 1)]
    for place, character in enumerate(whole):
        damaged.append(f"{whole[:place]}{chr(ord(character) ^ 1)}{whole[place + 1 :]}")
    for _ in range(200):
        at, size = chance.randrange(len(whole) - 1), chance.randrange(1, 40)
        damaged += [whole[:at] + whole[at + size :], whole[: at + size] + whole[at:]]
    for text in damaged:
        if text.rstrip("\n") != whole.rstrip("\n"):
            with pytest.raises(ArchiveError, match=r"line \d|cut short"):
                loaded(text)
    with pytest.raises(ArchiveError, match="line 3: the archive is damaged") as caught:
        loaded(whole.replace('"id":"f"', '"id":"g"'))
    assert caught.value.line == 3
    with pytest.raises(ArchiveError, match="follows"):
        loaded(whole + whole)
    for no_archive in ("", "nonsense", "[]", "{}", '{"format": "other"}'):
        with pytest.raises(ArchiveError, match="no recallm archive"):
            loaded(no_archive)


def test_a_made_up_record_is_refused() -> None:
    """One with a checksum, and values of other types or without sense."""
    with pytest.warns(UserWarning, match="three"):
        texts = [archived(replace(FULL, t_index="three"))]  # type: ignore[arg-type]
    first, second, *others = FULL.statements
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    changes: list[dict[str, Any]] = [
        {"statements": (replace(first, end=9), second, *others)},
        {"statements": (second, first, *others)},
        {"statements": (first, replace(second, end=1 << 70), *others)},
        {"statements": (replace(first, position=-1), second, *others)},
        {"statements": (first, *others, replace(second, position=1 << 43))},
        {"timestamp": naive},
        {"expires_at": naive},
        {"withdrawn_t": 1 << 70},
        {"vectors": (replace(FULL.vectors[0], position=9),)},
    ]
    texts += [archived(replace(FULL, **change)) for change in changes]
    for text in texts:
        with pytest.raises(ArchiveError, match="line 2: this is no record of an archive"):
            loaded(text)


def test_values_keep_their_kinds() -> None:
    """Numbers of JSON, offsets of time zones, and values as deep as they may be."""
    deep: Any = []
    for _ in range(98):
        deep = [deep]
    metadata = {"zero": -0.0, "small": 5e-324, "one": 1.0, "big": 1 << 70, "is": True, "deep": deep}
    moments = (
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1890, 1, 1, 12, tzinfo=timezone(timedelta(minutes=19, seconds=32))),
    )
    with RecallM() as memory, RecallM() as other:
        for moment in moments:
            memory.update("It rained.", timestamp=moment, metadata=metadata)
        stream = io.StringIO()
        memory.export(stream)
        stream.seek(0)
        other.load(stream)
        for found, moment in zip(other.passages(), moments, strict=True):
            assert found.timestamp == moment
            assert json.dumps(dict(found.metadata)) == json.dumps(metadata)


def test_nothing_is_left_of_a_damaged_archive() -> None:
    text = archived(replace(FULL, triplets=()), GRAPH_ONLY, SUMMARY)
    with RecallM() as memory:
        for line in ('{"end":true', '{"summary":', '"text":"Paris'):
            with pytest.raises(ArchiveError):
                memory.load(io.StringIO(text.replace(line, line.upper())))
            assert memory.stats().t_index == 0
        assert memory.load(io.StringIO(text)) == 2


def test_an_endless_line_is_refused_early() -> None:
    """Of what is no archive only so much is read as a header can have."""

    class Endless(io.TextIOBase):
        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            assert size is not None
            assert 0 < size <= 1 << 20
            return "\x00" * size

    with RecallM() as memory, pytest.raises(ArchiveError, match="no recallm archive"):
        memory.load(Endless())  # type: ignore[arg-type]


def test_an_archive_goes_through_neo4j(neo4j_server: RunningServer) -> None:
    """What another store dumps is written in the same form."""
    again, stream = io.StringIO(), io.StringIO()
    with RecallM() as memory:
        memory.update("Mary saw the sea. She liked it.", speaker="Ann", timestamp=FULL.timestamp)
        memory.items.put([NewItem(path=("a", "b"), key="k", text="The sea is wide.")])
        memory.graph.upsert(
            FULL_ENTITIES, [NewTriplet(subject="Mary", predicate="saw", object="c")]
        )
        memory.export(stream)
    with RecallM(neo4j_server.uri, auth=neo4j_server.auth, namespace=uuid4().hex) as memory:
        memory.load(io.StringIO(stream.getvalue()))
        memory.export(again)
        memory.forget(everything=True)
    records = [loaded(each.getvalue()) for each in (stream, again)]
    assert records[0] == records[1]


def test_records_that_do_not_fit_together_load_nothing() -> None:
    """A store checks that: a triplet has its entities, and the vectors of a model are of one model
    and one size."""
    alone = TripletUpsert(subject="e", predicate="p", object="nobody")
    (vector,) = FULL.vectors
    for change in (
        {"triplets": (alone,)},
        {"vectors": (vector, replace(vector, position=2, model="other"))},
        {"vectors": (vector, replace(vector, position=2, blob=encode([1.0])))},
    ):
        text = archived(replace(FULL, **change))
        with RecallM() as memory:
            with pytest.raises(ArchiveError, match="do not fit together"):
                memory.load(io.StringIO(text))
            assert memory.load(io.StringIO(archived(FULL))) == 1


def test_another_version_is_refused() -> None:
    for version in ("0", "2", "3", "-1", "null", '"1"', "9" * 5000):
        text = archived().replace('"version":1', f'"version":{version}')
        with pytest.raises(ArchiveError, match="line 1: ") as caught:
            loaded(text)
        assert caught.value.line == 1, version
        if version == "2":
            assert "load it with the recallm that exported it" in str(caught.value)


def test_only_a_complete_export_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(archived())

    def fail_half_way(stream: IO[str]) -> None:
        stream.write("new")
        raise RuntimeError

    with pytest.raises(RuntimeError), open_for_writing(path) as stream:
        fail_half_way(stream)
    assert path.read_text() == archived()
    assert list(tmp_path.iterdir()) == [path]
    with open_for_writing(path) as stream:
        stream.write("new")
    assert path.read_text() == "new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "memory.jsonl", tmp_path / "link.jsonl"
    path.write_text(archived())
    path.chmod(0o640)
    link.symlink_to(path)
    with open_for_writing(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    """Neither under its own name nor through a link of either kind."""
    path, link, hard = tmp_path / "file", tmp_path / "link", tmp_path / "hard"
    path.touch()
    link.symlink_to(path)
    hard.hardlink_to(path)
    for content in (b"", b"my diary", b"SQLite format 3\x00", b"{}", b"\xff"):
        path.write_bytes(content)
        for target in (path, link, hard):
            with pytest.raises(ArchiveError, match="not written over"), open_for_writing(target):
                pytest.fail("the file was opened")
        assert path.read_bytes() == content
        assert set(tmp_path.iterdir()) == {path, link, hard}


def test_a_file_made_during_the_export_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    with (
        pytest.raises(ArchiveError, match="not written over"),
        open_for_writing(path),
    ):
        path.write_text("my diary")
    assert path.read_text() == "my diary"
    assert list(tmp_path.iterdir()) == [path]


def test_what_no_export_may_replace(tmp_path: Path) -> None:
    """SQLite would delete or write over a file of that name, also where there is none yet."""
    targets = {"/": "is no file", "/dev/full": "is no file", "/dev/zero": "is no file"}
    for ending in ("-wal", "-shm", "-journal"):
        targets[str(tmp_path / f"e.db{ending}")] = "belongs to a database"
    with open_for_writing(tmp_path / ("x" * 255)) as stream:  # the longest name
        stream.write("new")
    assert (tmp_path / ("x" * 255)).read_text() == "new"
    for target, problem in targets.items():
        with pytest.raises(ArchiveError, match=problem), open_for_writing(target):
            pytest.fail("the file was opened")


def test_a_value_that_is_no_path_is_refused() -> None:
    strange: tuple[Any, ...] = ("\x00", "", "x" * 5000, "\ud800", b"file", 5, None)
    for value, opened in product(strange, (open_for_writing, open_for_reading)):
        with pytest.raises(InvalidInputError), opened(value):
            pytest.fail("it was opened")


def test_streams_must_be_of_text() -> None:
    with pytest.raises(ArchiveError, match="cannot be written"):
        write_archive(io.BytesIO(), "n", 0, [])  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="text stream"):
        read_archive(io.BytesIO(archived().encode()))  # type: ignore[arg-type]


def test_lines_hold_no_terminal_controls() -> None:
    """JSON escapes those below a space; the rest is escaped here, and reads the same."""
    strange = "".join(map(chr, [*range(160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
    text = archived(replace(GRAPH_ONLY, id="p", text=strange))
    assert not set(strange) & set(text) - set(map(chr, range(32, 127))) - {"\n"}
    (update,) = loaded(text)[1]
    assert isinstance(update, PreparedUpdate)
    assert update.text == strange


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="be read"), open_for_reading(tmp_path / "none.jsonl"):
        pass
    folder = tmp_path / "no" / "folder.jsonl"
    with pytest.raises(ArchiveError, match="cannot be written"), open_for_writing(folder):
        pass
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ArchiveError, match="no recallm archive"), open_for_reading(path) as stream:
        read_archive(stream)


@pytest.mark.slow
def test_an_open_database_is_not_touched(tmp_path: Path) -> None:
    """A process that opens and closes the file of a database has lost all its locks on it: another
    process that closes the database would delete the log under the first one."""
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        memory.update("Ann lives in Rome.")
        assert is_open_database(path)
        for ending, touch in product(("", "-wal", "-shm"), (memory.export, memory.load)):
            with pytest.raises(ArchiveError, match="belongs to"):
                touch(f"{path}{ending}")
        program = (
            "import sys; from recallm import RecallM\n"
            "with RecallM(sys.argv[1]) as memory: memory.update('Bo lives in Oslo.')\n"
        )
        subprocess.run([sys.executable, "-c", program, path], check=True)
        memory.update("Cy lives in Lima.")
        assert memory.stats().passages == 3
    # The closed memory, which is still there, has nothing open.
    assert not is_open_database(path)
