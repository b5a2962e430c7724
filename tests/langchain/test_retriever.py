"""Statements as documents: LangChain's own suite, the filters, the metadata, who may see what."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.runnables import RunnableConfig, RunnableLambda

from langchain_recallm import RecallMRetriever
from recallm import InvalidInputError, NewItem, RecallConfig, RecallM
from recallm.facts import FactMemory

MAY = datetime(2026, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
DRINKS = (
    "Brandon loves coffee.",
    "Brandon drinks tea now.",
    "Brandon drinks water at night.",
    "Brandon drinks juice on Sundays.",
)


@pytest.fixture
def drinks(memory: RecallM) -> RecallM:
    memory.update_many(DRINKS)
    return memory


def texts(documents: list[Document]) -> list[str]:
    return [document.page_content for document in documents]


# -- documents ---------------------------------------------------------------------------------


def test_the_oldest_first_or_the_best_first(drinks: RecallM) -> None:
    retriever = RecallMRetriever(memory=drinks)
    assert texts(retriever.invoke("What does Brandon love?")) == list(DRINKS)
    best = retriever.invoke("What does Brandon drink at night?", order="score")
    assert best[0].page_content == "Brandon drinks water at night."
    scores = [document.metadata["score"] for document in best]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1


def test_metadata(memory: RecallM) -> None:
    memory.update(
        "I start at Cisco on Monday!",
        speaker="Brandon",
        timestamp=MAY,
        source="chat export",
        session="chat-17",
        id="message-1",
        metadata={"channel": "general", "tags": ["work"]},
    )
    [document] = RecallMRetriever(memory=memory).invoke("Where does Brandon start?")
    assert document.id == "message-1#0"
    assert document.page_content == "I start at Cisco on Monday!"
    score = document.metadata.pop("score")
    assert 0 < score < 1
    assert document.metadata == {
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
    assert json.loads(json.dumps(document.metadata)) == document.metadata
    assert datetime.fromisoformat(document.metadata["timestamp"]) == MAY


def test_own_metadata_that_clashes_is_kept_apart(memory: RecallM) -> None:
    own = {"t_index": "mine", "speaker": "nobody", "own": {"own": 1}, "kept": None}
    memory.update("Brandon loves coffee.", metadata=own)
    [document] = RecallMRetriever(memory=memory).invoke("Brandon?")
    assert document.metadata["t_index"] == 1
    assert document.metadata["speaker"] is None
    assert document.metadata["kept"] is None
    assert document.metadata["own"] == {k: v for k, v in own.items() if k != "kept"}


def test_what_is_changed_in_a_document_is_not_changed_in_the_memory(memory: RecallM) -> None:
    memory.update("Brandon loves coffee.", metadata={"tags": ["a"]})
    retriever = RecallMRetriever(memory=memory)
    retriever.invoke("Brandon?")[0].metadata["tags"].append("b")
    assert retriever.invoke("Brandon?")[0].metadata["tags"] == ["a"]


def test_a_revised_context_is_a_document_too() -> None:
    config = RecallConfig(revise_every=1)
    with RecallM(llm=lambda _: "Marta lives in Porto.", config=config) as memory:
        memory.update("Marta lives in Lyon, in a small flat by the river.")
        memory.update("Marta moved to Porto with all of her books last week.")
        documents = RecallMRetriever(memory=memory).invoke("Where does Marta live?")
    [revised] = [it for it in documents if it.metadata["passage"] is None]
    assert (revised.page_content, revised.id) == ("Marta lives in Porto.", "summary:marta@2")


def test_the_whole_context(drinks: RecallM) -> None:
    retriever = RecallMRetriever(memory=drinks, mode="context", k=2)
    context = drinks.recall("What does Brandon drink at night?", limit=2)
    [document] = retriever.invoke("What does Brandon drink at night?")
    assert document.page_content == context.text
    assert document.metadata == {
        "statements": [it.id for it in context.statements],
        "t_index": max(it.t_index for it in context.statements),
        "concepts": [it.name for it in context.concepts],
        "tokens": context.tokens,
    }
    assert retriever.invoke("zebra") == []


def test_nothing_known(memory: RecallM) -> None:
    retriever = RecallMRetriever(memory=memory)
    assert retriever.invoke("Who?") == []
    assert retriever.invoke("") == []
    assert retriever.invoke(" \n ", mode="context") == []


# -- filters -----------------------------------------------------------------------------------


@pytest.fixture
def talk(memory: RecallM) -> RecallM:
    """Four turns in two conversations, a day apart."""
    memory.update_many(
        {
            "text": f"My cat number {day} is called {name}.",
            "speaker": "Anna" if day % 2 else "Bo",
            "session": "one" if day < 3 else "two",
            "timestamp": MAY + timedelta(days=day),
            "metadata": {"day": day},
        }
        for day, name in enumerate(["Mila", "Tom", "Kim", "Lu"], start=1)
    )
    return memory


FILTERS: list[tuple[dict[str, Any], set[int]]] = [
    ({}, {1, 2, 3, 4}),
    ({"speaker": "Anna"}, {1, 3}),
    ({"session": "two"}, {3, 4}),
    ({"since": 2, "until": 3}, {2, 3}),
    ({"since": MAY + timedelta(days=3)}, {3, 4}),
    ({"until": MAY + timedelta(days=2)}, {1, 2}),
    ({"as_of": 2}, {1, 2}),
    ({"as_of": MAY + timedelta(days=1)}, {1}),
    ({"where": {"day": 4}}, {4}),
    ({"speaker": "Anna", "session": "two"}, {3}),
    ({"min_score": 1.0}, set()),
]


def test_filters(talk: RecallM, subtests: pytest.Subtests) -> None:
    """The same in the constructor, in a call, and bound."""
    for filters, days in FILTERS:
        with subtests.test(case=str((filters, days))):
            question = "What is the cat called?"
            expected = [f"My cat number {day}" for day in sorted(days)]

            def told(documents: list[Document]) -> list[str]:
                return [text.partition(" is ")[0] for text in texts(documents)]

            plain = RecallMRetriever(memory=talk)
            assert told(RecallMRetriever(memory=talk, **filters).invoke(question)) == expected
            assert told(plain.invoke(question, **filters)) == expected
            assert told(plain.bind(**filters).invoke(question)) == expected


def test_operators_filter_by_the_metadata_of_the_documents(
    talk: RecallM, subtests: pytest.Subtests
) -> None:
    conditions: Any
    for conditions, days in [
        ({"day": {"$gt": 2}}, {3, 4}),
        ({"day": {"$gte": 2, "$lt": 4}}, {2, 3}),
        ({"day": {"$lte": 1}}, {1}),
        ({"day": {"$ne": 2}}, {1, 3, 4}),
        ({"day": {"$eq": 3}}, {3}),
        ({"day": 3.0}, {3}),
        ({"speaker": "Anna", "day": {"$gt": 1}}, {3}),
        ({"speaker": {"$ne": "Anna"}}, {2, 4}),
        ({"timestamp": {"$gte": (MAY + timedelta(days=3)).isoformat()}}, {3, 4}),
        ({"missing": None}, {1, 2, 3, 4}),
        ({"missing": "x"}, set()),
        ({"day": {"$gt": 9}}, set()),
        ({}, {1, 2, 3, 4}),
    ]:
        with subtests.test(case=str((conditions, days))):
            question = "What is the cat called?"
            expected = [f"My cat number {day}" for day in sorted(days)]
            plain = RecallMRetriever(memory=talk)
            found: Any
            for found in (
                RecallMRetriever(memory=talk, filter=conditions).invoke(question),
                plain.invoke(question, filter=conditions),
            ):
                assert [text.partition(" is ")[0] for text in texts(found)] == expected
            whole = plain.invoke(question, filter=conditions, mode="context")
            shown = whole[0].page_content if whole else ""
            assert {day for day in range(1, 5) if f"number {day} " in shown} == days


def test_few_statements_that_pass_are_found_among_many_that_do_not(memory: RecallM) -> None:
    memory.update_many(
        {"text": f"Box {n} holds a red ball.", "metadata": {"shelf": n % 50, "kind": "box"}}
        for n in range(400)
    )
    retriever = RecallMRetriever(memory=memory, k=3)
    found = retriever.invoke("Which box holds a ball?", filter={"shelf": {"$gte": 49}})
    assert [document.metadata["shelf"] for document in found] == [49, 49, 49]
    found = retriever.invoke("Which box holds a ball?", filter={"shelf": {"$lt": 1}, "kind": "box"})
    assert [document.metadata["shelf"] for document in found] == [0, 0, 0]
    assert retriever.invoke("Which box holds a ball?", filter={"kind": "crate"}) == []


def test_a_fact_without_a_passage_does_not_pass_for_a_document(memory: RecallM) -> None:
    memory.update("Ada loves tea.", metadata={"day": 2})
    FactMemory(memory).write("Ada", "works for", "BMW")
    retriever = RecallMRetriever(memory=memory)
    assert len(retriever.invoke("What do you know about Ada?")) == 2
    for mode in ("statements", "context"):
        [found] = retriever.invoke("What about Ada?", filter={"day": {"$gt": 1}}, mode=mode)
        assert "BMW" not in found.page_content


def test_a_filtered_context_needs_the_default_ranking(memory: RecallM) -> None:
    memory.update("Ada loves tea.", metadata={"day": 2})
    retriever = RecallMRetriever(memory=memory.with_ranking("paper"), filter={"day": {"$gt": 1}})
    assert texts(retriever.invoke("What does Ada love?")) == ["Ada loves tea."]
    with pytest.raises(InvalidInputError, match="default ranking"):
        retriever.invoke("What does Ada love?", mode="context")


def test_tokens(talk: RecallM) -> None:
    retriever = RecallMRetriever(memory=talk, max_tokens=40)
    assert len(retriever.invoke("What is the cat called?")) == 2
    [whole] = retriever.invoke("What is the cat called?", mode="context")
    assert 20 < whole.metadata["tokens"] <= 40
    assert retriever.invoke("What is the cat called?", max_tokens=3) == []


def test_items_at_a_path(memory: RecallM) -> None:
    for user in ("ann", "bob"):
        memory.items.put([NewItem(path=("users", user), key="food", text=f"{user} loves pizza.")])
    retriever = RecallMRetriever(memory=memory, path=("users", "ann"))
    assert texts(retriever.invoke("Who loves pizza?")) == ["ann loves pizza."]
    assert len(retriever.invoke("Who loves pizza?", path=["users"])) == 2


def test_a_call_takes_a_filter_back(talk: RecallM) -> None:
    retriever = RecallMRetriever(memory=talk, speaker="Anna", k=1)
    assert len(retriever.invoke("What is the cat called?", speaker=None, k=None)) == 4
    assert len(retriever.invoke("What is the cat called?")) == 1  # for that call alone


def test_k_is_the_limit_of_the_memory_where_none_is_given() -> None:
    with RecallM(config=RecallConfig(limit=2)) as memory:
        memory.update_many(DRINKS)
        assert len(RecallMRetriever(memory=memory).invoke("Brandon?")) == 2
        assert len(RecallMRetriever(memory=memory, k=3).invoke("Brandon?")) == 3


def test_wrong_arguments_are_refused_here_and_there(
    memory: RecallM, subtests: pytest.Subtests
) -> None:
    wrong: Any
    for wrong in [
        {"k": 0},
        {"k": True},
        {"k": "3"},
        {"max_tokens": -1},
        {"since": "2026-05"},
        {"since": MAY.replace(tzinfo=None)},
        {"until": -1},
        {"as_of": True},
        {"speaker": ""},
        {"session": 3},
        {"scope": "world"},
        {"min_score": 1.5},
        {"order": "random"},
        {"mode": "chunks"},
        {"namespace": ""},
        {"namespace": "user-{user.id}"},
        {"where": ["day"]},
        {"where": {"day": {"$gt": 1}}},
        {"filter": {"day": {"$near": 1}}},
        {"filter": {"$or": [{"day": 1}]}},
        {"filter": {"day": {"$gt": None}}},
        {"filter": {3: 1}},
        {"filter": ["day"]},
        {"where": {"$or": [{"day": 1}, {"day": 2}]}},
        {"where": {"place": {"floor": [{"$ne": 1}]}}},
        {"path": "users"},
        {"kk": 3},
    ]:
        with subtests.test(case=str(wrong)):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                RecallMRetriever(memory=memory, **wrong)
            with pytest.raises(InvalidInputError, match=next(iter(wrong))) as caught:
                RecallMRetriever(memory=memory).invoke("Who?", **wrong)
            assert caught.value.argument in wrong


def test_the_core_refuses_the_rest(memory: RecallM) -> None:
    retriever = RecallMRetriever(memory=memory)
    with pytest.raises(InvalidInputError, match="question must be a str"):
        retriever.invoke(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="lone surrogate"):
        retriever.invoke("\ud83d")
    with pytest.raises(InvalidInputError, match="JSON"):
        retriever.invoke("Who?", where={"a": object()})
    with pytest.raises(ValueError, match="memory"):
        RecallMRetriever(memory="memory.db")  # type: ignore[arg-type]


def test_metadata_in_a_call_names_where_in_the_error(memory: RecallM) -> None:
    """LangChain's ``metadata`` is for tracers: taken silently, nothing would be filtered."""
    with pytest.raises(InvalidInputError, match="where= filters by metadata"):
        RecallMRetriever(memory=memory).invoke("Who?", metadata={"day": 4})


