"""CaRB's scores, on examples whose value its published scorer gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.carb import Extraction, agreement, plain, read_gold, read_tabbed, score, tabbed
from benchmarks.triplets import main

SENTENCE = "Ada works for Siemens in Malaga and she said `` no '' ."
GOLD = f"{SENTENCE}\tworks for\tAda\tSiemens\tin Malaga\n{SENTENCE}\tsaid\tshe\t`` no ''\n"


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text(GOLD)
    return path


def test_what_people_found_has_every_point(gold_file: Path) -> None:
    lines = [
        tabbed(SENTENCE, 0.9, "works for", ["Ada", "Siemens", "in Malaga"]),
        tabbed(SENTENCE, 0.8, "said", ["she", "“ no ”"]),
    ]
    assert score(read_gold(gold_file), read_tabbed(lines)) == (1.0, 1.0, 1.0, 1.0, 0.8)


def test_words_in_common_count_part_by_part(gold_file: Path) -> None:
    """Five of seven predicted words are gold, at their places, and five of six gold ones are found;
    none of the other extraction's is."""
    lines = [tabbed(SENTENCE, 1, "works", ["Ada", "Siemens in Malaga", "now", "here"])]
    curve = score(read_gold(gold_file), read_tabbed(lines))
    assert curve.precision == pytest.approx(5 / 7)
    assert curve.recall == pytest.approx(5 / 6 / 2)


def test_what_is_said_may_stand_in_either_place() -> None:
    gold = [Extraction.of("said", ["she", "no"])]
    assert agreement(gold, [Extraction.of("said", ["no", "she"])]) == [1.0]
    assert agreement(gold, [Extraction.of("says", ["she", "no"])]) == [0.0]


def test_one_gold_extraction_is_given_to_one_prediction() -> None:
    gold = [Extraction.of("works", ["Ada", "here"])]
    found = [Extraction.of("works", ["Ada", "here now"]), Extraction.of("works", ["Ada", "here"])]
    assert agreement(gold, found) == [0.0, 1.0]


def test_no_prediction_has_no_point(gold_file: Path) -> None:
    assert score(read_gold(gold_file), {}) == (0, 0, 0, 0, 0)


def test_treebank_tokens_become_text_and_come_back() -> None:
    assert plain("a `` b '' -LRB- c -RRB-") == "a “ b ” ( c )"
    line = tabbed("a `` b '' -LRB- c -RRB-", 0.5, "is", ["“ b ”", "( c )"])
    assert line == "a `` b '' -LRB- c -RRB-\t0.5000\tis\t`` b ''\t-LRB- c -RRB-"


def test_the_command_writes_lines_of_the_sentences(
    tmp_path: Path, gold_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences, output = tmp_path / "dev.txt", tmp_path / "out.txt"
    sentences.write_text(f"{SENTENCE}\n\n")
    main([str(sentences), "--gold", str(gold_file), "--output", str(output)])
    rows = [line.split("\t") for line in output.read_text().splitlines()]
    assert {row[0] for row in rows} == {SENTENCE}
    assert ["works for", "Ada", "Siemens", "in Malaga"] in [row[2:] for row in rows]
    assert all(0 < float(row[1]) < 1 for row in rows)
    assert "naive" in capsys.readouterr().out
