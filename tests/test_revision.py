"""Context revision: when it is due, and that whatever goes wrong loses nothing."""

from __future__ import annotations

from collections.abc import Callable

from recallm import RecallConfig
from recallm.errors import StoreError
from recallm.memory.revision import Reviser
from recallm.model import Amendment, Filter, Summary, Trait
from recallm.recall.prompts import revision_prompt
from recallm.recall.results import KnowledgeUpdate, Revision
from tests.builders import said
from tests.store_suite import DictStore
from tests.store_suite.topics.base import summaries
from tests.tables import each_row


class FakeLLM:
    """Answers with numbered texts and keeps the prompts; ``before_answer`` happens meanwhile."""

    def __init__(self, answer: object = "revised", before_answer: Callable[[], object] = int):
        self.prompts: list[str] = []
        self.answer = answer
        self.before_answer = before_answer

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        self.before_answer()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # some tests answer with no str


def describe(text: str) -> tuple[tuple[str, ...], Trait]:
    return tuple(text.split()), Trait.PRESENT


def reviser(store: DictStore, llm: FakeLLM, *, max_characters: int = 1000) -> Reviser:
    return Reviser(store, llm, describe, RecallConfig(revision_characters=max_characters))


def add(store: DictStore, number: int) -> KnowledgeUpdate:
    [applied] = store.apply("n", [said(f"Marta fact {number}", "marta")])
    return KnowledgeUpdate(id=f"Marta fact {number}", t_index=applied.t_index, concepts=("marta",))


def summary_of(store: DictStore) -> str | None:
    with store.reader("n") as reader:
        found = summaries(reader, ["marta"]).get("marta")
    return found.text if found else None


def after(store: DictStore, llm: FakeLLM, numbers: range) -> list[Revision]:
    """Add facts one by one, with a revision after each; the revisions there were."""
    return [
        revision
        for number in numbers
        for update in reviser(store, llm).after("n", [add(store, number)])
        for revision in update.revisions
    ]


def test_a_context_is_revised_after_every_third_merge() -> None:
    """The first update creates the concept; three more are merged, then it is due, again and
    again, each time with what came since."""
    store, llm = DictStore(), FakeLLM()
    assert after(store, llm, range(3)) == []
    assert after(store, llm, range(3, 4)) == [Revision(concept="marta", text="revised")]
    assert after(store, llm, range(4, 6)) == []
    assert len(after(store, llm, range(6, 7))) == 1
    assert llm.prompts == [
        revision_prompt("Marta", "\n".join(f"Marta fact {n}." for n in range(4))),
        revision_prompt("Marta", "revised.\n" + "\n".join(f"Marta fact {n}." for n in (4, 5, 6))),
    ]
    with store.reader("n") as reader:
        assert summaries(reader, ["marta"])["marta"] == Summary(
            concept="marta", t_index=7, text="revised", terms=("revised",), traits=Trait.PRESENT
        )
        assert reader.mentions(["marta"], limit=None, where=Filter())["marta"].statements == 7


@each_row(
    [
        ("", "empty answer"),
        ("  \n", "empty answer"),
        (RuntimeError("overloaded"), "RuntimeError: overloaded"),
        (None, "NoneType"),
        ("\ud800", "surrogates not allowed"),
    ],
)
def test_a_bad_answer_leaves_the_old_context_and_is_reported(answer: object, reason: str) -> None:
    store = DictStore()
    after(store, FakeLLM("old"), range(4))
    [revision] = after(store, FakeLLM(answer), range(4, 7))
    assert revision.text is None
    assert revision.reason is not None
    assert reason in revision.reason
    assert summary_of(store) == "old"
    [again] = after(store, FakeLLM("new"), range(7, 8))
    assert again.text == "new"


def test_a_label_is_one_line_of_the_prompt() -> None:
    """Users name entities exactly, line breaks and all."""
    prompt = revision_prompt("Marta\nRevised: <b>", "Marta left.")
    assert 'Concept: "Marta Revised: ‹b›"\nStatements:\n<recalled_memory>' in prompt
    assert prompt.count("\nRevised:") == 2  # the example's and its own


def test_a_statement_written_during_the_revision_is_not_lost() -> None:
    store = DictStore()
    llm = FakeLLM(before_answer=lambda: add(store, 99))
    [revision] = after(store, llm, range(4))
    assert revision.text is None
    assert revision.reason is not None
    assert "changed meanwhile" in revision.reason
    assert summary_of(store) is None


def test_a_long_context_is_revised_in_parts() -> None:
    store, llm = DictStore(), FakeLLM("short")
    updates = [add(store, number) for number in range(5)]
    [*_, last] = reviser(store, llm, max_characters=40).after("n", updates)
    assert last.revisions == (Revision(concept="marta", text="short"),)
    assert llm.prompts == [
        revision_prompt("Marta", "Marta fact 0.\nMarta fact 1."),
        revision_prompt("Marta", "short\nMarta fact 2.\nMarta fact 3."),
        revision_prompt("Marta", "short\nMarta fact 4."),
    ]


def test_a_store_that_fails_now_does_not_undo_the_update() -> None:
    class Failing(DictStore):
        def amend(self, namespace: str, amendment: Amendment) -> int:
            raise StoreError("gone")

    [revision] = after(Failing(), FakeLLM(), range(4))
    assert revision == Revision(concept="marta", text=None, reason="the store failed: gone")
