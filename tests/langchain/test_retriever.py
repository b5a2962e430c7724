"""Statements as documents: the filters, the metadata, who may see what."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_recallm import RecallMRetriever
from recallm import InvalidInputError, NewEntity, NewItem, NewTriplet, RecallConfig, RecallM
from tests.langchain.agents import thread
from tests.talks import CATS, CATS_ASKED, DRINKS, FILTERS, MAY


@pytest.fixture
def drinks(memory: RecallM) -> RecallM:
    memory.update_many(DRINKS)
    return memory


def texts(documents: Iterable[Document]) -> list[str]:
    return [document.page_content for document in documents]


# -- documents ---------------------------------------------------------------------------------


def test_the_oldest_first_or_the_best_first(drinks: RecallM) -> None:
    retriever = RecallMRetriever(memory=drinks)
    assert texts(retriever.invoke("What does Brandon love?"))[0] == "Brandon loves coffee."
    drunk = texts(retriever.invoke("What does Brandon drink?"))
    assert drunk == [drink for drink in DRINKS if drink in drunk]
    assert {*DRINKS[1:]} <= {*drunk}
    best = retriever.invoke("What does Brandon drink at night?", order="score")
    assert best[0].page_content == "Brandon drinks water at night."
    scores = [document.metadata["score"] for document in best]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1
    for nothing in ("", " \n ", "zebra"):
        assert retriever.invoke(nothing) == []


def test_metadata(memory: RecallM) -> None:
    """Own metadata that clashes is kept apart; what is changed in a document is not changed in the
    memory."""
    memory.update(
        "I start at Cisco on Monday!",
        speaker="Brandon",
        timestamp=MAY,
        source="chat export",
        session="chat-17",
        id="message-1",
        metadata={"channel": "general", "tags": ["work"], "t_index": "mine", "own": {"own": 1}},
    )
    retriever = RecallMRetriever(memory=memory)
    [document] = retriever.invoke("Where does Brandon start?")
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
        "own": {"t_index": "mine", "own": {"own": 1}},
    }
    assert json.loads(json.dumps(document.metadata)) == document.metadata
    assert datetime.fromisoformat(document.metadata["timestamp"]) == MAY
    document.metadata["tags"].append("b")
    assert retriever.invoke("Brandon?")[0].metadata["tags"] == ["work"]


def test_what_else_is_a_document(memory: RecallM) -> None:
    """Facts that no statement shows, and revised contexts."""
    memory.graph.upsert(
        [NewEntity(id="Ada"), NewEntity(id="Pfizer")],
        [NewTriplet(subject="Ada", predicate="employed by", object="Pfizer")],
    )
    memory.update(
        "",
        id="letter",
        entities=[NewEntity(id="Ben"), NewEntity(id="Pfizer")],
        triplets=[NewTriplet(subject="Ben", predicate="employed by", object="Pfizer")],
        metadata={"channel": "general"},
        source="mail",
    )
    for order in ("time", "score"):
        retriever = RecallMRetriever(memory=memory, order=order)
        documents = retriever.invoke("Who are employed by Pfizer?")
        shown = {document.page_content: document for document in documents}
        assert set(shown) == {"Ada — employed by → Pfizer", "Ben — employed by → Pfizer"}
        assert len({document.id for document in documents}) == 2
        ben = shown["Ben — employed by → Pfizer"].metadata
        assert (ben["passage"], ben["source"], ben["channel"]) == ("letter", "mail", "general")
        assert shown["Ada — employed by → Pfizer"].metadata["passage"] is None
    config = RecallConfig(revise_every=1)
    with RecallM(llm=lambda _: "Marta lives in Porto.", config=config) as memory:
        memory.update("Marta lives in Lyon, in a small flat by the river.")
        memory.update("Marta moved to Porto with all of her books last week.")
        documents = RecallMRetriever(memory=memory).invoke("Where does Marta live?")
    [revised] = [document for document in documents if document.metadata["passage"] is None]
    assert (revised.page_content, revised.id) == ("Marta lives in Porto.", "summary:marta@2")


# -- filters -----------------------------------------------------------------------------------


@pytest.fixture
def talk(memory: RecallM) -> RecallM:
    memory.update_many(CATS)
    return memory


def test_filters(talk: RecallM) -> None:
    """The same in the constructor, in a call, and bound; in a call for that call alone."""
    question = CATS_ASKED
    plain = RecallMRetriever(memory=talk)

    def days(documents: list[Document]) -> list[int]:
        return [int(text.split()[3]) for text in texts(documents)]

    for filters, expected in [*FILTERS, ({"max_tokens": 40}, [2, 4]), ({"max_tokens": 3}, [])]:
        found = [
            days(retriever.invoke(question, **in_call))
            for retriever, in_call in (
                (RecallMRetriever(memory=talk, **filters), {}),
                (plain, filters),
                (plain.bind(**filters), {}),
            )
        ]
        assert found == [expected] * 3, filters
    narrow = RecallMRetriever(memory=talk, speaker="Anna", k=1)
    assert len(narrow.invoke(question, speaker=None, k=None)) == 4
    assert len(narrow.invoke(question)) == 1


def test_paths_and_limits_of_the_memory(memory: RecallM) -> None:
    for user in ("ann", "bob"):
        memory.items.put([NewItem(path=("users", user), key="food", text=f"{user} loves pizza.")])
    retriever = RecallMRetriever(memory=memory, path=("users", "ann"))
    assert texts(retriever.invoke("Who loves pizza?")) == ["ann loves pizza."]
    assert len(retriever.invoke("Who loves pizza?", path=["users"])) == 2
    memory.update("The ticket costs much.", metadata={"price": "$gt 5"})  # no operator
    retriever = RecallMRetriever(memory=memory, where={"price": "$gt 5"})
    assert texts(retriever.invoke("What costs much?")) == ["The ticket costs much."]
    with RecallM(config=RecallConfig(limit=2)) as memory:
        memory.update_many(DRINKS)
        assert len(RecallMRetriever(memory=memory).invoke("Brandon?")) == 2
        assert len(RecallMRetriever(memory=memory, k=3).invoke("Brandon?")) == 3


def test_wrong_arguments_are_refused_here_and_there(memory: RecallM) -> None:
    wrong: Any
    for wrong in [
        {"k": 0}, {"k": True}, {"k": "3"}, {"max_tokens": -1}, {"since": "2026-05"},
        {"since": MAY.replace(tzinfo=None)}, {"until": -1}, {"as_of": True}, {"speaker": ""},
        {"session": 3}, {"scope": "world"}, {"min_score": 1.5}, {"order": "random"},
        {"namespace": ""}, {"namespace": "user-{user.id}"}, {"where": ["day"]},
        {"where": {"day": {"$gt": 1}}}, {"where": {"$or": [{"day": 1}, {"day": 2}]}},
        {"where": {"place": {"floor": [{"$ne": 1}]}}}, {"path": "users"}, {"kk": 3},
    ]:  # fmt: skip
        [name] = wrong
        with pytest.raises(ValueError, match=name):
            RecallMRetriever(memory=memory, **wrong)
        with pytest.raises(InvalidInputError, match=name) as caught:
            RecallMRetriever(memory=memory).invoke("Who?", **wrong)
        assert caught.value.argument == name, wrong
    retriever = RecallMRetriever(memory=memory)
    with pytest.raises(InvalidInputError, match="question must be a str"):
        retriever.invoke(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="lone surrogate"):
        retriever.invoke("\ud83d")
    with pytest.raises(InvalidInputError, match="JSON"):
        retriever.invoke("Who?", where={"a": object()})
    # LangChain's ``metadata`` is for tracers: taken silently, nothing would be filtered.
    with pytest.raises(InvalidInputError, match=r"no argument 'metadata'; known are .*where"):
        retriever.invoke("Who?", metadata={"day": 4})
    with pytest.raises(ValueError, match="memory"):
        RecallMRetriever(memory="memory.db")  # type: ignore[arg-type]


# -- whose memory ------------------------------------------------------------------------------


def user_of(config: RunnableConfig) -> str:
    return str(config["configurable"]["user"])


async def test_a_namespace_by_the_run(memory: RecallM) -> None:
    """The callable sees the config, called alone, in a chain, in a batch and on the event loop."""
    for user in ("ann", "bob"):
        memory.in_namespace(user).update(f"The secret word is {user}{user}.", session=f"of {user}")
    question = "What is the secret word?"
    plain = RecallMRetriever(memory=memory)
    retriever = RecallMRetriever(memory=memory, namespace=user_of)
    ann: RunnableConfig = {"configurable": {"user": "ann"}}
    bob: RunnableConfig = {"configurable": {"user": "bob"}}
    anns, bobs = ["The secret word is annann."], ["The secret word is bobbob."]
    assert plain.invoke(question) == []
    assert texts(plain.invoke(question, namespace="ann")) == anns
    assert texts(retriever.invoke(question, ann)) == anns
    assert texts(await retriever.ainvoke(question, bob)) == bobs
    chain = RunnableLambda(lambda question: question) | retriever | texts
    assert chain.invoke(question, bob) == bobs
    assert await chain.ainvoke(question, ann) == anns
    assert chain.batch([question] * 6, [ann, bob] * 3) == [anns, bobs] * 3
    assert await chain.abatch([question] * 6, [ann, bob] * 3) == [anns, bobs] * 3
    with pytest.raises(KeyError, match="user"):  # never somebody else's
        retriever.invoke(question)


def test_the_scope_of_a_session(talk: RecallM) -> None:
    retriever = RecallMRetriever(memory=talk, scope="session")
    question = CATS_ASKED
    found = retriever.invoke(question, thread("two"))
    assert {document.metadata["session"] for document in found} == {"two"}
    assert retriever.invoke(question, thread("three")) == []
    found = retriever.invoke(question, thread("two"), session="one")
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


class TestRetriever(RetrieversIntegrationTests):
    """LangChain's own suite."""

    @property
    def retriever_constructor(self) -> type[RecallMRetriever]:
        return RecallMRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "What does Brandon drink?"

    memory: RecallM

    @pytest.fixture(autouse=True)
    def _filled(self, drinks: RecallM) -> None:
        self.memory = drinks
