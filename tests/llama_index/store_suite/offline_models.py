"""An extractor, a splitter and an embedding model that need no network."""

from __future__ import annotations

import itertools
import math
import re
import zlib
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)

from tests.llama_index.store_suite.base import make_entity, make_relation

__all__ = ["LineExtractor", "Paragraphs", "WordEmbedding"]

_SAID = re.compile(r"(\w+) ([A-Z_]{2,}) (\w+)")


class Paragraphs(TransformComponent):
    """Cuts documents into their paragraphs: ``d1`` into the nodes ``d1/0``, ``d1/1``, linked."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """The nodes of all documents."""
        return [it for document in nodes for it in self._cut(document)]

    def _cut(self, document: BaseNode) -> list[TextNode]:
        cut = [
            TextNode(
                id_=f"{document.node_id}/{n}",
                text=text,
                metadata=dict(document.metadata),
                relationships={NodeRelationship.SOURCE: document.as_related_node_info()},
            )
            for n, text in enumerate(document.get_content().split("\n\n"))
        ]
        for one, next in itertools.pairwise(cut):
            one.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=next.node_id)
            next.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=one.node_id)
        return cut


class LineExtractor(TransformComponent):
    """Reads ``Ann WORKS_FOR Acme`` in a text as two entities and a relation."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """The same nodes, with what they say in their metadata."""
        for node in nodes:
            said = _SAID.findall(node.get_content())
            names = dict.fromkeys(name for subject, _, object in said for name in (subject, object))
            node.metadata[KG_NODES_KEY] = [make_entity(name) for name in names]
            node.metadata[KG_RELATIONS_KEY] = [make_relation(*parts) for parts in said]
        return nodes


class WordEmbedding(BaseEmbedding):
    """A bag of words of unit length: texts with the same words are the nearest."""

    dimension: int = 256

    def _embedded(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in re.findall(r"[^\W_]+", text.lower()):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1
        length = math.hypot(*vector) or 1
        return [it / length for it in vector]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embedded(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedded(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embedded(query)
