"""The door of a recall: the table of rankings, what each of them can do, and the request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from recallm import InvalidInputError, RecallConfig
from recallm.ground.config import RankingName
from recallm.recall.recalling import RANKINGS, check_probabilities, check_ranking, checked_request
from recallm.recall.request import RecallRequest, quarter_of_characters

NOW = datetime(2024, 3, 5, tzinfo=UTC)
EARLIER = datetime(2023, 1, 1, tzinfo=UTC)


def request(ranking: RankingName = "statements", **arguments: Any) -> RecallRequest:
    return checked_request(
        "Who?",
        arguments,
        now=NOW,
        config=RecallConfig(ranking=ranking),
        count_tokens=quarter_of_characters,
    )


def test_what_a_ranking_cannot_do_is_refused() -> None:
    """By the request and by the checks that adapters use, alike."""
    assert set(RANKINGS) == set(get_args(RankingName))
    for name, ranking in RANKINGS.items():
        check_ranking(name, embedded=True)
        if ranking.embeddings == "required":
            with pytest.raises(InvalidInputError, match="needs embeddings"):
                check_ranking(name, embedded=False)
        else:
            check_ranking(name, embedded=False)
        if ranking.has_probabilities:
            assert request(name, min_score=0.5).min_score == 0.5
            check_probabilities(name, "order")
            continue
        with pytest.raises(InvalidInputError, match="needs ranking='statements'") as refused:
            request(name, min_score=0.5)
        assert refused.value.argument == "min_score"
        with pytest.raises(InvalidInputError, match="order='score' needs") as refused:
            check_probabilities(name, "order")
        assert refused.value.argument == "order"


def test_a_question_about_the_past_is_asked_then() -> None:
    assert request().asked_at == NOW
    assert request(as_of=3).asked_at == NOW
    assert request(as_of=EARLIER).asked_at == EARLIER
    assert request(as_of=EARLIER).horizon.now == NOW
