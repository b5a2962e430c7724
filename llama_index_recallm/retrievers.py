"""Retrievers of what a memory recalls, as LlamaIndex nodes: ``RecallMRetriever`` on its own, and
``RecallMSubRetriever`` beside the other retrievers of a property graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph.sub_retrievers.base import (
    DEFAULT_PREAMBLE,
    BasePGRetriever,
)
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_recallm._graph_reading import checked_filters, passes
from llama_index_recallm._nodes import statement_node
from llama_index_recallm.property_graph_store import RecallMPropertyGraphStore
from recallm import InvalidInputError, Passage, RecalledStatement, RecallM
from recallm.adapting import (
    Order,
    RecallOptions,
    RetrieverArguments,
    checked_memory,
    checks,
    sync_in_thread,
)

_DOCUMENT_KEYS = ("ref_doc_id", "doc_id", "document_id")
"""The keys under which LlamaIndex's stores keep the id of a node's document."""


class RecallMRetriever(BaseRetriever):
    """Recalls statements of a memory, the oldest first, one node each.

    ``memory``: the memory; ``namespace``: whose, where it is not the memory's own. A retriever for
    each user costs nothing.

    ``limit`` counts statements (with ``ranking="paper"`` contexts of concepts);
    ``similarity_top_k`` is LlamaIndex's name for the same number. None: as many as
    ``max_tokens`` allows, or else the memory's own ``limit``. ``max_tokens``, ``as_of``, ``since``,
    ``until``, ``speaker``, ``session``, ``path``, ``min_score``, ``asker`` are those of
    ``RecallM.recall``; ``where`` is its ``metadata``. ``filters`` are LlamaIndex's, and mean what
    they mean in a ``SimpleVectorStore``: tests of a passage's metadata as JSON (times are ISO 8601
    text), and of ``t_index``, ``timestamp``, ``speaker``, ``source``, ``session``, ``passage`` and
    ``ref_doc_id``, the source. A triplet that no passage shows does not pass. Each call reads all
    passages to test them: ``where``, ``since`` and ``session`` beside ``filters`` save time.

    ``order``: "time", as things became true, or "score", the most helpful first; "score" and
    ``min_score`` need the default ranking, the only one that gives probabilities.

    A node's ``id_`` is the statement's, its ``text`` the statement as it was given (with
    ``include_properties`` its own metadata in brackets behind), its source (``ref_doc_id``) the
    passage, its score the probability that it helps. ``metadata`` holds
    ``t_index``, ``timestamp``, ``speaker``, ``source``, ``session``, ``concepts`` (names) and
    ``passage`` (an id), None where unknown, and the statement's own metadata; own keys that are
    names of these fields, or ``score``, stand under ``own``. A language model sees the time and the
    speaker, an embedding model the speaker. Nodes have no delimiters: whoever writes them into a
    prompt says that they are data. The question is the query's text; an empty text recalls nothing.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon loves coffee", speaker="Anna", metadata={"channel": "general"})
    >>> _ = memory.update("Brandon drinks tea now")
    >>> retriever = RecallMRetriever(memory=memory, limit=5)
    >>> [found.text for found in retriever.retrieve("What does Brandon drink?")]
    ['Brandon loves coffee', 'Brandon drinks tea now']
    >>> [first] = RecallMRetriever(memory=memory, speaker="Anna").retrieve("Brandon?")
    >>> first.metadata["t_index"], first.metadata["channel"], first.node.get_content("llm")
    (1, 'general', '[speaker: Anna] Brandon loves coffee')

    Raises:
        InvalidInputError: an argument, or in a call the question, cannot be used.
        ClosedError: the memory is closed.
        StoreError: in a call, where the store failed.

    """

    def __init__(
        self,
        memory: RecallM,
        *,
        namespace: str | None = None,
        similarity_top_k: int | None = None,
        order: Order = "time",
        filters: MetadataFilters | None = None,
        include_properties: bool = False,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **arguments: Unpack[RetrieverArguments],
    ) -> None:
        memory = checked_memory(memory)
        if namespace is not None:
            memory = memory.in_namespace(namespace)
        self._memory = memory
        self._filters = checked_filters(filters)
        self._include_properties = checks.flag(include_properties, "include_properties")
        if similarity_top_k is not None:
            if arguments.get("limit") is not None:
                raise InvalidInputError(
                    "limit and similarity_top_k are the same; give one",
                    argument="similarity_top_k",
                )
            arguments["limit"] = similarity_top_k
        self._options = RecallOptions(order=order, **arguments)
        self._options.check(memory)
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.nodes(query_bundle.query_str)

    _aretrieve = sync_in_thread(BaseRetriever._aretrieve)

    def nodes(self, question: str) -> list[NodeWithScore]:
        """The statements recalled for a question, as nodes; LlamaIndex's callbacks hear nothing."""
        statements = self._statements(question, self._options.arguments())
        return [
            NodeWithScore(
                node=statement_node(each, include_properties=self._include_properties),
                score=each.score,
            )
            for each in statements
        ]

    def _statements(self, question: str, arguments: dict[str, Any]) -> list[RecalledStatement]:
        if self._filters is None:
            return self._options.ordered(self._memory.recall(question, **arguments))
        meeting, others = _passages_meeting(self._memory, self._filters, arguments)
        if not meeting:
            return []
        # What is no passage, such as a summary of several, does not stand within bounds of t.
        first, last = meeting[0].t_index, meeting[-1].t_index
        for bound, t_index in (("since", first), ("until", last)):
            if arguments.get(bound) is None:
                arguments[bound] = t_index
        arguments["known"] = [passage.id for passage in others if first < passage.t_index < last]
        ids = {passage.id for passage in meeting}
        found = self._options.ordered(self._memory.recall(question, **arguments))
        return [statement for statement in found if statement.passage in ids]