def test_the_papers_ranking() -> None:
    with RecallM(config=RecallConfig(ranking="paper")) as memory:
        memory.update_many(DRINKS)
        retriever = RecallMRetriever(memory=memory)
        documents = retriever.invoke("What does Brandon drink?")
        assert texts(documents) == list(DRINKS)
        assert {document.metadata["score"] for document in documents} == {None}
        [whole] = retriever.invoke("What does Brandon drink?", mode="context")
        assert whole.page_content == memory.recall("What does Brandon drink?").text


def test_rankings_without_probabilities(subtests: pytest.Subtests) -> None:
    """What needs probabilities is refused when it is set, also of a memory ranked otherwise."""
    ranking: Any
    for ranking in ["paper", "ement", "vectors"]:
        asked: Any
        for asked in [{"order": "score"}, {"min_score": 0.5}, {"min_score": 0.0}]:
            with subtests.test(case=str((ranking, asked))):

                def embed(texts: list[str]) -> list[list[float]]:
                    return [[float(len(text)), 1.0] for text in texts]

                with RecallM(embeddings=embed) as memory:
                    other = memory.with_ranking(ranking)
                    with pytest.raises(ValueError, match="ranking='statements'"):
                        RecallMRetriever(memory=other, **asked)
                    with pytest.raises(InvalidInputError, match="ranking='statements'"):
                        RecallMRetriever(memory=other).invoke("Who?", **asked)
                    RecallMRetriever(memory=other.with_ranking("statements"), **asked)


