"""Damaged and made-up archives: each is refused with its line, or loads as if it had been written.

A rich archive is mutated, value by value (each place gets every kind of strange value), record by
record and byte by byte, always the same way. Whatever loads must be a memory like any other: it
takes further writes, and exports what it was loaded from.
"""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from recallm import ArchiveError, NewEntity, NewItem, NewTriplet, RecallM
from recallm.memory.archive.records import LAST_T

from .neo4j.fixtures import RunningServer
from .vectors.fakes import words

Lines = list[dict[str, Any]]
Place = tuple[int, list[str | int]]
"""A line, and the way to a value in it."""

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.5, 1.0, 1 << 32, 1 << 63, -(1 << 70), 10**4000, 0.0, -0.0, "",
    " ", "x", "ab", "Paris", "\x00", "\ud800", "\ufeff", "x" * 2000, "2024-01-01T00:00:00",
    "2024-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "2024-02-30T00:00:00+00:00", "====", [],
    [[]], [None], ["x"], [1, 2], [["a", "b", 0, 0]], {}, {"a": 1}, {"": None}, {"x": [{}]},
)  # fmt: skip
RAW = (
    "NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "[" * 100_000, '{"a":' * 100_000,
    "[" * 600 + "]" * 600, '{"a":1,"a":2}', '"\\ud800"', '"\\udfff\\ud800"', "'x'", "01", "+1",
    "1.", "", "undefined", '"\x01"', '"\n"', "\x00",
)  # fmt: skip


@cache
def archive() -> str:
    """A bit of everything."""
    answers = iter(f"Mary and the sea, part {n}." for n in range(1000))
    moment = datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=UTC)
    with RecallM(embeddings=words, llm=lambda _: next(answers), clock=lambda: moment) as memory:
        for n in range(4):
            memory.update(
                f"Mary saw the sea at Paris {n} times. She told Bo about the sea!",
                id=f"p{n}",
                speaker="Ann",
                session=f"c{n % 2}",
                source="diary" if n else None,
                timestamp=moment + timedelta(minutes=n),
                metadata={"n": n, "deep": [1.5, None, {"é": True}]},
                expires_at=moment + timedelta(days=9) if n == 1 else None,
                entities=[
                    NewEntity(id="Mary", type="person", properties={"at": n}),
                    NewEntity(id="chunk", concept=False, embeddings={"bag": [3.0, n, 4.0]}),
                ],
                triplets=[NewTriplet(subject="Mary", predicate="saw", object="chunk")],
            )
        memory.items.put([NewItem(path=("a", "b"), key="k", text="The sea is wide.")])
        memory.graph.upsert(
            [NewEntity(id="Acme", type="company")],
            [NewTriplet(subject="Mary", predicate="works at", object="Acme")],
        )
        memory.forget(id="p2")
        memory.update("Bo\u2028 likes \x00 the sea.", id="last")
        stream = io.StringIO()
        memory.export(stream)
        return stream.getvalue()


def parsed(text: str) -> Lines:
    return [json.loads(line) for line in text.rstrip("\n").split("\n")]


def spelled(lines: Lines) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def places(lines: Lines) -> Iterator[Place]:
    """Every value of every line."""

    def within(value: Any, path: list[str | int]) -> Iterator[list[str | int]]:
        yield path
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            for key, each in inner:
                yield from within(each, [*path, key])

    for number, line in enumerate(lines):
        for path in within(line, []):
            if path:
                yield number, path


def changed(lines: Lines, place: Place, change: Callable[[Any, Any], None]) -> str:
    lines = copy.deepcopy(lines)
    number, (*way, last) = place
    holder: Any = lines[number]
    for step in way:
        holder = holder[step]
    change(holder, last)
    return spelled(lines)


def setting(value: Any) -> Callable[[Any, Any], None]:
    return lambda holder, last: holder.__setitem__(last, value)


def check(text: str) -> bool:
    """Whether ``text`` loads, into a memory that is whole, or is refused and leaves nothing."""
    with RecallM(embeddings=words, llm=lambda _: "The sea.") as memory:
        try:
            memory.load(io.StringIO(text))
        except ArchiveError:
            assert memory.stats().t_index == 0
            assert memory._opened.store.namespaces() == []
            return False
        stream = io.StringIO()
        memory.export(stream)
        for line, given in zip(parsed(stream.getvalue()), parsed(text), strict=True):
            for either, name in product((given, line), ("namespace", "version")):
                either.pop(name, None)
            assert json.dumps(line) == json.dumps(_in_shortest_form(given))
        memory.recall("What did Mary see at Paris?", limit=3)
        memory.update("Mary saw the sea.", entities=[NewEntity(id="Mary", type="person")])
        memory.forget(concept="sea")
        memory.forget(everything=True)
    return True


