"""What of a store's value recall reads, by the values that LangGraph's ecosystem writes."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_recallm import RecallMStore
from langchain_recallm._item_text import recalled_text
from recallm import RecallM

WRITTEN = "2026-05-01T12:00:00.123456+00:00"
ID = "9f1c2f0e-8a7b-4c57-9d7c-3f4f0a9f7a11"


VALUES: list[tuple[dict[str, Any], str]] = [
    # deepagents' StoreBackend: a file, as it is now and as it was.
    ({"content": "# Notes\nAnn sails.\n\nBo", "encoding": "utf-8", "created_at": WRITTEN,
     "modified_at": WRITTEN}, "# Notes\nAnn sails.\n\nBo"),
    ({"content": ["Ann sails.", "", "Bo"], "created_at": WRITTEN, "modified_at": WRITTEN},
     "Ann sails.\nBo"),
    ({"content": "aGVsbG8=", "encoding": "base64", "created_at": WRITTEN}, ""),
    ({"content": "aGVsbG8=", "encoding": "base64", "caption": "Ann on her boat"},
     "Ann on her boat"),
    # langmem's memories and profiles.
    ({"content": "Prefers dark mode"}, "Prefers dark mode"),
    ({"kind": "Memory", "content": {"content": "Likes tea"}}, "Likes tea"),
    ({"kind": "UserProfile", "content": {"name": "Ann", "age": 33, "likes": ["tea"]}},
     "name: Ann\nage: 33\nlikes: tea"),
    ({"kind": "Triple", "content": {"subject": "Ann", "context": None}}, "subject: Ann"),
    # LangGraph's documentation.
    ({"memory": "Ann never eats shellfish.", "source": "form"}, "Ann never eats shellfish."),
    ({"data": "IT"}, "IT"),
    ({"food_preference": "pizza", "rating": 5}, "food_preference: pizza\nrating: 5"),
    # LangChain's documents and messages.
    ({"id": ID, "page_content": "Bo.", "metadata": {"page": 3}, "type": "Document"}, "Bo."),
    ({"type": "human", "content": [{"type": "text", "text": "Hi, I am Ann."}], "id": ID,
     "additional_kwargs": {"a": 1}, "response_metadata": {"model": "x"}}, "Hi, I am Ann."),
    # What only looks like metadata.
    ({"name": "Rex", "type": "dog"}, "name: Rex\ntype: dog"),
    ({"pet": {"name": "Rex", "kind": "dog"}}, "name: Rex\nkind: dog"),
    ({"birthday": "1990-05-01", "created": 1889}, "birthday: 1990-05-01\ncreated: 1889"),
    ({"starts_at": WRITTEN}, f"starts_at: {WRITTEN}"),
    ({"metadata": {"topic": "sailing"}}, "topic: sailing"),
    ({"idea": "a boat", "paid": True}, "idea: a boat\npaid: true"),
    ({"text": "猫" * 200}, "猫" * 200),
    # Names of programs' fields, however they are spelt.
    ({"userId": "u1", "THREAD_ID": 7, "fileHash": "ff", "name": "Ann"}, "name: Ann"),
    ({"createdAt": WRITTEN, "mimeType": "text/plain", "name": "Ann"}, "name: Ann"),
    # A file without text is no fact.
    ({"content": "", "encoding": "utf-8", "created_at": WRITTEN, "modified_at": WRITTEN}, ""),
    ({"content": [], "type": "human", "id": ID}, ""),
    ({"student_id": "S-1"}, "student_id: S-1"),
    ({"id": "S-1", "created_at": WRITTEN}, ""),
    ({"ids": ["S-1", "S-2"], "vector": [1, 2], "embedding": [0.5]}, ""),
    # Facts in the fields of metadata.
    ({"preferences": {"type": "vegetarian", "notes": "No meat at all please"}},
     "type: vegetarian\nNo meat at all please"),
    ({"kind": "allergy", "memory": "Peanuts"}, "kind: allergy\nPeanuts"),
    ({"kind": "Allergy", "memory": "Peanuts"}, "kind: Allergy\nPeanuts"),
    ({"role": "Chief engineer", "bio": "Ann lives in Oslo."},
     "role: Chief engineer\nAnn lives in Oslo."),
    ({"source": "Bo told me so", "text": "x"}, "Bo told me so\nx"),
    ({"format": "vinyl", "data": "Kind of Blue"}, "format: vinyl\nKind of Blue"),
    ({"type": "text", "role": "USER", "format": "text/html", "text": "Hi."}, "Hi."),
    ({"name": "Ann", "student_id": "S-1", "passport_id": 99},
     "name: Ann\nstudent_id: S-1\npassport_id: 99"),
    ({"name": "Ann", "student_id": ID, "ids": [ID, 7]}, "name: Ann"),
    ({"name": "Ann", "id": "LH 400 departs at nine"}, "name: Ann\nLH 400 departs at nine"),
    ({"name": "Ann", "timestamp": "Ann was born in May"}, "name: Ann\nAnn was born in May"),
    ({"name": "Ann", "timestamp": 1777636800.5, "created_at": "Fri, 01 May 2026 12:00:00 GMT"},
     "name: Ann"),
    ({"name": "Ann", "hash": "brown", "encoding": "by heart", "content_type": "recipe"},
     "name: Ann\nhash: brown\nencoding: by heart\ncontent_type: recipe"),
    ({"name": "Ann", "hash": "sha256:abc", "charset": "ISO-8859-1"}, "name: Ann"),
    ({"text": "Hi.", "vector": "the north wind", "additional_kwargs": "none of them"},
     "Hi.\nthe north wind\nnone of them"),
    ({"url": f"https://example.org/{'a' * 100}"}, f"url: https://example.org/{'a' * 100}"),
    ({"likes": "tea,cake," * 20}, f"likes: {'tea,cake,' * 20}"),
    ({"image": f"data:image/png;base64,{'aGVs' * 40}", "name": "Ann"}, "name: Ann"),
    ({"note": "x" * 101, "vector": [0.1, 0.2]}, ""),
    ({}, ""),
]  # fmt: skip


def test_of_a_value(subtests: pytest.Subtests) -> None:
    for value, expected in VALUES:
        with subtests.test(value=str(value)):
            assert recalled_text(value, None) == expected


def test_fields_that_are_named_are_read_whatever_they_are() -> None:
    value = {"content": "Ann sails a boat.", "encoding": "utf-8", "kind": "note"}
    assert recalled_text(value, ["encoding", "kind"]) == "utf-8\nnote"
    assert recalled_text(value, ["$"]) == "Ann sails a boat.\nencoding: utf-8\nkind: note"


def test_metadata_is_no_fact_but_is_kept_and_filtered_by() -> None:
    with RecallM() as memory:
        store = RecallMStore(memory=memory)
        value = {"content": "Ann sails to Naxos.", "encoding": "utf-8", "created_at": WRITTEN}
        store.put(("files",), "/notes.md", value)
        assert [one.text for one in memory.recall("Where does Ann sail to?").statements] == [
            "Ann sails to Naxos."
        ]
        assert memory.recall("Which encoding was created?").statements == ()
        assert memory.stats().statements == 1
        [found] = store.search(("files",), filter={"encoding": "utf-8"})
        assert found.value == value
