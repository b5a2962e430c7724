"""Training the discriminator: from graded answers to a weights file, the same each time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from benchmarks.discriminator import discriminator_rows
from benchmarks.discriminator import main as measure
from recallm.hybrid import TrainedDiscriminator
from recallm.hybrid.features import FEATURES
from training.discriminator.__main__ import main
from training.discriminator.fitting import (
    Examples,
    accuracy,
    calibration,
    choose,
    fit,
    out_of_fold,
)
from training.discriminator.pairs import against_evasions, differences, grades, read_pairs, retold
from training.discriminator.styles import FIGURES, HELD_OUT, LEARNT, evasion, refuses, restyled

PEOPLE = ("Ana", "Bo", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "June")
TOWNS = ("York", "Hull", "Bath", "Leeds", "Oxford", "Dover", "Truro", "Ely", "Wells", "Ripon")


def film(number: int) -> dict[str, Any]:
    """Ten questions: RecallM knows the odd ones, the vector branch the even ones and the last."""
    questions = []
    for place, (person, town) in enumerate(zip(PEOPLE, TOWNS, strict=True)):
        told = f"{person} lives in {town}."
        refusal = (
            f"It is not mentioned where {person} lives.",
            "I'm sorry, I don't know.",
            "There is no information about that in the statements.",
        )[(number + place) % 3]
        knows = (place % 2 == 1, place % 2 == 0 or place == 9)
        answers = [told if known else refusal for known in knows]
        questions.append(
            {
                "question": f"Where does {person} live?",
                "answers": [town],
                "recallm_answer": answers[0],
                "vectordb_answer": f"{answers[1]}\nSOURCES:",
                "hybrid_answer": answers[0],
                "grades": {
                    "recallm": 2 * knows[0],
                    "vectordb": 2 * knows[1],
                    "hybrid": 2 * knows[0],
                },
            }
        )
    return {"id": f"film-{number}", "plot": "\u2028", "questions": questions}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data" / "dev.jsonl.gz"
    file.parent.mkdir()
    lines = "\n".join(json.dumps(film(number), ensure_ascii=False) for number in range(6))
    file.write_bytes(gzip.compress(lines.encode()))
    return file


@pytest.mark.slow
def test_it_trains_end_to_end_and_writes_the_same_bytes_again(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = [tmp_path / "one.json", tmp_path / "new" / "two.json"]
    for source, output in zip((data, data.parent), outputs, strict=True):
        main([str(source), "--output", str(output), "--folds", "3"])
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    printed = capsys.readouterr().out
    assert "60 questions on 6 films, 3 folds of films" in printed
    assert "| RecallM branch | 50.0 |" in printed
    assert "| vector branch | 60.0 |" in printed
    assert "| trained, other films | 100.0 |" in printed
    monkeypatch.setattr("recallm.hybrid.discriminator._WEIGHTS", outputs[0])
    trained = TrainedDiscriminator()
    answers = {"recallm": "The text does not say.", "vectors": "Zoe lives in Rye."}
    assert trained.choose("Where does Zoe live?", answers).name == "vectors"


def test_no_question_of_a_film_has_a_part_in_what_chooses_for_it(data: Path) -> None:
    pairs = read_pairs(data)
    examples = Examples.of(pairs, seed=0)
    (odds,) = out_of_fold(examples, folds=6, seed=0)
    of_first = examples.films == 0
    weights = fit(examples, ~of_first)
    assert np.allclose(odds[of_first], examples.views[0][of_first] @ weights)
    assert not np.allclose(odds[of_first], examples.views[0][of_first] @ fit(examples, of_first))


def test_neither_branch_is_the_better_one_by_itself(data: Path) -> None:
    examples = Examples.of(read_pairs(data), seed=0)
    everything = np.ones(len(examples.lead), dtype=bool)
    mirrored = Examples(-examples.views, examples.weights, -examples.leads, examples.films)
    assert np.allclose(fit(examples, everything), fit(mirrored, everything))


def test_accuracy_is_grades_over_twice_the_questions(data: Path) -> None:
    graded = grades(read_pairs(data))
    assert accuracy(graded[:, 0]) == 50
    assert accuracy(choose(np.ones(60), graded)) == accuracy(graded[:, 0])
    assert accuracy(choose(-np.ones(60), graded)) == accuracy(graded[:, 1])
    assert accuracy(choose(np.zeros(60), graded)) == 55


def test_calibration_finds_the_scale_that_agrees() -> None:
    random = np.random.default_rng(3)
    odds = random.normal(scale=2, size=5_000)
    lead = np.where(random.random(5_000) < 1 / (1 + np.exp(-odds)), 2.0, -1.0)
    assert calibration(odds, lead).scale == pytest.approx(1, abs=0.1)
    assert calibration(odds / 2, lead).scale == pytest.approx(2, abs=0.2)
    assert calibration(odds, lead).error < 0.04
    assert calibration(odds, lead).brier < calibration(odds / 8, lead).brier < 0.25


def test_what_is_no_data_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, missing = tmp_path / "x.jsonl", tmp_path / "none.jsonl"
    bad = ("", "{}", "[1]", "nothing", '{"id": "x", "questions": [{}]}', json.dumps(film(1)))
    for path, content in [(missing, ""), *((file, content) for content in bad)]:
        file.write_text(content)
        with pytest.raises(SystemExit):
            main([str(path), "--output", str(tmp_path / "weights.json")])
        said = capsys.readouterr().err
        assert "error:" in said, content
        assert ("two films or more" in said) == (content == bad[-1]), content
    assert not (tmp_path / "weights.json").exists()


# -- manners -------------------------------------------------------------------------------


def test_a_manner_keeps_what_is_told_and_that_nothing_is() -> None:
    random = Random(1)
    for manner in (LEARNT + HELD_OUT) * 10:
        told = restyled("Where does Bo live?", "Bo lives in York.", manner, random)
        assert "York" in told, manner
        assert not refuses(told), manner
        refused = restyled("Where does Bo live?", "It is not mentioned.", manner, random)
        assert refused in manner.refusals, manner
        assert manner in HELD_OUT or refuses(refused), manner
    # Manners that measure have words of their own.
    learnt = {text for manner in LEARNT for text in (*manner.refusals, *manner.before) if text}
    held_out = {text for manner in HELD_OUT for text in (*manner.refusals, *manner.before) if text}
    assert not learnt & held_out


def test_what_the_card_says_of_refusals_holds() -> None:
    held_out = [text for manner in HELD_OUT for text in manner.refusals]
    assert (sum(map(refuses, held_out)), len(held_out)) == (13, 14)
    assert not any(map(refuses, FIGURES.refusals))


def test_pairs_are_retold_alike_or_each_for_itself(data: Path) -> None:
    pairs = read_pairs(data)
    assert retold(pairs, (None,)) == pairs
    assert retold(pairs, LEARNT, seed=1) == retold(pairs, LEARNT, seed=1)
    assert retold(pairs, LEARNT, seed=1) != retold(pairs, LEARNT, seed=2)
    assert differences(pairs).shape == (60, len(FEATURES))
    assert np.array_equal(differences(pairs[:3]), differences(pairs)[:3])


def test_an_evasion_stands_beside_what_has_full_marks(data: Path) -> None:
    pairs = read_pairs(data)
    evaded, lead = against_evasions(pairs)
    for before, after, by in zip(pairs, evaded, lead, strict=True):
        assert by == (2 if before.recallm_grade == 2 else -2)
        assert (after.vectors if by > 0 else after.recallm) not in (before.vectors, before.recallm)
        assert (after.recallm if by > 0 else after.vectors) in (before.vectors, before.recallm)
    assert "York" not in evasion("Where does Bo live?", Random(2))


# -- the benchmark -------------------------------------------------------------------------


@pytest.mark.slow
def test_the_benchmark_has_a_row_for_each_way_to_choose(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {row["answer"]: row for row in discriminator_rows(data, folds=3)}
    by_phrases = rows["other manners: refusal phrases alone"]["accuracy"]
    accuracies = [row["accuracy"] for row in rows.values()]
    assert accuracies == pytest.approx([0.5, 0.6, 0.5, 1.0, 1.0, by_phrases, 1.0, 1.0])
    trained = rows["TrainedDiscriminator"]["over the vector branch"]
    assert trained.mean == pytest.approx(0.4)
    assert trained.low <= trained.mean <= trained.high
    measure([str(data), "--folds", "3", "--json", str(tmp_path / "out.json")])
    assert "TrainedDiscriminator" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "out.json").read_text())["rows"]) == len(rows)
