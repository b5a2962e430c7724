"""A memory with embeddings: what it writes, embeds later, forgets and archives."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recallm import (
    EmbeddingError,
    EmbeddingModelError,
    InvalidInputError,
    NewEntity,
    NewItem,
    RecallConfig,
    RecallM,
)
from recallm.model import Filter, Horizon, VectorState
from recallm.vectors import Embedding, decode
from tests.neo4j.fixtures import RunningServer
from tests.store_suite import DictStore
from tests.vectors.fakes import bag_of_words, counting, words

NEAREST = RecallConfig(ranking="vectors")
MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM(embeddings=words, config=NEAREST) as memory:
        yield memory


def texts(memory: RecallM, question: str, **arguments: Any) -> list[str]:
    return [statement.text for statement in memory.recall(question, **arguments).statements]


def vectors(memory: RecallM) -> dict[int, bytes]:
    with memory._opened.store.reader(memory.namespace, Horizon()) as reader:
        state = reader.state.vectors
        return {} if state is None else dict(reader.vectors(model=state.model))


def state(memory: RecallM) -> VectorState | None:
    with memory._opened.store.reader(memory.namespace, Horizon()) as reader:
        return reader.state.vectors


class TestWriting:
    def test_each_statement_has_the_vector_of_its_text_and_speaker(self) -> None:
        model, given = counting()
        with RecallM(embeddings=model) as memory:
            memory.update("I sing. I dance.", speaker="Ann")
            memory.update("Bo reads.")
            assert given == [["Ann: I sing.", "Ann: I dance."], ["Bo reads."]]
            rows = [decode(blob) for blob in vectors(memory).values()]
            assert np.stack(rows) == pytest.approx(model.texts(given[0] + given[1]), abs=1e-3)
            assert memory.stats().vectors == 3

    def test_update_many_writes_the_same_as_update(self, memory: RecallM) -> None:
        items = [{"text": f"Ann met Bo on day {n}. It rained.", "speaker": "Cy"} for n in range(9)]
        memory.update_many(items, batch_size=4)
        single = memory.in_namespace("single")
        for item in items:
            single.update(item["text"], speaker=item["speaker"])
        assert vectors(memory) == vectors(single)
        assert len(vectors(memory)) == 18

    def test_a_repeated_update_embeds_nothing(self) -> None:
        model, given = counting()
        items = [{"text": f"Ann met Bo on day {n}.", "id": str(n)} for n in range(9)]
        with RecallM(embeddings=model) as memory:
            memory.update_many(items[:6], batch_size=3)
            given.clear()
            done = memory.update_many(items, batch_size=3)
            assert [update.duplicate for update in done] == [True] * 6 + [False] * 3
            assert [len(texts) for texts in given] == [3]
            memory.update(**items[0])  # type: ignore[arg-type]
            assert len(given) == 1
            assert memory.stats().vectors == 9

    def test_a_duplicate_that_is_forgotten_meanwhile(
        self, memory: RecallM, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The statement is written again, and ``embed`` gives a vector."""
        memory.update("Ann sings.", id="a")
        apply = memory._opened.store.apply

        def forgets_first(namespace: str, updates: Any, **given: Any) -> Any:
            memory.forget(id="a")
            return apply(namespace, updates, **given)

        monkeypatch.setattr(memory._opened.store, "apply", forgets_first)
        assert not memory.update("Ann sings.", id="a").duplicate
        assert memory.embed() == 1
        assert list(vectors(memory)) == [2 << 20]

    def test_a_passage_without_statements_has_no_vectors(self, memory: RecallM) -> None:
        memory.update("  ", entities=[NewEntity(id="ann", type="Person")])
        memory.items.put([NewItem(path=("p",), key="k", text="Ann sings", recalled=False)])
        assert vectors(memory) == {}
        assert state(memory) is None
        assert texts(memory, "Who sings?") == []

    def test_odd_texts(self, memory: RecallM) -> None:
        odd = ["?", "\x00", "\U0001f600", "é" * 5, "word " * 2_000, "漢字。", 'it\'s "quoted"']
        memory.update_many([*odd, "Ann sings."])
        assert memory.stats().vectors == memory.stats().statements
        assert texts(memory, "Who sings?", limit=1) == ["Ann sings."]

    def test_a_model_that_fails_writes_nothing(self) -> None:
        def fails(count: int) -> Any:
            raise OSError("unreachable")

        kinds: list[Callable[[int], Any]] = [
            fails, lambda _: [], lambda count: [[float("nan")]] * count, lambda _: None,
        ]  # fmt: skip
        for kind in kinds:

            def embed(given: list[str], kind: Callable[[int], Any] = kind) -> Any:
                if any("boom" in text for text in given):
                    return kind(len(given))
                return bag_of_words(given)

            with RecallM(embeddings=Embedding(name="m", embed=embed)) as memory:
                memory.update("Ann sings.")
                with pytest.raises(EmbeddingError) as failure:
                    memory.update("boom")
                assert isinstance(failure.value.__cause__, OSError) is (kind is fails)
                assert memory.stats().t_index == 1
                with pytest.raises(EmbeddingError):
                    memory.update_many(["a", "b", "c", "boom", "d", "e"], batch_size=2)
                assert [passage.text for passage in memory.passages()] == ["Ann sings.", "a", "b"]
                assert memory.stats().vectors == 3

    def test_an_iterator_is_read_a_batch_at_a_time(self, memory: RecallM) -> None:
        """Where it fails, the whole batches before are written."""

        def broken() -> Iterator[str]:
            yield from ("a", "b", "c")
            raise LookupError

        with pytest.raises(LookupError):
            memory.update_many(broken(), batch_size=2)
        assert [passage.text for passage in memory.passages()] == ["a", "b"]
        taken = 0

        def items() -> Iterator[str]:
            nonlocal taken
            for n in range(50):
                taken = n + 1
                yield f"Ann met Bo on day {n}."

        ahead: list[int] = []

        def embed(given: list[str]) -> Any:
            ahead.append(taken - 5 * len(ahead))
            return bag_of_words(given)

        with RecallM(embeddings=Embedding(name="m", embed=embed)) as memory:
            memory.update_many(items(), batch_size=5)
        assert len(ahead) == 10
        assert max(ahead) == 5


