"""A drawing of a graph in an HTML file, as LlamaIndex's ``SimplePropertyGraphStore`` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from recallm import Triplet

__all__ = ["draw"]


def draw(ids: Iterable[str], triplets: Iterable[Triplet], path: str) -> None:
    """Draw nodes, labelled with their ids, and triplets, labelled with their predicates.

    Raises:
        ImportError: networkx or pyvis is not installed.

    """
    try:
        from networkx import MultiDiGraph

        # Imported by name: pyvis is no dependency, not even of the checks.
        network = import_module("pyvis.network")
    except ImportError as error:
        raise ImportError(
            f"{error.name} is not installed, which draws the graph: pip install networkx pyvis"
        ) from error
    graph = MultiDiGraph()
    graph.add_nodes_from((id, {"label": id}) for id in ids)
    for it in triplets:
        graph.add_edge(it.subject, it.object, label=it.predicate)
    drawing = network.Network(notebook=False, directed=True)
    drawing.from_nx(graph)
    drawing.write_html(path)
