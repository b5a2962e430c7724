"""Which pipelines are taken, what is said of others, and what is kept of what they read."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
import spacy
from spacy.language import Language

from recallm import RecallM
from recallm.english.extractor import Extractor
from recallm.english.pipeline import load_pipeline
from recallm.english.plain_reading import TextReader
from recallm.errors import PipelineError
from recallm.ground.config import RecallConfig
from tests.tables import each_row


def saved(folder: Path, *, tags: bool = True, sentences: bool = True, language: str = "en") -> str:
    """A pipeline on disk that tags "Anna" a name, and "sings" a verb."""
    nlp: Language = spacy.blank(language)
    if tags:
        ruler = nlp.add_pipe("attribute_ruler")
        ruler.add([[{"ORTH": "Anna"}]], {"POS": "PROPN"})  # type: ignore[attr-defined]
        ruler.add([[{"ORTH": "sings"}]], {"POS": "VERB"})  # type: ignore[attr-defined]
    if sentences:
        nlp.add_pipe("sentencizer")
    nlp.to_disk(folder)
    return str(folder)


@each_row(["en_core_web_lg", "some_pipeline", "no/such/folder"])
def test_a_missing_pipeline_says_what_to_install(model: str) -> None:
    """The error carries the name and the command."""
    extractor = Extractor(RecallConfig(spacy_model=model))
    with pytest.raises(PipelineError, match=f"python -m spacy download {model}") as caught:
        extractor.extract("Anna sings.")
    assert caught.value.model == model


def test_another_pipeline_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    """Named by its folder."""
    model = saved(tmp_path / "tiny")
    extraction = Extractor(RecallConfig(spacy_model=model)).extract("Anna sings. Anna sings.")
    assert [statement.terms for statement in extraction.statements] == [("anna", "sing")] * 2


@each_row([(False, True), (True, False), (False, False)])
def test_a_pipeline_without_tags_or_sentence_starts_is_refused(
    tags: bool, sentences: bool, tmp_path: Path
) -> None:
    with pytest.raises(PipelineError, match="sets no part-of-speech tags or no sentence starts"):
        load_pipeline(saved(tmp_path / f"{tags}{sentences}", tags=tags, sentences=sentences))


def test_a_damaged_pipeline_is_an_error_of_the_tree(tmp_path: Path) -> None:
    """With spaCy's own error as the cause."""
    (tmp_path / "config.cfg").write_text("[nlp]\nlang = 5\n")
    with pytest.raises(PipelineError, match="cannot be loaded") as caught:
        load_pipeline(str(tmp_path))
    assert caught.value.__cause__ is not None


def test_a_pipeline_is_loaded_once() -> None:
    """Extractors share it."""
    assert load_pipeline(None) is load_pipeline(None)


@each_row(
    [
        ("Ann,BMW,2019", "Ann , BMW , 2019"),
        ("Ann;BMW", "Ann ; BMW"),
        ("Ann|BMW|2019", "Ann | BMW | 2019"),
        ('"Ann","BMW"', '" Ann "," BMW "'),
        ("Ann,,2019", "Ann ,, 2019"),
        ("U.S.,Canada", "U.S. , Canada"),
        ("1,250.50,thanks", "1,250.50 , thanks"),
    ]
)
def test_delimiters_without_spaces_stand_apart(text: str, expected: str) -> None:
    """Rows of tables, lists written in a hurry."""
    assert " ".join(word.text for word in load_pipeline(None).words(text)) == expected


@each_row(
    [
        *("1,000", "10,20,30", "10:30", "3.5", "AT&T", "user@example.com", ";)", ":|"),
        "https://example.com/a,b;c?d=1|2",
    ]
)
def test_numbers_addresses_and_emoticons_stay_whole(text: str) -> None:
    """Their commas and semicolons are parts of them."""
    assert [word.text for word in load_pipeline(None).words(text)] == [text]


def test_the_shipped_pipeline_gives_roles(tmp_path: Path) -> None:
    """A user's own pipeline has none."""
    [tagged] = load_pipeline(None).tag(["Anna sings."])
    assert tagged.roles == ("nsubj", "root", "punct")
    own = saved(tmp_path / "tiny")
    [tagged] = load_pipeline(own).tag(["Anna sings."])
    assert tagged.roles == ()


def test_threads_get_equal_results() -> None:
    """The same text gives the same extraction from several threads at once."""
    extractor = Extractor(RecallConfig())
    texts = [f"Anna met Bob in room {n}. He gave her {n} books." for n in range(40)]
    expected = [extractor.extract(text) for text in texts]
    found: dict[int, list[object]] = {}

    def work(number: int) -> None:
        found[number] = [extractor.extract(text) for text in texts]

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == expected for number in range(4))


def test_a_parse_comes_only_where_it_is_asked_for() -> None:
    """Heads are indexes, relations are of Universal Dependencies, tags are the same."""
    text = "The children were eating apples."
    [plain] = load_pipeline(None).tag([text])
    [parsed] = load_pipeline(None).tag([text], parsed=True)
    assert plain.tree is None
    assert parsed.tree is not None
    assert parsed.tree.heads == [1, 3, 3, 3, 3, 3]
    assert parsed.tree.relations == ["det", "nsubj", "aux", "root", "obj", "punct"]
    assert parsed.tree.lemmas == ["the", "child", "be", "eat", "apple", "."]
    assert parsed.tags == plain.tags


def test_texts_of_any_kind_are_parsed() -> None:
    """The lists are as long as the list of words, and heads are tokens of the text."""
    texts = ["", " ", "a", "x" * 50_000, "我住在马拉加。", "| a | b |\n|---|---|", "a.\n\nb.", "a"]
    for text, tagged in zip(texts, load_pipeline(None).tag(texts, parsed=True), strict=True):
        assert tagged.text == text
        assert tagged.tree is not None
        assert {len(tagged.words)} == {len(column) for column in tagged.tree}
        assert all(head in range(len(tagged.words)) for head in tagged.tree.heads)


def test_the_shipped_parser_runs_on_the_documents_of_another_pipeline(tmp_path: Path) -> None:
    """And leaves that pipeline's tags and sentences as they are."""
    pipeline = load_pipeline(saved(tmp_path / "tiny"))
    text = "Anna has eaten. Anna has eaten."
    [plain] = pipeline.tag([text])
    [parsed] = pipeline.tag([text], parsed=True)
    assert parsed.tree is not None
    assert parsed.tree.relations == ["nsubj", "aux", "root", "punct"] * 2
    assert (parsed.tags, parsed.begins) == (plain.tags, plain.begins)


def test_a_pipeline_of_another_language_is_not_parsed(tmp_path: Path) -> None:
    """The error names the language."""
    pipeline = load_pipeline(saved(tmp_path, language="de"))
    assert next(pipeline.tag(["Anna singt."])).tree is None
    with pytest.raises(PipelineError, match="has the language 'de'"):
        next(pipeline.tag(["Anna singt."], parsed=True))
    with pytest.raises(PipelineError, match="language 'de'"):
        RecallM(config=RecallConfig(spacy_model=saved(tmp_path, language="de")), triplets=True)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallm.english.plain_reading._REMEMBERED_CHARACTERS", 450)
    reader = TextReader(RecallConfig())
    texts = ["Ann.", "Bob.", "Eve.", "Longer than all. " * 20]
    remembered: list[list[str]] = []
    for text in texts:
        assert reader.read([text]) == reader.read([text])
        remembered.append([*reader._blocks])
    assert remembered == [texts[:1], texts[:2], texts[2:3], []]
