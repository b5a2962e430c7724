"""The parse around names and rows of names, mended by their words."""

from __future__ import annotations

import pytest

from recallm.extraction.pipeline import load_pipeline
from recallm.syntax import triplets_and_facts


def facts(text: str) -> set[tuple[str, str, str]]:
    [tagged] = load_pipeline(None).tag([text], parsed=True)
    found = triplets_and_facts(tagged, (0, len(tagged.words)))[1]
    return {(fact.subject, fact.stated_relation, fact.object) for fact in found}


@pytest.mark.parametrize(
    "name",
    ["Dorothea Altemus", "Ottoline Verhaegen", "Jagdish Mittal", "Ann-Kathrin Mende", "Ty Alosa"],
)
def test_a_rare_name_is_one_name(name: str) -> None:
    assert facts(f"{name} is employed by Pfizer.") == {(name, "employed by", "Pfizer")}


@pytest.mark.parametrize("number", [2, 3, 4])
def test_each_name_of_a_row_is_a_subject_or_an_object(number: int) -> None:
    names = ["James Garcia", "Ashley Mosley", "Melissa Torres", "Teun Pieters"][:number]
    row = f"{', '.join(names[:-1])} and {names[-1]}"
    for said in (row, row.replace(" and", ", and")):
        expected = {(name, "employed by", "Pfizer") for name in names}
        assert facts(f"{said} are employed by Pfizer.") == expected
        assert facts(f"{said} work for Pfizer.") == {(name, "work for", "Pfizer") for name in names}
        assert facts(f"Pfizer hired {said}.") == {("Pfizer", "hire", name) for name in names}


@pytest.mark.parametrize(
    ("text", "expected"),
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
    ],
)
def test_mistakes_around_names_are_mended(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    "text",
    ["and Ann " * 300, "Ann, " * 300 + "and Bo met.", "Ann of " * 200, "My Ann, my Bo, " * 100],
)
def test_any_row_of_names_is_read(text: str) -> None:
    assert isinstance(facts(text), set)
