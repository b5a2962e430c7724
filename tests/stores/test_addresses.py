"""What a text that names a store means; a password in it is not repeated."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from recallm import RecallM
from recallm.errors import InvalidInputError, StoreUnavailableError
from recallm.stores.addresses import checked_uri, is_server

_SECRET = "s3cret"
_WHAT_TO_WRITE = r"neo4j://HOST:7687 .* \./NAME for a file"


def test_files_and_servers() -> None:
    for text in (
        "memory.db",
        "./localhost:7687",
        "folder/a:1",
        "/tmp/a:1",
        "./notes:today.db",
        "C:\\x.db",
        "C:/x.db",
        "c:1",
        ":memory:",
    ):
        assert not is_server(text), text
    for text in ("neo4j://h", "bolt+s://h:1", "NEO4J+SSC://h", " bolt://[::1]:7687"):
        assert is_server(text), text
        assert checked_uri(text).hostname, text


_NEITHER = (
    ("localhost:7687", _WHAT_TO_WRITE),
    ("db.example.com:7687/", _WHAT_TO_WRITE),
    ("[::1]:7687", _WHAT_TO_WRITE),
    (":7687", _WHAT_TO_WRITE),
    ("notes:today.db", _WHAT_TO_WRITE),
    ("neo4j:/h", _WHAT_TO_WRITE),
    ("bolt:h", _WHAT_TO_WRITE),
    ("bolt+s:h:7687", _WHAT_TO_WRITE),
    (f"neo4j:{_SECRET}@h", _WHAT_TO_WRITE),
    (f"ann:{_SECRET}@h", _WHAT_TO_WRITE),
    ("http://h", _WHAT_TO_WRITE),
    ("http:/h", _WHAT_TO_WRITE),
    (f"postgres://ann:{_SECRET}@h/db", _WHAT_TO_WRITE),
    (f"jdbc:neo4j://ann:{_SECRET}@h", _WHAT_TO_WRITE),
    (f"://ann:{_SECRET}@h", _WHAT_TO_WRITE),
    ("x://h", _WHAT_TO_WRITE),
    ("file:m.db", _WHAT_TO_WRITE),
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
)


def test_what_is_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with what to write; no file is made, and nothing of a secret is shown."""
    monkeypatch.chdir(tmp_path)
    for text, message in _NEITHER:
        with pytest.raises(InvalidInputError, match=message) as caught:
            RecallM(text)
        assert caught.value.argument == "store", text
        assert _SECRET not in f"{caught.value!s}{caught.value!r}", text
        assert caught.value.__cause__ is caught.value.__context__ is None, text
        assert _SECRET not in "".join(traceback.format_exception_only(caught.value)), text
        assert not list(tmp_path.iterdir()), text


def test_credentials_of_another_shape() -> None:
    """Refused with what to write, and not repeated."""
    wrong: tuple[object, ...] = (f"neo4j:{_SECRET}", ("neo4j", _SECRET, ""), ["neo4j", 7], {})
    for auth in wrong:
        with pytest.raises(InvalidInputError, match=r"auth=\(USER, PASSWORD\)") as caught:
            RecallM("neo4j://localhost:1", auth=auth)  # type: ignore[arg-type]
        assert caught.value.argument == "auth"
        assert _SECRET not in "".join(traceback.format_exception_only(caught.value))
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_credentials_as_a_list() -> None:
    """As a configuration file gives them: no server is there, and the pair is not at fault."""
    with pytest.raises(StoreUnavailableError):
        RecallM("bolt://127.0.0.1:1", auth=["neo4j", _SECRET], timeout=0)  # type: ignore[arg-type]
