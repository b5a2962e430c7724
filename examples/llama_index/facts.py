"""Documents in a property graph, and their facts: one memory.

What an extractor writes to the graph is a fact that ``FactMemory`` reads, counts and follows
through time. The extractor here needs no model; LlamaIndex's own, which ask one, write the same
facts. Needs ``pip install 'recallm-memory[llama-index]'``.
"""

from __future__ import annotations

from llama_index.core import Document, PropertyGraphIndex

from llama_index_recallm import RecallMExtractor, RecallMPropertyGraphStore
from recallm import RecallM
from recallm.facts import FactMemory

with RecallM() as memory:  # RecallM("memory.db") keeps it in a file
    store = RecallMPropertyGraphStore(memory)
    index = PropertyGraphIndex.from_documents(
        [
            Document(text="Ada works for Cisco. Bo works for Opera.", id_="2023.txt"),
            Document(text="Opera was founded in Oslo.", id_="opera.txt"),
        ],
        kg_extractors=[RecallMExtractor(memory=memory)],
        property_graph_store=store,
        embed_kg_nodes=False,
    )
    facts = FactMemory(memory)

    def show(when: str) -> None:
        """Who works where, and who works for a company that was founded in Oslo."""
        held = {fact.subject: fact.object for fact in facts.read(relation="works for")}
        of_oslo = {fact.subject for fact in facts.read(relation="founded in", object="Oslo")}
        found = [who for who, firm in held.items() if firm in of_oslo]
        print(f"{when}: {sorted(held.items())}; Oslo: {sorted(found)}")

    show("2023")
    index.insert(Document(text="Ada works for Opera now.", id_="2024.txt"))
    show("2024")
    for change in facts.changes("Ada", "works for"):
        print(f"Ada works for {change.object}, {change.ended_by or 'to this day'}")

    # A fact of one's own is a relation in the graph.
    facts.write("Opera", "makes", "browsers")
    print([target.id for _, _, target in store.get_triplets(relation_names=["makes"])])

    index.delete_ref_doc("2024.txt")
    show("without 2024.txt")
