"""Every argument of every public callable, given values that it was not made for.

The call works, or raises an error of recallm's tree. Nothing else comes out, and the memory works
on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import recallm.vectors
from recallm import (
    GraphUpdate,
    HybridRecallM,
    InvalidInputError,
    MemoryGraph,
    MemoryItems,
    NewEntity,
    NewItem,
    NewTriplet,
    RecallConfig,
    RecallM,
    RecallMError,
)
from recallm.hybrid import LLMDiscriminator, TrainedDiscriminator
from recallm.memory.update_request import UpdateRequest
from recallm.vectors import Embedding

from .vectors.fakes import words


class OwnError(Exception):
    """What a caller's own iterator raises is the caller's."""


class Text(str):
    """A str of another class, which says something else of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "other"


class Strange:
    """Has nothing that is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def raising() -> Iterator[Any]:
    yield "first"
    raise OwnError


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"], value["b"] = value, [value]
    return value


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


NAIVE = datetime(2024, 5, 1)  # noqa: DTZ001 - on purpose
EDGES = (
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=UTC),
)

VALUES: tuple[Any, ...] = (
    None, True, 5, 0, -1, 1.5, 10**30, 10**5000, -(10**30), float("nan"), float("inf"), -0.0,
    "", " ", "x", "\x00", "\ud800", "a\udcff", "x" * 5000, "/" * 5000, "a/\x00", Text("Ann"),
    b"x", b"", bytearray(b"x"), object(), Strange(), int, len, lambda: None, NAIVE, *EDGES,
    NAIVE.date(), Path("\x00"), Path("x" * 5000), (), [], {}, set(), [None], [5], ["\ud800"],
    [[]], [("a", "b")], [("a", "b", None)], {"a": None}, {5: 5}, {"\ud800": "\ud800"},
    {"a": NAIVE}, {"a": {1, 2}}, {"a": (1,)}, {None: None}, range(3), endless(), deep(99),
    deep(101), deep(100_000),
)  # fmt: skip
HOSTILE: tuple[Callable[[], Any], ...] = (
    raising,
    *(lambda kept=value: kept for value in VALUES),
)


def llm(prompt: str) -> str:
    return "Paris."


def list_of_ones(texts: list[str]) -> list[list[float]]:
    return [[1.0, 1.0] for _ in texts]


def each_argument(
    called: Callable[..., Any], good: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A call for each argument and each hostile value."""
    for name, parameter in inspect.signature(called).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            for make in HOSTILE:
                value = make()
                shown = f"{name}={type(value).__name__}"
                if not isinstance(value, int | dict):
                    shown += f" {value!r:.40}"
                yield shown, lambda: called(**{**good, name: value})  # noqa: B023


def check(called: Callable[..., Any], good: Mapping[str, Any]) -> None:
    """Call with every hostile value in place of each argument; good ones work."""
    called(**good)
    bare: list[str] = []
    for place, call in each_argument(called, good):
        try:
            call()
        except (RecallMError, OwnError):
            continue
        except Exception as error:  # noqa: BLE001 - that is what is tested
            bare.append(f"{place}: {type(error).__name__}: {error}")
    assert bare == []


def filled(memory: RecallM) -> RecallM:
    memory.update("Ann met Bo at Paris.", speaker="Ann", id="p")
    memory.graph.upsert([NewEntity(id="Ann", embeddings={"m": [1.0, 2.0]})])
    memory.items.put([NewItem(path=("a",), key="k", text="The sea is wide.")])
    return memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallM]:
    monkeypatch.chdir(tmp_path)
    with RecallM(embeddings=words, llm=llm) as memory:
        yield filled(memory)
        memory.update("Cy met Di.")
        assert memory.recall("Who met Di?").statements
        assert memory.stats().passages > 0


