"""The likely mistakes of a first hour: each error says in one line what to write instead."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import langchain_recallm
import llama_index_recallm
from langchain_recallm import RecallMMiddleware
from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallConfig, RecallM
from recallm.cli import app
from recallm.facts import FactMemory

Mistake = Callable[[Any], object]
"""Something that is done with a memory. Any: type checkers find most of it."""


def closed(memory: RecallM) -> None:
    memory.close()
    memory.recall("Who?")


MISTAKES: dict[str, tuple[Mistake, str]] = {
    "a ranking without embeddings": (
        lambda _: RecallM(config=RecallConfig(ranking="vectors")),
        "give RecallM(embeddings=…)",
    ),
    "the name of a model": (lambda _: RecallM(embeddings="all-MiniLM-L6-v2"), "must be 'default'"),
    "a naive datetime": (
        lambda m: m.update("Ann sings.", timestamp=datetime(2026, 1, 1)),  # noqa: DTZ001
        "datetime.now(timezone.utc)",
    ),
    "a date as text": (
        lambda m: m.update("Ann sings.", timestamp="2026-01-01"),
        "datetime.fromisoformat(…)",
    ),
    "seconds as a date": (
        lambda m: m.update("Ann sings.", timestamp=1_700_000_000),
        "datetime.fromtimestamp(…, timezone.utc)",
    ),
    "a text where an archive is read": (lambda m: m.load("paper.pdf"), "make one with export"),
    "a closed memory": (closed, "open it again with RecallM(…)"),
    "several texts": (lambda m: m.update(["Ann sings.", "Bo reads."]), "update_many"),
    "a message": (lambda m: m.update({"role": "user", "content": "Hi."}), "update_many"),
    "one text for many": (lambda m: m.update_many("Ann sings."), "put a single one into a list"),
    "a message without its role": (
        lambda m: m.update_many([{"content": "Ann sings."}]),
        "did you mean text=?",
    ),
    "an empty text": (lambda m: m.update(" "), "a knowledge update needs some"),
    "the user as an argument": (
        lambda m: m.update("Ann sings.", user_id="ann"),
        "memory.in_namespace(…)",
    ),
    "the namespace as an argument": (
        lambda m: m.update("Ann sings.", namespace="ann"),
        "memory.in_namespace(…)",
    ),
    "another word for the limit": (lambda m: m.recall("Who?", top_k=3), "did you mean limit=?"),
    "no language model": (lambda m: m.ask("Who?"), "give any callable prompt → text"),
    "the name of a language model": (
        lambda m: m.ask("Who?", llm="gpt-5"),
        "must be a callable prompt → text",
    ),
    "a forgotten name": (lambda m: m.forget("Ann"), "by name: one of id=, statement="),
    "nothing to forget": (lambda m: m.forget(), "exactly one of id, statement"),
    "settings as a dict": (
        lambda _: RecallM(config={"limit": 3}),  # type: ignore[arg-type]
        "as in config=RecallConfig(limit=5)",
    ),
    "facts in a file": (
        lambda _: FactMemory("memory.db"),  # type: ignore[arg-type]
        "as in FactMemory(RecallM('memory.db'))",
    ),
    "a table in a file": (
        lambda m: FactMemory(m).load("staff.csv", key="name", name="staff"),  # type: ignore[arg-type]
        "as csv.DictReader gives them",
    ),
    "a cell that is no value": (
        lambda m: FactMemory(m).load([{"name": "Ann", "pay": 3j}], key="name", name="t"),
        "a text, a number, a date or a bool",
    ),
    "a folder that is not there": (lambda _: RecallM("none/memory.db"), "create its folder first"),
    "another database": (lambda _: RecallM("postgresql://host/db"), "neo4j://HOST:7687"),
    "a template where nothing fills it": (
        lambda m: RecallMMemoryBlock(memory=m, namespace="user-{user_id}"),
        "memory.in_namespace(f'user-{user_id}')",
    ),
    "a template as a namespace": (
        lambda _: RecallM(namespace="user-{user_id}"),
        "memory.in_namespace(f'user-{user_id}')",
    ),
    "an adapter with a file": (
        lambda _: RecallMMiddleware(memory="agents.db"),  # type: ignore[arg-type]
        "as in memory=RecallM('memory.db')",
    ),
}


def test_the_error_says_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("paper.pdf").write_bytes(b"%PDF-1.7 \xff\xfe")
    wrong = []
    for name, (mistake, says) in MISTAKES.items():
        with RecallM() as memory, pytest.raises(Exception) as caught:  # noqa: PT011 - says tells
            mistake(memory)
        if says not in str(caught.value):
            wrong.append(f"{name}: {caught.value}")
    assert wrong == []


def test_an_adapter_without_its_framework_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "langchain_recallm.memory", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_classic.base_memory", None)
    with pytest.raises(ImportError, match=r"^langchain_classic .*pip install .*\[langchain\]"):
        getattr(langchain_recallm, "RecallMMemory")  # noqa: B009 - it is imported here
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install .*\[llama-index\]"):
        importlib.reload(llama_index_recallm)


def test_the_command_line_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("Ann sings.")
    for arguments, says in (
        (["recall", "Who?"], "make one with 'recallm update'"),
        (["update", "notes.txt"], "read a text with --file"),
        (["update", "--file", "https://example.com/a"], "no page is fetched"),
        (["update", "Ann sings."], "knowledge update"),
        (["forget"], "exactly one option"),
        (["remember", "Ann sings."], "write: recallm update"),
        (["recall", "Who", "sings?"], "a text of several words needs quotes"),
        (["--db", "a.db", "recall", "Who?"], "it stands behind the command"),
        (["embed"], "--embeddings default"),
        (["ask", "Who?"], "Missing option '--llm-command'"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert (done.exit_code == 0) == (arguments == ["update", "Ann sings."])
        assert says in " ".join(done.output.replace("│", "").split())
    of_demo = CliRunner().invoke(app, ["demo", "--db", "a.db"]).output  # which has no such option
    assert "No such option: --db" in of_demo
    assert "behind the command" not in of_demo
