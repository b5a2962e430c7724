"""What the pipeline makes of texts, and what is kept of that."""

from __future__ import annotations

from threading import Thread

import pytest

from recallm.english.extractor import Extractor
from recallm.english.pipeline import load_pipeline
from recallm.english.plain_reading import TextReader
from recallm.ground.config import RecallConfig
from tests.tables import each_row


def test_a_pipeline_is_loaded_once() -> None:
    """Extractors share it."""
    assert load_pipeline() is load_pipeline()


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
    assert " ".join(word.text for word in load_pipeline().words(text)) == expected


@each_row(
    [
        *("1,000", "10,20,30", "10:30", "3.5", "AT&T", "user@example.com", ";)", ":|"),
        "https://example.com/a,b;c?d=1|2",
    ]
)
def test_numbers_addresses_and_emoticons_stay_whole(text: str) -> None:
    """Their commas and semicolons are parts of them."""
    assert [word.text for word in load_pipeline().words(text)] == [text]


def test_the_pipeline_gives_roles() -> None:
    """Relations of Universal Dependencies, without a parse."""
    [tagged] = load_pipeline().tag(["Anna sings."])
    assert tagged.roles == ("nsubj", "root", "punct")


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
    [plain] = load_pipeline().tag([text])
    [parsed] = load_pipeline().tag([text], parsed=True)
    assert plain.tree is None
    assert parsed.tree is not None
    assert parsed.tree.heads == [1, 3, 3, 3, 3, 3]
    assert parsed.tree.relations == ["det", "nsubj", "aux", "root", "obj", "punct"]
    assert parsed.tree.lemmas == ["the", "child", "be", "eat", "apple", "."]
    assert parsed.tags == plain.tags


def test_texts_of_any_kind_are_parsed() -> None:
    """The lists are as long as the list of words, and heads are tokens of the text."""
    texts = ["", " ", "a", "x" * 50_000, "我住在马拉加。", "| a | b |\n|---|---|", "a.\n\nb.", "a"]
    for text, tagged in zip(texts, load_pipeline().tag(texts, parsed=True), strict=True):
        assert tagged.text == text
        assert tagged.tree is not None
        assert {len(tagged.words)} == {len(column) for column in tagged.tree}
        assert all(head in range(len(tagged.words)) for head in tagged.tree.heads)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallm.english.plain_reading._REMEMBERED_CHARACTERS", 450)
    reader = TextReader(RecallConfig())
    texts = ["Ann.", "Bob.", "Eve.", "Longer than all. " * 20]
    remembered: list[list[str]] = []
    for text in texts:
        assert reader.read([text]) == reader.read([text])
        remembered.append([*reader._blocks])
    assert remembered == [texts[:1], texts[:2], texts[2:3], []]