def _passages_meeting(
    memory: RecallM, filters: MetadataFilters, arguments: Mapping[str, Any]
) -> tuple[list[Passage], list[Passage]]:
    """The passages that pass ``filters``, and those that do not, among those that the conditions
    of ``arguments``, which are of ``RecallM.recall``, allow."""
    conditions = {"as_of", "since", "until", "speaker", "session", "metadata", "path"}
    allowed = memory.passages(
        **{name: value for name, value in arguments.items() if name in conditions}
    )
    meeting: list[Passage] = []
    others: list[Passage] = []
    for passage in allowed:
        (meeting if passes(filters, _searched(passage)) else others).append(passage)
    return meeting, others


def _searched(passage: Passage) -> dict[str, Any]:
    """What filters see of a passage: its own metadata, what a recalled node says of the passage,
    and the keys that LlamaIndex adds to nodes."""
    timestamp = passage.timestamp
    return dict(passage.metadata) | {
        "t_index": passage.t_index,
        "timestamp": None if timestamp is None else timestamp.isoformat(timespec="seconds"),
        "speaker": passage.speaker,
        "source": passage.source,
        "session": passage.session or passage.source,
        "passage": passage.id,
        **dict.fromkeys(_DOCUMENT_KEYS, passage.source or "None"),
    }


class RecallMSubRetriever(BasePGRetriever):
    """Recalls statements for a ``PGRetriever``, the oldest first, without a language model.

    ``graph_store``: a ``RecallMPropertyGraphStore``, whose memory recalls. Each statement is a
    node, like those of ``RecallMRetriever``. With ``include_text`` LlamaIndex shows the statements'
    chunks in their place: a chunk is one node with all of its statements above its text and the
    best of their scores, the newest chunk last. A statement that comes from no chunk is a node
    alone. The other arguments are those of ``RecallMRetriever``.

    >>> from llama_index.core import PropertyGraphIndex
    >>> from llama_index.core.schema import TextNode
    >>> from recallm import RecallM
    >>> from llama_index_recallm import RecallMExtractor, RecallMPropertyGraphStore
    >>> memory = RecallM()
    >>> store = RecallMPropertyGraphStore(memory=memory)
    >>> index = PropertyGraphIndex(
    ...     [TextNode(text="Ann lives in Porto. She has a cat.")],
    ...     kg_extractors=[RecallMExtractor(memory=memory)],
    ...     property_graph_store=store,
    ...     embed_kg_nodes=False,
    ... )
    >>> retriever = index.as_retriever(sub_retrievers=[RecallMSubRetriever(store)])
    >>> [found.text for found in retriever.retrieve("Where does Ann live?")]
    ['Ann lives in Porto.']

    Raises:
        InvalidInputError: an argument, or in a call the question, cannot be used.
        ClosedError: the memory is closed.
        StoreError: in a call, where the store failed.

    """

    def __init__(
        self,
        graph_store: PropertyGraphStore,
        *,
        include_text: bool = False,
        include_text_preamble: str | None = DEFAULT_PREAMBLE,
        include_properties: bool = False,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
        **arguments: Unpack[RetrieverArguments],
    ) -> None:
        if not isinstance(graph_store, RecallMPropertyGraphStore):
            raise InvalidInputError(
                "graph_store must be a RecallMPropertyGraphStore, which has a memory, not "
                f"{type(graph_store).__name__}; beside another store use RecallMRetriever in a "
                "QueryFusionRetriever",
                argument="graph_store",
            )
        self._retriever = RecallMRetriever(
            graph_store.memory,
            similarity_top_k=similarity_top_k,
            filters=filters,
            include_properties=include_properties,
            **arguments,
        )
        super().__init__(
            graph_store=graph_store,
            include_text=include_text,
            include_text_preamble=include_text_preamble,
            include_properties=include_properties,
            callback_manager=callback_manager,
        )

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The statements that are recalled for the query's text."""
        return self._retriever.nodes(query_bundle.query_str)

    aretrieve_from_graph = sync_in_thread(BasePGRetriever.aretrieve_from_graph)

    def _add_source_text(
        self, retrieved_nodes: list[NodeWithScore], og_node_map: dict[str, BaseNode]
    ) -> list[NodeWithScore]:
        """LlamaIndex gives a chunk once for each of its statements."""
        shown: dict[str, NodeWithScore] = {}
        for found in super()._add_source_text(retrieved_nodes, og_node_map):
            first = shown.setdefault(found.node_id, found)
            if found.score is not None:
                first.score = max(found.score, first.score or 0.0)
        return list(shown.values())
