"""The fit of the ranking's weights: what answers stands first, and probabilities are true."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from benchmarks.temporal_world import tell
from recallm.model import Trait
from recallm.recall.ranking.signals import SIGNALS, Weights
from tests.retrieval.talk import asked, candidates, store_of, turn
from tests.training.corpus import write_films, write_talks
from training.ranking import examples, fitting
from training.ranking.examples import Asked, asked_of, units_of
from training.ranking.fitting import fit, measured, remeasured

NOTHING = Weights(intercept=0.0, signals={})


def question(
    *answering: str,
    kind: str = "LoCoMo",
    among: Mapping[str, Trait],
    asks: Trait = Trait(0),  # noqa: B008 - frozen
) -> Asked:
    """A question about herons; ``among`` says what is told, and with which traits."""
    store = store_of(
        *(turn(text, id=text, session=text, traits=traits) for text, traits in among.items())
    )
    found = candidates(store, asked("which heron", asks=asks))
    assert found is not None
    texts = [one.text for one in found.statements]
    groups = tuple(np.array([texts.index(text)]) for text in answering)
    return Asked(kind=kind, unit="u", candidates=found, groups=groups, wanted=len(groups))


def with_numbers(answer: str, kind: str = "LoCoMo") -> Asked:
    """Three herons alike by words that no table holds; the second and the third tell a number."""
    told = {"heron qoneq": Trait(0), "heron qtwoq": Trait.NUMBER, "heron qthreeq": Trait.NUMBER}
    return question(answer, among=told, asks=Trait.NUMBER, kind=kind)


def order(*asked: Asked, shares: Mapping[str, float] | None = None) -> dict[str, float]:
    row = fitting._order(measured(asked), NOTHING, SIGNALS, shares or {})
    return dict(zip(SIGNALS, row.tolist(), strict=True))


def fitted(*questions: Asked) -> Weights:
    """The weights of all signals, fitted on these questions."""
    return fit(measured(questions), signals=SIGNALS, shares={})


def test_what_tells_answers_from_others_weighs() -> None:
    asked = [with_numbers("heron qtwoq"), with_numbers("heron qthreeq")]
    weights = fitted(*asked)
    assert weights.signals["kind"] > 0
    assert fitted(with_numbers("heron qoneq")).signals["kind"] < 0


def test_what_no_candidate_has_weighs_nothing() -> None:
    weights = fitted(with_numbers("heron qtwoq"))
    assert {"kind", "meaning"} & set(weights.signals)
    absent = {"date", "speaker", "similar window", "answer", "superseded"}
    assert not absent & set(weights.signals)


def test_signals_that_are_left_out_weigh_nothing() -> None:
    known = measured([with_numbers("heron qtwoq"), with_numbers("heron qthreeq")])
    assert "kind" in fit(known, signals=SIGNALS, shares={}).signals
    others = set(SIGNALS) - {"kind", "length"}
    assert set(fit(known, signals=others, shares={}).signals) <= others


def test_data_sets_weigh_the_same_whatever_their_size() -> None:
    """Nine questions want what a single one of another set does not."""
    told = {"heron qoneq": Trait.NUMBER, "heron qtwoq": Trait(0)}

    def one(answer: str, kind: str) -> Asked:
        return question(answer, among=told, asks=Trait.NUMBER, kind=kind)

    many = [one("heron qoneq", "LoCoMo")] * 9
    both = order(*many, one("heron qtwoq", "REALTALK"))
    assert both["kind"] == pytest.approx(0, abs=1e-3)
    alone = order(*many)
    assert alone["kind"] > 0.5
    same = order(*many, one("heron qtwoq", "LoCoMo"))
    assert same["kind"] > 0.5, "of one set each question weighs the same"


def test_shares_say_what_a_data_set_weighs() -> None:
    told = {"heron qoneq": Trait.NUMBER, "heron qtwoq": Trait(0)}
    first = question("heron qoneq", among=told, asks=Trait.NUMBER, kind="LoCoMo")
    second = question("heron qtwoq", among=told, asks=Trait.NUMBER, kind="DuoRC")
    assert order(first, second, shares={"LoCoMo": 3.0})["kind"] > 0.1
    assert order(first, second, shares={"DuoRC": 3.0})["kind"] < -0.1


def test_all_groups_of_a_question_are_to_stand_high() -> None:
    """Each weighs alike, though one of them may be had by what the other does not have."""
    told = {"heron qoneq": Trait.NUMBER, "heron qtwoq": Trait(0)}
    both = question("heron qoneq", "heron qtwoq", among=told, asks=Trait.NUMBER)
    assert order(both)["kind"] == pytest.approx(0, abs=1e-3)


def test_probabilities_are_as_many_answers_as_there_are() -> None:
    """Logistic regression with an intercept: the mean probability is the share of answers."""
    asked = [
        with_numbers("heron qtwoq"),
        with_numbers("heron qthreeq"),
        with_numbers("heron qoneq"),
    ]
    weights = fitted(*asked)
    row = np.array([weights.signals.get(name, 0.0) for name in SIGNALS])
    odds = np.concatenate([one.values @ row for one in measured(asked, weights.signals)])
    scores = 1 / (1 + np.exp(-(odds + weights.intercept)))
    assert scores.mean() == pytest.approx(1 / 3, abs=0.01)


def test_what_nothing_answers_makes_probabilities_less() -> None:
    answered = [with_numbers("heron qtwoq")] * 3
    nothing = question(among={"heron qoneq": Trait.NUMBER}, asks=Trait.NUMBER)
    assert nothing.groups == ()

    def mean_probability(*asked: Asked) -> float:
        known = measured(asked)
        row = order_row(*answered)
        scale, intercept = fitting._probabilities(known, row)
        assert scale > 0
        odds = np.concatenate([one.values @ row for one in known])
        return float((1 / (1 + np.exp(-(scale * odds + intercept)))).mean())

    assert mean_probability(*answered, *[nothing] * 9) < mean_probability(*answered) / 1.5


def order_row(*asked: Asked) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(list(order(*asked).values()))


def test_told_worlds_say_nothing_of_probabilities() -> None:
    """What somebody wrote does, where there is any."""
    written, told = with_numbers("heron qtwoq"), with_numbers("heron qoneq", kind="Temporal")
    row = order_row(written)
    alone = fitting._probabilities(measured([written]), row)
    assert fitting._probabilities(measured([written, told, told]), row) == pytest.approx(alone)
    assert fitting._probabilities(measured([told]), row) != pytest.approx(alone)


def test_a_question_of_which_nothing_is_known_changes_nothing() -> None:
    unknown = Asked(kind="LoCoMo", unit="u", candidates=None, groups=(), wanted=1)
    known = with_numbers("heron qtwoq")
    none, all = measured([unknown, known])
    assert none.values.shape == (0, len(SIGNALS))
    assert all.values.shape == (3, len(SIGNALS))
    first, second = fitted(unknown, known), fitted(known)
    assert first.intercept == pytest.approx(second.intercept)
    assert first.signals == pytest.approx(second.signals)


def test_softmax_over_runs() -> None:
    odds = np.array([1.0, 1.0, 700.0, 0.0, -700.0])
    logs, shares = fitting._softmax(odds, np.array([0, 2]), np.array([0, 0, 1, 1, 1]))
    assert logs == pytest.approx([1 + np.log(2), 700])
    assert shares == pytest.approx([0.5, 0.5, 1, 0, 0])


@pytest.fixture(scope="module")
def all_sets(tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """The questions of two conversations, two films and a short generated world."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "tell", partial(tell, repetitions=1))
        units = list(
            units_of(
                write_talks(folder / "talks"),
                None,
                write_films(folder / "films.jsonl"),
                plots=2,
                worlds=1,
            )
        )
    return [one for unit in units for one in asked_of(unit, None)[:20]]


@pytest.fixture(scope="module")
def weights(all_sets: list[Asked]) -> Weights:
    return fit(measured(all_sets), signals=SIGNALS, shares={"Temporal": 0.5})


@pytest.mark.nightly
def test_weights_of_all_sets_together(weights: Weights) -> None:
    assert set(weights.signals) <= set(SIGNALS)
    assert all(np.isfinite(list(weights.signals.values())))
    assert weights.intercept < 0, "most statements answer nothing"


@pytest.mark.nightly
def test_measured_with_other_weights_only_what_depends_on_them_is_measured_anew(
    all_sets: list[Asked], weights: Weights
) -> None:
    known = measured(all_sets)
    found = remeasured(known, weights.signals)
    for one, other in zip(found, measured(all_sets, weights.signals), strict=True):
        assert (one.values == other.values).all()
    unchanged = sum(one is other for one, other in zip(known, found, strict=True))
    assert 0 < unchanged < len(known)