MEMORY: dict[str, dict[str, Any]] = {
    "ask": {"question": "Who?"},
    "before_closing": {"finish": int},
    "close": {},
    "concepts": {},
    "count_tokens": {"text": "x"},
    "embed": {},
    "erase_namespace": {"namespace": "other"},
    "expire": {"moments": {}},
    "export": {"target": "archive.jsonl"},
    "export_namespace": {"namespace": "other", "target": "archive.jsonl"},
    "explain": {"question": "Who met Bo?", "statement": "m#0"},
    "extract": {"texts": ["Ann met Bo."]},
    "forget": {"id": "none"},
    "get": {"id": "p"},
    "get_many": {"ids": ["p"]},
    "history": {"concept": "Ann"},
    "relations": {"concept": "Ann"},
    "in_namespace": {"namespace": "other"},
    "load": {"source": "archive.jsonl"},
    "namespaces": {},
    "now": {},
    "passages": {},
    "problems": {},
    "recall": {"question": "Who met Bo?"},
    "sessions": {},
    "stats": {},
    "superseded": {"statements": []},
    "update": {"text": "Ann met Bo."},
    "write": {"request": UpdateRequest(text="Ann met Bo.", id="write")},
    "update_many": {"items": ["Ann met Bo."]},
    "withdraw": {"ids": ["p"]},
    "with_ranking": {"ranking": "paper"},
}
GRAPH: dict[str, dict[str, Any]] = {
    "concept_name": {"label": "Ann"},
    "delete": {},
    "entities": {},
    "entity": {"id": "Ann"},
    "nearest": {"embedding": [1.0, 2.0], "model": "m"},
    "reader": {},
    "show": {"concept": "Ann"},
    "to_networkx": {},
    "triplets": {},
    "upsert": {"entities": [NewEntity(id="Bo")]},
    "upsert_many": {"updates": []},
}
ITEMS: dict[str, dict[str, Any]] = {
    "with_expired": {},
    "below": {},
    "delete": {"path": ("a",), "key": "none"},
    "get": {"path": ("a",), "key": "k"},
    "paths": {},
    "put": {"items": []},
    "search": {"question": "What is wide?"},
}


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_every_public_method_is_in_a_table() -> None:
    in_a_loop = {
        name for name in public(RecallM) if inspect.iscoroutinefunction(getattr(RecallM, name))
    }
    assert public(RecallM) - in_a_loop == MEMORY.keys()
    assert in_a_loop <= {f"a{name}" for name in MEMORY} | {"aopen"}
    assert public(MemoryGraph) == GRAPH.keys()
    assert public(MemoryItems) == ITEMS.keys()
    assert public(HybridRecallM) == {"ask"}


def test_memory(memory: RecallM) -> None:
    for name in sorted(MEMORY.keys() - {"before_closing", "close", "load"}):
        check(getattr(filled(memory.in_namespace(name)), name), MEMORY[name])


def test_load(memory: RecallM) -> None:
    memory.export("archive.jsonl")
    numbers = iter(range(1000))

    def load(source: Any) -> int:
        return memory.in_namespace(f"n{next(numbers)}").load(source)

    check(load, {"source": "archive.jsonl"})


def test_recall_by_other_rankings(memory: RecallM) -> None:
    for ranking in ("paper", "ement", "vectors"):
        check(memory.with_ranking(ranking).recall, MEMORY["recall"])


def test_graph_and_items(memory: RecallM) -> None:
    for part, table in (("graph", GRAPH), ("items", ITEMS)):
        for name in sorted(table):
            own = filled(memory.in_namespace(f"{part} {name}"))
            check(getattr(getattr(own, part), name), table[name])


def test_hybrid(memory: RecallM) -> None:
    check(HybridRecallM(memory).ask, {"question": "Who met Bo?"})


