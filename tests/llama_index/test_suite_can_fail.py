"""The suite for property graph stores finds what LlamaIndex's in-memory store gets wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.llama_index.store_suite import PropertyGraphStoreSuite

ROOT = Path(__file__).parents[2]

FAILS = {
    "a relation told again keeps its old properties": """
        test_a_relation_upserted_again_is_one test_relations_twice_in_one_call
        test_other_values_of_relations
    """,
    "relations are found in their direction alone": """
        test_against_the_direction test_both_ways_by_turns test_paths_lead_back_over_ignored_labels
    """,
    "relations whose keys, written in a row, are the same are one": """
        test_keys_do_not_run_together
    """,
    "an empty list names everything; so an unknown chunk is the whole graph": """
        test_get test_get_triplets test_aget test_nothing_asked test_nothing_by_synonyms
        test_nothing_is_named test_no_llama_nodes_are_named test_adelete test_adelete_llama_nodes
        test_deleting_an_unknown_chunk_deletes_nothing
    """,
    "to delete a node, a relation or a chunk deletes the nodes beside it": """
        test_an_entity_by_id test_an_entity_by_name test_a_neighbour_without_relations_stays
        test_relations_by_label test_everything_one_by_one test_names_that_are_alike
        test_scenario_delete test_scenario_delete_the_text_first test_delete_one_chunk
        test_a_deleted_entity_leaves_its_chunk test_a_chunk_and_an_entity_at_once
        test_a_chunk_whose_relation_is_deleted test_persist_again test_a_loaded_store_is_another
        test_everything_in_turn
    """,
    "properties of a question are alternatives": """
        test_nodes_by_properties
    """,
    "an entity's name is no property to find it by": """
        test_nodes_by_name test_names_beside_properties
    """,
    "what a chunk brought stays without it, or goes although another chunk says it": """
        test_entities_of_one_chunk_are_deleted_with_it test_entities_of_another_chunk_stay
        test_an_entity_of_two_chunks_stays_with_the_other test_an_entity_that_another_chunk_mentions
        test_a_relation_of_two_chunks_stays_with_the_other
        test_an_entity_that_another_chunk_relates test_an_end_that_a_relation_made
        test_no_source_after_a_source test_entities_without_a_source_stay test_two_chunks_at_once
        test_deleted_as_a_llama_node test_deleted_with_its_document test_many_chunks_of_one_call
        test_a_chunk_without_words test_a_chunk_upserted_twice test_a_chunk_with_another_text
        test_from_existing test_delete_ref_doc test_delete_all_documents
        test_a_document_with_another_text test_links_between_chunks test_provenance_is_persisted
        test_chunks_upserted_concurrently test_entities_of_a_document_that_was_not_split
    """,
    "the source that is shown is the oldest": """
        test_the_newest_source_is_shown test_the_shown_source_exists test_of_three_sources
        test_insert test_the_text_of_the_newest_source
    """,
    "paths show triplets twice, in the limit too, and where an entity is mentioned": """
        test_depth test_the_default_depth test_one_step_is_not_two test_cycles_end
        test_once_from_both_ends test_a_relation_to_itself test_properties_are_shown
        test_the_limit_is_exact test_many_nodes test_aget_rel_map test_two_stores
        test_scenario_paths test_scenario_upsert test_labels_between_the_same_nodes
        test_given_nodes_on_one_path test_a_relation_called_mentions
    """,
    "a hub takes the whole limit": """
        test_every_given_node_has_its_share
    """,
    "properties are replaced, not merged": """
        test_a_node_upserted_again_is_one test_nodes_twice_in_one_call test_nothing_shows_old_ends
    """,
    "the store shares its nodes with its users": """
        test_nodes_handed_in_are_not_shared test_nodes_returned_are_not_shared
        test_relations_are_not_shared test_chunk_nodes_are_not_shared
    """,
    "names are looked up as ids": """
        test_names_with_quotes
    """,
    "chunks come in the order of the store, documents as text nodes": """
        test_the_order_is_as_asked test_aget_llama_nodes test_nodes_come_back
    """,
    "values of any class are taken, and lost where the store is persisted": """
        test_one_bad_node_refuses_the_whole_call test_one_bad_chunk_refuses_the_whole_call
        test_persist_typed_values test_values_without_an_end test_an_entity_under_the_id_of_a_chunk
    """,
    "nothing named is no triplet": """
        test_aget_triplets
    """,
    "there is no schema": """
        test_the_schema_names_what_is_there test_the_schema_is_refreshed test_aget_schema
    """,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """How many cases of each test of the suite passed, failed and were skipped on that store."""
    report = tmp_path_factory.mktemp("suite") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    path = Path(__file__).with_name("simple_store_fails.py")
    done = subprocess.run(
        [*command, f"--junitxml={report}", str(path)],
        cwd=ROOT,
        # The store keeps its triplets in a set: their order is that of their hashes.
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    counted: dict[str, Counter[str]] = {}
    for case in ET.parse(report).iter("testcase"):
        name = case.attrib["name"].partition("[")[0]
        assert case.find("error") is None, case.attrib
        kinds = [kind for kind in ("failure", "skipped") if case.find(kind) is not None]
        counted.setdefault(name, Counter())[kinds[0] if kinds else "passed"] += 1
    return counted


def test_what_fails(outcomes: dict[str, Counter[str]]) -> None:
    """Exactly the tests of what that store gets wrong."""
    named = list(chain.from_iterable(text.split() for text in FAILS.values()))
    assert len(named) == len(set(named))
    failed = {name for name, count in outcomes.items() if count["failure"]}
    assert failed - {*named} == set()
    assert {*named} - failed == set()


def test_what_is_skipped(outcomes: dict[str, Counter[str]]) -> None:
    """The tests that need vector queries, and no others."""
    skipped = {name for name, count in outcomes.items() if count["skipped"]}
    asking = {
        name
        for name in dir(PropertyGraphStoreSuite)
        if name.startswith("test_")
        and "vectors" in getattr(PropertyGraphStoreSuite, name).__annotations__
    }
    assert skipped == asking
    assert all(not outcomes[name]["passed"] for name in skipped)


def test_no_topic_hides_another() -> None:
    """A test's name is that of one topic: in the suite all of them are run."""
    topics = PropertyGraphStoreSuite.__mro__[1:]
    names = Counter(name for topic in topics for name in vars(topic) if name.startswith("test_"))
    assert len(names) > 100
    assert {name: n for name, n in names.items() if n > 1} == {}
