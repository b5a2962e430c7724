"""Files and web pages that are remembered whole."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import pytest

from recallm import DocumentError, InvalidInputError, MissingDependencyError, RecallM
from recallm.ground import documents
from recallm.ground.documents import url_text

ARTICLE = """<!DOCTYPE html><html><head><title>Boats</title><script>var secret = 1;</script></head>
<body><article><h1>Boats</h1><p>Ann bought a boat in Málaga. She sailed it to Porto.</p>
<p>Ben bakes bread in the old harbour, where the boats arrive.</p></article></body></html>"""


@contextmanager
def _server(
    body: bytes,
    kind: str | None = "text/html",
    status: int = 200,
    location: str = "/page",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """``/moved`` leads to ``location``; ``/slow`` sends the page byte by byte, headers too."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", location)
                self.end_headers()
                return
            if self.path == "/slow":
                with suppress(OSError):
                    for letter in b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1000:
                        self.connection.sendall(bytes([letter]))
                        time.sleep(0.05)
                return
            self.send_response(status)
            if kind is not None:
                self.send_header("Content-Type", kind)
            for name, value in ({"Content-Length": str(len(body))} | dict(headers)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/page"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Every name is resolved to ``addresses``; the connections go to this computer, and are
    listed."""
    connected: list[str] = []
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        if address[1] in ports:
            connected.append(address[0])
            address = ("127.0.0.1", address[1])
        connect(self, address)

    ports: set[object] = set()

    def resolve(host: str, port: object, *_: object, **__: object) -> list[Any]:
        ports.add(port)
        named = [host] if host[0].isdigit() else addresses
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in named]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect_here)
    return connected


def test_a_file_is_one_knowledge_update(tmp_path: Path) -> None:
    sentence = "Ann bought a boat in Málaga."
    for name, content in (
        ("a.txt", sentence.encode()),
        ("b.txt", sentence.encode("utf-8-sig")),
        ("a.md", sentence.encode("utf-16")),
        ("a.html", ARTICLE.encode()),
        ("saved", ARTICLE.encode("utf-16")),
        ("saved2", b"\xef\xbb\xbf \n" + ARTICLE.encode()),
        ("a.htm", ARTICLE.replace("<head>", '<head><meta charset="iso-8859-1">').encode("latin-1")),
        ("b.htm", ARTICLE.encode("windows-1252")),
        ("c.htm", ARTICLE.replace("<head>", '<head><meta charset="no-such">').encode()),
    ):
        (tmp_path / name).write_bytes(content)
        memory = RecallM()
        update = memory.update_from_file(tmp_path / name, session="s", metadata={"room": 1})
        (passage,) = memory.passages()
        assert sentence in passage.text, name
        for foreign in ("secret", "<", "\N{ZERO WIDTH NO-BREAK SPACE}"):
            assert foreign not in passage.text, name
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
    assert [(passage.text, passage.source) for passage in memory.passages()] == [
        ("Zoë sails.", "diary")
    ]


def test_what_holds_no_prose_is_refused(tmp_path: Path) -> None:
    memory = RecallM()
    for name, content, problem in (
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t", "empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
        ("a.html", b"<html><body></body></html>", "without text"),
        ("a.csv", b"name,town\n", "no prose"),
        ("a.JSONL", b"{}\n", "no prose"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((DocumentError, InvalidInputError), match=problem):
            memory.update_from_file(tmp_path / name)
    with pytest.raises(DocumentError, match="cannot be read"):
        memory.update_from_file(tmp_path / "nowhere.txt")
    with pytest.raises(InvalidInputError, match="path"):
        memory.update_from_file(7)  # type: ignore[arg-type]
    assert memory.stats().t_index == 0


def test_a_web_page_is_one_knowledge_update() -> None:
    for body, kind in (
        (ARTICLE.encode(), "text/html; charset=utf-8"),
        (ARTICLE.encode("latin-1"), 'text/html; charset="ISO-8859-1"'),
        (ARTICLE.encode("windows-1252"), "text/html"),
        (ARTICLE.encode(), "application/xhtml+xml"),
        (ARTICLE.encode(), None),
        (b"Ann bought a boat in M\xc3\xa1laga.", "text/plain"),
        (b"Ann bought a boat in M\xe1laga.", "text/plain;charset=latin1"),
    ):
        memory = RecallM()
        with _server(body, kind) as address:
            memory.update_from_url(address, allow_private=True, speaker="Ann")
            moved = address.replace("page", "moved")
            memory.update_from_url(moved, allow_private=True, source="again")
        first, second = memory.passages()
        assert "Ann bought a boat in Málaga." in first.text, kind
        assert (first.source, first.speaker) == (address, "Ann")
        assert (second.text, second.source) == (first.text, "again")


def test_a_page_without_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LARGEST_PAGE", 1000)
    memory = RecallM()
    for body, kind, status, problem in (
        (b"%PDF-1.7", "application/pdf", 200, "application/pdf"),
        (b"gone", "text/html", 404, "status 404"),
        (b"", "text/html", 200, "without text|empty"),
        (b"\xff\xfe\xfd", "text/plain; charset=utf-8", 200, "not text"),
        (b"a" * 2000, "text/plain", 200, "more than"),
    ):
        with _server(body, kind, status) as address, pytest.raises(DocumentError, match=problem):
            memory.update_from_url(address, allow_private=True)
    with _server(b"") as address:
        pass  # no server is there any more
    with pytest.raises(DocumentError, match="cannot be read"):
        memory.update_from_url(address, allow_private=True)
    for no_address in (
        "file:///etc/passwd",
        "ftp://a.b/c",
        "/a",
        "a.b/c",
        "http://",
        "http://[::1",
    ):
        with pytest.raises(InvalidInputError, match=r"address|empty"):
            memory.update_from_url(no_address)
    assert memory.stats().t_index == 0


def test_no_page_leads_into_a_private_network(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = RecallM()
    private = (
        *("localhost", "127.0.0.1", "2130706433", "0x7f.1", "0.0.0.0", "10.1.2.3", "172.16.0.1"),
        *("192.168.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]", "[fe80::1]"),
        *("[fd00::1]", "[fec0::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[ff02::1]"),
    )
    fetched = []
    for host in private:
        try:
            memory.update_from_url(f"http://{host}:1/")
        except DocumentError as error:
            if "private network" in error.problem:
                continue
        fetched.append(host)
    assert fetched == []

    page = ARTICLE.encode()
    for address in ("127.0.0.1", "10.0.0.1"), ("93.184.215.14", "127.0.0.1"):
        with monkeypatch.context() as patch, _server(page) as url:
            connected = _resolve(patch, *address)
            with pytest.raises(DocumentError, match="private network"):
                memory.update_from_url(url.replace("127.0.0.1", "inside.example"))
            assert connected == []

    with monkeypatch.context() as patch, _server(page) as inside:
        moved = f"http://{urlsplit(inside).netloc.replace('127.0.0.1', 'outside.example')}/moved"
        connected = _resolve(patch, "93.184.215.14")
        memory.update_from_url(moved)  # what was checked is what is connected to
        assert connected == ["93.184.215.14"] * 2
        assert not url_text(inside, is_typed=True).startswith("<")
        assert url_text(inside.replace("page", "moved"), is_typed=True)
        other = inside.replace("127.0.0.1", "127.0.0.2")
        with _server(page, location=other) as typed_by_the_user:
            with pytest.raises(DocumentError, match="private network"):
                url_text(typed_by_the_user.replace("page", "moved"), is_typed=True)
        with _server(page, location=inside) as outside:
            moved = outside.replace("127.0.0.1", "outside.example").replace("page", "moved")
            for typed in (False, True):
                with pytest.raises(DocumentError, match="private network"):
                    url_text(moved, is_typed=typed)
            assert url_text(moved, allow_private=True)


@pytest.mark.slow
def test_hostile_servers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_TIMEOUT", 1.0)
    monkeypatch.setattr(documents, "_LARGEST_PAGE", 100_000)
    gzipped = {"Content-Encoding": "gzip"}
    page = gzip.compress(ARTICLE.encode())
    for path, problem, options in (
        ("moved", "cannot be read", {"location": "http://[bad/"}),
        ("moved", "no address", {"location": "file:///etc/passwd"}),
        ("moved", "10 times", {"location": "/moved"}),
        ("slow", "more than 1 seconds", {}),
        ("page", "too early", {"headers": {"Content-Length": "2000"}}),
        ("page", "more than 0 MB", {"body": gzip.compress(b"a" * 10**7), "headers": gzipped}),
        ("page", "cannot be read", {"body": page[:-20], "headers": gzipped}),
        ("page", "cannot be read", {"headers": gzipped}),
        ("page", "packed as br", {"headers": {"Content-Encoding": "br"}}),
        ("page", "cannot be read", {"headers": {"Transfer-Encoding": "chunked"}}),
    ):
        given: dict[str, Any] = {"body": ARTICLE.encode(), **options}
        with _server(**given) as address, pytest.raises(DocumentError, match=problem):
            RecallM().update_from_url(address.replace("page", path), allow_private=True)
    with _server(page, headers=gzipped) as address:
        assert "Málaga" in url_text(address, allow_private=True)


def test_a_page_is_of_a_charset_of_the_web(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    wrong = []
    for label, codec, text in (
        ("x-sjis", "shift_jis", "東京の港"),
        ("GB2312", "gb18030", "上海的港口"),
        ("ks_c_5601-1989", "cp949", "서울의 항구"),
        ("x-x-big5", "big5", "台北的港口"),
        ("euc-jp", "euc_jp", "東京の港"),
        ("iso-2022-jp", "iso2022_jp", "東京の港"),
        ("iso88592", "iso8859-2", "Łódź"),
        ("logical", "iso8859-8", "נמל"),
        ("koi8-ru", "koi8-u", "Київ"),
        ("x-mac-cyrillic", "mac-cyrillic", "Москва"),
        ("windows-874", "cp874", "กรุงเทพ"),
        ("iso-8859-1", "cp1252", "5 € “net”"),
        ("latin5", "cp1254", "İzmir"),
        ("utf-16", "utf-8", "Málaga"),
        ("unicode_escape", "ascii", r"\u0041nn"),
        ("utf-7", "ascii", "+AEE-nn"),
        *((label, "utf-8", "Málaga") for label in ("punycode", "idna", "raw_unicode_escape")),
        *((label, "utf-8", "Málaga") for label in ("rot13", "hex", "zlib", "undefined", "mbcs")),
    ):
        page = ARTICLE.replace("<head>", f"<head><meta charset={label}>").replace("Málaga", text)
        path.write_bytes(page.encode(codec))
        if text not in documents.file_text(path):
            wrong.append(label)
    assert wrong == []


@pytest.mark.slow
def test_the_markup_of_a_page_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    many = " ".join(f"a{n}=1" for n in range(2000))
    attack = {
        "attributes": f"<p {many}>",
        "attributes behind a quote": f'<p a"b {many}>',
        "attributes without values": f"<p {many.replace('=1', '')}>",
        "attributes without spaces": "<p " + many.replace("=1 ", '="1"') + ">",
        "attributes of a script": f"<script {many}></script>",
        "attributes behind an empty comment": f"<!--><p {many}><!-- -->",
        "tags of many attributes": f"<p {many[:5000]}>" * 400,
        "elements": "<b>" * 40_000,
    }
    read = []
    for name, markup in attack.items():
        path.write_text(ARTICLE.replace("<p>Ann", f"{markup}<p>Ann"))
        try:
            documents.file_text(path)
        except DocumentError as error:
            if "markup" in error.problem:
                continue
        read.append(name)
    assert read == []
    script = f"<script>if (a<b {many}) {{}}</script><!-- <b {many}> --><p title='<b {many}>'>x</p>"
    path.write_text(ARTICLE.replace("<p>Ann", f"{script}<p>Ann"))
    assert "Málaga" in documents.file_text(path)


def test_without_the_extra_an_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    path = tmp_path / "a.html"
    path.write_text(ARTICLE)
    memory = RecallM()
    with pytest.raises(MissingDependencyError, match=r"recallm-memory\[documents\]"):
        memory.update_from_file(path)
    with pytest.raises(MissingDependencyError, match=r"recallm-memory\[documents\]"):
        memory.update_from_url("http://a.b")
    plain = tmp_path / "a.txt"
    plain.write_text("Ann sails.")
    assert memory.update_from_file(plain).statements
