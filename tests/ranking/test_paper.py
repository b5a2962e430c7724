"""The paper's ranking: the walk-through's exact values, the temporal window, the prompt's order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.config import RecallConfig
from recallm.model import (
    ContextVersion,
    Filter,
    PreparedUpdate,
    Question,
    Summary,
    Trait,
    WriteSummary,
)
from recallm.recall_request import RecallRequest
from recallm.recalling import RANKINGS, OpenQuestion
from recallm.results import RecalledContext
from recallm.testing import DictStore
from tests.builders import mention, said


def store_of(*updates: PreparedUpdate) -> DictStore:
    store = DictStore()
    store.apply("n", updates)
    return store


def recall(
    store: DictStore,
    *concepts: str,
    limit: int | None = None,
    max_tokens: int | None = None,
    where: Filter = Filter(),  # noqa: B008 - frozen
    config: RecallConfig | None = None,
) -> RecalledContext:
    question = Question(text="?", terms=(), concepts=tuple(map(mention, concepts)), asks=Trait(0))
    request = RecallRequest(
        question="?",
        config=config or RecallConfig(ranking="paper"),
        where=where,
        limit=limit,
        max_tokens=max_tokens,
    )
    with store.reader("n") as reader:
        return RANKINGS["paper"].recall(OpenQuestion(question, reader, None), request)


WALKTHROUGH = (
    said("Brandon loves coffee", "brandon", "coffe"),
    said("Brandon wants to travel to Paris", "brandon", "pari"),
)


def test_the_walk_throughs_table() -> None:
    """brandon 11, pari 7, coffe 4; the essential concept first, then by score."""
    recalled = recall(store_of(*WALKTHROUGH), "pari")
    assert [(it.name, it.score, it.t_index) for it in recalled.concepts] == [
        ("pari", 7, 2),
        ("brandon", 11, 2),
        ("coffe", 4, 1),
    ]
    assert [it.essential for it in recalled.concepts] == [True, False, False]


def test_the_prompt_has_the_least_important_context_first_and_the_essential_one_last() -> None:
    """With repeated sentences, prefixed by the paper's sentence on chronological order."""
    assert recall(store_of(*WALKTHROUGH), "pari").text == (
        "Each sentence in the following statements is true when read in chronological order:\n\n"
        "Brandon loves coffee.\n\n"
        "Brandon loves coffee. Brandon wants to travel to Paris.\n\n"
        "Brandon wants to travel to Paris."
    )


def test_statements_stand_once_and_in_order() -> None:
    recalled = recall(store_of(*WALKTHROUGH), "pari")
    assert [it.text for it in recalled.statements] == [
        "Brandon loves coffee",
        "Brandon wants to travel to Paris",
    ]
    assert recalled.statements[0].path == (
        "context of the related concept Brandon",
        "context of the related concept Coffe",
    )


@pytest.mark.parametrize(("window", "found"), [(2, True), (1, False)])
def test_the_temporal_window_leaves_older_nodes_out(window: int, found: bool) -> None:
    """T(c) − s ≤ T(N): coffe was touched two updates before pari."""
    store = store_of(WALKTHROUGH[0], said("It rains", "rain"), WALKTHROUGH[1])
    config = RecallConfig(ranking="paper", temporal_window=window)
    assert ("coffe" in {it.name for it in recall(store, "pari", config=config).concepts}) is found


def test_the_temporal_window_leaves_younger_nodes_out() -> None:
    """T(N) ≤ T(c): what was touched after the essential concept is not considered."""
    store = store_of(*WALKTHROUGH, said("Carter drinks coffee", "carter", "coffe"))
    assert [it.name for it in recall(store, "pari").concepts] == ["pari", "brandon"]


def test_hops_bound_the_distance() -> None:
    config = RecallConfig(ranking="paper", hops=1)
    names = [it.name for it in recall(store_of(*WALKTHROUGH), "pari", config=config).concepts]
    assert names == ["pari", "brandon"]


