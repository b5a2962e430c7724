"""The examples run."""

from __future__ import annotations

import gc
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core._api.deprecation import LangChainDeprecationWarning

EXAMPLES = Path(__file__).parents[1] / "examples"

Run = Callable[[str], str]
"""Runs an example in an empty folder; gives what the example prints."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """In this process: a new one takes seconds to import a framework."""
    monkeypatch.chdir(tmp_path)

    def run(name: str) -> str:
        path = EXAMPLES / name
        monkeypatch.syspath_prepend(path.parent)
        monkeypatch.delitem(sys.modules, "offline", raising=False)
        with warnings.catch_warnings():
            # What Python does not show to users either.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.simplefilter("error", LangChainDeprecationWarning)
            runpy.run_path(str(path), run_name="__main__")
            gc.collect()
        printed = capsys.readouterr()
        assert not printed.err
        assert not list(tmp_path.iterdir())
        return printed.out

    return run


def test_quickstart_recalls_the_newest_belief_last_and_forgets(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "quickstart.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    output = done.stdout
    context, _, rest = output.partition("question: ")
    assert "Brazil" in context.strip().splitlines()[-1]
    assert "3 Ada My sister works at the bakery" in rest
    assert "1 passage, 1 statement" in rest
    assert rest.rstrip().endswith("False")
    assert not list(tmp_path.iterdir())


def test_users_stay_apart_and_one_is_erased(run: Run) -> None:
    lines = run("users.py").splitlines()
    assert lines[0] == "Ann: Ann: I am allergic to peanuts."
    assert "allergic" not in lines[1]
    assert lines[2].removeprefix("would go: ") == lines[3].removeprefix("went: ")
    assert lines[-1] == "Ann holds 0 passages, Bob holds 1"


def test_a_chat_log_is_asked_as_of_a_day(run: Run) -> None:
    now, _, then = run("chat_log.py").partition("In April 2024: ")
    assert now.index("Leeds") < now.index("Hull")
    assert "Leeds" in then
    assert "Dr. Rao" in then.partition("Dentist: ")[2]


def test_facts_say_what_holds_and_what_held(run: Run) -> None:
    output = run("facts.py")
    assert "now: ['Opera']\nbefore: ['Cisco']\nat Opera: ['Ada', 'Bo']\n" in output
    assert "Cisco since 1 until 3\nOpera since 3 until None\n" in output


def test_with_an_embedding_a_paraphrase_comes_first(run: Run) -> None:
    output = run("embeddings.py")
    assert output.index("My brother is a physician") < output.index("question: ")


def test_every_example_is_named_in_the_readme() -> None:
    named = (EXAMPLES / "README.md").read_text("utf-8")
    for file in EXAMPLES.rglob("*.py"):
        if file.name != "offline.py":
            assert f"({file.relative_to(EXAMPLES).as_posix()})" in named, file


@pytest.mark.parametrize("framework", ["langchain", "llama_index"])
def test_an_agent_remembers_across_conversations_and_apart_by_user(
    run: Run, framework: str
) -> None:
    output = run(f"{framework}/agent.py")
    turns, _, recalled = output.partition("\n\n")
    ann, bo, job = turns.split("Where do I live now?")[1], *turns.split("bo, wednesday: ")[1:]
    assert "Tromsø" in ann.splitlines()[1]
    assert "Bergen" in bo
    assert "I do not know." in job
    assert recalled.index("Oslo") < recalled.index("Tromsø")
    assert "Bergen" not in recalled


def test_langchain_rag_answers_from_documents_and_from_what_was_said(run: Run) -> None:
    output = run("langchain/rag.py")
    assert "I remember: We booked the hotel Majestic for the first week." in output
    assert "I remember: York was known as Eboracum by the Romans" in output
    assert "\nguide: " in output
    assert "\nsaid before: " in output


def test_langchain_migration_shows_the_latest_belief_last(run: Run) -> None:
    output = run("langchain/migration.py")
    _, _, after = output.partition("RecallMMemory")
    assert after.index("Malaga") < after.index("Porto")
    assert after.rstrip().endswith("Human: Ingrid has a dog.")


def test_facts_change_and_come_back(run: Run) -> None:
    output = run("langchain/facts.py")
    assert "Who works for Cisco?\n    Nothing is remembered about that." in output
    assert "How many people work for Opera?\n    The exact number is 2." in output
    assert "Ada — works for → Cisco (since " in output
    assert output.rstrip().endswith("['Cisco']")
    output = run("llama_index/facts.py")
    assert "2024: [('Ada', 'Opera'), ('Bo', 'Opera')]; Oslo: ['Ada', 'Bo']" in output
    assert "Ada works for Cisco, superseded" in output
    assert output.rstrip().endswith(
        "without 2024.txt: [('Ada', 'Cisco'), ('Bo', 'Opera')]; Oslo: ['Bo']"
    )


def test_llama_index_answers_from_a_chapter_that_no_model_read(run: Run) -> None:
    output = run("llama_index/documents.py")
    assert "Aunt Em, badly frightened, threw open the trap door in the floor" in output
    assert "with long silky hair" in output
    assert "the sheds where the cows and horses were kept" in output
    answer, _, shown = output.partition("The engine was shown:")
    assert answer.rstrip().endswith("Toto was dyed, and is a pink dog now.")
    assert "little black dog" in shown
    assert shown.rstrip().endswith("Toto was dyed, and is a pink dog now.")


def test_llama_index_fusion_puts_the_newest_of_what_was_said_last(run: Run) -> None:
    output = run("llama_index/fusion.py")
    assert "[speaker: Ann] We cancelled the hotel Majestic and booked the hotel Minster." in output
    assert "York was known as Eboracum by the Romans" in output
    *_, guide, booked, cancelled = output.rstrip().splitlines()
    assert guide.startswith("york: ")
    assert booked == "said before: We booked the hotel Majestic for the first week."
    assert cancelled.startswith("said before: We cancelled the hotel Majestic")
