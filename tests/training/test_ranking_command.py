"""``python -m training.ranking``: what it writes, and of what."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
from scipy.optimize import minimize

from recallm import RecallConfig, RecallM
from recallm.recall.ranking.signals import SIGNALS, Weights, load_tables
from tests.training.corpus import write_films, write_talks
from tests.vectors.fakes import words
from training.ranking import __main__ as command
from training.ranking import fitting

TABLES = {
    "words": ("meaning", "session", "similar"),
    "vectors": ("meaning", "similar", "similar window"),
}


def run(*arguments: object) -> None:
    """The command, with three signals and an embedding that needs no download; it measures once and
    goes few steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_ROUNDS", 1)
        patch.setattr(fitting, "minimize", partial(minimize, options={"maxiter": 30}))
        patch.setattr(command, "_TABLES", TABLES)
        patch.setattr(command, "mini_lm", lambda: words)
        patch.setattr(sys, "argv", ["training.ranking", *map(str, arguments)])
        command.main()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was made of two conversations and two films: weights.toml and left/out; once more:
    again.toml."""
    folder = tmp_path_factory.mktemp("trained")
    data = (
        *("--locomo", write_talks(folder / "talks")),
        *("--duorc", write_films(folder / "films.jsonl")),
        *("--worlds", 0),
    )
    run(*data, "--output", folder / "weights.toml", "--left-out", folder / "left" / "out")
    run(*data, "--output", folder / "again.toml")
    return folder


def test_weights_come_out_that_a_memory_reads(folder: Path) -> None:
    path = folder / "weights.toml"
    tables = load_tables(str(path))
    assert tables.words != tables.vectors
    assert set(tables.words.signals) <= set(TABLES["words"])
    assert "similar" in tables.vectors.signals
    assert set(tables.vectors.signals) <= set(TABLES["vectors"])
    assert tables.words.intercept < 0
    with RecallM(config=RecallConfig(weights=str(path))) as memory:
        memory.update("Ingrid bought a red kayak.")
        context = memory.recall("Who bought a kayak?")
    assert context.intercept == pytest.approx(tables.words.intercept, abs=1.5 / 30)
    assert any(tables.words.level)
    text = path.read_text(encoding="utf-8")
    assert "python -m training.ranking" in text
    assert str(folder) not in text


def test_the_same_data_give_the_same_weights_byte_for_byte(folder: Path) -> None:
    assert (folder / "weights.toml").read_bytes() == (folder / "again.toml").read_bytes()


def test_weights_for_each_unit_are_those_fitted_without_it(folder: Path) -> None:
    parts = {path.stem: load_tables(str(path)) for path in (folder / "left" / "out").iterdir()}
    assert set(parts) == {"harbour", "stage", "boat", "train"}
    assert parts["harbour"] == parts["boat"], "of one fold"
    assert parts["stage"] == parts["train"]
    assert parts["harbour"] != parts["stage"]
    assert load_tables(str(folder / "weights.toml")) not in parts.values()


def test_a_table_is_written_in_the_order_of_the_signals_and_read_again(tmp_path: Path) -> None:
    few = Weights(
        intercept=-1.25, signals={"question": -0.5, "meaning": 2.0}, level=(2.0, 0.5, -1.5)
    )
    more = Weights(intercept=-2.0, signals={"similar": 3.125})
    path = tmp_path / "weights.toml"
    path.write_text(command.written(few, more), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.index(next(line for line in lines if line.startswith('"meaning"'))) < lines.index(
        next(line for line in lines if line.startswith('"question"'))
    )
    assert any("similar" in line and SIGNALS["similar"] in line for line in lines)
    tables = load_tables(str(path))
    assert (tables.words, tables.vectors) == (few, more)
