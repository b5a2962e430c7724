"""The English pipeline inside the package: it loads by parts, quietly, and reads what chat and
notes are made of."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from spacy.language import Language

from recallm.english import shipped
from recallm.english.shipped import KNOWLEDGE, NAME, SYNTAX, load_shipped
from recallm.errors import PipelineError
from tests.tables import each_row
from training.pipeline.packing import pack, unpack


@pytest.fixture(scope="module")
def knowledge() -> Language:
    return load_shipped()


@pytest.fixture(scope="module")
def both() -> Language:
    return load_shipped([KNOWLEDGE, SYNTAX])


def tags(nlp: Language, text: str) -> dict[str, str]:
    return {token.text: token.pos_ for token in nlp(text)}


def test_a_knowledge_update_loads_neither_parser_nor_lemmatizer(knowledge: Language) -> None:
    assert knowledge.pipe_names == ["tok2vec", "morphologizer", "senter", "roles", "ner"]


def test_both_parts_agree_with_the_first_alone(knowledge: Language, both: Language) -> None:
    text = "Ann moved to Oslo in 2019. She works for a bank there!"
    alone, together = knowledge(text), both(text)
    assert [t.pos_ for t in alone] == [t.pos_ for t in together]
    assert [s.text for s in alone.sents] == [s.text for s in together.sents]
    assert [t.lemma_ for t in together][1:4] == ["move", "to", "Oslo"]
    assert [t.dep_ for t in together][:2] == ["nsubj", "ROOT"]


def test_syntax_runs_without_knowledge() -> None:
    doc = load_shipped([SYNTAX])("The children were eating apples.")
    assert [t.lemma_ for t in doc] == ["the", "child", "be", "eat", "apple", "."]
    assert doc[1].head.text == "eating"


def test_what_ships_is_small_and_has_its_licence_attribution_and_card() -> None:
    folder = files("recallm.english").joinpath("data", NAME)
    sizes = {item.name: len(item.read_bytes()) for item in folder.iterdir()}
    assert set(sizes) == {
        "ATTRIBUTION.md",
        "LICENSE",
        "MODEL_CARD.md",
        "knowledge.bin",
        "syntax.bin",
    }
    assert sum(sizes.values()) <= 12_000_000
    assert "ShareAlike 4.0" in folder.joinpath("LICENSE").read_text(encoding="utf-8")


@pytest.mark.slow
def test_loading_gives_no_warning() -> None:
    code = (
        "from recallm.english.shipped import load_shipped;"
        "load_shipped(['knowledge', 'syntax'])('Ann left Oslo.')"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_packing_what_was_unpacked_changes_nothing(both: Language) -> None:
    again = unpack([pack(both)])
    text = "My sister's friends were visiting Lisbon - twice, I think :)"
    first, second = both(text), again(text)
    assert first.to_json() == second.to_json()


@each_row([None, b"", b"\x00\x01", b"\x80"])
def test_missing_and_damaged_files_say_what_to_do(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "data" / NAME).mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / NAME / "knowledge.bin").write_bytes(content)
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    with pytest.raises(PipelineError, match="reinstall it with"):
        load_shipped()


@each_row(["-", "–", "—", "--", "•", "*", "=", "|", "~", "…", ":)", "/", "#", "->", "🎉"])
def test_marks_are_no_concepts(mark: str, knowledge: Language) -> None:
    for text in (f"{mark} bought milk", f"we met {mark} it was great", f"see you later {mark}"):
        found = {t.pos_ for t in knowledge(text) if not any(c.isalnum() for c in t.text)}
        assert not found & {"NOUN", "PROPN", "NUM"}, text


def test_lower_cased_text_without_a_full_stop_keeps_its_nouns(knowledge: Language) -> None:
    found = tags(knowledge, "my sister bought two red bikes for the kids")
    assert {w for w, tag in found.items() if tag in {"NOUN", "NUM"}} == {
        "sister",
        "two",
        "bikes",
        "kids",
    }


def test_names_are_entities_and_proper_nouns(knowledge: Language) -> None:
    doc = knowledge("Yesterday Maria Lopez flew from Berlin to Canada.")
    assert {e.text for e in doc.ents} == {"Maria Lopez", "Berlin", "Canada"}
    assert {t.text for t in doc if t.pos_ == "PROPN"} >= {"Maria", "Lopez", "Berlin", "Canada"}


@each_row(
    [
        ("Ingrid lives in Malaga.", "nsubj root case obl punct"),
        ("My sister bought a bike.", "nmod:poss nsubj root det obj punct"),
        ("The cake was eaten.", "det nsubj:pass aux:pass root punct"),
    ]
)
def test_words_have_their_relations_as_roles(text: str, expected: str, knowledge: Language) -> None:
    assert " ".join(t.tag_ for t in knowledge(text)) == expected


@each_row(["Ingrid lives in Malaga.", "He runs.", "Bob plans a trip."])
def test_a_verb_in_the_present_is_no_noun(text: str, knowledge: Language) -> None:
    assert knowledge(text)[1].pos_ == "VERB"


def test_sentences_of_a_chat_turn(knowledge: Language) -> None:
    doc = knowledge("That sounds great! I love hiking too. When are you going?")
    assert [s.text for s in doc.sents] == [
        "That sounds great!",
        "I love hiking too.",
        "When are you going?",
    ]


def test_rows_of_one_character_are_not_sentences(knowledge: Language) -> None:
    assert len(list(knowledge("=" * 40).sents)) == 1