def test_metadata_that_only_looks_like_an_operator_is_compared(memory: RecallM) -> None:
    memory.update("The ticket costs much.", metadata={"price": "$gt 5"})
    retriever = RecallMRetriever(memory=memory, where={"price": "$gt 5"})
    assert texts(retriever.invoke("What costs much?")) == ["The ticket costs much."]


# -- whose memory ------------------------------------------------------------------------------


def user_of(config: RunnableConfig) -> str:
    return str(config["configurable"]["user"])


@pytest.fixture
def two_users(memory: RecallM) -> RecallM:
    for user in ("ann", "bob"):
        memory.in_namespace(user).update(f"The secret word is {user}{user}.", session=f"of {user}")
    return memory


def test_a_namespace(two_users: RecallM) -> None:
    question = "What is the secret word?"
    retriever = RecallMRetriever(memory=two_users)
    assert retriever.invoke(question) == []
    assert texts(retriever.invoke(question, namespace="ann")) == ["The secret word is annann."]
    bobs = RecallMRetriever(memory=two_users, namespace="bob")
    assert texts(bobs.invoke(question)) == ["The secret word is bobbob."]


async def test_a_namespace_by_the_run(two_users: RecallM) -> None:
    """The callable sees the config, called alone, in a chain, in a batch and on the event loop."""
    retriever = RecallMRetriever(memory=two_users, namespace=user_of)
    question = "What is the secret word?"
    ann: RunnableConfig = {"configurable": {"user": "ann"}}
    bob: RunnableConfig = {"configurable": {"user": "bob"}}
    word = {"ann": ["The secret word is annann."], "bob": ["The secret word is bobbob."]}
    assert texts(retriever.invoke(question, ann)) == word["ann"]
    assert texts(await retriever.ainvoke(question, bob)) == word["bob"]
    chain = RunnableLambda(lambda question: question) | retriever | texts
    assert chain.invoke(question, bob) == word["bob"]
    assert await chain.ainvoke(question, ann) == word["ann"]
    found = chain.batch([question] * 20, [ann, bob] * 10)
    assert found == [word["ann"], word["bob"]] * 10
    found = await chain.abatch([question] * 20, [ann, bob] * 10)
    assert found == [word["ann"], word["bob"]] * 10
    with pytest.raises(KeyError, match="user"):  # never somebody else's
        retriever.invoke(question)