def _in_shortest_form(line: dict[str, Any]) -> dict[str, Any]:
    """A field that is null or empty may be there or not."""
    update = line.get("update")
    if update is not None:
        if update.get("entities"):
            update["entities"] = [_without_empty_fields(each) for each in update["entities"]]
        line["update"] = _without_empty_fields(update)
    return line


def _without_empty_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def test_the_archive_itself_loads() -> None:
    assert check(archive())
    kinds = [next(iter(line)) for line in parsed(archive())]
    assert {"update", "summary", "end"} < set(kinds)


def test_the_archive_goes_through_neo4j(neo4j_server: RunningServer) -> None:
    """What another store dumps is in the form that is loaded."""
    again = io.StringIO()
    with RecallM(neo4j_server.uri, auth=neo4j_server.auth, namespace=uuid4().hex) as memory:
        memory.load(io.StringIO(archive()))
        memory.export(again)
        memory.forget(everything=True)
    assert parsed(again.getvalue())[1:] == parsed(archive())[1:]
    assert check(again.getvalue())


@pytest.mark.parametrize("number", [30, pytest.param(600, marks=pytest.mark.nightly)])
def test_strange_values(number: int) -> None:
    lines = parsed(archive())
    chance = random.Random(12)
    everywhere = list(places(lines))
    outcomes = [
        check(changed(lines, chance.choice(everywhere), setting(chance.choice(STRANGE))))
        for _ in range(number)
    ]
    assert outcomes.count(False) > len(outcomes) / 2


def test_strange_json_in_some_places() -> None:
    """Also where any JSON is allowed: in metadata and properties."""
    lines = parsed(archive())
    free = [(n, path) for n, path in places(lines) if path[-1] in {"n", "at", "t_index", "text"}]
    for raw in RAW:
        for place in random.Random(raw).sample(free, 2):
            text = changed(lines, place, setting("@@"))
            assert not check(text.replace('"@@"', raw)), raw


def test_values_and_records_that_are_missing_repeated_or_in_another_order() -> None:
    lines = parsed(archive())
    chance = random.Random(3)

    def drop(holder: Any, last: Any) -> None:
        del holder[last]

    def twice(holder: Any, last: Any) -> None:
        if isinstance(holder, list):
            holder.insert(last, copy.deepcopy(holder[last]))
        else:
            holder[f"{last}2"] = holder[last]

    def turned(holder: Any, last: Any) -> None:
        if isinstance(holder[last], list):
            holder[last].reverse()
        else:
            holder[last] = {"inner": holder[last]}

    for place in chance.sample(list(places(lines)), 15):
        for change in (drop, twice, turned):
            check(changed(lines, place, change))
    for number in range(len(lines)):
        assert not check(spelled(lines[:number] + lines[number + 1 :]))
        assert not check(spelled([*lines[: number + 1], *lines[number:]]))
        other = [*lines]
        chance.shuffle(other)
        assert not check(spelled(other))


@pytest.mark.parametrize("number", [25, pytest.param(400, marks=pytest.mark.nightly)])
def test_bytes_that_changed(number: int) -> None:
    """A bit that flipped, bytes that came, went or moved: in the middle of anything."""
    original = archive().encode()
    chance = random.Random(7)
    for _ in range(number):
        data = bytearray(original)
        at, length = chance.randrange(len(data)), chance.randrange(1, 40)
        match chance.randrange(5):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = chance.randbytes(length)
            case 3:
                data[at:at] = data[at - length : at]
            case _:
                del data[at:]
        check_bytes(bytes(data))


def check_bytes(data: bytes) -> None:
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")
    try:
        given = text.read()
    except UnicodeDecodeError:
        text.seek(0)
        with RecallM() as memory, pytest.raises(ArchiveError):
            memory.load(text)
    else:
        check(given)


def test_a_t_index_that_leaves_no_room_is_refused() -> None:
    header, end = (
        '{"format":"recallm-archive","version":1,"namespace":"n","t_index":%d}\n',
        ('{"end":{"updates":0,"summaries":0}}\n'),
    )
    for t_index in (LAST_T + 1, (1 << 32) - 1, 1 << 43, 1 << 64):
        assert not check(header % t_index + end)
    assert check(header % LAST_T + end)


def test_an_endless_line_is_refused_early() -> None:
    """Of what is no archive only so much is read as a header can have."""

    class Endless(io.TextIOBase):
        read_at_once = 0

        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            assert size is not None
            assert 0 < size <= 1 << 20
            return "\x00" * size

    with RecallM() as memory, pytest.raises(ArchiveError, match="characters"):
        memory.load(Endless())  # type: ignore[arg-type]
