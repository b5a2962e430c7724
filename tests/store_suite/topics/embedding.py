"""Statement vectors: their one model, those that are given later, and what an index asks for."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from recallm.errors import DimensionError, EmbeddingModelError
from recallm.model import (
    AddVectors,
    EntityUpsert,
    Horizon,
    PreparedUpdate,
    VectorState,
    statement_key,
)
from tests.store_suite.marked_text import entity, prepared, vector
from tests.store_suite.topics.base import NOON, Space, StoreTests, at

_ONE, _TWO, _THREE = (statement_key(t, 0) for t in (1, 2, 3))


def _state(space: Space) -> VectorState:
    with space.reader() as reader:
        state = reader.state.vectors
    assert state is not None
    return state


def _vectors(space: Space) -> dict[int, bytes]:
    """All of them, read in portions; the keys alone are the same."""
    found: dict[int, bytes] = {}
    with space.reader() as reader:
        latest = -1
        model = reader.state.vectors.model if reader.state.vectors else ""
        while portion := list(reader.vectors(model=model, after=latest, limit=2).items()):
            assert [key for key, _ in portion] == sorted(key for key, _ in portion)
            found.update(portion)
            latest = portion[-1][0]
        assert reader.statement_keys(embedded=True) == list(found)
        assert dict(reader.vectors(list(found), model=model)) == found
    return found


def _unembedded(space: Space, after: int = -1, limit: int = 99) -> list[int]:
    with space.reader() as reader:
        return reader.statement_keys(embedded=False, after=after, limit=limit)


class EmbeddingTests(StoreTests):
    """``VectorState``, ``AddVectors``, and what readers say of vectors."""

    def test_the_first_vector_pins_the_model(self, space: Space) -> None:
        """Statement vectors of another model are refused with their batch; entity vectors may
        have any model."""
        with space.reader() as reader:
            assert reader.state.vectors is None
            assert list(reader.vectors(model="m", after=-1, limit=9).items()) == []
            assert reader.statement_keys(embedded=True) == []
        space.write(prepared("1", "[Ann]", entities=(entity("e", "E", vectors={"o": b"oo"}),)))
        with space.reader() as reader:
            assert reader.state.vectors is None
        space.write(prepared("2", "[Ann]", vectors=(vector(0, b"four", "it's \x00é"),)))
        state = _state(space)
        assert (state.model, state.size) == ("it's \x00é", 4)
        good = prepared("3", "[Bo]", vectors=(vector(0, b"also", "it's \x00é"),))
        bad = prepared("4", "[Bo]", vectors=(vector(0, b"also", "o"),))
        with pytest.raises(EmbeddingModelError, match="not by 'o'") as failure:
            space.apply([good, bad])
        assert (failure.value.stored, failure.value.given) == ("it's \x00é", "o")
        with pytest.raises(DimensionError):
            space.write(prepared("4", "[Bo]", vectors=(vector(0, b"2.", "it's \x00é"),)))
        assert _vectors(space) == {_TWO: b"four"}
        more: EntityUpsert = entity("f", "F", vectors={"o": b"pp", "q": b"1234567890"})
        space.write(PreparedUpdate(id="", text=None, entities=(more,)))
        assert _state(space) == state
        space.beside("-other").write(bad)
        other = _state(space.beside("-other"))
        assert other.model == "o"
        assert other.origin != state.origin

    def test_one_update_has_vectors_of_one_model(self, space: Space) -> None:
        """Two models in the namespace's first update are refused, and no model is fixed."""
        mixed = prepared("1", "[Ann]", "[Bo]", vectors=(vector(0, b"aa"), vector(1, b"bb", "n")))
        with pytest.raises(EmbeddingModelError):
            space.write(mixed)
        space.write(prepared("1", "[Ann]", vectors=(vector(0, b"four", "n"),)))
        assert _state(space).model == "n"

    def test_two_writers_pin_one_model(self, space: Space) -> None:
        """Of several first writers at the same time one fixes the model; the others fail."""

        def write(model: str) -> str | None:
            update = prepared(model, "[Ann] ran", vectors=(vector(0, b"aa", model),))
            try:
                space.write(update)
            except EmbeddingModelError as error:
                return error.stored
            return None

        models = [f"m{n}" for n in range(6)]
        with ThreadPoolExecutor(6) as pool:
            told = dict(zip(models, pool.map(write, models), strict=True))
        pinned = _state(space).model
        assert told == {model: None if model == pinned else pinned for model in models}
        assert len(_vectors(space)) == 1

    def test_the_model_outlives_the_vectors(self, space: Space) -> None:
        """The model stays fixed until everything is forgotten; origin and revision stay."""
        space.write(prepared("1", "[Ann]", vectors=(vector(0, b"aa"),)))
        first = _state(space)
        space.forget("id", "1")
        second = _state(space)
        assert (second.model, second.size, second.origin) == ("m", 2, first.origin)
        assert second.revision > first.revision
        with pytest.raises(EmbeddingModelError):
            space.write(prepared("1", "[Ann]", vectors=(vector(0, b"aa", "n"),)))
        space.forget("everything", True)
        with space.reader() as reader:
            assert reader.state.vectors is None
        space.write(prepared("1", "[Ann]", vectors=(vector(0, b"four", "n"),)))
        third = _state(space)
        assert (third.model, third.size, third.origin) == ("n", 4, first.origin)
        assert third.revision > second.revision

    def test_the_revision(self, space: Space) -> None:
        """It rises only when vectors are forgotten or added to older statements."""
        space.write(
            prepared("1", "[Ann]", "[Bo]", vectors=(vector(0, b"aa"), vector(1, b"bb"))),
            prepared("2", "[Cy]"),
            prepared("3", "[Di]", key="k", path=("p",), vectors=(vector(0, b"dd"),)),
        )
        seen = [_state(space).revision]

        def rose() -> bool:
            seen.append(_state(space).revision)
            return seen[-1] > seen[-2]

        space.write(prepared("4", "[Ed]", vectors=(vector(0, b"ee"),)), prepared("5", "[F]"))
        assert not rose()
        space.forget("id", "5")
        assert not rose()
        space.forget("statement", "1#1")
        assert rose()
        space.amend(AddVectors(model="m", vectors={_TWO: b"cc"}))
        assert rose()
        space.write(prepared("6", "[Di]", key="k", path=("p",), vectors=(vector(0, b"d2"),)))
        assert rose()
        assert seen == sorted(seen)
        assert _vectors(space) == {
            _ONE: b"aa",
            _TWO: b"cc",
            statement_key(4, 0): b"ee",
            statement_key(6, 0): b"d2",
        }

    def test_vectors_that_are_given_later(self, space: Space) -> None:
        """Statements that have a vector and unknown statements are skipped."""
        space.write(
            prepared("1", "[Ann]"),
            prepared("2", "[Bo]", "[Cy]", vectors=(vector(1, b"22"),)),
            prepared("3", "[Di]", expires_at=at(-5)),
        )
        second = statement_key(2, 1)
        assert _unembedded(space) == [_ONE, _TWO, _THREE]
        assert _unembedded(space, after=_ONE, limit=1) == [_TWO]
        given: Mapping[int, bytes] = {_ONE: b"1.", second: b"no", _THREE: b"3.", 77: b"no"}
        assert space.amend(AddVectors(model="m", vectors=given)) == 2
        assert _vectors(space) == {_ONE: b"1.", second: b"22", _THREE: b"3."}
        assert (
            space.amend(AddVectors(model="m", vectors=given))
            == space.amend(AddVectors(model="m", vectors={}))
            == 0
        )
        assert _unembedded(space) == [_TWO]
        with space.reader() as reader:
            assert (reader.state.t_index, reader.stats().vectors) == (3, 3)
        assert space.dump()[1].vectors == (vector(1, b"22"),)
        assert space.beside("-unknown").amend(AddVectors(model="m", vectors={_ONE: b"1."})) == 0

    def test_vectors_given_later_are_checked(self, space: Space) -> None:
        """Model and size are checked as in an update; all vectors are added or none."""
        space.write(prepared("1", "[Ann]"), prepared("2", "[Bo]"), prepared("3", "[C]"))
        with pytest.raises(DimensionError):
            space.amend(AddVectors(model="m", vectors={_ONE: b"1.", _TWO: b"long"}))
        with space.reader() as reader:
            assert reader.state.vectors is None
        assert space.amend(AddVectors(model="m", vectors={_ONE: b"1."})) == 1
        assert _state(space).model == "m"
        with pytest.raises(EmbeddingModelError):
            space.amend(AddVectors(model="n", vectors={_TWO: b"2."}))
        with pytest.raises(DimensionError):
            space.amend(AddVectors(model="m", vectors={_TWO: b"2.", _THREE: b"long"}))
        assert _vectors(space) == {_ONE: b"1."}
        assert _unembedded(space) == [_TWO, _THREE]

    def test_a_horizon_hides_vectors_but_not_their_state(self, space: Space) -> None:
        space.write(
            prepared("1", "[Ann]", expires_at=at(1), vectors=(vector(0, b"aa"),)),
            prepared("2", "[Bo]", timestamp=at(0), vectors=(vector(0, b"bb"),)),
            prepared("3", "[Cy]"),
            prepared("4", "[Dee]", timestamp=at(9)),
        )
        state = _state(space)
        all_four = [_ONE, _TWO], [_THREE, statement_key(4, 0)]
        for horizon, (embedded, not_embedded) in (
            (Horizon(), all_four),
            (Horizon(now=at(0)), all_four),
            (Horizon(now=at(2)), ([_TWO], all_four[1])),
            (Horizon(as_of=3), ([_ONE, _TWO], [_THREE])),
            (Horizon(as_of=1), ([_ONE], [])),
            (Horizon(as_of=NOON), ([_TWO], [])),
            (Horizon(as_of=0), ([], [])),
        ):
            with space.reader(horizon) as reader:
                assert reader.state.vectors == state
                assert reader.state.vector_bytes == {"m": 2}
                assert list(reader.vectors(model="m")) == embedded
                assert list(reader.vectors(model="m", after=_ONE)) == embedded[-1:] * (
                    _TWO in embedded
                )
                assert reader.vectors(model="n") == {}
                assert reader.statement_keys(embedded=True) == embedded
                assert reader.statement_keys(embedded=False) == not_embedded
                assert reader.statement_keys(embedded=False, after=_THREE, limit=0) == []

    def test_restored_vectors_are_pinned_too(self, space: Space) -> None:
        """An archive with two models is refused; a restored namespace has its model fixed."""
        space.write(prepared("1", "[Ann]", vectors=(vector(0, b"aa"),)), prepared("2", "[B]"))
        records, copied = space.dump(), space.copied()
        copy = _state(copied)
        assert (copy.model, copy.size) == ("m", 2)
        assert copy.origin != _state(space).origin
        assert _vectors(copied) == {_ONE: b"aa"}
        with pytest.raises(EmbeddingModelError):
            copied.amend(AddVectors(model="n", vectors={_TWO: b"bb"}))
        third = prepared("3", "[Cy]", vectors=(vector(0, b"cc", "n"),), t_index=3)
        with pytest.raises(EmbeddingModelError):
            space.beside("-mixed").restore(3, [*records, third])
