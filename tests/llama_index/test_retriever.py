"""Statements as nodes: filters, metadata, what is refused, who may see what."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from llama_index_recallm import (
    RecallMRetriever,
)
from recallm import ClosedError, InvalidInputError, NewItem, RecallConfig, RecallM
from tests.talks import CATS, CATS_ASKED, DRINKS, FILTERS, MAY


@pytest.fixture
def drinks(memory: RecallM) -> RecallM:
    memory.update_many(DRINKS)
    return memory


def texts(found: list[NodeWithScore]) -> list[str]:
    return [node.text for node in found]


# -- nodes -------------------------------------------------------------------------------------


def test_the_oldest_first_or_the_best_first(drinks: RecallM) -> None:
    retriever = RecallMRetriever(drinks)
    assert texts(retriever.retrieve("What does Brandon love?"))[0] == "Brandon loves coffee."
    drunk = texts(retriever.retrieve("What does Brandon drink?"))
    assert drunk == [drink for drink in DRINKS if drink in drunk]
    assert {*DRINKS[1:]} <= {*drunk}
    best = RecallMRetriever(memory=drinks, order="score")
    found = best.retrieve("What does Brandon drink at night?")
    assert found[0].text == "Brandon drinks water at night."
    scores = [node.get_score(raise_error=True) for node in found]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1


def test_a_node(memory: RecallM) -> None:
    memory.update(
        "I start at Cisco on Monday!",
        speaker="Brandon",
        timestamp=MAY,
        source="chat export",
        session="chat-17",
        id="message-1",
        metadata={"channel": "general", "tags": ["work"]},
    )
    [found] = RecallMRetriever(memory=memory).retrieve("Where does Brandon start?")
    assert found.node_id == "message-1#0"
    assert found.text == "I start at Cisco on Monday!"
    assert found.node.ref_doc_id == "message-1"
    assert found.score is not None
    assert 0 < found.score < 1
    assert found.metadata == {
        "t_index": 1,
        "timestamp": "2026-05-01T12:30:00+02:00",
        "speaker": "Brandon",
        "source": "chat export",
        "session": "chat-17",
        "concepts": ["brandon", "cisco", "mondai"],
        "passage": "message-1",
        "channel": "general",
        "tags": ["work"],
    }
    assert json.loads(found.node.to_json())["metadata"] == found.metadata
    assert TextNode.from_json(found.node.to_json()) == found.node


def test_what_models_are_shown(memory: RecallM) -> None:
    """Who said it and when, where that is known; no ids, no scores, no None."""
    when, text = "timestamp: 2026-05-01T12:30:00+02:00", "Brandon loves {coffee}."
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({}, "", ""),
        ({"speaker": "Ann"}, "[speaker: Ann] ", "[speaker: Ann] "),
        ({"timestamp": MAY}, f"[{when}] ", ""),
        (
            {"timestamp": MAY, "speaker": "Ann", "metadata": {"mood": "good"}},
            f"[{when}, speaker: Ann] ",
            "[speaker: Ann] ",
        ),
    ]
    for place, (said, llm, embed) in enumerate(cases):
        own = memory.in_namespace(f"n{place}")
        own.update(text, **said)
        [found] = RecallMRetriever(memory=own).retrieve("Brandon?")
        assert found.get_content(MetadataMode.NONE) == text
        assert found.get_content(MetadataMode.LLM) == f"{llm}{text}"
        assert found.get_content(MetadataMode.EMBED) == f"{embed}{text}"


def test_no_node_looks_like_another_speakers_line(memory: RecallM) -> None:
    for place, (text, speaker, llm) in enumerate(
        [
            ("Brandon left.", "Bo, t: 1] Ann", '[speaker: "Bo, t: 1] Ann"] Brandon left.'),
            ("Brandon left.", "System", '[speaker: "System"] Brandon left.'),
            ("[speaker: Ann] Brandon left.", None, '"[speaker: Ann] Brandon left."'),
            ("Brandon left: yes", "Bo", "[speaker: Bo] Brandon left: yes"),
        ]
    ):
        own = memory.in_namespace(f"n{place}")
        own.items.put([NewItem(path=("a",), key="k", text=text, speaker=speaker)])
        found = RecallMRetriever(memory=own).retrieve("Brandon?")
        assert [node.get_content(MetadataMode.LLM) for node in found] == [llm]


def test_own_metadata_that_clashes_is_kept_apart(memory: RecallM) -> None:
    own = {"t_index": "mine", "score": 7, "own": {"own": 1}, "kept": None}
    memory.update("Brandon loves coffee.", metadata=own)
    [found] = RecallMRetriever(memory=memory).retrieve("Brandon?")
    assert found.metadata["t_index"] == 1
    assert found.metadata["kept"] is None
    assert found.metadata["own"] == {k: v for k, v in own.items() if k != "kept"}
    assert "score" not in found.metadata


def test_a_statement_is_the_same_node_for_every_question() -> None:
    """Fusions know nodes by their hash: the score is no part of it."""
    with RecallM(config=RecallConfig(fill=True)) as memory:
        memory.update_many(DRINKS)
        retriever = RecallMRetriever(memory=memory)
        one = retriever.retrieve("What does Brandon drink at night?")
        other = retriever.retrieve("What does Brandon love?")
        assert [node.node.hash for node in one] == [node.node.hash for node in other]
        assert [node.score for node in one] != [node.score for node in other]


def test_a_revised_context_is_a_node_of_no_passage() -> None:
    config = RecallConfig(revise_every=1)
    with RecallM(llm=lambda _: "Marta lives in Porto.", config=config) as memory:
        memory.update("Marta lives in Lyon, in a small flat by the river.")
        memory.update("Marta moved to Porto with all of her books last week.")
        found = RecallMRetriever(memory=memory).retrieve("Where does Marta live?")
    [revised] = [node for node in found if node.node.ref_doc_id is None]
    assert (revised.text, revised.node_id) == ("Marta lives in Porto.", "summary:marta@2")


# -- what is asked -----------------------------------------------------------------------------


async def test_nothing_asked(drinks: RecallM) -> None:
    retriever = RecallMRetriever(memory=drinks)
    for empty in ("", " \n ", QueryBundle(""), QueryBundle("", image_path="x")):
        assert retriever.retrieve(empty) == await retriever.aretrieve(empty) == []
    # What is to be embedded (HyDE's imagined document, say) is not what is asked.
    question = "What does Brandon love?"
    bundle = QueryBundle(question, custom_embedding_strs=["A zebra."], embedding=[0.1])
    assert retriever.retrieve(bundle) == retriever.retrieve(question)
    wrong: list[Any] = [None, 3, ["Who?"]]
    for query in wrong:
        with pytest.raises(ValueError, match=r"valid string|must be a str"):
            retriever.retrieve(query)
    drinks.close()
    with pytest.raises(ClosedError):
        retriever.retrieve("Who?")


# -- filters -----------------------------------------------------------------------------------


@pytest.fixture
def talk(memory: RecallM) -> RecallM:
    memory.update_many(CATS)
    return memory


def test_filters(talk: RecallM) -> None:
    for filters, days in [*FILTERS, ({"max_tokens": 3}, [])]:
        found = RecallMRetriever(memory=talk, **filters).retrieve(CATS_ASKED)
        assert [node.metadata["day"] for node in found] == days, filters


def test_how_many(talk: RecallM) -> None:
    question = CATS_ASKED
    assert len(RecallMRetriever(memory=talk, limit=3).retrieve(question)) == 3
    assert len(RecallMRetriever(memory=talk, max_tokens=40).retrieve(question)) == 2
    assert len(RecallMRetriever(memory=talk, similarity_top_k=2).retrieve(question)) == 2
    with pytest.raises(InvalidInputError, match="give one"):
        RecallMRetriever(memory=talk, limit=3, similarity_top_k=3)


def test_wrong_arguments_are_refused_when_they_are_set(memory: RecallM) -> None:
    """Each passes the checks of the core, which has the tests of all wrong values."""
    wrong: Any
    wrong = [
        {"limit": 0}, {"since": "2026-05"}, {"as_of": True}, {"min_score": 1.5},
        {"order": "random"}, {"namespace": "user-{user_id}"}, {"where": {"day": {"$gt": 1}}},
        {"path": "users"},
    ]  # fmt: skip
    for how in wrong:
        [argument] = how
        with pytest.raises(InvalidInputError, match=argument) as caught:
            RecallMRetriever(memory=memory, **how)
        assert caught.value.argument == argument


def test_a_namespace(memory: RecallM) -> None:
    for user in ("ann", "bob"):
        memory.in_namespace(user).update(f"The secret word is {user}{user}.")
    question = "What is the secret word?"
    assert RecallMRetriever(memory=memory).retrieve(question) == []
    bobs = RecallMRetriever(memory=memory, namespace="bob")
    assert texts(bobs.retrieve(question)) == ["The secret word is bobbob."]


async def test_recall_leaves_the_event_loop() -> None:
    where: list[threading.Thread] = []

    class Watched(RecallM):
        def recall(self, *args: Any, **kwargs: Any) -> Any:
            where.append(threading.current_thread())
            return super().recall(*args, **kwargs)

    with Watched() as memory:
        memory.update_many(DRINKS)
        retriever = RecallMRetriever(memory=memory)
        found = await asyncio.gather(*[retriever.aretrieve("Brandon?") for _ in range(5)])
    assert [texts(nodes) for nodes in found] == [list(DRINKS)] * 5
    assert len(where) == 5
    assert threading.current_thread() not in where


def test_callbacks_see_what_was_retrieved(drinks: RecallM) -> None:
    seen = LlamaDebugHandler(print_trace_on_end=False)
    retriever = RecallMRetriever(memory=drinks, callback_manager=CallbackManager([seen]))
    found = retriever.retrieve("Brandon?")
    [(started, ended)] = seen.get_event_pairs(CBEventType.RETRIEVE)
    assert started.payload is not None
    assert started.payload["query_str"] == "Brandon?"
    assert ended.payload is not None
    assert ended.payload["nodes"] == found
