"""What notebooks show of contexts and of the graph."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from recallm import InvalidInputError, RecallM
from recallm.recall.results import RecalledContext

HOSTILE = '</bdi></svg><script>alert(1)</script><img src=x onerror="alert(2)">\u202e'


class Reader(HTMLParser):
    """The elements, attributes and texts of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def brandon() -> RecallM:
    memory = RecallM()
    memory.update("Brandon loves coffee.")
    memory.update("Brandon loves Paris and coffee.")
    memory.update("Brandon flew to Brazil.")
    return memory


def test_a_context_shows_question_statements_reasons_and_path() -> None:
    context = brandon().recall("Where did Brandon fly?")
    read = Reader(context._repr_html_())
    assert read.texts[0] == "Where did Brandon fly?"
    assert {it.text for it in context.statements} <= set(read.texts)
    assert "mentions essential concept Brandon" in read.texts
    signals = {name for it in context.statements for name in it.contributions}
    assert any(text.rpartition(" ")[0] in signals for text in map(str.strip, read.texts))


def test_histories_and_passages_are_shown_like_contexts() -> None:
    memory = brandon()
    statements, passages = memory.history("Brandon"), memory.passages()
    assert [it.text for it in statements] == [it.text for it in passages]
    for html in (statements._repr_html_(), passages._repr_html_()):
        texts = Reader(html).texts
        assert [text for text in texts if text.endswith(".")] == [it.text for it in passages]
        assert "t=3" in texts
    assert "Nothing." in Reader(memory.history("Zoe")._repr_html_()).texts


def test_an_empty_context_says_so() -> None:
    assert "Nothing recalled." in Reader(RecalledContext(question="Who?")._repr_html_()).texts


def test_hostile_texts_stay_text_in_notebooks() -> None:
    memory = RecallM()
    memory.update(f"Mallory wrote {HOSTILE} to Ann.", speaker=HOSTILE)
    for html in (
        memory.recall(f"What did Mallory write? {HOSTILE}")._repr_html_(),
        memory.graph.show("Mallory")._repr_html_(),
        memory.history("Mallory")._repr_html_(),
    ):
        read = Reader(html)
        assert not read.elements & {"script", "img"}
        assert not read.attributes & {"onerror", "src", "href"}
        assert "\u202e" not in html


def test_the_graph_around_a_concept_is_listed_with_its_strengths() -> None:
    shown = brandon().graph.show("Brandon")
    assert [it.name for it in shown.concepts] == ["brandon", "brazil", "pari", "coffe"]
    assert {(it.a, it.b): it.strength for it in shown.relations} == {
        ("brandon", "brazil"): 1,
        ("brandon", "coffe"): 1,
        ("brandon", "pari"): 1,
        ("coffe", "pari"): 1,
    }
    read = Reader(shown._repr_html_())
    assert {"Brandon", "Brandon — coffee", "strength 1 · t=3"} <= {*map(str.strip, read.texts)}


def test_the_graph_is_bounded_and_stands_at_a_t() -> None:
    graph = brandon().graph
    shown = graph.show("Brandon", limit=1)
    assert [it.label for it in shown.concepts] == ["Brandon", "Brazil"]
    assert shown.more
    assert [it.label for it in graph.show("Brandon", as_of=1).concepts] == ["Brandon", "coffee"]
    assert graph.show("Brandon", as_of=1).t_index == 1
    assert "Brazil" not in graph.show("Brandon", as_of=2)._repr_html_()


def test_an_unknown_concept_shows_nothing() -> None:
    shown = RecallM().graph.show("Nobody")
    assert not shown
    assert "No such concept" in shown._repr_html_()
    with pytest.raises(InvalidInputError):
        RecallM().graph.show("Brandon", limit=0)
