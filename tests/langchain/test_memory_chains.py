"""The memory in classic chains, and of two users at once."""

from __future__ import annotations

import asyncio

import pytest
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain, LLMChain
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from langchain_recallm import RecallMMemory, RecallMRetriever
from recallm import RecallM
from tests.langchain.chat_models import RecordingModel
from tests.written_messages import speakers_and_texts as written

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `(LLMChain|ConversationChain|ConversationalRetrievalChain|"
    "ConversationBufferMemory|InMemoryChatMessageHistory)` was deprecated:"
    "langchain_core._api.deprecation.LangChainDeprecationWarning"
)

TALKS = [(user, number) for user in ("ann", "bob") for number in range(2)]
TURNS = 5  # in each


async def test_two_users_at_once(memory: RecallM) -> None:
    """Nothing crosses, nothing is lost, each conversation is in order, answers after questions."""

    def said(user: str, turn: int) -> tuple[str, str]:
        return f"{user} keeps box number {turn} in the cellar.", f"{user}, noted {turn}."

    def of(user: str, number: int) -> RecallMMemory:
        return RecallMMemory(memory=memory, namespace=user, session=f"{user} {number}")

    def other(user: str) -> str:
        return "bob" if user == "ann" else "ann"

    async def talk(user: str, number: int) -> None:
        for turn in range(TURNS):
            asked, answer = said(user, turn)
            if turn % 5 == 0:
                known = await of(user, number).aload_memory_variables({"input": asked})
                assert other(user) not in known["history"]
            await of(user, number).asave_context({"input": asked}, {"output": answer})

    await asyncio.gather(*(talk(*arguments) for arguments in TALKS))  # each call works in a thread
    for user, number in TALKS:
        theirs = memory.in_namespace(user)
        expected = [text for turn in range(TURNS) for text in said(user, turn)]
        assert [text for _, text in written(theirs, f"{user} {number}")] == expected
        assert theirs.stats().passages == 4 * TURNS
        asked = f"Where does {other(user)} keep box number 3?"
        text = of(user, number).load_memory_variables({"input": asked})["history"]
        assert other(user) not in text


# -- in chains ---------------------------------------------------------------------------------


def test_braces_that_are_remembered_are_no_variables(memory: RecallM) -> None:
    model = RecordingModel()
    chain = ConversationChain(llm=model, memory=RecallMMemory(memory=memory))
    chain.invoke("The password is {input} {history} {0} {{x}} %s.")
    chain.invoke("What is the password?")
    assert "The password is {input} {history} {0} {{x}} %s." in model.prompt()


def test_llm_chain_with_messages(memory: RecallM) -> None:
    model = RecordingModel()
    prompt = ChatPromptTemplate(
        [
            ("system", "You are kind."),
            MessagesPlaceholder("history"),
            ("human", "{question} ({language})"),
        ]
    )
    chain_memory = RecallMMemory(memory=memory, input_key="question", return_messages=True)
    chain = LLMChain(llm=model, prompt=prompt, memory=chain_memory)
    chain.invoke({"question": "My cat is called Mila.", "language": "English"})
    chain.invoke({"question": "What is my cat called?", "language": "English"})
    assert [message.type for message in model.given[0]] == ["system", "human"]
    assert [message.type for message in model.given[1]] == ["system", "human", "human"]
    assert "My cat is called Mila." in str(model.given[1][1].content)
    assert [text for _, text in written(memory)][::2] == [
        "My cat is called Mila.", "What is my cat called?",
    ]  # fmt: skip


def test_conversational_retrieval_chain(memory: RecallM) -> None:
    """It wants its history as messages, and has two outputs."""
    memory.update("My cat is called Mila.", session="an old one")
    chain = ConversationalRetrievalChain.from_llm(
        RecordingModel(),
        retriever=RecallMRetriever(memory=memory),
        memory=RecallMMemory(
            memory=memory, memory_key="chat_history", return_messages=True, output_key="answer"
        ),
        return_source_documents=True,
    )
    result = chain.invoke({"question": "What is my cat called?"})
    assert [message.type for message in result["chat_history"]] == ["human"]
    assert written(memory)[1:] == [("Human", "What is my cat called?"), ("AI", "Understood.")]


def test_a_failing_chain_writes_nothing(memory: RecallM) -> None:
    """The classic chains save after the answer: there is none, so there is no turn."""
    model = FakeListChatModel(responses=[])
    chain = ConversationChain(llm=model, memory=RecallMMemory(memory=memory))
    with pytest.raises(IndexError):
        chain.invoke("My cat is called Mila.")
    assert written(memory) == []
