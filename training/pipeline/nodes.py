"""Trees that sentences are made of: words with what depends on them, put in textual order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from training.pipeline.treebank import Word


@dataclass(slots=True, kw_only=True)
class Node:
    """A word with the words that depend on it, before and behind it."""

    form: str
    upos: str
    lemma: str
    dep: str = ""
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    entity: str = "O"
    glued: bool = False
    """No space before it."""


def words_of(root: Node) -> tuple[Word, ...]:
    """The words of a tree in textual order; the first one begins with a capital."""
    nodes = list(_in_order(root))
    place = {id(node): index for index, (node, _) in enumerate(nodes)}
    words: list[Word] = []
    for index, (node, head) in enumerate(nodes):
        following = nodes[index + 1][0] if index + 1 < len(nodes) else None
        form = node.form[:1].upper() + node.form[1:] if index == 0 else node.form
        words.append(
            Word(
                form=form,
                space_after=following is not None and not following.glued,
                upos=node.upos,
                lemma=node.lemma,
                head=place[id(head or node)],
                dep=node.dep if head else "ROOT",
                entity=node.entity,
            )
        )
    return tuple(words)


def _in_order(node: Node, head: Node | None = None) -> Iterator[tuple[Node, Node | None]]:
    for child in node.before:
        yield from _in_order(child, node)
    yield node, head
    for child in node.after:
        yield from _in_order(child, node)


def punctuation(form: str) -> Node:
    """A mark without a space before it."""
    return Node(form=form, upos="PUNCT", lemma=form, dep="punct", glued=True)


def function_word(form: str, upos: str, dep: str, lemma: str = "") -> Node:
    """A word that nothing depends on; its lemma is its form unless `lemma` says otherwise."""
    return Node(form=form, upos=upos, lemma=lemma or form, dep=dep)


def negated(auxiliary: str, lemma: str) -> tuple[Node, Node]:
    """An auxiliary ("does") and "n't", without a space between them."""
    negation = Node(form="n't", upos="PART", lemma="not", dep="advmod", glued=True)
    return function_word(auxiliary, "AUX", "aux", lemma), negation
