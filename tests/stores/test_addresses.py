"""What a text that names a store means; a password in it is not repeated."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from recallm import RecallM
from recallm.errors import InvalidInputError
from recallm.stores.addresses import checked_uri, is_server

_SECRET = "s3cret"


@pytest.mark.parametrize(
    "text",
    [
        "memory.db",
        "./localhost:7687",
        "folder/a:1",
        "/tmp/a:1",
        "notes:today.db",
        "log 10:30",
        "C:\\x.db",
        "C:/x.db",
        "c:1",
        ":memory:",
    ],
)
def test_files(text: str) -> None:
    assert not is_server(text)


@pytest.mark.parametrize(
    "text", ["neo4j://h", "bolt+s://h:1", "NEO4J+SSC://h", " bolt://[::1]:7687"]
)
def test_servers(text: str) -> None:
    assert is_server(text)
    assert checked_uri(text).hostname


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("localhost:7687", "without its scheme"),
        ("db.example.com:7687/", "without its scheme"),
        ("[::1]:7687", "without its scheme"),
        (":7687", "without its scheme"),
        ("neo4j:/h", "two slashes"),
        ("bolt:h", "two slashes"),
        ("bolt+s:h:7687", "two slashes"),
        (f"neo4j:{_SECRET}@h", "two slashes"),
        (f"ann:{_SECRET}@h", "a password and a server"),
        ("http://h", "the scheme http://"),
        ("http:/h", "the scheme http://"),
        (f"postgres://ann:{_SECRET}@h/db", "the scheme postgres://"),
        (f"jdbc:neo4j://ann:{_SECRET}@h", "such a scheme"),
        (f"://ann:{_SECRET}@h", "such a scheme"),
        ("file:m.db", "plain path"),
        (f"neo4j://ann:{_SECRET}@h", "auth="),
        (f"bolt://{_SECRET}@h", "auth="),
        (f"neo4j://ann:{_SECRET}/@h", "auth="),
        (f"neo4j://h:{_SECRET}", "a number from 1 to 65535"),
        ("bolt://h:99999", "a number from 1 to 65535"),
        ("neo4j://h:0", "a number from 1 to 65535"),
        ("neo4j://", "names a host"),
        ("bolt://[::1", "names a host"),
        (f"bolt://h?password={_SECRET}", "write neo4j://HOST:7687"),
        (f"neo4j://h?{_SECRET}", "write neo4j://HOST:7687"),
    ],
)
def test_what_is_neither(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with what to write; no file is made, and nothing of a secret is shown."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match=said) as caught:
        RecallM(text)
    assert caught.value.argument == "store"
    error: BaseException | None = caught.value
    while error is not None:
        assert _SECRET not in f"{error!s}{error!r}"
        assert error.__cause__ is error.__context__ is None
        error = error.__cause__
    assert _SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert not list(tmp_path.iterdir())
