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


@pytest.mark.parametrize(
    "text",
    [
        "memory.db",
        "./localhost:7687",
        "folder/a:1",
        "/tmp/a:1",
        "./notes:today.db",
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
    ("text", "message"),
    [
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
    ],
)
def test_what_is_neither(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with what to write; no file is made, and nothing of a secret is shown."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match=message) as caught:
        RecallM(text)
    assert caught.value.argument == "store"
    error: BaseException | None = caught.value
    while error is not None:
        assert _SECRET not in f"{error!s}{error!r}"
        assert error.__cause__ is error.__context__ is None
        error = error.__cause__
    assert _SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("auth", [f"neo4j:{_SECRET}", ("neo4j", _SECRET, ""), ["neo4j", 7], {}])
def test_credentials_of_another_shape(auth: object) -> None:
    """Refused with what to write, and not repeated; a list of two texts is taken as a pair."""
    with pytest.raises(InvalidInputError, match=r"auth=\(USER, PASSWORD\)") as caught:
        RecallM("neo4j://localhost:1", auth=auth)  # type: ignore[arg-type]
    assert caught.value.argument == "auth"
    assert _SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_credentials_as_a_list() -> None:
    """As a configuration file gives them: no server is there, and the pair is not at fault."""
    with pytest.raises(StoreUnavailableError):
        RecallM("bolt://127.0.0.1:1", auth=["neo4j", _SECRET], timeout=0)  # type: ignore[arg-type]
