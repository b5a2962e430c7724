"""Requests to the viewer without a server."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from recallm import RecallM
from recallm.viewer.app import application

TOKEN = "the-token"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}
READS = {
    "overview": {},
    "concepts": {},
    "graph": {"concept": "ingrid"},
    "timeline": {"concept": "ingrid"},
    "latest": {},
    "recall": {"question": "Where does Ingrid live?"},
    "passage": {"id": "p0"},
}


def client(memory: RecallM, *, host: str = "127.0.0.1") -> TestClient:
    return TestClient(
        application(memory, token=TOKEN),
        base_url=f"http://{host}:4711",
        raise_server_exceptions=False,
    )


def answer(web: TestClient, name: str, **given: str | int) -> Any:
    done = web.get(f"/api/{name}", params=given, headers=AUTHORISED)
    assert done.status_code == 200, done.text
    assert done.headers["content-type"] == "application/json"
    return done.json()
