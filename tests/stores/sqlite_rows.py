"""Small files, and their rows against each other, by SQL that the store itself does not use."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from recallm.ground.entity_words import codes_of, entity_words
from recallm.model import LARGEST_NUMBER, content_terms
from recallm.stores.sqlite import SQLiteStore
from recallm.stores.sqlite.schema import RECORD, hash_of, unpack, unpack_mentions, unsealed
from tests.store_suite.dict_namespace import json_text
from tests.store_suite.marked_text import prepared


def fill(path: Path, updates: int = 3) -> None:
    """Write a few updates to a file."""
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared(str(i), f"[Ann] met [Bo] {i}") for i in range(updates)])


def count(store: SQLiteStore, namespace: str = "n") -> int:
    """How many statements a namespace has."""
    with store.reader(namespace) as reader:
        return reader.sizes().corpus.statements


_NOTHING_FOR = {
    "posting without term": "SELECT 1 FROM posting WHERE term NOT IN (SELECT id FROM term)",
    "posting without statement": "SELECT 1 FROM posting p WHERE NOT EXISTS"
    " (SELECT 1 FROM statement s WHERE s.ns = p.ns AND s.at = p.at AND max(s.session, 0) ="
    " p.session)",
    "mention without concept": "SELECT 1 FROM mention"
    " WHERE concept NOT IN (SELECT id FROM concept)",
    "statement without passage": "SELECT 1 FROM statement s WHERE NOT EXISTS (SELECT 1 FROM passage"
    " p WHERE p.ns = s.ns AND p.t = s.at >> 20 AND coalesce(p.session_id, -p.t) = s.session)",
    "vector without statement": "SELECT 1 FROM vector v WHERE NOT EXISTS"
    " (SELECT 1 FROM statement s WHERE s.ns = v.ns AND s.at = v.at)",
    "summary without concept": "SELECT 1 FROM summary s WHERE NOT EXISTS"
    " (SELECT 1 FROM concept c WHERE c.ns = s.ns AND c.name = s.concept)",
    "relation without concept": "SELECT 1 FROM neighbour WHERE a NOT IN (SELECT id FROM concept)",
    "element without evidence": "SELECT 1 FROM element"
    " WHERE number NOT IN (SELECT element FROM element_evidence)",
    "evidence without element": "SELECT 1 FROM element_evidence"
    " WHERE element NOT IN (SELECT number FROM element)",
    "element that is both an entity and a triplet, or neither": "SELECT 1 FROM element"
    " WHERE (id IS NULL) = (subject IS NULL)",
    "entity on a concept that is none": "SELECT 1 FROM element e WHERE concept IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM concept c WHERE c.ns = e.ns AND c.name = e.concept)",
    "concept without a name": "SELECT 1 FROM concept WHERE name = ''",
    "vector without entity": "SELECT 1 FROM entity_vector"
    " WHERE entity NOT IN (SELECT number FROM element WHERE id IS NOT NULL)",
    "vector of another model": "SELECT 1 FROM vector v JOIN namespace n ON n.id = v.ns"
    " WHERE n.model IS NULL OR n.model != v.model OR n.origin IS NULL",
    "triplet without an end": "SELECT 1 FROM element x WHERE subject IS NOT NULL AND"
    " (SELECT count(*) FROM element e WHERE e.ns = x.ns AND e.id IN (x.subject, x.object))"
    " != 1 + (x.subject != x.object)",
    "word without entity": "SELECT 1 FROM entity_word"
    " WHERE entity NOT IN (SELECT number FROM element WHERE id IS NOT NULL)",
    "session without passage": "SELECT 1 FROM session"
    " WHERE id NOT IN (SELECT session_id FROM passage WHERE session_id IS NOT NULL)",
}

_EQUAL = {
    "terms": (
        "SELECT id, statements FROM term",
        "SELECT term, count(*) FROM posting GROUP BY term",
    ),
    "concepts": (
        "SELECT id, statements FROM concept WHERE statements > 0",
        "SELECT concept, count(*) FROM mention GROUP BY concept",
    ),
    "touched concepts": (
        "SELECT id, updates, t_index FROM concept",
        (
            "SELECT concept, count(DISTINCT at >> 20), max(at) >> 20 FROM"
            " (SELECT concept, at FROM mention UNION SELECT c.id, v.at FROM element e"
            "  JOIN concept c ON c.ns = e.ns AND c.name = e.concept"
            "  JOIN element_evidence v ON v.element = e.number)"
            " GROUP BY concept"
        ),
    ),
    "sessions": (
        "SELECT id, statements, terms FROM session WHERE statements > 0",
        "SELECT session, count(*), sum(length) FROM statement WHERE session > 0 GROUP BY session",
    ),
    "namespaces": (
        "SELECT id, statements, terms, sessions FROM namespace WHERE statements > 0",
        (
            "SELECT ns, count(*), sum(length), count(DISTINCT nullif(max(session, 0), 0))"
            " FROM statement GROUP BY ns"
        ),
    ),
    "predicates": (
        "SELECT ns, predicate, triplets FROM predicate",
        "SELECT ns, predicate, count(*) FROM element WHERE subject IS NOT NULL GROUP BY 1, 2",
    ),
    "neighbours": (
        "SELECT ns, a, b, t_index FROM neighbour",
        (
            "SELECT ns, a, b, max(shown) FROM (SELECT ns, a, b, shown FROM evidence UNION ALL"
            " SELECT ns, b, a, shown FROM evidence) GROUP BY ns, a, b"
        ),
    ),
}


def check_rows(connection: sqlite3.Connection) -> None:
    """Totals equal the rows beneath them, indexes what they index, and nothing is left over."""
    _spread_postings(connection)
    for what, sql in _NOTHING_FOR.items():
        assert connection.execute(sql).fetchall() == [], what
    for what, (kept, counted) in _EQUAL.items():
        assert sorted(connection.execute(kept)) == sorted(connection.execute(counted)), what
    _check_inverted(connection)
    _check_pairs(connection)
    _check_words(connection)
    _check_elements(connection)
    _check_sizes(connection)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def _spread_postings(connection: sqlite3.Connection) -> None:
    """Make the temporary tables ``posting`` and ``mention`` of the lists, whose keys ascend from
    block to block."""
    for table, spread, column in (("term", "posting", "term"), ("concept", "mention", "concept")):
        connection.execute(f"DROP TABLE IF EXISTS temp.{spread}")
        connection.execute(f"CREATE TEMP TABLE {spread} (ns, {column}, at, session, count)")
        ends: dict[tuple[int, int], int] = {}
        for ns, owner, last, blob in connection.execute(
            f"SELECT ns, owner, last, blob FROM {table}_block UNION ALL"
            f" SELECT ns, id, {LARGEST_NUMBER}, newest FROM {table} ORDER BY 1, 2, 3"
        ).fetchall():
            records = np.frombuffer(unsealed(owner, blob), RECORD).tolist()
            assert records or last == LARGEST_NUMBER, "no block is empty"
            keys = [ends.get((ns, owner), -1), *(key for key, _, _ in records)]
            assert all(one < other for one, other in pairwise(keys)), "keys ascend"
            assert keys[-1] <= last
            ends[ns, owner] = last
            connection.executemany(
                f"INSERT INTO temp.{spread} VALUES (?, ?, ?, ?, ?)",
                [(ns, owner, *record) for record in records],
            )


def _check_inverted(connection: sqlite3.Connection) -> None:
    """Postings, mentions and references are what the statements hold."""
    postings, mentions, references = [], [], set()
    passages = set(connection.execute("SELECT ns, id FROM passage"))
    for ns, at, length, terms, concepts in connection.execute(
        "SELECT ns, at, length, terms, concepts FROM statement"
    ):
        stems = unpack(terms)
        assert length == len(content_terms(stems))
        postings += [(ns, at, stem, stems.count(stem)) for stem in set(stems)]
        said = unpack_mentions(concepts)
        mentions += [(ns, at, mention.name) for mention in said]
        for reference in (mention.reference for mention in said if mention.reference):
            if reference.antecedent is not None:
                assert (ns, reference.antecedent) in passages
                references.add((ns, hash_of(reference.antecedent), at))
    assert references == set(connection.execute("SELECT ns, passage, at FROM reference"))
    assert sorted(postings) == sorted(
        connection.execute(
            "SELECT p.ns, p.at, t.stem, p.count FROM posting p JOIN term t ON t.id = p.term"
        )
    )
    assert sorted(mentions) == sorted(
        connection.execute(
            "SELECT m.ns, m.at, c.name FROM mention m JOIN concept c ON c.id = m.concept"
        )
    )


def _check_words(connection: sqlite3.Connection) -> None:
    """Entities bear the words of their concepts and the codes of their vectors, and no others."""
    words = {
        (ns, word, entity)
        for ns, entity, name in connection.execute(
            "SELECT ns, number, concept FROM element WHERE concept IS NOT NULL"
        )
        for word in entity_words(name, {})
    }
    words.update(
        (ns, code, entity)
        for ns, entity, model, blob in connection.execute(
            "SELECT ns, entity, model, blob FROM entity_vector"
        )
        for code in codes_of(model, blob)
    )
    assert words == set(connection.execute("SELECT ns, word, entity FROM entity_word"))


def _check_elements(connection: sqlite3.Connection) -> None:
    """Properties, type and concept are those of the evidence, in its order; of a mention, where no
    evidence is earlier."""
    told: dict[int, list[Any]] = {}
    for number, properties, description in connection.execute(
        "SELECT element, properties, description FROM element_evidence ORDER BY ns, element, at"
    ):
        assert properties != "{}", "evidence without properties has none, not empty ones"
        said = json.loads(description) if description else ["", "", "", "entity"]
        if number not in told or len(said) == 4:
            earlier = told.get(number, [{}])[0]
            told[number] = [{**earlier, **json.loads(properties or "{}")}, *said[:4]]
    for number, properties, *names in connection.execute(
        "SELECT number, properties, type, coalesce(concept, ''), label, kind FROM element"
    ):
        assert [json_text(json.loads(properties)), *names] == [
            json_text(told[number][0]),
            *told[number][1:],
        ], number


def _check_sizes(connection: sqlite3.Connection) -> None:
    """Every vector has the size that its namespace notes for its model."""
    sizes = {
        ns: json.loads(text)
        for ns, text in connection.execute("SELECT id, vector_sizes FROM namespace")
    }
    for table in ("vector", "entity_vector"):
        for ns, model, size in connection.execute(f"SELECT ns, model, length(blob) FROM {table}"):
            assert sizes[ns][model] == size, model


def _check_pairs(connection: sqlite3.Connection) -> None:
    """Evidence is what the passages' pairs show."""
    shown: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for ns, t, pairs in connection.execute("SELECT ns, t, pairs FROM passage"):
        numbers = iter(map(int, pairs.split()))
        for a, b, _, _ in zip(numbers, numbers, numbers, numbers, strict=True):
            shown[ns, min(a, b), max(a, b)].add(t)
    found: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for ns, a, b, t in connection.execute("SELECT ns, a, b, shown FROM evidence"):
        found[ns, a, b].add(t)
    assert found == shown
