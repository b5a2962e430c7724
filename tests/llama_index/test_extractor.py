"""Concepts and relations for a property graph, with no model."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.simple_labelled import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    TRIPLET_SOURCE_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, Document, ImageNode, TextNode

from llama_index_recallm import (
    RecallMExtractor,
    RecallMPropertyGraphStore,
)
from recallm import (
    ClosedError,
    InvalidInputError,
    NewEntity,
    RecallConfig,
    RecallM,
)
from recallm.english.pipeline import Pipeline


@pytest.fixture
def extractor(memory: RecallM) -> RecallMExtractor:
    return RecallMExtractor(memory=memory)


def entities(node: BaseNode) -> list[EntityNode]:
    found = node.metadata[KG_NODES_KEY]
    assert isinstance(found, list)
    return found


def relations(node: BaseNode) -> list[Relation]:
    found = node.metadata[KG_RELATIONS_KEY]
    assert isinstance(found, list)
    return found


def names(node: BaseNode) -> list[str]:
    return [entity.name for entity in entities(node)]


def stated(node: BaseNode) -> list[tuple[str, str, str]]:
    """What the text states."""
    return [
        (relation.source_id, relation.label, relation.target_id) for relation in relations(node)
    ]


def ends(node: BaseNode) -> set[str]:
    return {end for source, _, target in stated(node) for end in (source, target)}


# -- what is found -----------------------------------------------------------------------------


def test_concepts_and_what_is_stated_of_them(extractor: RecallMExtractor) -> None:
    text = "Brandon loves coffee. He bought 5 cups in New York."
    [node] = extractor([TextNode(text=text)])
    assert [(entity.name, entity.label) for entity in entities(node)] == [
        ("Brandon", "entity"),
        ("coffee", "noun"),
        ("cups", "noun"),
        ("New York", "entity"),
        ("York", "name"),
        ("5 cups", "entity"),
    ]
    assert stated(node) == [
        ("Brandon", "love", "coffee"),
        ("Brandon", "buy in", "New York"),
        ("Brandon", "buy", "5 cups"),
    ]


def test_what_a_text_denies_or_calls_possible_is_no_relation(memory: RecallM) -> None:
    extractor = RecallMExtractor(memory=memory)
    nodes = [
        TextNode(text="Ingrid lives in Malaga."),
        TextNode(text="Ingrid does not live in Rome."),
        TextNode(text="Ingrid may move to Porto."),
    ]
    lives, denied, possible = extractor(nodes)
    assert [
        (relation.source_id, relation.label, relation.target_id) for relation in relations(lives)
    ] == [("Ingrid", "live in", "Malaga")]
    assert relations(denied) == relations(possible) == []


def test_one_spelling_in_a_call(extractor: RecallMExtractor) -> None:
    first, second = extractor(
        [TextNode(text="Coffee comes from Brazil."), TextNode(text="BRAZIL drinks coffee.")]
    )
    assert names(first) == ["Coffee", "Brazil"]
    assert names(second)[0] == "Brazil"
    assert names(second)[-1] == "Coffee"
    assert ends(second) <= set(names(second))


def test_the_entity_that_the_memory_has(extractor: RecallMExtractor, memory: RecallM) -> None:
    """Whatever its capitals, and with the label that it was given."""
    memory.graph.upsert(
        [
            NewEntity(id="BRANDON", type="PERSON"),
            NewEntity(id="coffee-17", type="DRINK", label="Coffee"),
            NewEntity(id="Parisian", type="x"),
        ]
    )
    [node] = extractor([TextNode(text="Brandon loves coffee in Paris.")])
    found = {entity.name: entity.label for entity in entities(node)}
    assert found["BRANDON"] == "PERSON"
    assert found["coffee-17"] == "DRINK"
    assert found["Paris"] == "entity"
    assert ("BRANDON", "love", "coffee-17") in stated(node)


def test_the_exact_spelling_wins(extractor: RecallMExtractor, memory: RecallM) -> None:
    memory.graph.upsert([NewEntity(id="APPLE", type="company"), NewEntity(id="apple", type="f")])
    one, other = extractor([TextNode(text="Ann ate an apple."), TextNode(text="Ann left APPLE.")])
    assert ("apple", "f") in [(entity.name, entity.label) for entity in entities(one)]
    assert ("APPLE", "company") in [(entity.name, entity.label) for entity in entities(other)]


def test_other_texts_and_nodes(extractor: RecallMExtractor) -> None:
    assert extractor([]) == []
    for text in ("", "  \n", "!!!", "🙂"):
        [node] = extractor([TextNode(text=text)])
        assert node.metadata == {KG_NODES_KEY: [], KG_RELATIONS_KEY: []}
    document, image = extractor([Document(text="Ann met Bo."), ImageNode(image_url="http://x/y")])
    assert (names(document), names(image)) == (["Ann", "Bo"], [])
    # LlamaIndex has no quotation marks in ids; the ends of relations are ids.
    [quoted] = extractor([TextNode(text='The 5" screen and Bo`s "Rose" \n of `Cairo` cost 7.')])
    assert len(entities(quoted)) > 3
    assert ends(quoted) <= {entity.id for entity in entities(quoted)}


# -- metadata ----------------------------------------------------------------------------------


def test_properties_are_a_copy_of_the_metadata(extractor: RecallMExtractor) -> None:
    [node] = extractor([TextNode(text="Ann met Bo.", metadata={"file": "a.txt", "tags": ["x"]})])
    assert [entity.properties for entity in entities(node)] == [
        {"file": "a.txt", "tags": ["x"]},
        {"file": "a.txt", "tags": ["x"]},
    ]
    entities(node)[0].properties["tags"].append("y")
    assert entities(node)[1].properties["tags"] == ["x"]
    [meet] = relations(node)
    assert meet.properties.items() >= {"file": "a.txt", "tags": ["x"]}.items()
    assert meet.properties["said"] == "Ann met Bo"
    assert node.metadata["tags"] == ["x"]


def test_what_was_found_before_stays(extractor: RecallMExtractor) -> None:
    ann = EntityNode(name="Ann", label="PERSON", properties={"age": 40})
    knows = Relation(label="KNOWS", source_id="Ann", target_id="Bo")
    node = TextNode(text="ann met Bo.", metadata={"file": "a.txt"})
    node.metadata[KG_NODES_KEY] = [ann]
    node.metadata[KG_RELATIONS_KEY] = [knows]
    extractor([node])
    assert entities(node)[0] is ann
    assert relations(node)[0] is knows
    assert names(node) == ["Ann", "Bo"]
    assert stated(node) == [("Ann", "KNOWS", "Bo"), ("Ann", "meet", "Bo")]
    assert entities(node)[1].properties == {"file": "a.txt"}


# -- how it runs -------------------------------------------------------------------------------


async def test_off_the_event_loop() -> None:
    where: list[threading.Thread] = []

    class Watched(RecallM):
        def extract(self, *args: Any, **kwargs: Any) -> Any:
            where.append(threading.current_thread())
            return super().extract(*args, **kwargs)

    with Watched() as memory:
        [node] = await RecallMExtractor(memory=memory).acall([TextNode(text="Ann met Bo.")])
    assert names(node) == ["Ann", "Bo"]
    assert where
    assert threading.current_thread() not in where


def test_many_nodes(extractor: RecallMExtractor) -> None:
    nodes = [TextNode(text=f"Ann met Bo{place}.", id_=str(place)) for place in range(110)]
    found = extractor(nodes, show_progress=True)
    assert [node.node_id for node in found] == [node.node_id for node in nodes]
    assert [names(node)[-1] for node in found] == [f"Bo{place}" for place in range(110)]


def test_a_text_that_cannot_be_read(extractor: RecallMExtractor, memory: RecallM) -> None:
    nodes = [TextNode(text="Ann met Bo."), TextNode(text="\ud83d", id_="bad")]
    with pytest.raises(InvalidInputError, match=r"node 'bad' cannot be read: .*surrogate"):
        extractor(nodes)
    assert [node.metadata for node in nodes] == [{}, {}]
    memory.close()
    with pytest.raises(ClosedError):
        extractor(nodes)
    with pytest.raises(ValueError, match="memory must be a RecallM"):
        RecallMExtractor(memory="memory.db")  # type: ignore[arg-type]


def test_it_stays_in_its_process(extractor: RecallMExtractor) -> None:
    with pytest.raises(InvalidInputError, match="without num_workers"):
        pickle.dumps(extractor)
    with pytest.raises(InvalidInputError, match="without num_workers"):
        IngestionPipeline(transformations=[extractor]).run(
            documents=[Document(text="Ann met Bo."), Document(text="Bo met Cy.")], num_workers=2
        )


def test_the_memory_is_not_serialised(extractor: RecallMExtractor, memory: RecallM) -> None:
    written = extractor.to_dict()
    assert written.keys() == {"class_name", "reads"}
    assert written["class_name"] == "RecallMExtractor"
    assert extractor.to_json()
    copy = RecallMExtractor.from_dict(written, memory=memory)
    assert copy.memory is memory


def test_cache_keys_differ_by_extractor(memory: RecallM) -> None:
    """By whose memory it is and by its settings: another user's spellings are not given."""
    others = [
        RecallMExtractor(memory=memory),
        RecallMExtractor(memory=memory.in_namespace("bo")),
        RecallMExtractor(memory=RecallM(config=RecallConfig(concepts="nouns"))),
    ]
    nodes = [TextNode(text="Ann met Bo.")]
    keys = [get_transformation_hash(nodes, other) for other in others]
    assert len(set(keys)) == 3
    same = RecallMExtractor(memory=memory.in_namespace("bo"))
    assert get_transformation_hash(nodes, same) == keys[1]
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), same])
    for _ in range(2):  # the second time out of the cache, where a node is JSON
        [node] = pipeline.run(documents=[Document(text="Ann met Bo.", id_="doc")])
        found = [
            getattr(entity, "name", None) or entity["name"]
            for entity in node.metadata[KG_NODES_KEY]
        ]
        assert found == ["Ann", "Bo"]