def test_what_is_made_of_arguments(memory: RecallM) -> None:
    """Values are checked when they are made, or when they are handed in."""

    def entity(**given: Any) -> None:
        memory.graph.upsert([NewEntity(**given)])
        memory.update("Ann met Bo.", entities=[NewEntity(**given)])

    def triplet(**given: Any) -> None:
        memory.graph.upsert([], [NewTriplet(**given)])

    def item(**given: Any) -> None:
        memory.items.put([NewItem(**given)])

    def together(**given: Any) -> None:
        memory.graph.upsert_many([GraphUpdate(**given)])

    for made, kind, good in (
        (entity, NewEntity, {"id": "e"}),
        (triplet, NewTriplet, {"subject": "Ann", "predicate": "is", "object": "Ann"}),
        (item, NewItem, {"path": ("a",), "key": "k", "text": "The sea."}),
        (together, GraphUpdate, {"entities": [NewEntity(id="e")]}),
    ):
        made.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
        check(made, good)


def test_items_of_update_many(memory: RecallM) -> None:
    def update(**given: Any) -> None:
        memory.update_many([given])

    update.__signature__ = inspect.signature(memory.update)  # type: ignore[attr-defined]
    check(update, {"text": "Ann met Bo."})


def test_opening(memory: RecallM) -> None:
    """Whatever opens is a memory that works."""

    def opened(**given: Any) -> None:
        with RecallM(**given) as other:
            other.update("Ann met Bo.")
            other.recall("Who met Bo?", max_tokens=50)

    opened.__signature__ = inspect.signature(RecallM)  # type: ignore[attr-defined]
    check(opened, {})


def test_settings(memory: RecallM) -> None:
    """Whatever can be set works, with every ranking."""

    def configured(**given: Any) -> None:
        config = RecallConfig(**given)
        with RecallM(config=config, embeddings=words, llm=llm) as other:
            other.update_many(["Ann met Bo at Paris. Bo saw Cy and Di."] * 4, batch_size=2)
            for ranking in ("statements", "paper", "ement", "vectors"):
                other.with_ranking(ranking).recall("Who met Bo?")

    configured.__signature__ = inspect.signature(RecallConfig)  # type: ignore[attr-defined]
    assert len(inspect.signature(RecallConfig).parameters) == len(fields(RecallConfig))
    check(configured, {})


def test_the_rest() -> None:
    answers = {"recallm": "Paris.", "vectors": "It is not known."}
    with RecallM(embeddings=words, llm=llm) as memory:
        check(HybridRecallM, {"memory": memory})
    check(TrainedDiscriminator, {})
    check(LLMDiscriminator, {"llm": llm})
    check(TrainedDiscriminator().choose, {"question": "Where?", "answers": answers})
    check(LLMDiscriminator(llm).choose, {"question": "Where?", "answers": {"a": "x"}})
    check(recallm.vectors.encode, {"embedding": [1.0]})
    embedding = Embedding(name="m", embed=list_of_ones)
    check(Embedding, {"name": "m", "embed": list_of_ones})
    check(embedding.texts, {"texts": ["x"]})
    check(embedding.question, {"text": "x"})


def test_a_clock_that_gives_no_aware_datetime_is_refused_at_once() -> None:
    bad: list[Any] = [
        datetime.now, lambda: None, lambda: 5, lambda: 1 / 0, lambda _: NAIVE, lambda: EDGES[0], 5,
    ]  # fmt: skip
    for clock in bad:
        with pytest.raises(InvalidInputError, match="clock") as caught:
            RecallM(clock=clock)
        assert caught.value.argument == "clock"


def test_a_clock_that_goes_wrong_later_is_named() -> None:
    moments = [datetime(2024, 5, 1, tzinfo=UTC)]
    with RecallM(clock=lambda: moments[-1]) as memory:
        assert memory.now() == moments[0]
        moments.append(NAIVE)
        for use in (
            memory.now,
            memory.stats,
            memory.items.paths,
            memory.graph.entities,
            lambda: memory.recall("Who?"),
            lambda: memory.forget(expired=True),
        ):
            with pytest.raises(InvalidInputError, match="clock has no time zone"):
                use()


def test_a_str_of_another_class_is_its_characters() -> None:
    with RecallM() as memory:
        memory.update(Text("Ann met Bo."), id=Text("p"))
        found = memory.get("p")
        assert found is not None
        assert (type(found.text), found.text) == (str, "Ann met Bo.")
