"""Files and web pages that are remembered whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recallm import DocumentError, InvalidInputError, MissingDependencyError, RecallM, documents

ARTICLE = """<!DOCTYPE html><html><head><title>Boats</title><script>var secret = 1;</script></head>
<body><article><h1>Boats</h1><p>Ann bought a boat in Málaga. She sailed it to Porto.</p>
<p>Ben bakes bread in the old harbour, where the boats arrive.</p></article></body></html>"""


@contextmanager
def _server(body: bytes, kind: str | None = "text/html", status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/page")
                self.end_headers()
                return
            self.send_response(status)
            if kind is not None:
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/page"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Ann bought a boat in Málaga.".encode()),
        ("a.txt", "Ann bought a boat in Málaga.".encode("utf-8-sig")),
        ("a.md", "Ann bought a boat in Málaga.".encode("utf-16")),
        ("a.html", ARTICLE.encode()),
        ("saved", ARTICLE.encode("utf-16")),
        ("saved", b"\xef\xbb\xbf \n" + ARTICLE.encode()),
        ("a.htm", ARTICLE.replace("<head>", '<head><meta charset="iso-8859-1">').encode("latin-1")),
        ("a.htm", ARTICLE.encode("windows-1252")),
        ("a.htm", ARTICLE.replace("<head>", '<head><meta charset="no-such">').encode()),
    ],
)
def test_a_file_is_one_knowledge_update(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    memory = RecallM()
    update = memory.update_from_file(path, session="s", metadata={"room": 1})
    (passage,) = memory.passages()
    assert "Ann bought a boat in Málaga." in passage.text
    assert "secret" not in passage.text
    assert "<" not in passage.text
    assert not passage.text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}")
    assert (passage.id, passage.source, passage.session) == (update.id, name, "s")
    assert passage.metadata == {"room": 1}
    assert "Málaga" in memory.recall("Where did Ann buy a boat?").text


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Zoë sails.".encode("latin-1"))
    memory = RecallM()
    with pytest.raises(DocumentError, match="not text in UTF-8") as raised:
        memory.update_from_file(path)
    assert raised.value.name == str(path)
    with pytest.raises(InvalidInputError, match="no encoding 'no-such'"):
        memory.update_from_file(path, encoding="no-such")
    assert memory.stats().t_index == 0
    memory.update_from_file(path, encoding="latin-1", source="diary")
    assert [(it.text, it.source) for it in memory.passages()] == [("Zoë sails.", "diary")]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t", "empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
        ("a.html", b"<html><body></body></html>", "without text"),
        ("a.csv", b"name,town\n", "no prose"),
        ("a.JSONL", b"{}\n", "no prose"),
    ],
)
def test_what_holds_no_prose_is_refused(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    memory = RecallM()
    with pytest.raises((DocumentError, InvalidInputError), match=problem):
        memory.update_from_file(path)
    assert memory.stats().t_index == 0


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    memory = RecallM()
    with pytest.raises(DocumentError, match="cannot be read"):
        memory.update_from_file(tmp_path / "nowhere.txt")
    with pytest.raises(InvalidInputError, match="path"):
        memory.update_from_file(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (ARTICLE.encode(), "text/html; charset=utf-8"),
        (ARTICLE.encode("latin-1"), 'text/html; charset="ISO-8859-1"'),
        (ARTICLE.encode("windows-1252"), "text/html"),
        (ARTICLE.encode(), "application/xhtml+xml"),
        (ARTICLE.encode(), None),
        ("Ann bought a boat in Málaga.".encode(), "text/plain"),
        ("Ann bought a boat in Málaga.".encode("latin-1"), "text/plain;charset=latin1"),
    ],
)
def test_a_web_page_is_one_knowledge_update(body: bytes, kind: str | None) -> None:
    memory = RecallM()
    with _server(body, kind) as address:
        memory.update_from_url(address, speaker="Ann")
        memory.update_from_url(address.replace("page", "moved"), source="again")
    first, second = memory.passages()
    assert "Ann bought a boat in Málaga." in first.text
    assert (first.source, first.speaker) == (address, "Ann")
    assert (second.text, second.source) == (first.text, "again")


@pytest.mark.parametrize(
    ("body", "kind", "status", "problem"),
    [
        (b"%PDF-1.7", "application/pdf", 200, "application/pdf"),
        (b"gone", "text/html", 404, "status 404"),
        (b"", "text/html", 200, "without text|empty"),
        (b"\xff\xfe\xfd", "text/plain; charset=utf-8", 200, "not text"),
        (b"a" * 2000, "text/plain", 200, "more than"),
    ],
)
def test_a_page_without_text_is_refused(
    monkeypatch: pytest.MonkeyPatch, body: bytes, kind: str, status: int, problem: str
) -> None:
    monkeypatch.setattr(documents, "_LARGEST_PAGE", 1000)
    memory = RecallM()
    with _server(body, kind, status) as address, pytest.raises(DocumentError, match=problem):
        memory.update_from_url(address)
    assert memory.stats().t_index == 0


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "ftp://a.b/c", "/etc/passwd", "a.b/c", "http://", "http://[::1", ""],
)
def test_only_web_addresses_are_fetched(address: str) -> None:
    with pytest.raises(InvalidInputError, match=r"address|empty"):
        RecallM().update_from_url(address)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_TIMEOUT", 0.2)
    with _server(b"") as address:
        pass
    with pytest.raises(DocumentError, match="cannot be read"):
        RecallM().update_from_url(address)


def test_without_the_extra_an_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    path = tmp_path / "a.html"
    path.write_text(ARTICLE)
    memory = RecallM()
    with pytest.raises(MissingDependencyError, match=r"recallm\[documents\]"):
        memory.update_from_file(path)
    with pytest.raises(MissingDependencyError, match=r"recallm\[documents\]"):
        memory.update_from_url("http://a.b")
    plain = tmp_path / "a.txt"
    plain.write_text("Ann sails.")
    assert memory.update_from_file(plain).statements
