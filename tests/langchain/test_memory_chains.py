"""The memory in classic chains, and of two users at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain, LLMChain
from langchain_classic.memory import CombinedMemory, ConversationBufferMemory
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate

from langchain_recallm import RecallMMemory, RecallMRetriever
from recallm import RecallM
from tests.langchain.chat_models import RecordingModel

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `(LLMChain|ConversationChain|ConversationalRetrievalChain|"
    "ConversationBufferMemory|InMemoryChatMessageHistory)` was deprecated:"
    "langchain_core._api.deprecation.LangChainDeprecationWarning"
)


@pytest.fixture
def core() -> Iterator[RecallM]:
    with RecallM() as core:
        yield core


def written(core: RecallM) -> list[tuple[str | None, str]]:
    return [(passage.speaker, passage.text) for passage in core.passages()]


# -- two users at once -------------------------------------------------------------------------


TURNS = 20
"""Of each user."""


def told(user: str, turn: int) -> str:
    return f"{user} keeps box number {turn} in the cellar."


def check_users(core: RecallM, conversations: int) -> None:
    """Nothing crossed, nothing was lost, each conversation is in order, answers after questions."""
    for user in ("ann", "bob"):
        theirs = core.in_namespace(user)
        for conversation in range(conversations):
            passages = theirs.passages(session=f"{user} {conversation}")
            expected = [
                text
                for turn in range(TURNS // conversations)
                for text in (told(user, turn), f"{user}, noted {turn}.")
            ]
            assert [passage.text for passage in passages] == expected
        assert theirs.stats().passages == 2 * TURNS
        other = "bob" if user == "ann" else "ann"
        text = RecallMMemory(memory=core, namespace=user).load_memory_variables(
            {"input": f"Where does {other} keep box number 3?"}
        )["history"]
        assert other not in text


def test_two_users_on_threads(core: RecallM) -> None:
    def talk(user: str, conversation: int) -> None:
        memory = RecallMMemory(memory=core, namespace=user, session=f"{user} {conversation}")
        for turn in range(TURNS // 2):
            asked = {"input": told(user, turn)}
            if turn % 5 == 0:
                known = memory.load_memory_variables(asked)["history"]
                assert ("bob" if user == "ann" else "ann") not in known
            memory.save_context(asked, {"output": f"{user}, noted {turn}."})

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(talk, user, it) for it in range(2) for user in ("ann", "bob")]
        for one in running:
            one.result()
    check_users(core, 2)


async def test_two_users_on_one_event_loop(core: RecallM) -> None:
    async def talk(user: str, conversation: int) -> None:
        memory = RecallMMemory(memory=core, namespace=user, session=f"{user} {conversation}")
        for turn in range(TURNS // 2):
            asked = {"input": told(user, turn)}
            if turn % 5 == 0:
                known = (await memory.aload_memory_variables(asked))["history"]
                assert ("bob" if user == "ann" else "ann") not in known
            await memory.asave_context(asked, {"output": f"{user}, noted {turn}."})

    await asyncio.gather(*(talk(user, it) for it in range(2) for user in ("ann", "bob")))
    check_users(core, 2)


# -- in chains ---------------------------------------------------------------------------------


def test_braces_that_are_remembered_are_no_variables(core: RecallM) -> None:
    model = RecordingModel()
    chain = ConversationChain(llm=model, memory=RecallMMemory(memory=core))
    chain.invoke("The password is {input} {history} {0} {{x}} %s.")
    chain.invoke("What is the password?")
    assert "The password is {input} {history} {0} {{x}} %s." in model.prompt()


def test_llm_chain_with_messages(core: RecallM) -> None:
    model = RecordingModel()
    prompt = ChatPromptTemplate(
        [
            ("system", "You are kind."),
            MessagesPlaceholder("history"),
            ("human", "{question} ({language})"),
        ]
    )
    memory = RecallMMemory(memory=core, input_key="question", return_messages=True)
    chain = LLMChain(llm=model, prompt=prompt, memory=memory)
    chain.invoke({"question": "My cat is called Mila.", "language": "English"})
    chain.invoke({"question": "What is my cat called?", "language": "English"})
    assert [message.type for message in model.given[0]] == ["system", "human"]
    assert [message.type for message in model.given[1]] == ["system", "human", "human"]
    assert "My cat is called Mila." in str(model.given[1][1].content)
    assert {text for _, text in written(core)} == {
        "My cat is called Mila.",
        "What is my cat called?",
        "Understood.",
    }


def test_beside_another_memory(core: RecallM) -> None:
    """Recall beside the latest turns word for word: what long conversations need."""
    both = CombinedMemory(
        memories=[
            ConversationBufferMemory(memory_key="recent", input_key="input"),
            RecallMMemory(memory=core, memory_key="known", input_key="input"),
        ]
    )
    prompt = PromptTemplate.from_template("{known}\n{recent}\n{input}")
    chain = ConversationChain(llm=RecordingModel(), prompt=prompt, memory=both)
    chain.invoke({"input": "My cat is called Mila."})
    result = chain.invoke({"input": "What is my cat called?"})
    assert "Mila" in result["known"]
    assert result["recent"].startswith("Human: My cat is called Mila.")


def test_conversational_retrieval_chain(core: RecallM) -> None:
    """It wants its history as messages, and has two outputs."""
    core.update("My cat is called Mila.", session="an old one")
    memory = RecallMMemory(
        memory=core, memory_key="chat_history", return_messages=True, output_key="answer"
    )
    chain = ConversationalRetrievalChain.from_llm(
        RecordingModel(),
        retriever=RecallMRetriever(memory=core),
        memory=memory,
        return_source_documents=True,
    )
    result = chain.invoke({"question": "What is my cat called?"})
    assert [message.type for message in result["chat_history"]] == ["human"]
    assert written(core)[1:] == [("Human", "What is my cat called?"), ("AI", "Understood.")]


def test_a_failing_chain_writes_nothing(core: RecallM) -> None:
    """The classic chains save after the answer: there is none, so there is no turn."""
    memory = RecallMMemory(memory=core)
    chain = ConversationChain(llm=FakeListChatModel(responses=[]), memory=memory)
    with pytest.raises(IndexError):
        chain.invoke("My cat is called Mila.")
    assert written(core) == []
