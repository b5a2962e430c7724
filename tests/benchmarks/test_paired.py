"""This tree beside another revision: what is measured, and how the rounds are summed up."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import statements
from benchmarks.paired import read_histories, summary, work_of
from benchmarks.paired_workload import measured
from tests.benchmarks.corpus import write_history


def test_the_chat_is_the_first_history_and_the_questions_are_those_of_all(tmp_path: Path) -> None:
    blank = {"role": "assistant", "content": " "}
    write_history(tmp_path, "one", haystack_sessions=[[], [], [{**blank, "content": "Hi."}, blank]])
    write_history(tmp_path, "two", question="Who ran?")
    items, questions = read_histories(tmp_path)
    assert items == [{"text": "Hi.", "session": "boat", "speaker": "assistant"}]
    assert questions == ["Which boat did I buy?", "Who ran?"]
    with pytest.raises(SystemExit, match="no history"):
        read_histories(tmp_path / "none")


def test_the_work_has_all_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for names in ("_PEOPLE", "_CITIES", "_COMPANIES"):
        monkeypatch.setattr(statements, names, 40)
    work = work_of(None, 30, None)
    assert len(work["tool output"]) > 80_000
    work["tool output"] = "The key of Zed is K-99."
    for kind in ("chat", "short statements"):
        for part, values in work[kind].items():
            work[kind][part] = values[:2]
    found = measured(work, tmp_path)
    assert len(found) == 9
    assert min(found.values()) > 0


def test_rounds_are_summed_up_by_their_medians() -> None:
    rounds = [
        ({"ms": 10.0}, {"ms": 5.0}),
        ({"ms": 20.0}, {"ms": 20.0}),
        ({"ms": 40.0}, {"ms": 10.0}),
    ]
    assert summary(rounds) == [{"figure": "ms", "revision": 20.0, "this tree": 10.0, "ratio": 0.5}]
