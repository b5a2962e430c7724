"""The data that coreference is trained on are read as their authors wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.coreference.examples import cut_gap_examples, gap_example, session_examples, undecided
from training.coreference.fitting import fit
from training.coreference.gap import decide, predict, read_gap, score, write_predictions
from training.coreference.gum import read_documents
from training.coreference.name_genders import female_shares, gender_table
from training.coreference.sessions import filled_templates, read_sessions

_HEAD = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
_TEXT = "Tom Baker met Paul Reed in Oslo. Later he wrote a book."


@pytest.fixture
def gap_file(tmp_path: Path) -> Path:
    rows = [
        f"t-{i}\t{_TEXT}\the\t39\tTom Baker\t0\t{a}\tPaul Reed\t14\t{b}\thttp://example.org/{i}"
        for i, (a, b) in enumerate([("TRUE", "FALSE"), ("FALSE", "TRUE"), ("FALSE", "FALSE")])
    ]
    path = tmp_path / "gap.tsv"
    path.write_text("\n".join([_HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def test_gap_texts_have_their_names_and_answers(gap_file: Path) -> None:
    texts = read_gap(gap_file)
    assert [text.answers for text in texts] == [(True, False), (False, True), (False, False)]
    first = texts[0]
    labels = [first.read.names[place].place.concept.label for place in first.names]
    assert labels == ["Tom Baker", "Paul Reed"]
    assert first.read.words[first.token].text == "he"
    assert not first.is_feminine


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("a\tb\n1\t2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="columns"):
        read_gap(path)


def test_right_rows_are_the_candidates_of_the_right_names(gap_file: Path) -> None:
    for text in read_gap(gap_file):
        decision = decide(text, undecided)
        assert decision is not None
        example = gap_example(text, decision)
        assert example is not None
        a, b = (
            1
            + [candidate for candidate, _ in decision.candidates].index(
                decision.discourse.referents[place]
            )
            for place in text.names
        )
        assert (bool(example.right[a]), bool(example.right[b])) == text.answers
        assert bool(example.right[0]) is not any(text.answers)


def test_a_cut_text_has_the_same_right_candidate_in_an_earlier_passage(gap_file: Path) -> None:
    texts = read_gap(gap_file)
    examples = cut_gap_examples(texts, seed=0)
    assert [example is not None and int(example.right.sum()) for example in examples[:2]] == [1, 1]


def test_scores_count_each_name_as_gaps_scorer_does(gap_file: Path, tmp_path: Path) -> None:
    texts = read_gap(gap_file)
    predictions = [(True, False), (True, False), (True, False)]
    found = score(texts, predictions)
    assert found.precision == pytest.approx(100 / 3)
    assert found.recall == 50.0
    assert found.f1 == pytest.approx(40.0)
    output = tmp_path / "out.tsv"
    write_predictions(output, texts, predictions)
    assert output.read_text(encoding="utf-8").splitlines()[0] == "t-0\tTRUE\tFALSE"


def test_fitting_learns_what_the_examples_say(gap_file: Path) -> None:
    text = read_gap(gap_file)[1]
    decision = decide(text, undecided)
    assert decision is not None
    example = gap_example(text, decision)
    assert example is not None
    ranker = fit([example] * 8, networks=1, seed=0)
    assert predict(text, decision, ranker) == (False, True)


def test_gum_mentions_have_their_spans_and_heads(tmp_path: Path) -> None:
    rows = [
        ("# newpar",),
        ("# speaker = Ann",),
        ("1", "Tom", "(1-person-new-nnnnn-cf1-1-coref", ""),
        ("2", "Baker", "1)", ""),
        ("3", "likes", "", ""),
        ("4", "his", "(2-object-new-nnnnn-cf2-2-sgl(1-person-giv:act-nnnnn-cf1-1-ana)", ""),
        ("5", "car", "2)", "SpaceAfter=No"),
        ("6", ".", "", ""),
    ]
    lines = [
        row[0]
        if len(row) == 1
        else "\t".join([row[0], row[1], *["_"] * 7, f"Entity={row[2]}|{row[3]}" if row[2] else "_"])
        for row in rows
    ]
    (tmp_path / "a.conllu").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    (document,) = read_documents(tmp_path)
    (passage,) = document.passages
    assert passage.text == "Tom Baker likes his car."
    assert passage.speaker == "Ann"
    mentions = sorted(passage.mentions, key=lambda mention: (mention.start, mention.end))
    assert [
        (mention.referent, passage.text[mention.start : mention.end]) for mention in mentions
    ] == [
        ("1", "Tom Baker"),
        ("1", "his"),
        ("2", "his car"),
    ]
    assert passage.text[mentions[2].head_start : mentions[2].head_end] == "car"


@pytest.mark.slow
def test_templates_become_sessions_with_their_antecedents() -> None:
    sessions = filled_templates(1, seed=0)
    turns = read_sessions(sessions[:20])
    for session in turns:
        for turn in session:
            for (start, end), names in turn.antecedents.items():
                assert turn.read.text[start:end]
                assert all("=" not in name for name in names)
    assert session_examples(turns, copies=1)


@pytest.mark.nightly  # imports every locale of faker
def test_names_are_as_female_as_their_bearers() -> None:
    shares = female_shares()
    assert shares["ingrid"] == 1.0
    assert shares["robert"] == 0.0
    assert 0.1 < shares["jamie"] < 0.9
    assert "ingrid" in gender_table(shares)
