"""What is recalled, as LangChain's documents, and as the retriever run of a tracer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from recallm import RecalledContext, RecalledStatement
from recallm.adapting import Conversation, statement_metadata


def statement_document(statement: RecalledStatement) -> Document:
    """One statement."""
    return Document(
        id=statement.id, page_content=statement.text, metadata=statement_metadata(statement)
    )


def traced(
    recall: Callable[[], tuple[str, RecalledContext]], question: str, conversation: Conversation
) -> tuple[str, RecalledContext]:
    """What ``recall`` returns: a text, and the context that it shows. Callbacks and tracers of the
    run around it see a retriever run: the question, a document for each statement, and the
    namespace as a tag."""
    namespace = conversation.memory.namespace
    run = _RecallRun(
        recall=recall,
        tags=["recallm", f"namespace:{namespace}"],
        metadata={"namespace": namespace, "session": conversation.session},
    )
    run.invoke(question, {"run_name": "recall_memory"})
    recalled: tuple[str, RecalledContext] = run.recalled
    return recalled


class _RecallRun(BaseRetriever):
    """One recall. BaseRetriever calls the callbacks of the run that it is invoked in."""

    recall: Callable[[], tuple[str, RecalledContext]]
    recalled: Any = None

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:  # noqa: ARG002
        self.recalled = self.recall()
        return [statement_document(statement) for statement in self.recalled[1].statements]
