"""Embedding models of all kinds, and the results that are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from chromadb import EmbeddingFunction
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from llama_index.core.embeddings import MockEmbedding

from recallm import EmbeddingError, InvalidInputError, MissingDependencyError
from recallm.vectors import Embedding
from recallm.vectors.embedding import statement_text
from recallm.vectors.statements import checked_embedding
from tests.vectors.fakes import bag_of_words


def of(function: Callable[[list[str]], Any]) -> Embedding:
    return Embedding(name="it", embed=function)


def test_what_is_embedded_of_a_statement() -> None:
    assert statement_text("I sing.", "Ann") == "Ann: I sing."
    assert statement_text("I sing.", None) == statement_text("I sing.", "") == "I sing."


class TestResults:
    def test_rows_of_numbers_become_unit_vectors(self) -> None:
        kinds: list[Callable[[Any], Any]] = [
            lambda _: [[3, 4], [0, 0]],
            lambda _: ((3.0, 4.0), (0.0, 0.0)),
            lambda _: np.array([[3, 4], [0, 0]], np.int8),
            lambda _: [np.array([3, 4], np.float16), np.zeros(2)],
            lambda _: (np.array(row) for row in ([3e300, 4e300], [0, 0])),
            lambda _: (iter(row) for row in ([3, 4], [0, 0])),
            lambda _: [["3", "4"], [0, 0]],
        ]
        for place, given in enumerate(kinds):
            rows = of(given).texts(["a", ""])
            assert rows.dtype == np.float32
            assert np.allclose(rows, np.array([[0.6, 0.8], [0, 0]])), place

    def test_the_model_is_not_called_without_texts(self) -> None:
        def fails(_: list[str]) -> Any:
            raise AssertionError

        assert len(of(fails).texts([])) == 0

    def test_equal_texts_are_embedded_once(self) -> None:
        given: list[list[str]] = []

        def embed(texts: list[str]) -> Any:
            given.append(texts)
            return [[len(text), 0, 1] for text in texts]

        rows = of(embed).texts(["a", "bb", "a", "a"])
        assert given == [["a", "bb"]]
        assert np.allclose(rows[:, 0] / rows[:, 2], [1, 2, 1, 1])

    def test_a_question_is_embedded_as_a_text_by_default(self) -> None:
        assert of(lambda texts: [[len(text), 0] for text in texts]).question("ab").tolist() == [
            1,
            0,
        ]
        apart = Embedding(name="it", embed=bag_of_words, embed_question=lambda _: [0, 2])
        assert apart.question("x").tolist() == [0, 1]


def generator_that_fails(texts: list[str]) -> Iterator[list[float]]:
    yield [1.0]
    raise OSError(f"no {texts[1]}")


def _given(given: Any, _: str) -> Any:
    return given


class TestRefusedResults:
    def test_it_is_refused(self) -> None:
        cases: list[tuple[Any, str]] = [
            (None, "returned NoneType"),
            ("text", "returned str"),
            ({"a": 1}, "returned dict"),
            (7, "returned int"),
            ([[1.0]], "returned 1 vectors for 2 texts"),
            ([[1.0]] * 3, "returned 3 vectors for 2 texts"),
            ([], "returned 0 vectors"),
            ([1.0, 2.0], "of shape"),
            ([[], []], "of shape"),
            ([[[1.0]], [[1.0]]], "of shape"),
            ([[1.0], [1.0, 2.0]], r"of shape \(1,\), \(2,\)"),
            ([[1.0], [float("nan")]], "not finite, for text 1"),
            ([[float("inf")], [1.0]], "not finite, for text 0"),
            ([["a"], ["b"]], "no vector:"),
            ([[1.0, [2.0]], [1.0]], "no vector:"),
        ]
        for result, message in cases:
            with pytest.raises(EmbeddingError, match=f"'it' .*{message}"):
                of(lambda _, result=result: result).texts(["a", "b"])  # type: ignore[misc]

    def test_a_failing_model(self) -> None:
        failing = [lambda _: 1 / 0, generator_that_fails]
        for model, cause in zip(failing, (ZeroDivisionError, OSError), strict=True):
            with pytest.raises(EmbeddingError, match=f"'it' failed: {cause.__name__}") as failure:
                of(model).texts(["a", "b"])
            assert isinstance(failure.value.__cause__, cause)

    def test_the_vector_of_a_question_is_checked_too(self) -> None:
        bads: list[Any] = [[float("nan")], [], [[1.0]], None]
        for bad in bads:
            answer = partial(_given, bad)
            model = Embedding(name="it", embed=bag_of_words, embed_question=answer)
            with pytest.raises(EmbeddingError, match="'it' returned"):
                model.question("a")


class Named(Embeddings):
    model = "text-embedding-9"
    dimensions = 2

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [0.0, float(len(text))]


class OfChroma(EmbeddingFunction[Any]):
    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    def __call__(self, input: Any) -> Any:
        return [np.array([1.0, 0.0]) for _ in input]

    def embed_query(self, input: Any) -> Any:
        return [np.array([0.0, 1.0]) for _ in input]

    @staticmethod
    def name() -> str:
        return "of chroma"


class WithMethod:
    model_name = "mini"

    def encode(self, texts: list[str]) -> Any:
        return bag_of_words(texts)


class TestKinds:
    def test_langchain(self) -> None:
        model = checked_embedding(Named())
        assert model is not None
        assert model.name == "Named:text-embedding-9:2"
        assert model.texts(["a"]).tolist() == [[1, 0]]
        assert model.question("abc").tolist() == [0, 1]
        fake = checked_embedding(DeterministicFakeEmbedding(size=8))
        assert fake is not None
        assert fake.texts(["a", "b"]).shape == (2, 8)
        assert fake.question("a") == pytest.approx(fake.texts(["a"])[0])

    def test_llama_index(self) -> None:
        model = checked_embedding(MockEmbedding(embed_dim=4, model_name="mock"))
        assert model is not None
        assert model.name == "MockEmbedding:mock"
        assert model.texts(["a", "b"]) == pytest.approx(np.full((2, 4), 0.5))
        assert model.question("a") == pytest.approx(np.full(4, 0.5))

    def test_chroma(self) -> None:
        model = checked_embedding(OfChroma("big"))
        assert model is not None
        assert model.name == "OfChroma:big"
        assert model.texts(["a"]).tolist() == [[1, 0]]
        assert model.question("a").tolist() == [0, 1]

    def test_callables(self) -> None:
        model = checked_embedding(bag_of_words)
        assert model is not None
        assert model.name == "tests.vectors.fakes.bag_of_words"
        assert model.texts(["a b", ""]).shape == (2, 64)
        method = checked_embedding(WithMethod().encode)
        assert method is not None
        assert method.name == "WithMethod:mini.encode"

    def test_names_of_different_models_differ(self) -> None:
        """As far as models say what they are; a partial says nothing."""

        class Card:
            base_model = "org/mini"

        class Sentences(WithMethod):
            def __init__(self, which: str) -> None:
                self.model_name = ""
                self.name_or_path = which

        class Carded(WithMethod):
            model_name = ""
            model_card_data = Card()

            @property
            def tokenizer(self) -> Any:
                raise RuntimeError

        names = []
        for model in (Sentences("a"), Sentences("b"), Carded()):
            checked = checked_embedding(model.encode)
            assert checked is not None
            names.append(checked.name)
        assert [name.rpartition(".Test")[2].rpartition(">.")[2] for name in names] == [
            "Sentences:a.encode",
            "Sentences:b.encode",
            "Carded:org/mini.encode",
        ]
        for nameless in (partial(bag_of_words), lambda texts: bag_of_words(texts)):  # noqa: PLW0108
            with pytest.raises(InvalidInputError, match=r"give embeddings=Embedding\(name="):
                checked_embedding(nameless)

    def test_a_model_with_a_given_name(self) -> None:
        model = Embedding(name="mine", embed=bag_of_words)
        assert checked_embedding(model) is model
        assert checked_embedding(None) is None

    def test_other_values_are_refused(self) -> None:
        bad: Any
        for bad in ("mini", 7, [], {}, Named, object()):
            with pytest.raises(InvalidInputError, match="embeddings must be 'default'"):
                checked_embedding(bad)
        for bad in ("", "x" * 501, 7, None):
            with pytest.raises(InvalidInputError, match="name of an embedding model"):
                Embedding(name=bad, embed=bag_of_words)
        with pytest.raises(InvalidInputError, match="callables"):
            Embedding(name="x", embed="y")  # type: ignore[arg-type]

    def test_the_default_needs_the_extra_embeddings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        with pytest.raises(MissingDependencyError, match=r"recallm-minilm .*\[embeddings\]"):
            checked_embedding("default")
