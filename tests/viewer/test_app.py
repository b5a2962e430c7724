"""The viewer's answers over HTTP: who may ask, what is answered, and in which form."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recallm import RecallM, StoreError
from recallm.viewer.app import HEADERS, application

from .conftest import HOSTILE

TOKEN = "the-token"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}
STATIC = Path(__file__).parents[2] / "recallm" / "viewer" / "static"
READS = {
    "overview": {},
    "concepts": {},
    "graph": {"concept": "ingrid"},
    "timeline": {"concept": "ingrid"},
    "facts": {"subject": "Ingrid"},
    "recall": {"question": "Where does Ingrid live?"},
    "passage": {"id": "p0"},
}


def client(memory: RecallM, *, may_forget: bool = False, host: str = "127.0.0.1") -> TestClient:
    return TestClient(
        application(memory, token=TOKEN, may_forget=may_forget),
        base_url=f"http://{host}:4711",
        raise_server_exceptions=False,
    )


@pytest.fixture
def web(request: pytest.FixtureRequest, shared: RecallM) -> TestClient:
    """A client of the memory that a test has for itself, or else of the one that all read."""
    own = "memory" in request.fixturenames
    return client(request.getfixturevalue("memory") if own else shared)


def answer(web: TestClient, name: str, **given: str | int) -> Any:
    done = web.get(f"/api/{name}", params=given, headers=AUTHORISED)
    assert done.status_code == 200, done.text
    assert done.headers["content-type"] == "application/json"
    return done.json()


# ---- who may ask -----------------------------------------------------------------------------


WITHOUT_TOKEN: list[dict[str, str]] = [
    {},
    {"Authorization": "Bearer wrong"},
    {"Authorization": ""},
    {"Cookie": f"token={TOKEN}"},
]


def test_the_api_asks_for_the_token(web: TestClient, subtests: pytest.Subtests) -> None:
    for name, headers in itertools.product(READS, WITHOUT_TOKEN):
        with subtests.test(name=name, headers=headers):
            done = web.get(f"/api/{name}", params=READS[name], headers=headers)
            assert done.status_code == 403
            assert "recallm view" in done.json()["error"]
            assert "Ingrid" not in done.text


def test_a_token_in_the_address_opens_the_page_alone(web: TestClient) -> None:
    page = web.get("/", params={"token": TOKEN})
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "set-cookie" not in page.headers
    assert web.get("/api/overview", params={"token": TOKEN}).status_code == 403
    for token in ("", "wrong", TOKEN + "x", "\u00e9"):
        refused = web.get("/", params={"token": token})
        assert refused.status_code == 403
        assert refused.headers["content-type"].startswith("text/plain")
    assert web.get("/").status_code == 403


def test_another_host_is_refused(shared: RecallM, subtests: pytest.Subtests) -> None:
    """A page whose name leads to the loopback address (DNS rebinding) gets nothing."""
    for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.1"):
        web = client(shared, host=host)
        for path in ("/", f"/?token={TOKEN}", "/static/main.js", "/api/overview"):
            with subtests.test(host=host, path=path):
                done = web.get(path, headers=AUTHORISED)
                assert done.status_code == 400
                assert "Ingrid" not in done.text
    own = client(shared, host="localhost")
    assert own.get("/api/overview", headers=AUTHORISED).status_code == 200


def test_every_answer_has_the_headers_of_the_policy(
    web: TestClient, subtests: pytest.Subtests
) -> None:
    for path in (
        f"/?token={TOKEN}", "/", "/static/main.js", "/static/missing.js", "/api/overview",
        "/api/missing", "/missing",
    ):  # fmt: skip
        for headers in ({}, AUTHORISED):
            with subtests.test(path=path, headers=headers):
                done = web.get(path, headers=headers)
                assert {name: done.headers.get(name) for name in HEADERS} == HEADERS


def test_the_policy_allows_nothing_but_the_page_itself() -> None:
    parts = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert parts == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


# ---- files -----------------------------------------------------------------------------------


def test_every_file_that_the_page_names_is_served(web: TestClient) -> None:
    page = web.get("/", params={"token": TOKEN}).text
    named = re.findall(r'(?:href|src)="(/[^"]+)"', page)
    modules = [f"/static/{path.name}" for path in STATIC.glob("*.js")]
    assert len(named) == 3
    for path in [*named, *modules, "/static/vendor/cytoscape/cytoscape.esm.min.mjs"]:
        done = web.get(path)
        assert done.status_code == 200, path
        kind = "text/javascript" if "js" in path else "image/svg" if "svg" in path else "text/css"
        assert done.headers["content-type"].startswith(kind)
        for imported in re.findall(r'from "\./([\w.]+)"', done.text):
            assert (STATIC / imported).is_file(), imported


def test_no_other_file_is_served(web: TestClient) -> None:
    for name in (
        "index.html", "../app.py", "..%2fapp.py", "%2e%2e/app.py", "vendor/%2e%2e/main.js",
        "vendor/cytoscape/LICENSE", "", "/etc/passwd", "main.js%00",
    ):  # fmt: skip
        assert web.get(f"/static/{name}").status_code == 404, name


def test_the_page_holds_no_inline_script_or_style() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    assert re.findall(r"<script[^>]*>(?!</script>)", page) == []
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?://", page)


def test_the_scripts_set_no_markup() -> None:
    for path in STATIC.glob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert "https://" not in text


def test_the_vendored_file_is_the_named_one() -> None:
    said = (STATIC / "vendor" / "README.md").read_text("utf-8")
    vendored = STATIC / "vendor" / "cytoscape" / "cytoscape.esm.min.mjs"
    assert sha256(vendored.read_bytes()).hexdigest() in said
    assert "Permission is hereby granted" in vendored.with_name("LICENSE").read_text("utf-8")


# ---- what is shown ---------------------------------------------------------------------------


def test_the_overview_counts(web: TestClient) -> None:
    found = answer(web, "overview")
    assert found["namespace"] == "default"
    assert found["stats"]["t_index"] == 8
    assert found["stats"]["statements"] == 6
    assert found["may_forget"] is False


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
    for text in ("Ingrid", "INGRID", "ngri", "where is Ingrid now"):
        assert answer(web, "concepts", text=text)["concepts"][0]["label"] == "Ingrid", text
    assert answer(web, "concepts", text="zeppelin")["concepts"] == []


def test_concepts_of_the_past_are_those_of_the_updates_before(
    web: TestClient, memory: RecallM
) -> None:
    then = answer(web, "concepts", as_of=4)
    assert {each["label"] for each in then["concepts"]} == {
        "Ingrid", "Malaga", "Brandon", "Paris", "Carter", "Berlin",
    }  # fmt: skip
    assert then["concepts"][0]["t_index"] == 4
    memory.update_many([f"Ada saw {n} boats." for n in range(500)])
    late = answer(web, "concepts", as_of=500)
    assert late["of_updates"] == 400
    assert {each["t_index"] for each in late["concepts"]} <= set(range(101, 501))
    assert answer(web, "concepts", text="Malaga", as_of=500)["concepts"][0]["t_index"] == 1
    assert answer(web, "concepts", text="alag", as_of=500)["concepts"] == []
    assert answer(web, "concepts", text="alag", as_of=4)["concepts"][0]["label"] == "Malaga"
    assert answer(web, "concepts", as_of=0)["concepts"] == []


def test_the_past_is_also_named_by_a_day(web: TestClient, memory: RecallM) -> None:
    last = memory.passages()[2].timestamp
    assert last is not None
    for name, given in (
        ("concepts", {"text": "Brandon"}),
        ("graph", {"concept": "Ingrid"}),
        ("timeline", {"concept": "Ingrid"}),
        ("facts", {"subject": "Ingrid"}),
        ("recall", {"question": "Where does Ingrid live?"}),
    ):
        of_day = answer(web, name, **given, as_of=str(last.astimezone().date()))
        assert of_day == answer(web, name, **given, as_of=3), name


def test_the_graph_shows_strength_and_age_at_each_t(web: TestClient) -> None:
    found = answer(web, "graph", concept="Ingrid")
    assert found["centre"] == "ingrid"
    strengths = {(each["a"], each["b"]): each["strength"] for each in found["relations"]}
    assert strengths["carter", "ingrid"] == 2
    assert found["said"] is None  # the latest fact has no timestamp
    then = answer(web, "graph", concept="Ingrid", as_of=4)
    assert then["t_index"] == 4
    assert then["said"].startswith("2026-01-08")
    assert {each["label"] for each in then["concepts"]} == {"Ingrid", "Malaga", "Carter"}
    before = answer(web, "graph", concept="Carter", as_of=1)
    assert before["concepts"] == []
    assert before["centre"] is None


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
    (relation,) = answer(web, "facts", subject="ingrid")["relations"]
    assert relation["relation"] == "works for"
    assert [(it["object"], it["ended_by"]) for it in relation["values"]] == [
        ("Siemens", "superseded"),
        ("BMW", None),
    ]
    then = answer(web, "facts", subject="Ingrid", as_of=7)["relations"][0]["values"]
    assert [it["object"] for it in then] == ["Siemens"]
    assert answer(web, "facts", subject="Nobody") == {"relations": []}


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
    names = {each["name"] for each in found["graph"]["concepts"]}
    assert {
        name for each in found["statements"] for link in each["links"] for name in link
    } <= names
    assert found["time"]
    assert "Porto" in found["text"]


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


# ---- what is refused -------------------------------------------------------------------------


def test_what_cannot_be_answered_says_why(web: TestClient, subtests: pytest.Subtests) -> None:
    for path, status in (
        ("graph", 400),
        ("graph?concept=%20", 400),
        ("timeline?concept=a&skip=-1", 400),
        ("timeline?concept=a&skip=x", 400),
        ("graph?concept=a&as_of=1.5", 400),
        ("graph?concept=a&as_of=2024-13-01", 400),
        ("graph?concept=a&as_of=\u0663", 400),
        ("graph?concept=a&as_of=" + "9" * 30, 400),
        ("recall", 400),
        ("facts?subject=%20", 400),
        ("facts?subject=" + "a" * 5000, 400),
        ("forget", 404),
        ("missing", 404),
    ):
        with subtests.test(path=path):
            done = web.get(f"/api/{path}", headers=AUTHORISED)
            assert done.status_code == status
            assert done.json()["error"]


def test_a_store_that_fails_is_no_crash(
    web: TestClient, memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(memory, "stats", failing)
    done = web.get("/api/overview", headers=AUTHORISED)
    assert (done.status_code, done.json()["error"]) == (503, "the disk is gone")

    def broken() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(memory, "stats", broken)
    done = web.get("/api/overview", headers=AUTHORISED)
    assert done.status_code == 500
    assert "secret" not in done.text
    assert done.headers["Content-Security-Policy"]


def test_the_memory_never_holds_up_the_event_loop(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def watched(name: str) -> Callable[..., Any]:
        method = getattr(memory, name)

        def call(*given: Any, **more: Any) -> Any:
            with pytest.raises(RuntimeError):  # a worker thread runs no loop
                asyncio.get_running_loop()
            called.append(name)
            return method(*given, **more)

        return call

    for name in ("stats", "forget"):
        monkeypatch.setattr(memory, name, watched(name))
    web = client(memory, may_forget=True)
    answer(web, "overview")
    done = web.post("/api/forget", json={"kind": "passage", "id": "p1"}, headers=AUTHORISED)
    assert done.status_code == 200
    assert called == ["stats", "forget"]


# ---- forgetting ------------------------------------------------------------------------------


@contextmanager
def unchanged(memory: RecallM) -> Iterator[None]:
    before = memory.stats()
    yield
    assert memory.stats() == before


def test_nothing_is_forgotten_where_that_is_not_allowed(web: TestClient, memory: RecallM) -> None:
    with unchanged(memory):
        done = web.post("/api/forget", json={"kind": "statement", "id": "p0#0"}, headers=AUTHORISED)
        assert done.status_code == 404
        for name, given in READS.items():
            assert web.post(f"/api/{name}", json=given, headers=AUTHORISED).status_code == 405
            assert web.delete(f"/api/{name}", headers=AUTHORISED).status_code == 405


def test_a_statement_and_a_passage_are_forgotten(memory: RecallM) -> None:
    web = client(memory, may_forget=True)
    assert answer(web, "overview")["may_forget"] is True
    done = web.post("/api/forget", json={"kind": "statement", "id": "p0#0"}, headers=AUTHORISED)
    assert (done.status_code, done.json()["statements"]) == (200, 1)
    done = web.post("/api/forget", json={"kind": "passage", "id": "p1"}, headers=AUTHORISED)
    assert done.json()["passages"] == 1
    assert memory.get("p1") is None
    assert memory.history("Malaga") == ()


def test_forgetting_asks_for_the_token_in_the_header(memory: RecallM) -> None:
    web = client(memory, may_forget=True)
    with unchanged(memory):
        for headers in ({}, {"Cookie": f"token={TOKEN}"}, {"Authorization": "Bearer x"}):
            done = web.post(
                f"/api/forget?token={TOKEN}",
                json={"kind": "passage", "id": "p0"},
                headers=headers,
            )
            assert done.status_code == 403
        assert web.get("/api/forget", headers=AUTHORISED).status_code == 405


def test_an_unusable_request_to_forget_forgets_nothing(
    shared: RecallM, subtests: pytest.Subtests
) -> None:
    web = client(shared, may_forget=True)
    for body, status in (
        ("", 400),
        ("{", 400),
        ("[" * 10_000, 400),
        ("[]", 400),
        ("{}", 400),
        ('{"kind": "everything", "id": "p0"}', 400),
        ('{"kind": "passage", "id": 1}', 400),
        ('{"kind": "passage", "id": ""}', 400),
        ('{"kind": [], "id": "x"}', 400),
        ('{"kind": {}, "id": "x"}', 400),
        ('{"kind": "passage", "id": "\\ud800"}', 400),
        ("1" * 5_000, 400),
        (" " * 20_000, 413),
        ('{"kind": "passage", "id": "none"}', 200),
    ):
        with subtests.test(body=body[:100]), unchanged(shared):
            done = web.post("/api/forget", content=body, headers=AUTHORISED)
            assert done.status_code == status


# ---- hostile texts ---------------------------------------------------------------------------


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
                answer(web, "facts", subject=text[:200]),
                answer(web, "passage", id="m"),
            ]
            assert shown[0]["statements"][0]["text"].startswith("Mallory wrote")
            assert shown[-1]["text"] == said
    memory.close()
