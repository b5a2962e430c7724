"""``RecallMHybridQueryEngine``: RecallM and a vector retriever answer, a discriminator chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from llama_index_recallm._nodes import statement_node
from llama_index_recallm.llm import as_llm
from recallm import HybridRecallM, RecallM
from recallm.adapting import RecallOptions, RetrieverArguments, checked_memory, sync_in_thread
from recallm.hybrid import Collection, Discriminator


class RecallMHybridQueryEngine(BaseQueryEngine):
    """Hybrid-RecallM as a query engine: ``memory`` and a vector retriever answer in parallel with
    ``llm``, and a discriminator chooses the better answer.

    ``vectors``: None (the same memory, ranked by embeddings, which it must have), another
    ``RecallM``, a LlamaIndex retriever, a collection of chromadb, or any callable question →
    context text. A retriever's nodes are data in the prompt, as a language model sees them.
    ``discriminator``: None means a ``TrainedDiscriminator``, which needs no model. ``namespace``:
    whose memory, where it is not the memory's own; a ``RecallM`` as ``vectors`` is asked in the
    same namespace. The other arguments are those of ``RecallMRetriever``; ``max_tokens`` counts
    each branch's recalled text. The engine writes nothing, and does not stream: the discriminator
    needs both answers.

    The response's ``source_nodes`` are what the chosen answer's model was given: statements, like
    the nodes of ``RecallMRetriever``, or the retriever's nodes. Its ``metadata`` holds the chosen
    branch, ``choice`` ("recallm" or "vectors"), the ``probability`` that its answer is the better
    one, the ``reason``, all ``answers`` by branch, and the ``errors`` of a branch that failed.

    >>> from llama_index.core.llms import MockLLM
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon lives in Paris")
    >>> engine = RecallMHybridQueryEngine(
    ...     memory, MockLLM(max_tokens=2), vectors=lambda question: "Brandon loves coffee."
    ... )
    >>> response = engine.query("Where does Brandon live?")
    >>> str(response), response.metadata["answers"]
    ('text text', {'recallm': 'text text', 'vectors': 'text text'})

    Raises:
        InvalidInputError: an argument, or in a query the question, cannot be used; or the memory
            has no embeddings and ``vectors`` is None.
        ClosedError: the memory is closed.
        HybridError: in a query, where both branches failed.

    """

    def __init__(
        self,
        memory: RecallM,
        llm: BaseLLM,
        *,
        vectors: RecallM | BaseRetriever | Collection | Callable[[str], str] | None = None,
        discriminator: Discriminator | None = None,
        namespace: str | None = None,
        callback_manager: CallbackManager | None = None,
        **arguments: Unpack[RetrieverArguments],
    ) -> None:
        memory = checked_memory(memory)
        if namespace is not None:
            memory = memory.in_namespace(namespace)
            if isinstance(vectors, RecallM):
                vectors = vectors.in_namespace(namespace)
        options = RecallOptions(**arguments)
        options.check(memory)
        self._arguments = options.arguments()
        self._hybrid_of = partial(
            HybridRecallM, memory, llm=as_llm(llm), discriminator=discriminator
        )
        self._vectors = vectors
        self._hybrid(QueryBundle(""), [])  # checks the arguments
        super().__init__(callback_manager=callback_manager)

    def _query(self, query_bundle: QueryBundle) -> Response:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: query_bundle.query_str}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            response = self._response(query_bundle)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    _aquery = sync_in_thread(BaseQueryEngine._aquery)

    def _response(self, query: QueryBundle) -> Response:
        found: list[NodeWithScore] = []
        hybrid = self._hybrid(query, found)
        answer = hybrid.ask(query.query_str, **self._arguments)
        choice = answer.choice
        return Response(
            str(answer),
            source_nodes=[
                *(
                    NodeWithScore(node=statement_node(statement), score=statement.score)
                    for statement in answer.context.statements
                ),
                *(found if choice.name == "vectors" else ()),
            ],
            metadata={
                "choice": choice.name,
                "probability": choice.probability,
                "reason": choice.reason,
                "answers": {name: str(each) for name, each in answer.answers.items()},
                "errors": {name: repr(error) for name, error in answer.errors.items()},
            },
        )

    def _hybrid(self, query: QueryBundle, found: list[NodeWithScore]) -> HybridRecallM:
        """The hybrid for one query; ``found`` gets the nodes that a LlamaIndex retriever finds."""
        vectors = self._vectors
        if not isinstance(vectors, BaseRetriever):
            return self._hybrid_of(vectors=vectors)
        retriever = vectors

        def retrieve(_: str) -> str:
            found.extend(retriever.retrieve(query))
            return "\n\n".join(node.get_content(MetadataMode.LLM) for node in found)

        return self._hybrid_of(vectors=retrieve)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}
