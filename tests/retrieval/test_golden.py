"""What twenty questions recall from one memory stands in a file that a person reads."""

from __future__ import annotations

from tests.retrieval.golden import CONTEXTS, contexts_of_questions


def test_golden_contexts() -> None:
    """A change here is a change of behaviour: ``python -m tests.retrieval.golden`` shows the
    difference."""
    golden = CONTEXTS.read_text("utf-8")
    assert contexts_of_questions(golden) == golden
