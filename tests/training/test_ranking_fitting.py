"""The fit of the ranking's weights: what answers stands first, and probabilities are true."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

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


def test_data_sets_and_groups_weigh_by_their_shares_whatever_their_size() -> None:
    """Nine questions want what a single question of another set does not."""
    told = {"heron qoneq": Trait.NUMBER, "heron qtwoq": Trait(0)}

    def wants(*answers: str, kind: str = "LoCoMo") -> Asked:
        return question(*answers, among=told, asks=Trait.NUMBER, kind=kind)

    def of_numbers(*asked: Asked, **shares: float) -> float:
        return fit(measured(asked), signals=SIGNALS, shares=shares).signals.get("kind", 0.0)

    many, other = [wants("heron qoneq")] * 9, wants("heron qtwoq", kind="DuoRC")
    assert of_numbers(*many, other) == pytest.approx(0, abs=1e-2)
    assert of_numbers(*many, other, LoCoMo=3.0) > 0 > of_numbers(*many, other, DuoRC=3.0)
    assert of_numbers(*many, wants("heron qtwoq")) > 0, "of one set each question weighs the same"
    assert of_numbers(wants("heron qoneq", "heron qtwoq")) == pytest.approx(0, abs=1e-2)


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


def test_a_question_of_which_nothing_is_known_changes_nothing() -> None:
    unknown = Asked(kind="LoCoMo", unit="u", candidates=None, groups=(), wanted=1)
    known = with_numbers("heron qtwoq")
    none, all = measured([unknown, known])
    assert none.values.shape == (0, len(SIGNALS))
    assert all.values.shape == (3, len(SIGNALS))
    first, second = fitted(unknown, known), fitted(known)
    assert first.intercept == pytest.approx(second.intercept)
    assert first.signals == pytest.approx(second.signals)


def test_told_worlds_say_nothing_of_probabilities() -> None:
    """What somebody wrote does, where there is any."""
    written, told = with_numbers("heron qtwoq"), with_numbers("heron qoneq", kind="Temporal")
    row = np.ones(len(SIGNALS))
    alone = fitting._probabilities(measured([written]), row)
    assert fitting._probabilities(measured([written, told, told]), row) == pytest.approx(alone)
    assert fitting._probabilities(measured([told]), row) != pytest.approx(alone)


@pytest.mark.nightly
def test_measured_with_other_weights_only_what_depends_on_them_is_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "tell", partial(tell, repetitions=1))
    units = units_of(
        write_talks(tmp_path / "talks"),
        None,
        write_films(tmp_path / "films.jsonl"),
        plots=2,
        worlds=1,
    )
    all_sets = [one for unit in units for one in asked_of(unit, None)[:20]]
    known, weights = measured(all_sets), dict.fromkeys(SIGNALS, 1.0)
    found = remeasured(known, weights)
    for one, other in zip(found, measured(all_sets, weights), strict=True):
        assert (one.values == other.values).all()
    unchanged = sum(one is other for one, other in zip(known, found, strict=True))
    assert 0 < unchanged < len(known)