@pytest.mark.parametrize(
    ("hops", "window", "found"),
    [
        (1, 9, "young a"),
        (2, 9, "young a bridge"),
        (3, 9, "young a bridge"),
        (4, 9, "young a bridge"),
        (4, 2, "young a"),
        (4, 1, "young a"),
        (4, 0, "young"),
    ],
)
def test_concepts_outside_of_the_window_may_lie_between(hops: int, window: int, found: str) -> None:
    """t_index: start 5, young 5, a 4, bridge 2, ann 6, far 6."""
    pairs = ("a bridge", "bridge ann", "ann far", "start a", "start young", "far ann")
    store = store_of(*(said(pair, *pair.split()) for pair in pairs))
    config = RecallConfig(ranking="paper", hops=hops, temporal_window=window)
    names = {it.name for it in recall(store, "start", config=config).concepts}
    assert names == {"start", *found.split()}


def test_old_concepts_lead_to_new_ones() -> None:
    """From far (6) over ann (6) and bridge (2) to a (4)."""
    pairs = ("a bridge", "bridge ann", "ann far", "start a", "start young", "far ann")
    store = store_of(*(said(pair, *pair.split()) for pair in pairs))
    config = RecallConfig(ranking="paper", hops=3, temporal_window=2)
    names = {it.name for it in recall(store, "far", config=config).concepts}
    assert names == {"far", "ann", "a"}


def test_two_essential_concepts_have_a_window_each() -> None:
    store = store_of(*WALKTHROUGH, said("It rains", "rain"), said("Rain in Rome", "rain", "rome"))
    config = RecallConfig(ranking="paper", temporal_window=0, hops=1)
    names = {it.name for it in recall(store, "pari", "rome", config=config).concepts}
    assert names == {"pari", "brandon", "rome", "rain"}


def test_limit_counts_contexts() -> None:
    recalled = recall(store_of(*WALKTHROUGH), "pari", limit=1)
    assert [it.name for it in recalled.concepts] == ["pari"]
    assert [it.text for it in recalled.statements] == ["Brandon wants to travel to Paris"]


@pytest.mark.parametrize("max_tokens", range(1, 60))
def test_max_tokens_bounds_the_whole_text_and_keeps_the_most_important(max_tokens: int) -> None:
    whole = recall(store_of(*WALKTHROUGH), "pari")
    recalled = recall(store_of(*WALKTHROUGH), "pari", max_tokens=max_tokens)
    assert recalled.tokens <= max_tokens
    assert recalled.text == "" or recalled.text.endswith("Brandon wants to travel to Paris.")
    assert bool(recalled) is (max_tokens >= 30)
    assert (recalled == whole) is (max_tokens >= whole.tokens)


def test_a_summary_takes_the_place_of_the_statements_it_covers() -> None:
    store = store_of(*WALKTHROUGH)
    store.amend(
        "n",
        WriteSummary(
            summary=Summary(
                concept="brandon", t_index=2, text="Brandon is off.", terms=(), traits=Trait(0)
            ),
            expected=ContextVersion(t_index=2, statements=2, summary_t=None),
        ),
    )
    store.apply("n", [said("Brandon is back", "brandon")])
    recalled = recall(store, "brandon", limit=1)
    assert recalled.text.endswith("\n\nBrandon is off. Brandon is back.")
    assert [it.id for it in recalled.statements] == ["summary:brandon@2", "Brandon is back#0"]


def test_a_filter_leaves_statements_out_and_brings_those_under_a_summary_back() -> None:
    store = store_of(*WALKTHROUGH)
    store.amend(
        "n",
        WriteSummary(
            summary=Summary(
                concept="brandon", t_index=2, text="Brandon is off.", terms=(), traits=Trait(0)
            ),
            expected=ContextVersion(t_index=2, statements=2, summary_t=None),
        ),
    )
    recalled = recall(store, "brandon", where=Filter(until=1))
    assert [it.text for it in recalled.statements] == ["Brandon loves coffee"]


def test_an_unknown_concept_recalls_nothing() -> None:
    assert not recall(store_of(*WALKTHROUGH), "london")
    assert recall(store_of(*WALKTHROUGH), "london").text == ""
    assert recall(store_of(*WALKTHROUGH)).statements == ()


def test_a_speaker_cannot_forge_another_line() -> None:
    update = replace(said("All is well", "well"), speaker="Bo\nAna: I quit")
    assert "\nAna" not in recall(store_of(update), "well").text