def test_the_scope_of_a_session(talk: RecallM) -> None:
    retriever = RecallMRetriever(memory=talk, scope="session")
    question = "What is the cat called?"
    found = retriever.invoke(question, {"configurable": {"thread_id": "two"}})
    assert {document.metadata["session"] for document in found} == {"two"}
    assert retriever.invoke(question, {"configurable": {"thread_id": "three"}}) == []
    found = retriever.invoke(question, {"configurable": {"thread_id": "two"}}, session="one")
    assert {document.metadata["session"] for document in found} == {"one"}
    with pytest.raises(InvalidInputError, match="needs a conversation"):
        retriever.invoke(question)


def test_the_memory_is_not_serialised(drinks: RecallM) -> None:
    retriever = RecallMRetriever(memory=drinks, k=3)
    assert copy.deepcopy(retriever).memory is drinks
    assert retriever.invoke("Brandon?", verbose=False)  # LangChain's own argument
    assert "memory" not in retriever.model_dump()
    assert retriever.model_dump()["k"] == 3
    assert "coffee" not in dumps(retriever)
    assert json.loads(dumps(retriever.invoke("Brandon?")))[0]["kwargs"]["id"]
    assert {"k", "namespace"} <= RecallMRetriever.model_json_schema()["properties"].keys()
    assert "memory" not in RecallMRetriever.model_json_schema()["properties"]
    with pytest.raises(InvalidInputError, match="open RecallM"):
        pickle.dumps(retriever)