class TestEmbed:
    def test_it_embeds_the_statements_without_vectors(self) -> None:
        store = DictStore()
        plain = RecallM(store, clock=lambda: MAY)
        plain.update_many([f"Ann met Bo on day {n}." for n in range(6)])
        plain.update("It rained.", speaker="Di")
        model, given = counting()
        memory = RecallM(store, embeddings=model)
        memory.update("I sing. I dance.", speaker="Cy")
        plain.update("gone", expires_at=MAY - timedelta(1))
        assert memory.embed(batch_size=3) == 8
        assert [len(batch) for batch in given[1:]] == [3, 3, 2]
        assert "Di: It rained." in given[3]
        assert memory.embed() == 0
        fresh = RecallM(embeddings=model)
        fresh.update_many([f"Ann met Bo on day {n}." for n in range(6)])
        kept = vectors(memory)
        assert vectors(fresh).items() <= kept.items()
        assert len(kept) == memory.stats().statements  # what expired is kept as well

    def test_it_resumes_after_a_failure(self) -> None:
        store = DictStore()
        RecallM(store).update_many([f"Ann met Bo on day {n}." for n in range(9)])
        calls = 0

        def embed(given: list[str]) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise OSError
            return bag_of_words(given)

        memory = RecallM(store, embeddings=Embedding(name="m", embed=embed))
        with pytest.raises(EmbeddingError):
            memory.embed(batch_size=2)
        assert memory.stats().vectors == 4
        assert memory.embed(batch_size=2, progress=True) == 5

    def test_missing_vectors_are_warned_of_once(self, caplog: pytest.LogCaptureFixture) -> None:
        for first in ("recall", "update"):
            store = DictStore()
            RecallM(store).update("Ann sings.")
            memory = RecallM(store, embeddings=words)
            getattr(memory, first)("Who sings?")
            memory.update("Bo hums.")
            memory.recall("Who hums?")
            (record,) = caplog.records
            for part in ("'default' holds statements without", "memory.embed()", "recallm embed"):
                assert part in record.getMessage()
            caplog.clear()
            memory.in_namespace("other").update("Cy reads.")
            memory.in_namespace("other").recall("Who reads?")
            RecallM(DictStore(), embeddings=words).embed()
            memory.embed()
            RecallM(store, embeddings=words).recall("Who sings?")
            assert not caplog.records

    def test_it_needs_a_model(self) -> None:
        with RecallM() as memory, pytest.raises(InvalidInputError, match="embeddings="):
            memory.embed()


