"""LongMemEval from its files to its tables, without a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import longmemeval
from benchmarks.corpora import ABSTENTION, Asked, Conversation, histories
from benchmarks.minilm import KeptVectors, Rows
from benchmarks.outside.mempalace import turns_in
from benchmarks.outside.serving import Said
from benchmarks.outside_peers import OutsidePeer
from benchmarks.rankings import items_of
from tests.benchmarks.corpus import subjects, write_history


def test_a_sample_has_each_category_in_its_share_and_a_larger_one_holds_it() -> None:
    def talk(number: int, category: str) -> Conversation:
        asked = Asked(question="Who?", answers=("Ann",), category=category)
        return Conversation(name=f"{category} {number}", turns=(), questions=(asked,))

    talks = [talk(number, "many") for number in range(30)]
    talks += [talk(number, ABSTENTION) for number in range(10)]
    small, large = (longmemeval.sample(talks, count) for count in (8, 20))
    assert [each.name for each in large[:8]] == [each.name for each in small]
    assert sum(each.questions[0].category == ABSTENTION for each in small) == 2
    assert sum(each.questions[0].category == ABSTENTION for each in large) == 5
    assert len(longmemeval.sample(talks, None)) == 40


def test_rows_are_measured_and_what_peers_found_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_history(tmp_path / "histories")
    write_history(tmp_path / "histories", "two_abs", answer="The user bought no boat.")
    out = tmp_path / "out.json"
    rows = "recallm,bm25-turns,bm25-sessions"
    cache = tmp_path / "cache"
    given = [str(tmp_path / "histories"), "--rows", rows, "--cache", str(cache), "--json", str(out)]
    longmemeval.main(given)
    first = json.loads(out.read_text())
    assert [row["memory"] for row in first["questions"]] == rows.split(",")
    for row in first["questions"]:
        assert (row["any@5"], row["all@5"], row["stems in 500"]) == (1, 1, 1), row
        assert row["turns @10"] == (None if row["memory"] == "bm25-sessions" else 1)
    assert [row["lines"] for row in first["questions"]] == [1, None, None]
    assert len(first["without an answer"]) == 3

    kept = cache / "figures.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert {line["row"] for line in lines} == {"bm25-turns", "bm25-sessions"}
    for line in lines:
        line["figures"]["any@5"] = 0.5
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines))
    longmemeval.main(given)
    again = json.loads(out.read_text())["questions"]
    assert [row["any@5"] for row in again] == [1, 0.5, 0.5]

    for wrong in ([str(tmp_path), "--rows", "none"], [str(tmp_path / "none")]):
        with pytest.raises(SystemExit):
            longmemeval.main(wrong)
    assert "the rows are recallm" in capsys.readouterr().err


def test_a_peer_shows_the_better_of_two_fillings(tmp_path: Path) -> None:
    long = {"role": "user", "content": "I bought a red boat. " + "It floats. " * 300}
    write_history(
        tmp_path / "histories", haystack_sessions=[[], [], [{**long, "has_answer": True}]]
    )
    talks = list(histories(tmp_path / "histories"))
    scores, _ = longmemeval.measure(talks, ["bm25-turns"], tmp_path)
    assert scores.mean("bm25-turns", "stems in 500") == 1  # whole, the message does not fit
    assert not scores.has("bm25-turns", "stems in 500, cut")
    assert scores.mean("bm25-turns", "stems in 4000") == 1


def test_equal_texts_are_embedded_once_for_good(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> Rows:
        asked.append(texts)
        return np.array([[len(text), 1] for text in texts], np.float32)

    for _ in range(2):
        kept = KeptVectors(embed, tmp_path / "vectors.db")
        assert kept(["four", "six", "four"]).tolist() == [[4, 1], [3, 1], [4, 1]]
    assert asked == [["four", "six"]]


@pytest.mark.slow
def test_a_peer_in_a_process_of_its_own_gives_turns_best_first(tmp_path: Path) -> None:
    """LlamaIndex's block, which is installed here; its vectors stand in the file."""
    write_history(tmp_path / "histories")
    [talk] = histories(tmp_path / "histories")
    question = talk.questions[0].question
    said = [f"<message role='{turn.speaker}'>{turn.text}</message>" for turn in talk.turns]
    KeptVectors(subjects().texts, tmp_path / "minilm.db")([*said, question])
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    peer = OutsidePeer(tmp_path / "environment", "llama_index", tmp_path)
    for _ in range(2):  # a memory for each history
        found = peer.search(items_of(talk), question)
        assert found[0].item == "0:0"
        assert found[0].line == "[2023-05-22] user: I bought a red boat."
        assert sorted(each.item for each in found) == ["0:0", "0:1", "1:0", "2:0"]
    peer.close()


def test_a_piece_of_a_session_has_the_turns_that_it_holds() -> None:
    turns = [
        Said(id=str(place), role="user", content=text, session="s", date="2023-05-22")
        for place, text in enumerate(["I *bought* a boat.", "Enjoy it!", "I will."])
    ]
    assert turns_in("> I *bought* a\nboat.", turns) == ["0"]
    assert turns_in("a boat.\nEnjoy", turns) == ["0", "1"]
    assert turns_in("it!\n> I will.", turns) == ["1", "2"]
    assert turns_in("Something else", turns) == []
