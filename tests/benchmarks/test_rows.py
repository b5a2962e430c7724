"""The benchmarks from a corpus to their tables, with and without embeddings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import duorc, locomo, temporal
from benchmarks.corpora import conversations, films
from benchmarks.plot import draw_over_repetitions
from benchmarks.rankings import (
    BM25_ROW,
    CHROMA_ROW,
    EMENT_ROW,
    NEWEST_ROW,
    PAPER_ROW,
    SIMILARITY_ROW,
    STATEMENTS_ROW,
    TIME_ROW,
    VECTORS_ROW,
    Item,
    opened_rows,
    weights_in,
)
from benchmarks.temporal_world import tell
from recallm.recall.ranking.signals import DATA
from tests.benchmarks.corpus import subjects, write_conversation, write_films

_OF_WORDS = [PAPER_ROW, STATEMENTS_ROW, BM25_ROW, NEWEST_ROW]


def test_every_row_finds_the_evidence_of_a_small_conversation(tmp_path: Path) -> None:
    write_conversation(tmp_path / "talks")
    scores = locomo.measure(list(conversations(tmp_path / "talks")), subjects())
    assert scores.units == ["talk", "talk"]
    assert scores.kinds == ["single-hop", "multi-hop"]
    assert set(scores.rows) == {*_OF_WORDS, VECTORS_ROW, EMENT_ROW, CHROMA_ROW}
    for row in scores.rows:
        if row != NEWEST_ROW:  # no question names anybody
            assert scores.mean(row, "R in 500") == 1.0, row
            assert scores.mean(row, "R@5") == (None if row == PAPER_ROW else 1.0), row
    assert scores.mean(PAPER_ROW, "uncut") == 1.0
    assert (scores.median(PAPER_ROW, "tokens uncut") or 0) > 20


def test_every_row_finds_the_answers_in_a_small_film(tmp_path: Path) -> None:
    scores = duorc.measure(films(write_films(tmp_path / "films.jsonl"), 5), subjects())
    assert NEWEST_ROW not in scores.rows
    for row in scores.rows:
        assert scores.mean(row, "100 tokens") == 1.0, row


def test_peers_hand_over_in_time_order_and_similarity_alone_by_nearness() -> None:
    items = [
        Item(id="0", text="Ann bought a boat and a piano."),
        Item(id="1", text="Ann likes bread."),
        Item(id="2", text="Ann painted the boat."),
        Item(id="3", text="Ben sold it."),
    ]
    with opened_rows(subjects(), similarity_order=True) as rows:
        measured = rows("one")
        measured.write(items[:1])
        measured.write(items[1:])
        by_name = {ranker.name: ranker for ranker in measured.rankers}
        told = {
            name: [found.item for found in ranker.context("Whose boat is Ann's?", limit=2)]
            for name, ranker in by_name.items()
        }
        nothing = rows("two")
        nothing.write(items[3:])
        assert nothing.rankers[1].best("Who likes bread?") == []
    assert told[SIMILARITY_ROW] == ["2", "0"]
    assert told[TIME_ROW] == told[BM25_ROW] == ["0", "2"]
    assert told[NEWEST_ROW] == ["1", "2"]
    assert told[STATEMENTS_ROW] == ["0", "2"]


def test_locomo_writes_its_tables_and_passes_over_what_holds_no_conversation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_conversation(tmp_path / "LoCoMo")
    out = tmp_path / "out.json"
    folders = [str(tmp_path / "LoCoMo"), str(tmp_path / "nowhere")]
    locomo.main([*folders, "--without-vectors", "--json", str(out)])
    [written] = json.loads(out.read_text())["data"]
    assert (written["data"], written["questions"]) == ("LoCoMo", 2)
    assert [row["ranking"] for row in written["rows"]] == _OF_WORDS
    assert [row["difference"] for row in written["differences"]] == [
        "as in the paper − BM25",
        "statements − BM25",
    ]
    assert set(written["differences"][1]["R@10"]) == {"mean", "low", "high"}
    assert "nowhere is passed over" in capsys.readouterr().out


def test_duorc_writes_how_much_was_asked(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    path = write_films(tmp_path / "films.jsonl")
    duorc.main([str(path), "--without-vectors", "--json", str(out)])
    written = json.loads(out.read_text())
    assert (written["questions"], written["films"]) == (2, 1)


@pytest.mark.nightly  # what is judged right: test_scoring
def test_the_temporal_scores_stand_by_repetition() -> None:
    scores = temporal.measure(tell("dev", repetitions=2), asked_after=(1, 2))
    assert list(scores) == [1, 2]
    assert "current@10" not in scores[1].means(BM25_ROW)
    assert "current@10" in scores[2].means(BM25_ROW)
    assert scores[2].mean(BM25_ROW, "long-range@10") == 1.0
    assert scores[2].mean(NEWEST_ROW, "first@5") is not None
    assert not scores[2].has(PAPER_ROW, "current@5")
    assert scores[2].mean(PAPER_ROW, "long-range in 1000") is not None
    assert scores[2].mean(PAPER_ROW, "uncut", "long-range") == 1.0
    assert not scores[1].has(PAPER_ROW, "uncut")


def test_a_plot_of_the_same_figures_is_the_same_file(tmp_path: Path) -> None:
    drawn = []
    for name in ("one.svg", "deeper/two.svg"):
        panel: dict[str, list[float | None]] = {BM25_ROW: [0.25, 1.0], TIME_ROW: [0.5, None]}
        draw_over_repetitions(tmp_path / name, [1, 5], {"Standard": panel, "Long": panel})
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0].startswith(b"<?xml")


def test_weights_are_those_of_a_file_or_of_a_folder_without_each_unit(tmp_path: Path) -> None:
    assert weights_in(None)("talk") is None
    assert weights_in(DATA)("talk") == str(DATA)
    (tmp_path / "talk.toml").write_bytes(DATA.read_bytes())
    assert weights_in(tmp_path)("talk") == str(tmp_path / "talk.toml")
    with pytest.raises(SystemExit, match="without other"):
        weights_in(tmp_path)("other")
    with pytest.raises(SystemExit, match="no weights"):
        weights_in(tmp_path / "nowhere")


def test_other_weights_make_another_order(tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    path.write_text(
        "[words]\nintercept = 0.0\nmeaning = -5.0\n[vectors]\nintercept = 0.0\nmeaning = -5.0\n"
    )
    items = [Item(id="0", text="The boat."), Item(id="1", text="The boat sails to Rome at night.")]
    orders = {}
    for weights in (None, path):
        with opened_rows(None, weights_for=weights_in(weights)) as rows:
            measured = rows("one")
            measured.write(items)
            found = measured.rankers[1].best("Does the boat sail at night?")
            orders[weights] = [each.item for each in found]
    assert orders == {None: ["1", "0"], path: ["0", "1"]}