class TestForgettingAndArchives:
    def test_forgotten_statements_are_not_found(self, memory: RecallM) -> None:
        memory.update("Ann sings songs.", id="a")
        memory.update("Bo reads books. Bo sings.", id="b")
        assert texts(memory, "Who sings songs?", limit=1) == ["Ann sings songs."]
        memory.forget(id="a")
        assert texts(memory, "Who sings songs?") == ["Bo reads books.", "Bo sings."]
        memory.forget(statement="b#1")
        assert texts(memory, "Who sings songs?") == ["Bo reads books."]
        assert len(vectors(memory)) == 1

    def test_statements_that_another_process_forgot(self, tmp_path: Path) -> None:
        """Another memory on the same file stands for it: the two share nothing."""
        path = tmp_path / "memory.db"
        with (
            RecallM(path, embeddings=words, config=NEAREST) as one,
            RecallM(path, embeddings=words, config=NEAREST) as two,
            RecallM(path) as plain,
        ):
            one.update_many([{"text": f"Ann sings {n}", "id": str(n)} for n in range(5)])
            assert len(texts(two, "Ann sings")) == 5
            one.forget(id="3")
            two.update("Ann sings and dances", id="new")
            plain.update("Ann is here")
            for each in (one, two):
                found = texts(each, "Ann sings and dances here")
                assert set(found) == {
                    *(f"Ann sings {n}" for n in (0, 1, 2, 4)),
                    "Ann sings and dances",
                }
            one.embed()
            assert "Ann is here" in texts(two, "here is Ann", limit=2)

    def test_an_archive_keeps_the_vectors(self, memory: RecallM) -> None:
        memory.update_many(["Ann sings songs.", "Bo reads books."])
        archive = io.StringIO()
        memory.export(archive)
        archive.seek(0)
        with RecallM(embeddings=words, config=NEAREST) as other:
            other.load(archive)
            assert vectors(other) == vectors(memory)
            assert texts(other, "Bo books", limit=1) == ["Bo reads books."]
        archive.seek(0)
        foreign = Embedding(name="foreign", embed=bag_of_words)
        with RecallM(embeddings=foreign) as other:
            other.load(archive)
            with pytest.raises(EmbeddingModelError, match="made by 'words'"):
                other.recall("Who sings?")


class TestConcurrency:
    def test_writers_and_readers(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"

        def write(place: int) -> None:
            with RecallM(path, embeddings=words, namespace="n") as memory:
                for n in range(10):
                    memory.update(f"Ann met Bo on day {n} of year {place}.", id=f"{place}-{n}")
                    memory.recall("When did Ann meet Bo?")
                memory.forget(id=f"{place}-3")

        with RecallM(path, embeddings=words, namespace="n", config=NEAREST) as memory:
            with ThreadPoolExecutor(3) as pool:
                list(pool.map(write, range(3)))
            found = texts(memory, "Ann met Bo", limit=99)
            assert len(found) == len(set(found)) == 27
            assert len(vectors(memory)) == 27

    def test_one_of_two_models_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        models = [Embedding(name=name, embed=bag_of_words) for name in ("a", "b", "c")]
        memories = [RecallM(path, embeddings=model) for model in models]
        barrier = threading.Barrier(3)

        def write(memory: RecallM) -> bool:
            barrier.wait()
            try:
                memory.update("Ann sings.")
            except EmbeddingModelError:
                return False
            return True

        with ThreadPoolExecutor(3) as pool:
            written = list(pool.map(write, memories))
        assert written.count(True) == 1
        assert memories[0].stats().passages == 1
        for memory in memories:
            memory.close()

    def test_a_reader_opened_before_an_update(self, tmp_path: Path) -> None:
        """A search with it finds no later statement, though the index has its vector."""
        with RecallM(tmp_path / "memory.db", embeddings=words, config=NEAREST) as memory:
            memory.update("Ann sings songs.")
            assert memory._opened.vectors is not None
            with memory._opened.store.reader("default", Horizon()) as reader:
                asked = memory._opened.vectors.embed_question("default", "Ann sings", reader)
                assert asked is not None
                memory.update("Ann sings.")
                find = memory._opened.vectors.finder("default", asked, reader, Filter(), past=False)
                assert [key for key, _ in find(reader, 1)] == [1 << 20]
            assert texts(memory, "Ann sings", limit=1) == ["Ann sings."]


def test_neo4j(neo4j_server: RunningServer, request: pytest.FixtureRequest) -> None:
    """On a server: write, recall, embed later, forget, refuse another model."""
    name = f"vectors-{id(request)}"
    with RecallM(
        neo4j_server.uri, auth=neo4j_server.auth, namespace=name, embeddings=words, config=NEAREST
    ) as memory:
        memory.update_many(["Ann sings songs.", "Bo reads books."], batch_size=1)
        plain = RecallM(memory._opened.store, namespace=name)
        plain.update("Cy cooks rice.", id="c")
        assert texts(memory, "Cy rice", limit=9) == ["Ann sings songs.", "Bo reads books."]
        assert memory.embed() == 1
        assert texts(memory, "Cy rice", limit=1) == ["Cy cooks rice."]
        memory.forget(id="c")
        assert texts(memory, "Cy rice", limit=9) == ["Ann sings songs.", "Bo reads books."]
        other = Embedding(name="other", embed=bag_of_words)
        with pytest.raises(EmbeddingModelError):
            RecallM(memory._opened.store, namespace=name, embeddings=other).update("No.")
        memory.forget(everything=True)
        assert texts(memory, "Cy rice") == []
