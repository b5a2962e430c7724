"""Who may ask the viewer, and what is refused."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recallm import RecallM, StoreError
from recallm.viewer.app import HEADERS

from .web import AUTHORISED, READS, TOKEN, answer, client

STATIC = Path(__file__).parents[2] / "recallm" / "viewer" / "static"


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
    for path in [*named, *modules]:
        done = web.get(path)
        assert done.status_code == 200, path
        kind = "text/javascript" if "js" in path else "image/svg" if "svg" in path else "text/css"
        assert done.headers["content-type"].startswith(kind)
        for imported in re.findall(r'from "\./([\w.]+)"', done.text):
            assert (STATIC / imported).is_file(), imported


def test_no_other_file_is_served(web: TestClient) -> None:
    for name in (
        "index.html", "../page.html", "../app.py", "..%2fapp.py", "%2e%2e/app.py", "vendor/main.js",
        "", "/etc/passwd", "main.js%00",
    ):  # fmt: skip
        assert web.get(f"/static/{name}").status_code == 404, name


def test_the_page_holds_no_inline_script_or_style() -> None:
    page = (STATIC.parent / "page.html").read_text("utf-8")
    assert re.findall(r"<script[^>]*>(?!</script>)", page) == []
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?://", page)


def test_the_scripts_set_no_markup() -> None:
    for path in STATIC.glob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert "https://" not in text


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
        ("graph?concept=" + "a" * 5000, 400),
        ("latest?as_of=x", 400),
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

    for name in ("stats", "history"):
        monkeypatch.setattr(memory, name, watched(name))
    web = client(memory)
    for name in ("overview", "timeline"):
        answer(web, name, **READS[name])
    assert called == ["stats", "history"]


# ---- reading alone ---------------------------------------------------------------------------


def test_nothing_is_written(web: TestClient) -> None:
    assert web.post("/api/forget", json={"id": "p0"}, headers=AUTHORISED).status_code == 404
    for name, given in READS.items():
        assert web.post(f"/api/{name}", json=given, headers=AUTHORISED).status_code == 405
        assert web.delete(f"/api/{name}", headers=AUTHORISED).status_code == 405
