"""The corpus for fine-tuning on facts: what is learned, and that no split gives away another."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from recallm.facts.call_scanner import parse_calls
from recallm.facts.calls import Call
from training.facts.__main__ import main
from training.facts.examples import Example, examples
from training.facts.forms import FORMS
from training.facts.phrasings import Phrasings
from training.facts.population import Split, populations

FORMS_OF_QUESTIONS = {
    "person",
    "person, organisation",
    "person, relation",
    "organisation",
    "relation",
    "relation, organisation",
}


@pytest.fixture(scope="module")
def corpus() -> dict[Split, list[Example]]:
    return {
        split: list(examples(split, population, groups=60, seed=3))
        for split, population in populations(3, 300).items()
    }


def calls_of(example: Example) -> Iterator[Call]:
    text = "".join(segment.text for segment in example.segments)
    return (part for part in parse_calls(text) if isinstance(part, Call))


def written(corpus: list[Example]) -> set[tuple[object, ...]]:
    return {call.patterns[0] for it in corpus for call in calls_of(it) if it.kind == "write"}


def test_each_form_of_the_paper_stands_in_it(corpus: dict[Split, list[Example]]) -> None:
    assert {it.kind for it in corpus["train"]} == {*FORMS_OF_QUESTIONS, "write", "unknown"}


def test_the_loss_is_on_calls_and_answers(corpus: dict[Split, list[Example]]) -> None:
    for example in corpus["train"]:
        learned = [segment.is_learned for segment in example.segments]
        assert learned == ([False, True] if example.kind == "write" else [False, True, False, True])
        if example.kind != "write":
            question, call, results, answer = (segment.text for segment in example.segments)
            assert call.startswith("[MEM_READ{")
            assert call.endswith("}:")
            assert results.endswith("]")
            assert answer.endswith(".")
            assert "[MEM" not in question + answer


def test_calls_are_read_as_they_were_printed(corpus: dict[Split, list[Example]]) -> None:
    """A read's results are facts that were written, and meet its terms."""
    facts = written(corpus["train"])
    for example in corpus["train"]:
        for call in calls_of(example):
            if call.name == "MEM_READ":
                rows = call.rows or ()
                assert bool(rows) == (example.kind != "unknown")
                assert set(rows) <= facts
                asked = call.patterns[0]
                assert all(
                    term in (None, value)
                    for row in rows
                    for term, value in zip(asked, row, strict=True)
                )


def test_splits_share_no_person_and_no_organisation(corpus: dict[Split, list[Example]]) -> None:
    ends = {
        split: {end for person, _, company in written(its) for end in (person, company)}
        for split, its in corpus.items()
    }
    assert not ends["train"] & ends["test"]
    assert not ends["train"] & ends["validation"]
    assert not ends["validation"] & ends["test"]


def test_the_test_split_has_phrasings_of_its_own() -> None:
    train, test = (Phrasings(split, random.Random(0)) for split in ("train", "test"))
    names = {"person": "P", "organisation": "O"}
    for relation in train.relations:
        for form in ("which", "who", "group"):
            seen = {train.question(form, relation, **names) for _ in range(50)}
            assert test.question(form, relation, **names) not in seen


def test_the_command_writes_the_same_bytes_again(tmp_path: Path) -> None:
    options = ["--people", "200", "--groups", "10", "--seed", "5"]
    for folder in ("one", "two"):
        main([str(tmp_path / folder), *options])
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(
        f"{split}.{form}.jsonl" for split in ("train", "validation", "test") for form in FORMS
    )
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    lines = (tmp_path / "one" / "train.chat.jsonl").read_text(encoding="utf-8").splitlines()
    roles = [message["role"] for message in json.loads(lines[0])["messages"]]
    assert roles == ["user", "assistant"]


def test_bad_options_are_refused(tmp_path: Path) -> None:
    for options in (["--people", "10"], ["--groups", "0"]):
        with pytest.raises(SystemExit):
            main([str(tmp_path), *options])
