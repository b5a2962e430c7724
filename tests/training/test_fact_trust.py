"""The fit of how far a fact of the speaker is trusted, on messages of a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recallm.english.syntax.trust import probability
from training.triplets import facts

_NOUNS = ("tent", "canoe", "lamp", "kayak", "piano", "violin", "sofa", "jacket", "camera", "bike")


def test_the_weights_follow_the_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [f"I bought a {noun}." for noun in _NOUNS] + [f"I like the {noun}." for noun in _NOUNS]
    marks = [f'right = ["user | buy | {noun}"]' for noun in _NOUNS]
    marks += [f'wrong = ["user | like | {noun} | vague"]' for noun in _NOUNS]
    lines = [f'[[fresh]]\nsaid = "{text}"\n{mark}' for text, mark in zip(said, marks, strict=True)]
    messages = tmp_path / "messages.toml"
    messages.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(facts, "MESSAGES", messages)
    facts.main(["--output", str(tmp_path / "facts.json"), "--folds", "2"])
    model = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert model["fitted_on"] == "messages.toml, 20 facts"
    assert model["weights"]["verb buy"] > 0 > model["weights"]["the alone"]
    assert probability(model, {"verb buy": 1.0}) > probability(model, {"verb like": 1.0})
    with pytest.raises(SystemExit):
        facts.main(["--folds", "1"])
