"""When and how contexts are revised (RecallM, Knowledge Update).

A language model revises a concept's context after every n merges, outside of any write transaction.
Compare-and-set writes the answer, so that no newer statement is lost. The statements stay as
history. A failure leaves the old context and is reported as a ``Revision``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recallm.errors import LLMError, StoreError
from recallm.ground.config import RecallConfig
from recallm.model import Filter, Summary, Trait, WriteSummary
from recallm.recall.contexts import concept_contexts, sentence
from recallm.recall.prompts import answer_of, revision_prompt
from recallm.recall.results import KnowledgeUpdate, Revision
from recallm.stores.base import GraphStore


@dataclass(frozen=True, slots=True)
class Reviser:
    """Revises the contexts of a store with the language model ``llm`` (prompt → text).
    ``describe`` gives the stems of a text's content words, and its traits.

    A context is due after ``config.revise_every`` merges (the paper's n). A context that is longer
    than ``config.revision_characters`` is revised part by part, each together with the answer for
    the parts before.
    """

    store: GraphStore
    llm: Callable[[str], str]
    describe: Callable[[str], tuple[tuple[str, ...], Trait]]
    config: RecallConfig

    def after(self, namespace: str, updates: Sequence[KnowledgeUpdate]) -> list[KnowledgeUpdate]:
        """Revise the due concepts that ``updates`` have just touched. Each revision is reported by
        the last update that touched its concept."""
        last = {name: place for place, update in enumerate(updates) for name in update.concepts}
        revisions: dict[int, list[Revision]] = {}
        for revision in self._revise_due(namespace, last):
            revisions.setdefault(last[revision.concept], []).append(revision)
        return [
            replace(update, revisions=tuple(revisions[place])) if place in revisions else update
            for place, update in enumerate(updates)
        ]

    def _revise_due(self, namespace: str, touched: Collection[str]) -> list[Revision]:
        try:
            with self.store.reader(namespace) as reader:
                due = sorted(
                    concept.name
                    for concept in reader.concepts(touched)
                    if concept.merges >= self.config.revise_every
                )
        except StoreError as error:
            return [_not_revised(name, f"the store failed: {error}") for name in sorted(touched)]
        revisions: list[Revision] = []
        for name in due:
            try:
                revisions.append(self._revise(namespace, name))
            except StoreError as error:  # the knowledge update is written already
                revisions.append(_not_revised(name, f"the store failed: {error}"))
        return revisions

    def _revise(self, namespace: str, name: str) -> Revision:
        with self.store.reader(namespace) as reader:
            concepts = reader.concepts([name])
            context = concept_contexts(reader, concepts, where=Filter()).get(name)
        # A server without snapshots may forget the concept between these reads.
        if not concepts or context is None:
            return _not_revised(name, "the concept was forgotten meanwhile")
        [concept] = concepts
        try:
            text = self._ask(concept.label, map(sentence, context))
        except (LLMError, UnicodeEncodeError) as error:
            return _not_revised(name, str(error))
        if not text:
            return _not_revised(name, "the language model gave an empty answer")
        terms, traits = self.describe(text)
        summary = Summary(
            concept=name, t_index=concept.t_index, text=text, terms=terms, traits=traits
        )
        amendment = WriteSummary(summary=summary, statements=concept.statements)
        if not self.store.amend(namespace, amendment):
            return _not_revised(
                name, "the context changed meanwhile; it is due again with the next update"
            )
        return Revision(concept=name, text=text)

    def _ask(self, label: str, sentences: Iterable[str]) -> str:
        text = ""
        for part in _parts(sentences, self.config.revision_characters):
            before = f"{text}\n" if text else ""
            text = answer_of(self.llm, revision_prompt(label, before + part))
            text.encode()  # lone surrogates raise: no store could hold them
            if not text:
                break
        return text


def _not_revised(name: str, reason: str) -> Revision:
    return Revision(concept=name, text=None, reason=reason)


def _parts(sentences: Iterable[str], max_characters: int) -> Iterator[str]:
    part: list[str] = []
    size = 0
    for line in sentences:
        if part and size + len(line) > max_characters:
            yield "\n".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield "\n".join(part)
