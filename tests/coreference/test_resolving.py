"""What a pronoun stands for: no input breaks the resolver, and work grows with the text alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.coreference import main, score_dialogues
from recallm.english.coreference.discourse import MAX_CANDIDATES, Referent
from recallm.english.coreference.resolving import Decision, decisions, resolve, shipped_ranker
from tests.coreference.passages import Turn, antecedents, read_turns, resolved
from tests.tables import each_row


@each_row(
    [
        # A name of the same passage, of the session.
        (("I met Tom Baker yesterday. He is a painter.",), [("He", "Tom Baker")]),
        (("Ann met Tom Baker.", "He lives in Rome."), [("He", "Tom Baker")]),
        # No name stands before.
        (("She moved to Porto.",), []),
        ((("Ann", "My mother is ill."), ("Bob", "I hope she gets well soon!")), []),
        # Neither the speaker nor the listener, nor who is thanked, is a third person.
        ((("Anna", "Hi Bob!"), ("Bob", "Hi Anna!"), ("Anna", "He told her to come.")), []),
        ((("Caroline", "Thanks, Melanie! My grandma called. She is well."),), []),
        # Who is no person, and several, are left alone.
        (("Julia and Mark work at Siemens.", "They like it."), []),
    ]
)
def test_an_anaphor_has_its_antecedents(turns: tuple[Turn, ...], expected: list[object]) -> None:
    assert antecedents(*turns) == expected


def test_a_resolved_pronoun_says_where_it_stands_and_where_its_antecedent_is_spelled() -> None:
    text = "Tom Baker is a painter. He paints every day."
    (found,) = resolved(text)
    assert text[found.start : found.end] == "He"
    assert found.antecedent is None
    assert [concept.name for concept in found.concepts] == ["tom baker", "tom", "baker"]


def test_a_pronoun_goes_back_over_the_turns_of_a_session() -> None:
    turns = (("Ann", "I met Tom yesterday."), ("Bob", "How is he?"), ("Ann", "He is fine."))
    assert antecedents(*turns) == [("He", "Tom")]
    *earlier, last = read_turns(*turns)
    for passage, id in zip(earlier, ("first", "second"), strict=True):
        passage.id = id
    assert [found.antecedent for found in resolve(last, earlier)] == ["first"]


@each_row(
    [
        "",
        " ",
        "He",
        "the",
        "her her her",
        "| he | she |\n|---|---|\n| his | her |",
        "他说她喜欢它。",
        "HE IS HIS.",
        "(((\"''he``",
        "her's",
        "\u200bhe\ufeff",
        "You can walk on S State St, and turn onto N Clinton St. The cafe is there.",
    ]
)
def test_no_input_raises(text: str) -> None:
    earlier = read_turns("Ann works at Cisco.", text)
    (read,) = read_turns(text)
    resolve(read, earlier)


_AHEAD = 4
_NAMES = (
    "Anna",
    "Bert",
    "Carla",
    "David",
    "Emma",
    "Frank",
    "Greta",
    "Hans",
    "Ida",
    "Jonas",
    "Karin",
)


def _rows(text: str) -> list[int]:
    """How many rows of features each anaphor of a text costs; each one goes to its first
    candidate."""
    (read,) = read_turns(text)

    def choose(decision: Decision) -> Referent | None:
        return decision.candidates[0][0]

    return [len(decision.rows) for decision in decisions(read, (), choose)]


def _story(sentences: int) -> str:
    return " ".join(
        f"{_NAMES[i % len(_NAMES)]}{i} met {_NAMES[(i * 7) % len(_NAMES)]}, and he told her that "
        "it was late."
        for i in range(sentences)
    )


def test_an_anaphor_has_a_bounded_number_of_candidates() -> None:
    assert max(_rows(_story(60))) <= 1 + MAX_CANDIDATES + _AHEAD


def test_twice_the_text_is_twice_the_work() -> None:
    once, twice = sum(_rows(_story(80))), sum(_rows(_story(160)))
    assert twice <= 2.2 * once


@each_row(["he", "his ", "她", "Ann,he;"])
def test_a_long_text_of_one_kind_is_read(word: str) -> None:
    assert isinstance(_rows(word * 3_000), list)


def test_the_shipped_ranker_was_fitted_on_the_features_that_there_are() -> None:
    """A feature of another name would count nothing."""
    found: set[str] = set()

    def choose(decision: Decision) -> Referent | None:
        found.update(*decision.rows)
        return decision.candidates[0][0]

    story = 'Ann and Bob of Acme (Oslo) met Eve. He said: "She, who left, saw her." He ran.'
    for text in (story, _story(10), f"{story} Ann's car broke. He saw that and she cried."):
        (read,) = read_turns(text)
        list(decisions(read, (), choose))
    known = set(shipped_ranker().features)
    assert found <= known
    assert len(found) > 0.6 * len(known)


_GAP = os.environ.get("RECALLM_GAP", "")


def test_what_is_resolved_in_the_sessions_is_nearly_always_right() -> None:
    result = score_dialogues()
    assert result.precision >= 0.85
    assert result.recall >= 0.4


@pytest.mark.skipif(not _GAP, reason="RECALLM_GAP does not name the folder of GAP's files")
def test_gap_validation_reaches_what_the_card_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = Path(_GAP) / "gap-validation.tsv"
    output = tmp_path / "predictions.tsv"
    main([str(source), "--output", str(output)])
    row = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("| recallm |")
    )
    _, _, _, _, bias, f1, _, _, _ = (cell.strip() for cell in row.split("|"))
    assert float(f1) >= 70.0
    assert 0.9 <= float(bias) <= 1.1
    lines = output.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(source.read_text(encoding="utf-8").splitlines()) - 1
    assert all(line.split("\t")[1] in ("TRUE", "FALSE") for line in lines)
