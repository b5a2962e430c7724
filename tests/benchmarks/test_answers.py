"""The paper's experiments with a scripted model behind HTTP, and grades by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import duorc_answers, temporal_answers
from benchmarks.grades import AnsweredQuestion, agreements, model_points, points_of, scores_of
from benchmarks.hand_grading import HandGrades, grade_by_hand
from benchmarks.systems import BARE, DEFAULT, HYBRID, PAPER, VECTORS, Systems
from benchmarks.temporal_world import LONG_RANGE, tell
from recallm import LLMError
from tests.benchmarks.corpus import subjects
from tests.openai_server import MODEL, OpenAIServer, Reply

_SYSTEMS = [PAPER, DEFAULT, HYBRID, VECTORS]


@pytest.fixture
def films(tmp_path: Path) -> Path:
    path = tmp_path / "films.jsonl"
    questions = [
        _asked("Who steals a boat?", "Ann", "The boat is stolen.", (1, 2, 2)),
        _asked("Where is bread baked?", "in the harbour", "It is not said.", (0, 0, 1)),
    ]
    film = {"id": "boat", "plot": "Ann steals a boat. Ben bakes bread.", "questions": questions}
    path.write_text(json.dumps(film) + "\n", encoding="utf-8")
    return path


def _asked(question: str, gold: str, answer: str, points: tuple[int, int, int]) -> dict[str, Any]:
    names = ("recallm", "vectordb", "hybrid")
    return {
        "question": question,
        "answers": [gold],
        **{f"{name}_answer": f"{answer} ({name})" for name in names},
        "grades": dict(zip(names, points, strict=True)),
    }


def _prompt(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


def _is_grading(prompt: str) -> bool:
    return prompt.startswith("Grade")


def _model(body: dict[str, Any]) -> Reply | str:
    """Says that Ann did it; gives 2 points to what names the reference, else 0."""
    prompt = _prompt(body)
    if not _is_grading(prompt):
        return "Ann did." if "steals a boat" in prompt else "It is not mentioned."
    asked, answer = prompt.rsplit("References:", 1)[1].rsplit("Answer:", 1)
    return "2" if "Ann" in asked and "Ann" in answer else "0"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(script=_model) as server:
        yield server


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duorc_answers, "default_embedding", subjects)
    monkeypatch.setattr(temporal_answers, "default_embedding", subjects)


def _run(command: Any, out: Path, *arguments: str) -> dict[str, Any]:
    command.main([*arguments, "--cache", str(out.with_name("cache")), "--json", str(out)])
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def _of(server: OpenAIServer) -> tuple[str, ...]:
    return ("--llm", server.base_url, "--model", MODEL)


def test_table_1_of_every_system_and_of_a_perfect_choice(
    films: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    found = _run(duorc_answers, tmp_path / "out", str(films), *_of(server))
    rows = {row["system"]: row[MODEL] for row in found["rows"]}
    assert rows == dict.fromkeys([*_SYSTEMS, "a perfect choice"], 0.5)
    assert {row["system"]: row["paper"] for row in found["rows"]}[PAPER] == 0.4813
    prompts = [_prompt(request.body) for request in server.requests]
    assert len(prompts) == len(set(prompts)), "nothing is asked twice"
    for prompt in filter(_is_grading, prompts):
        assert "RecallM" not in prompt
        assert "vector" not in prompt


def test_a_second_run_asks_nothing(films: Path, tmp_path: Path, server: OpenAIServer) -> None:
    first = _run(duorc_answers, tmp_path / "out", str(films), *_of(server))
    asked = len(server.requests)
    second = _run(duorc_answers, tmp_path / "out", str(films), *_of(server))
    assert len(server.requests) == asked
    assert first["rows"] == second["rows"]


def test_a_failure_stops_the_run_and_is_asked_again(films: Path, tmp_path: Path) -> None:
    replies = iter([Reply(status=400, text="out of credit")])
    with OpenAIServer(script=lambda body: next(replies, None) or _model(body)) as server:
        with pytest.raises(SystemExit, match=r"out of credit(.|\n)*goes on from there"):
            _run(duorc_answers, tmp_path / "out", str(films), *_of(server))
        found = _run(duorc_answers, tmp_path / "out", str(films), *_of(server))
    assert found["rows"][0][MODEL] == 0.5


def test_the_authors_answers_are_graded_again_and_compared(
    films: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    found = _run(duorc_answers, tmp_path / "out", str(films), "--authors", *_of(server))
    rows = {row["system"]: row for row in found["rows"]}
    assert rows[PAPER]["the authors"] == 0.25
    assert rows[VECTORS]["the authors"] == 0.5
    assert rows["a perfect choice"]["the authors"] == 0.5
    assert rows[PAPER][MODEL] == 0.0, "the model misses Ann in each of the authors' answers"
    [agreed] = found["agreement"]
    assert agreed["answers"] == 6
    assert agreed["equal"] == pytest.approx(2 / 6)
    assert all(_is_grading(_prompt(request.body)) for request in server.requests)


def test_grades_by_hand_stand_beside_the_graders(
    films: Path, tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        duorc_answers, "grade_by_hand", lambda answered, grades: _grade(answered, grades, "2" * 9)
    )
    by_hand = str(tmp_path / "grades.json")
    found = _run(duorc_answers, tmp_path / "out", str(films), *_of(server), "--by-hand", by_hand)
    assert {row["by hand"] for row in found["rows"]} == {1.0}
    assert found["agreement"][0]["graders"] == f"{MODEL} and by hand"


def test_without_a_model_somebody_must_answer(
    films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        duorc_answers.main([str(films)])
    assert "--llm" in capsys.readouterr().err


# Temporal understanding.


def _grades_statements(body: dict[str, Any]) -> Reply | str:
    """Answers with the whole prompt; an answer that holds the reference is right."""
    prompt = _prompt(body)
    if not _is_grading(prompt):
        return prompt
    reference, answer = prompt.rsplit("References:\n- ", 1)[1].split("\nAnswer:", 1)
    return "2" if reference.rstrip(".") in answer else "0"


def test_long_range_statements_leave_the_bare_models_window(tmp_path: Path) -> None:
    with OpenAIServer(script=_grades_statements) as server:
        found = _run(
            temporal_answers,
            tmp_path / "out",
            *_of(server),
            *("--repetitions", "2", "--every", "2", "--questions", "3", "--window", "500"),
            *("--plot", str(tmp_path / "curves.svg")),
        )
    graded = found["graders"][MODEL]
    assert graded["repetitions"] == [1, 2]
    rows = {row["system"]: row for row in graded["rows"]}
    assert list(rows) == [*_SYSTEMS, BARE]
    assert rows[DEFAULT][LONG_RANGE] == 1.0
    assert rows[BARE][LONG_RANGE] == 0.0
    assert graded["curves"]["standard"].keys() == rows.keys()
    assert (tmp_path / "curves.svg").read_text().startswith("<?xml")


def test_a_failing_model_and_ungraded_answers_end_without_a_traceback(tmp_path: Path) -> None:
    short = ("--repetitions", "1", "--every", "1", "--questions", "1", "--without-vectors")
    with OpenAIServer(script=lambda body: Reply(status=400, text="out of credit")) as server:
        with pytest.raises(SystemExit, match=r"out of credit(.|\n)*goes on from there"):
            _run(temporal_answers, tmp_path / "out", *_of(server), *short)
    with OpenAIServer(script=lambda body: "no points") as server:
        plot = tmp_path / "curves.svg"
        _run(temporal_answers, tmp_path / "out", *_of(server), *short, "--plot", str(plot))
    assert not plot.exists()


def test_the_bare_model_sees_the_newest_statements_that_fit() -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "Ann"

    systems = Systems(answer, None, window=10)
    systems.update(["Ann bought a boat.", "Ben bakes bread.", "Cy plays the piano."])
    assert systems.answers("Who?").keys() == {PAPER, DEFAULT, BARE}
    assert "Ann bought a boat." not in prompts[-1]
    assert prompts[-1].index("Ben bakes bread.") < prompts[-1].index("Cy plays the piano.")


def test_the_papers_examples_stand_among_unrelated_statements() -> None:
    world = temporal_answers.figure_7(tell("test", repetitions=1))
    brandon = [told.text for told in world.statements if told.subject == "Brandon"]
    assert len(brandon) == 9
    assert len(world.statements) > 100
    systems = Systems(lambda prompt: prompt, None)
    answered = temporal_answers.answered(world, systems, [1], questions=5)[1]
    assert sorted(each.references for each in answered) == [
        ("Brandon cancelled his Paris trip, and is now planning on going to Brazil instead.",),
        ("Brandon found a new job at Cisco and is no longer unemployed.",),
        ("Brandon just ate a salad.",),
    ]
    for each in answered:
        assert each.references[0].rstrip(".") in each.answers[DEFAULT], each.question


# Grades.


@pytest.mark.parametrize(
    ("reply", "points"),
    [("2", 2), ("Points: 1.", 1), ("0\n", 0), ("2: it is right (2)", 2)],
)
def test_points_in_a_reply(reply: str, points: int) -> None:
    assert points_of(reply) == points


@pytest.mark.parametrize("reply", ["", "1 or 2", "12", "1.5", "right"])
def test_a_reply_without_points_is_an_error(reply: str) -> None:
    with pytest.raises(LLMError, match="0, 1 or 2"):
        points_of(reply)


def test_an_answer_that_the_grader_does_not_grade_is_reported_and_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    points = model_points(lambda prompt: "I cannot say." if "Ben" in prompt else "2")
    assert points(_ASKED, PAPER) == 2
    assert points(_ASKED, VECTORS) is None
    assert "not graded" in capsys.readouterr().out
    assert scores_of([_ASKED], points).units == []


_ASKED = AnsweredQuestion(
    unit="boat",
    question="Who?",
    references=("Ann",),
    answers={PAPER: "Ann", VECTORS: "Ben", HYBRID: "Ann"},
)


def _grade(answered: Any, grades: HandGrades, keys: str) -> list[str]:
    """Grade with these key strokes, then quit; what was shown."""
    strokes = iter(keys)
    shown: list[str] = []
    grade_by_hand(answered, grades, read=lambda _: next(strokes, "q"), write=shown.append)
    return shown


def test_equal_answers_are_graded_once_and_no_system_is_named(tmp_path: Path) -> None:
    shown = _grade([_ASKED], HandGrades(tmp_path / "grades.json"), "21")
    text = "\n".join(shown)
    assert text.count("Question:") == 2
    assert "1 of 2" in text
    assert not any(system in text for system in _ASKED.answers)


def test_grading_goes_on_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "grades.json"
    first = _grade([_ASKED], HandGrades(path), "2")
    assert sum("Question:" in each for each in first) == 2
    again = _grade([_ASKED], HandGrades(path), "0")
    assert sum("Question:" in each for each in again) == 1
    assert "2 of 2" in "\n".join(again)
    points = {system: HandGrades(path).points(_ASKED, system) for system in _ASKED.answers}
    assert set(points.values()) == {0, 2}
    assert points[PAPER] == points[HYBRID]
    assert _grade([_ASKED], HandGrades(path), "") == []


@pytest.mark.parametrize("content", ["", "{", '{"a": 1}', '[{"question": "Who?"}]'])
def test_a_file_of_something_else_is_no_file_of_grades(tmp_path: Path, content: str) -> None:
    path = tmp_path / "grades.json"
    path.write_text(content)
    with pytest.raises(SystemExit, match="holds no grades"):
        HandGrades(path)
    assert path.read_text() == content


def test_a_grade_is_taken_back_and_what_is_no_grade_is_refused(tmp_path: Path) -> None:
    grades = HandGrades(tmp_path / "grades.json")
    shown = _grade([_ASKED], grades, "u3" + "0u2" + "1")
    assert "that is no grade" in shown
    points = [grades.points(_ASKED, system) for system in (PAPER, VECTORS)]
    assert sorted(each for each in points if each is not None) == [1, 2]


def test_a_closed_terminal_quits(tmp_path: Path) -> None:
    def closed(_: str) -> str:
        raise EOFError

    grades = HandGrades(tmp_path / "grades.json")
    grade_by_hand([_ASKED], grades, read=closed, write=lambda _: None)
    assert grades.points(_ASKED, PAPER) is None


def test_only_questions_with_all_grades_count() -> None:
    other = AnsweredQuestion(unit="b", question="?", references=(), answers=_ASKED.answers)
    given = {("boat", PAPER): 0, ("boat", VECTORS): 2, ("boat", HYBRID): 1, ("b", PAPER): 2}
    scores = scores_of([_ASKED, other], lambda asked, system: given.get((asked.unit, system)))
    assert scores.units == ["boat"]
    assert scores.mean("a perfect choice", "accuracy") == 1.0
    assert scores.mean(HYBRID, "accuracy") == 0.5


def test_agreement_weighs_the_distance_of_points() -> None:
    first = {PAPER: 0, VECTORS: 1, HYBRID: 2}
    near = {PAPER: 1, VECTORS: 1, HYBRID: 2}
    far = {PAPER: 2, VECTORS: 1, HYBRID: 0}
    graders = {
        "first": lambda _, system: first[system],
        "near": lambda _, system: near[system],
        "far": lambda _, system: far[system],
        "nobody": lambda _, system: None,
    }
    found = {row["graders"]: row for row in agreements([_ASKED], graders)}
    assert found.keys() == {"first and near", "first and far", "near and far"}
    assert found["first and near"]["equal"] == pytest.approx(2 / 3)
    assert found["first and near"]["weighted kappa"] == pytest.approx(2 / 3)
    assert found["first and far"]["weighted kappa"] == pytest.approx(-1)
    [same] = agreements([_ASKED], {"a": lambda *_: 1, "b": lambda *_: 1})
    assert same["weighted kappa"] is None