def test_cache_keys_differ_by_file(tmp_path: Path) -> None:
    """A file is the same by whatever path it is opened, and no other file is."""
    (tmp_path / "link").symlink_to(tmp_path)
    paths = [tmp_path / "a.db", tmp_path / "b.db", tmp_path / "link" / "a.db"]
    keys = []
    for path in paths:
        with RecallM(path) as memory:
            keys.append(get_transformation_hash([], RecallMExtractor(memory=memory)))
    assert keys[0] == keys[2] != keys[1]


# -- in an index -------------------------------------------------------------------------------


def test_an_index_with_no_model(extractor: RecallMExtractor) -> None:
    """In LlamaIndex's own store: nothing there knows of us."""
    for use_async in (True, False):
        index = PropertyGraphIndex(
            [TextNode(text="Ann met Bo.", id_="one"), TextNode(text="Bo met Ann.", id_="two")],
            kg_extractors=[extractor],
            property_graph_store=SimplePropertyGraphStore(),
            embed_kg_nodes=False,
            use_async=use_async,
        )
        found = index.property_graph_store.get_triplets(entity_names=["Ann"])
        said = {(source.id, relation.label, target.id) for source, relation, target in found}
        assert said == {("Ann", "meet", "Bo"), ("Bo", "meet", "Ann")}
        sources = {relation.properties[TRIPLET_SOURCE_KEY] for _, relation, _ in found}
        assert sources == {"one", "two"}


def test_the_memory_reads_a_text_once(
    memory: RecallM, extractor: RecallMExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    tag = Pipeline.tag

    def counted(self: Pipeline, texts: Any, **how: Any) -> Any:
        read.extend(texts)
        return tag(self, texts, **how)

    monkeypatch.setattr(Pipeline, "tag", counted)
    node = TextNode(text="Ann met Bo in Cairo.", metadata={"file": "a.txt"})
    PropertyGraphIndex(
        [node],
        kg_extractors=[extractor],
        property_graph_store=RecallMPropertyGraphStore(memory=memory),
        embed_kg_nodes=False,
    )
    assert read == ["Ann met Bo in Cairo."]
    assert memory.stats().statements == 1
