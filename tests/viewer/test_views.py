"""What the viewer shows, as JSON."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from recallm import RecallM
from recallm.facts import FactMemory

from .conftest import HOSTILE
from .web import AUTHORISED, READS, answer, client


def test_the_overview_counts(web: TestClient) -> None:
    found = answer(web, "overview")
    assert found["namespace"] == "default"
    assert found["stats"]["t_index"] == 8
    assert found["stats"]["statements"] == 6


def test_the_overview_knows_the_last_question(web: TestClient, memory: RecallM) -> None:
    assert answer(web, "overview")["question"] is None
    answer(web, "recall", question="Where is Brandon?")
    assert answer(web, "overview")["question"] == "Where is Brandon?"
    assert answer(client(memory), "overview")["question"] is None  # of this viewer alone


def test_the_latest_are_the_most_mentioned_concepts_the_last_statements_and_facts(
    web: TestClient,
) -> None:
    found = answer(web, "latest")
    assert found["concepts"][0]["label"] == "Ingrid"
    mentioned = [each["updates"] for each in found["concepts"]]
    assert mentioned == sorted(mentioned, reverse=True)
    assert [(each["text"], each["superseded"]) for each in found["statements"]][::5] == [
        ("Ingrid lives in Malaga.", True),
        ("Carter visited Ingrid in Porto.", False),
    ]
    # What no longer holds, and what a statement says, is no latest fact.
    assert [(each["subject"], each["relation"], each["object"]) for each in found["facts"]] == [
        ("Ingrid", "works for", "BMW")
    ]
    then = answer(web, "latest", as_of=2)
    assert [each["text"] for each in then["statements"]] == [
        "Ingrid lives in Malaga.",
        "Brandon wants to go to Paris.",
    ]
    assert then["facts"] == []
    assert then["said"].startswith("2026-01-06")
    assert answer(web, "latest", as_of=0)["concepts"] == []


def test_concepts_come_in_pages_latest_first(web: TestClient, memory: RecallM) -> None:
    memory.update_many([f"Ada met Person{n}." for n in range(100, 160)])
    first = answer(web, "concepts")
    assert first["more"]
    assert len(first["concepts"]) == 30
    assert first["concepts"][0]["label"] in {"Person159", "Ada"}
    second = answer(web, "concepts", skip=30)
    names = [each["name"] for page in (first, second) for each in page["concepts"]]
    assert len(names) == len(set(names)) == 60
    assert not answer(web, "concepts", skip=60)["more"]


def test_concepts_are_found_by_name_and_by_parts_of_it(web: TestClient) -> None:
    for text in ("Ingrid", "INGRID", "ngri"):
        assert answer(web, "concepts", text=text)["concepts"][0]["label"] == "Ingrid", text
    assert answer(web, "concepts", text="zeppelin")["concepts"] == []


def test_concepts_of_the_past(web: TestClient, memory: RecallM) -> None:
    then = answer(web, "concepts", as_of=4)
    assert {each["label"] for each in then["concepts"]} == {
        "Ingrid", "Malaga", "Brandon", "Paris", "Carter", "Berlin",
    }  # fmt: skip
    assert then["concepts"][0]["t_index"] == 4
    memory.update("Ada saw Malaga.")
    assert answer(web, "concepts", text="alag", as_of=4)["concepts"][0]["label"] == "Malaga"
    assert answer(web, "concepts", as_of=0)["concepts"] == []


def test_the_past_is_also_named_by_a_day(web: TestClient, memory: RecallM) -> None:
    last = memory.passages()[2].timestamp
    assert last is not None
    for name, given in (
        ("concepts", {"text": "Brandon"}),
        ("graph", {"concept": "Ingrid"}),
        ("timeline", {"concept": "Ingrid"}),
        ("latest", {}),
        ("recall", {"question": "Where does Ingrid live?"}),
    ):
        of_day = answer(web, name, **given, as_of=str(last.astimezone().date()))
        assert of_day == answer(web, name, **given, as_of=3), name


def test_the_graph_shows_strength_and_age_at_each_t(web: TestClient) -> None:
    found = answer(web, "graph", concept="Ingrid")
    assert found["concepts"][0]["name"] == "ingrid"
    strengths = {(each["a"], each["b"]): each["strength"] for each in found["relations"]}
    assert strengths["carter", "ingrid"] == 2
    assert found["said"] is None  # the latest fact has no timestamp
    then = answer(web, "graph", concept="Ingrid", as_of=4)
    assert then["t_index"] == 4
    assert then["said"].startswith("2026-01-08")
    assert {each["label"] for each in then["concepts"]} == {"Ingrid", "Malaga", "Carter"}
    before = answer(web, "graph", concept="Carter", as_of=1)
    assert before["concepts"] == []


def test_the_graph_is_bounded(web: TestClient, memory: RecallM) -> None:
    memory.update_many([f"Ingrid saw Town{n}." for n in range(200)])
    assert len(answer(web, "graph", concept="Ingrid")["concepts"]) == 25
    assert len(answer(web, "graph", concept="Ingrid", limit=10**9)["concepts"]) == 121
    assert answer(web, "graph", concept="Ingrid", limit=0)["more"]


def test_the_timeline_marks_what_is_superseded(web: TestClient) -> None:
    found = answer(web, "timeline", concept="Ingrid")
    marked = {each["text"]: each["superseded"] for each in found["statements"]}
    assert marked == {
        "Ingrid lives in Malaga.": True,
        "Ingrid met Carter in Berlin.": False,
        "Ingrid moved to Porto.": False,
        "Carter visited Ingrid in Porto.": False,
    }
    then = answer(web, "timeline", concept="Ingrid", as_of=4)["statements"]
    assert [each["superseded"] for each in then] == [False, False]


def test_the_timeline_comes_in_pages(web: TestClient, memory: RecallM) -> None:
    memory.update_many([f"Ada saw {n} boats." for n in range(70)])
    pages = [answer(web, "timeline", concept="Ada", skip=skip) for skip in (0, 30, 60)]
    assert [page["more"] for page in pages] == [True, True, False]
    ids = [each["id"] for page in pages for each in page["statements"]]
    assert len(ids) == len(set(ids)) == 70
    assert pages[0]["statements"][-1]["text"] == "Ada saw 69 boats."


def test_facts_show_what_holds_and_what_held(web: TestClient) -> None:
    found = answer(web, "graph", concept="ingrid")
    (relation,) = found["facts"]
    assert relation["relation"] == "works for"
    assert [(each["object"], each["ended_by"]) for each in relation["values"]] == [
        ("Siemens", "superseded"),
        ("BMW", None),
    ]
    assert {label: each["name"] for label, each in found["ends"].items()} == {
        "Siemens": "siemen",
        "BMW": "bmw",
    }
    then = answer(web, "graph", concept="Ingrid", as_of=7)["facts"][0]["values"]
    assert [each["object"] for each in then] == ["Siemens"]
    assert answer(web, "graph", concept="Nobody")["facts"] == []


def test_facts_that_point_to_a_concept_are_shown(web: TestClient, memory: RecallM) -> None:
    facts = FactMemory(memory)
    facts.write("Ingrid", "age", 34)
    facts.write("Zoe", "works for", "BMW")
    found = answer(web, "graph", concept="BMW")
    assert [each["subject"] for each in found["pointing"]] == ["Zoe", "Ingrid"]
    assert found["ends"]["Zoe"]["name"] == "zoe"
    assert found["concepts"][0]["label"] == "BMW"
    left = answer(web, "graph", concept="Siemens")
    assert (left["facts"], left["pointing"]) == ([], [])  # she works there no more
    own = answer(web, "graph", concept="Ingrid")
    assert "34" in {value["object"] for each in own["facts"] for value in each["values"]}
    assert set(own["ends"]) == {"Siemens", "BMW"}  # a number is no concept


def test_a_question_shows_statements_signals_and_the_path(web: TestClient) -> None:
    found = answer(web, "recall", question="Where does Ingrid live now?")
    moved = next(each for each in found["statements"] if each["text"] == "Ingrid moved to Porto.")
    lives = next(each for each in found["statements"] if each["text"] == "Ingrid lives in Malaga.")
    assert ["ingrid"] in moved["links"]
    assert "mentions essential concept Ingrid" in moved["path"]
    parts = [abs(signal["part"]) for signal in moved["signals"]]
    assert parts == sorted(parts, reverse=True)
    assert all(signal["meaning"] for signal in moved["signals"])
    assert 0 < moved["score"] < 1
    assert (lives["superseded"], moved["superseded"]) == (True, False)
    names = {each["name"] for each in found["concepts"]}
    assert {
        name for each in found["statements"] for link in each["links"] for name in link
    } <= names
    assert found["time"]
    assert "Porto" in found["text"]
    assert found["confidence"] > 0.5


def test_a_question_about_somebody_unknown_says_so(web: TestClient) -> None:
    found = answer(web, "recall", question="Where does Zoltan live?")
    assert (found["statements"], found["unknown"]) == ([], ["Zoltan"])
    assert found["confidence"] < 0.5


def test_the_path_goes_through_the_essential_concept(web: TestClient) -> None:
    found = answer(web, "recall", question="What about Brandon?")
    links = [link for each in found["statements"] for link in each["links"]]
    assert ["brandon", "pari"] in links


def test_a_question_is_asked_of_the_memory_as_it_stood(web: TestClient) -> None:
    then = answer(web, "recall", question="Where does Ingrid live?", as_of=4)
    assert "Porto" not in json.dumps(then)
    assert answer(web, "recall", question="Where?", as_of=0)["statements"] == []
    assert len(answer(web, "recall", question="Where is Ingrid?", limit=1)["statements"]) == 1


def test_a_passage_is_shown_verbatim(web: TestClient) -> None:
    assert answer(web, "passage", id="p0")["text"] == "Ingrid lives in Malaga."
    assert web.get("/api/passage", params={"id": "none"}, headers=AUTHORISED).status_code == 404


def test_nothing_crosses_a_namespace(memory: RecallM) -> None:
    memory.in_namespace("other").update("Ingrid lives in Xanadu.", id="x")
    web = client(memory)
    for name, given in READS.items():
        assert "Xanadu" not in json.dumps(answer(web, name, **given))
    assert web.get("/api/passage", params={"id": "x"}, headers=AUTHORISED).status_code == 404
    assert web.get("/api/overview?namespace=other", headers=AUTHORISED).json()["namespace"] == (
        "default"
    )


def test_hostile_texts_come_back_as_json_strings(subtests: pytest.Subtests) -> None:
    memory = RecallM()
    for number, text in enumerate(HOSTILE):
        with subtests.test(text=text[:50]):
            own = memory.in_namespace(f"hostile-{number}")
            said = f"Mallory wrote {text} to Ann."
            own.update(said, id="m", speaker=text[:1000], source=text[:1000])
            web = client(own)
            shown = [
                answer(web, "timeline", concept="Mallory"),
                answer(web, "recall", question=f"What did Mallory write? {text[:1000]}"),
                answer(web, "graph", concept="Mallory"),
                answer(web, "concepts", text=text[:1000]),
                answer(web, "graph", concept=text[:200]),
                answer(web, "latest"),
                answer(web, "passage", id="m"),
            ]
            assert shown[0]["statements"][0]["text"].startswith("Mallory wrote")
            assert shown[-1]["text"] == said
    memory.close()
