"""The weights of the default ranking: what ships, what a file may say, and that it counts."""

from __future__ import annotations

import math
import subprocess
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from recallm import InvalidInputError, RecallConfig, RecallM
from recallm.recall.ranking.signals import DATA, SIGNALS, Weights, load_tables
from tests.retrieval.talk import asked, best, recall, store_of, turn, under_model

BOTH = "[words]\nintercept = -1\n{words}\n[vectors]\nintercept = -2.5\n{vectors}\n"


def weights(tmp_path: Path, words: str = "", vectors: str = "") -> str:
    """A file with these tables; each test has its own: what was read is kept."""
    path = tmp_path / "weights.toml"
    path.write_text(BOTH.format(words=words, vectors=vectors), encoding="utf-8")
    return str(path)


def test_what_ships_has_both_tables_of_known_signals_alone() -> None:
    read = tomllib.loads(
        files("recallm.recall.ranking").joinpath("data", "weights.toml").read_text(encoding="utf-8")
    )
    assert set(read) == {"words", "vectors"}
    tables = load_tables()
    for name, table in (("words", tables.words), ("vectors", tables.vectors)):
        assert set(table.signals) <= set(SIGNALS)
        assert [*table.level] == read[name].pop("level")
        assert dict(table.signals) | {"intercept": table.intercept} == pytest.approx(read[name])
        assert all(table.signals.values()), "a weight of 0 is no signal"
    assert not {"similar window", "similar alone"} & set(tables.words.signals)
    assert max(len(table.signals) for table in (tables.words, tables.vectors)) <= 20


def test_what_ships_is_not_ignored_by_the_packaging() -> None:
    """Hatchling leaves out what git ignores."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        pytest.skip("not in a checkout: nothing says what git ignores")
    paths = [str(path) for path in DATA.parent.iterdir()]
    assert {Path(path).name for path in paths} >= {"weights.toml", "words.npz"}
    result = subprocess.run(
        ["git", "check-ignore", "--no-index", *paths], cwd=root, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout) == (1, "")


def test_a_file_may_leave_signals_out(tmp_path: Path) -> None:
    tables = load_tables(weights(tmp_path, '"meaning" = 2\nquestion = -0.5', '"similar" = 3'))
    assert tables.words == Weights(intercept=-1.0, signals={"meaning": 2.0, "question": -0.5})
    assert tables.vectors == Weights(intercept=-2.5, signals={"similar": 3.0})


def test_weights_cannot_be_changed_by_those_who_read_them() -> None:
    with pytest.raises(TypeError):
        load_tables().words.signals["meaning"] = 1.0  # type: ignore[index]


def refused(path: Path, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        load_tables(str(path))
    assert caught.value.argument == "weights"
    assert str(path) in str(caught.value)


def test_a_file_without_the_tables_is_refused(tmp_path: Path) -> None:
    contents = (
        ("[words", "cannot be read"),
        ("", r"need a table \[words\] with an intercept"),
        ("[words]\nintercept = 1", r"need a table \[vectors\] with an intercept"),
        ("[words]\nmeaning = 1\n[vectors]\nintercept = 1", r"table \[words\] with an intercept"),
        ("words = 1\nvectors = 1", r"table \[words\] with an intercept"),
        ("[[words]]\nintercept = 1\n[vectors]\nintercept = 1", r"table \[words\]"),
        ("[words]\nintercept = nan\n[vectors]\nintercept = 0", "intercept"),
        ("[words]\nintercept = true\n[vectors]\nintercept = 0", "intercept"),
        ('[words]\nintercept = "-1"\n[vectors]\nintercept = 0', "intercept"),
    )
    for number, (content, message) in enumerate(contents):
        path = tmp_path / f"{number}.toml"
        path.write_text(content, encoding="utf-8")
        refused(path, message)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "nowhere.toml", tmp_path, binary):
        refused(path, "cannot be read")


def test_what_is_no_weight_of_a_signal_is_refused(tmp_path: Path) -> None:
    """In either table; the message names the signals that there are."""
    lines = (
        "bm42 = 1.0", "BM25 = 1.0", "meaning = nan", "meaning = inf", "meaning = -inf",
        "meaning = true", 'meaning = "1.0"', "meaning = [1.0]", f"meaning = 1{'0' * 400}",
        "meaning = 1.7e308", "meaning.own = 1.0", "recency = 2024-01-01",
    )  # fmt: skip
    for number, line in enumerate(lines):
        for tables in ((line, ""), ("", line)):
            path = Path(weights(tmp_path, *tables)).rename(
                tmp_path / f"{number}{bool(tables[0])}.toml"
            )
            refused(path, r"is no weight of a signal.*passage, session")
    for number, level in enumerate(('"high"', "1.0", "[1.0, 2.0]", '[1, 2, "3"]', "[1, 2, nan]")):
        line = f"level = {level}"
        path = Path(weights(tmp_path, line, "")).rename(tmp_path / f"level{number}.toml")
        refused(path, "is no list of three numbers")


def test_other_weights_make_another_order_and_their_intercept_stands(tmp_path: Path) -> None:
    store = store_of(
        turn("The heron sleeps", session="a"),
        turn("A heron and a very long walk along the harbour", session="b"),
    )
    question = asked("which heron sleeps")
    assert best(recall(store, question)) == "The heron sleeps"
    config = RecallConfig(fill=True, weights=weights(tmp_path, "meaning = -4.0", "meaning = 4.0"))
    context = recall(store, question, config=config)
    assert best(context) == "A heron and a very long walk along the harbour"
    assert context.intercept == -1.0
    for statement in context.statements:
        contributions = statement.contributions
        assert {name for name, value in contributions.items() if value} == {"meaning"}
        odds = -1.0 + contributions["meaning"]
        assert statement.score == pytest.approx(1 / (1 + math.exp(-odds)))
    assert "intercept-1.00" in context.explain()
    under = recall(store, question, config=config, under=under_model(1.0, 0.0))
    assert under.intercept == -2.5, "with embeddings the other table counts"
    assert best(under) == "The heron sleeps"


def test_a_memory_takes_the_weights_of_its_config(tmp_path: Path) -> None:
    with RecallM(config=RecallConfig(weights=weights(tmp_path, "meaning = 1.5"))) as memory:
        memory.update("Ingrid bought a red kayak.")
        context = memory.recall("Who bought a kayak?")
    [statement] = context.statements
    assert context.intercept == -1.0
    assert {name for name, value in statement.contributions.items() if value} == {"meaning"}


def test_a_memory_with_unreadable_weights_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere\.toml cannot be read"):
        RecallM(config=RecallConfig(weights=str(tmp_path / "nowhere.toml")))
    with pytest.raises(InvalidInputError, match="path of a file"):
        RecallConfig(weights=5)  # type: ignore[arg-type]


def test_log_odds_of_any_size_have_a_probability(tmp_path: Path) -> None:
    store = store_of(turn("The heron sleeps"))
    for intercept, expected in ((-800, 0.0), (800, 1.0)):
        path = tmp_path / f"{intercept}.toml"
        path.write_text(f"[words]\nintercept = {intercept}\n[vectors]\nintercept = 0")
        config = RecallConfig(fill=True, weights=str(path))
        [found] = recall(store, asked("heron"), config=config).statements
        assert found.score == pytest.approx(expected)
