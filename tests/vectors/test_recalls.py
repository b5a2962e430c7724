"""A memory with embeddings: what it recalls, and which models it refuses."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recallm import (
    DimensionError,
    EmbeddingModelError,
    NewEntity,
    NewItem,
    RecallConfig,
    RecallM,
)
from recallm.vectors import Embedding
from tests.store_suite import DictStore
from tests.vectors.fakes import bag_of_words, counting, words
from tests.vectors.test_memories import MAY, memory, texts

NEAREST = RecallConfig(ranking="vectors")

__all__ = ["memory"]


class TestRecalling:
    def test_the_ranking_vectors_recalls_the_nearest(self, memory: RecallM) -> None:
        memory.update_many(["Ann sings songs.", "Bo reads books.", "Cy cooks rice."])
        assert texts(memory, "books Bo", limit=1) == ["Bo reads books."]

    def test_a_namespace_without_vectors_embeds_no_question(self) -> None:
        model, given = counting()
        with RecallM(embeddings=model) as memory:
            assert texts(memory, "Who sings?") == []
            assert given == []

    def test_every_ranking_works_with_embeddings(self) -> None:
        ranking: Any
        for ranking in ("statements", "ement", "vectors"):
            with RecallM(embeddings=words, config=RecallConfig(ranking=ranking)) as memory:
                assert texts(memory, "Who sings?") == []
                memory.update_many(["Ann sings songs.", "Bo reads books."])
                assert "Ann sings songs." in texts(memory, "Who sings songs?", limit=1)

    def test_embeddings_find_statements_that_share_no_word(self) -> None:
        """The default ranking finds a statement with neither stem nor concept of the question."""
        meanings = {"quarrel": [1.0, 0, 0], "dog": [0.9, 0.1, 0], "it rained": [0, 1.0, 0]}

        def embed(given: list[str]) -> Any:
            return [
                next((row for word, row in meanings.items() if word in text.lower()), [0, 0, 1.0])
                for text in given
            ]

        with RecallM(embeddings=Embedding(name="meanings", embed=embed)) as memory:
            memory.update_many(["A dog barked loudly.", "It rained all day."])
            assert "A dog barked loudly." in texts(memory, "Was there any quarrel?")
            assert texts(RecallM(memory._opened.store), "Was there any quarrel?") == []

    def test_a_filter_finds_enough_statements(self, memory: RecallM) -> None:
        """However many hidden statements are nearer."""
        memory.update_many([f"songs songs number {n}" for n in range(150)])
        memory.update("songs and other things", speaker="Ann", session="s", metadata={"k": 1})
        memory.items.put([NewItem(path=("p",), key="k", text="songs to keep in mind")])
        assert texts(memory, "songs", limit=2, speaker="Ann") == ["songs and other things"]
        assert texts(memory, "songs", limit=2, session="s") == ["songs and other things"]
        assert texts(memory, "songs", limit=2, metadata={"k": 1}) == ["songs and other things"]
        assert texts(memory, "songs", limit=2, path=("p",)) == ["songs to keep in mind"]
        assert texts(memory, "songs", limit=9, since=151) == [
            "songs and other things",
            "songs to keep in mind",
        ]
        assert texts(memory, "songs", limit=1, as_of=1) == ["songs songs number 0"]
        found = memory.items.search("songs", ("p",))
        assert [statement.text for statement, _ in found] == ["songs to keep in mind"]

    def test_a_filter_applies_before_the_nearest_are_chosen(self) -> None:
        """A statement without any word of the question, behind many nearer ones that are hidden."""
        near = Embedding(
            name="near", embed=lambda given: [[1.0, 0.3 * ("far" in text)] for text in given]
        )
        with RecallM(embeddings=near) as memory:
            memory.update_many([{"text": f"near stuff{n}", "session": "a"} for n in range(150)])
            memory.update("far away place", session="b")
            for each in (memory, memory.with_ranking("vectors")):
                assert texts(each, "near stuff?", session="b") == ["far away place"]

    def test_expired_statements_take_no_places(self) -> None:
        with RecallM(embeddings=words, config=NEAREST, clock=lambda: MAY) as memory:
            memory.update("songs that stay")
            memory.update_many(
                [{"text": f"songs {n}", "expires_at": MAY - timedelta(1)} for n in range(100)]
            )
            assert texts(memory, "songs", limit=3) == ["songs that stay"]

    def test_zeros_are_near_nothing(self) -> None:
        zeros = Embedding(name="zeros", embed=lambda given: [[0.0] * 4 for _ in given])
        for ranking in ("vectors", "statements"):
            with RecallM(embeddings=zeros, config=RecallConfig(ranking=ranking)) as memory:
                memory.update_many(["Ann sings.", "Bo reads."])
                assert "Bo reads." in texts(memory, "Who reads?")

    def test_namespaces_never_mix(self, memory: RecallM) -> None:
        """The same text in two namespaces, whatever their names."""
        other = memory.in_namespace('it\'s \x00 "another"; DROP TABLE vector')
        for each, name in ((memory, "here"), (other, "there")):
            each.update("Ann sings songs.", id=name, source=name)
            each.update(f"Only {name}.")
        for each, name in ((memory, "here"), (other, "there")):
            found = each.recall("Ann sings songs only here there").statements
            assert {statement.source for statement in found} == {name, None}
            assert f"Only {name}." in {statement.text for statement in found}
            assert len(found) == 2
        other.forget(everything=True)
        assert len(texts(memory, "Ann sings songs")) == 2
        assert texts(other, "Ann sings songs") == []


class TestPinning:
    def other(self, dimension: int = 64) -> Embedding:
        return Embedding(name="other", embed=lambda given: bag_of_words(given)[:, :dimension])

    def test_another_model_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with RecallM(path, embeddings=words) as one, RecallM(path, embeddings=self.other()) as two:
            one.update("Ann sings.")
            for act in (
                lambda: two.update("Bo reads."),
                lambda: two.update_many(["Bo reads."]),
                lambda: two.recall("Who sings?"),
                lambda: two.items.search("Who sings?"),
                two.embed,
            ):
                with pytest.raises(EmbeddingModelError, match="made by 'words', not by 'other'"):
                    act()
            assert one.stats().passages == 1
            free = two.in_namespace("free")
            free.update("Bo reads.")
            assert texts(free, "Who reads?") == ["Bo reads."]
            with pytest.raises(EmbeddingModelError):
                one.in_namespace("free").recall("Who reads?")
            two.forget(everything=True)
            two.update("Bo reads.")
            assert texts(two, "Who reads?") == ["Bo reads."]
            with pytest.raises(EmbeddingModelError, match="made by 'other', not by 'words'"):
                one.recall("Who reads?")

    def test_another_dimension_is_refused(self) -> None:
        store = DictStore()
        short = Embedding(name="words", embed=lambda given: bag_of_words(given)[:, :8])
        with RecallM(store, embeddings=words) as one, RecallM(store, embeddings=short) as two:
            one.update("Ann sings.")
            for act in (lambda: two.update("Bo."), lambda: two.recall("Who sings?")):
                with pytest.raises(DimensionError, match=r"have 64 dimensions.*, not 8"):
                    act()
            assert one.stats().passages == 1

    def test_vectors_of_entities_do_not_disturb_it(self, memory: RecallM) -> None:
        entity = NewEntity(id="ann", type="Person", embeddings={"other": [1.0, 2.0]})
        memory.graph.upsert([entity], [])
        memory.update("Ann sings.")
        assert texts(memory, "Who sings?") == ["Ann sings."]

    def test_without_embeddings_nothing_is_refused(self, memory: RecallM) -> None:
        memory.update("Ann sings songs.")
        plain = RecallM(memory._opened.store)
        plain.update("Bo reads books.")
        assert texts(plain, "Who sings songs?") == ["Ann sings songs."]
        assert memory.stats().vectors == 1
        mixed = RecallM(memory._opened.store, embeddings=words)
        assert "Bo reads books." in texts(mixed, "Who reads books?")
