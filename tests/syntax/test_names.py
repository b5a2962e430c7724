"""The parse around names and rows of names, mended by their words."""

from __future__ import annotations

import pytest

from recallm.extraction.pipeline import load_pipeline
from recallm.syntax import names, triplets_and_facts
from recallm.syntax.tree import SentenceTree
from tests.tables import each_row


def facts(text: str) -> set[tuple[str, str, str]]:
    [tagged] = load_pipeline(None).tag([text], parsed=True)
    found = triplets_and_facts(tagged, (0, len(tagged.words)))[1]
    return {(fact.subject, fact.stated_relation, fact.object) for fact in found}


@each_row(
    ["Dorothea Altemus", "Ottoline Verhaegen", "Jagdish Mittal", "Ann-Kathrin Mende", "Ty Alosa"]
)
def test_a_rare_name_is_one_name(name: str) -> None:
    assert facts(f"{name} is employed by Pfizer.") == {(name, "employed by", "Pfizer")}


def test_the_work_grows_with_the_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def counted(tree: SentenceTree, i: int, *, inside: bool) -> bool:
        nonlocal asked
        asked += 1
        return is_name(tree, i, inside=inside)

    is_name = names._is_name
    monkeypatch.setattr(names, "_is_name", counted)
    for row in ("row {}: status ok value 3", "Ada Alosa owns lot {},"):
        counts = []
        for number in (30, 120):
            asked = 0
            facts(" ".join(map(row.format, range(number))))
            counts.append(asked)
        assert counts[1] < 6 * counts[0], (row, counts)


@each_row([2, 3, 4])
def test_each_name_of_a_row_is_a_subject_or_an_object(number: int) -> None:
    people = ["James Garcia", "Ashley Mosley", "Melissa Torres", "Teun Pieters"][:number]
    row = f"{', '.join(people[:-1])} and {people[-1]}"
    for said in (row, row.replace(" and", ", and")):
        expected = {(name, "employed by", "Pfizer") for name in people}
        assert facts(f"{said} are employed by Pfizer.") == expected
        assert facts(f"{said} work for Pfizer.") == {
            (name, "work for", "Pfizer") for name in people
        }
        assert facts(f"Pfizer hired {said}.") == {("Pfizer", "hire", name) for name in people}


@each_row(
    [
        ("Ada does not like coffee.", ("Ada", "not like", "coffee")),
        ("Nina no longer lives in Vienna.", ("Nina", "not live in", "Vienna")),
        ("Ada works for Cisco and lives in Oslo.", ("Ada", "live in", "Oslo")),
        ("Apple CEO Tim Cook visited China.", ("Tim Cook", "CEO of", "Apple")),
        (
            "Germany's chancellor, Olaf Scholz, met Ada.",
            ("Olaf Scholz", "chancellor of", "Germany"),
        ),
        ("Ada joined General Electric.", ("Ada", "join", "General Electric")),
    ]
)
def test_mistakes_around_names_are_mended(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in facts(text)


@each_row(
    ["and Ann " * 300, "Ann, " * 300 + "and Bo met.", "Ann of " * 200, "My Ann, my Bo, " * 100]
)
def test_any_row_of_names_is_read(text: str) -> None:
    assert isinstance(facts(text), set)
