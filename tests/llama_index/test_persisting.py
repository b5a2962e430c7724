"""What LlamaIndex's property graph stores persist, and who reads the file again."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem
from llama_index.core import PropertyGraphIndex, StorageContext, load_index_from_storage
from llama_index.core.graph_stores import SimpleGraphStore, SimplePropertyGraphStore
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.schema import Document, TextNode

from llama_index_recallm import RecallMExtractor, RecallMGraphStore, RecallMPropertyGraphStore
from recallm import ArchiveError, ClosedError, InvalidInputError, RecallM

_NO_MODEL: dict[str, Any] = {"kg_extractors": [ImplicitPathExtractor()], "embed_kg_nodes": False}


def test_an_index_is_read_again_with_either_store(tmp_path: Path) -> None:
    """By LlamaIndex's own store where none is given, by ours in full."""
    folder = str(tmp_path / "kept")
    with RecallM() as memory:
        index = PropertyGraphIndex.from_documents(
            [Document(id_="d", text="Ann met Bo.")],
            kg_extractors=[RecallMExtractor(memory=memory, cooccurrence=True)],
            property_graph_store=RecallMPropertyGraphStore(memory=memory),
            embed_kg_nodes=False,
        )
        index.storage_context.persist(folder)
    plain = load_index_from_storage(StorageContext.from_defaults(persist_dir=folder), **_NO_MODEL)
    assert isinstance(plain, PropertyGraphIndex)
    assert isinstance(plain.property_graph_store, SimplePropertyGraphStore)
    assert len(plain.property_graph_store.get_triplets(relation_names=["RELATED"])) == 1
    with RecallM(tmp_path / "again.db") as memory:
        store = RecallMPropertyGraphStore.from_persist_dir(folder, memory=memory)
        context = StorageContext.from_defaults(persist_dir=folder, property_graph_store=store)
        again = load_index_from_storage(context, **_NO_MODEL)
        assert isinstance(again, PropertyGraphIndex)
        assert again.property_graph_store is store
        assert memory.recall("Whom did Ann meet?").text.endswith("Ann met Bo.")
        store.delete_llama_nodes(ref_doc_ids=["d"])
        assert store.get() == []


def test_persisting_replaces_a_file_with_a_graph_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        store = RecallMPropertyGraphStore(memory=memory)
        store.upsert_nodes([EntityNode(name="Ann")])
        with pytest.raises(ArchiveError, match="give another path"):
            store.persist(str(path))
        assert [node.id for node in store.get()] == ["Ann"]
        with pytest.raises(ArchiveError, match="cannot be written"):
            store.persist(str(path / "graph.json"))
        graph = tmp_path / "graph.json"
        SimplePropertyGraphStore().persist(str(graph))
        graph.chmod(0o600)
        store.upsert_nodes([EntityNode(name="Bo", properties={"raw": b"\xff"})])
        store.persist(str(graph))
        assert len(SimplePropertyGraphStore.from_persist_path(str(graph)).get()) == 2
        before = graph.read_text()
        memory.close()
        with pytest.raises(ClosedError):
            store.persist(str(graph))
    assert graph.read_text() == before
    assert stat.S_IMODE(graph.stat().st_mode) == 0o600
    assert sorted(it.name for it in tmp_path.iterdir()) == ["graph.json", "memory.db"]


@pytest.mark.parametrize("kind", [RecallMPropertyGraphStore, RecallMGraphStore])
def test_folders_are_made(
    kind: type[RecallMPropertyGraphStore | RecallMGraphStore], tmp_path: Path
) -> None:
    with RecallM() as memory:
        memory.update("Ann met Bo.")
        for folder, fs in (("own", None), ("fs", LocalFileSystem())):
            path = str(tmp_path / folder / "folder" / "graph.json")
            kind(memory=memory).persist(path, fs)
            kind(memory=memory).persist(path, fs)
            with kind.from_persist_path(path, fs).memory as again:
                assert "Ann met Bo." in again.recall("Whom did Ann meet?").text


def test_files_of_other_programs_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    foreign = ['{"mine": 1}', "{}", "null", '{"nodes": {}, "links": []}', '{"recallm": []}']
    with RecallM() as memory:
        store = RecallMPropertyGraphStore(memory=memory)
        for text in (*foreign, '{"graph_dict": {}, "mine": 1}', "{" * 5, "[" * 200_000):
            path.write_text(text)
            for fs in (None, LocalFileSystem()):
                with pytest.raises(ArchiveError, match="give another path"):
                    store.persist(str(path), fs)
            assert path.read_text() == text


def test_files_of_llamaindex_s_own_stores_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    with RecallM() as memory:
        for plain in (SimpleGraphStore(), SimplePropertyGraphStore()):
            plain.persist(str(path))
            RecallMPropertyGraphStore(memory=memory).persist(str(path))
        path.write_text("")
        RecallMGraphStore(memory=memory).persist(str(path))
    assert RecallMGraphStore.from_persist_path(str(path)).get("x") == []


def test_files_that_cannot_be_read_again(tmp_path: Path) -> None:
    """Whatever is in them is an ArchiveError, and the memory stays empty."""
    path = tmp_path / "graph.json"
    with RecallM() as memory:
        RecallMPropertyGraphStore(memory=memory).persist(str(path))
        empty = path.read_text()
        memory.update("Ann met Bo.")
        RecallMPropertyGraphStore(memory=memory).persist(str(path))
        full = path.read_text()
    SimplePropertyGraphStore().persist(str(path))
    texts = [path.read_text(), "", "[]", "{", full[:-5], "[" * 500_000]
    texts += [full.replace("[\n{", "[\n1,\n{"), full.replace('"end"', '"past"')]
    for text in texts:
        path.write_text(text)
        with RecallM() as memory:
            with pytest.raises(ArchiveError):
                RecallMPropertyGraphStore.from_persist_path(str(path), memory=memory)
            assert memory.stats().t_index == 0
    path.write_bytes(b'{"nodes": "\xff"}')
    with pytest.raises(ArchiveError, match="cannot be read"):
        RecallMPropertyGraphStore.from_persist_path(str(path))
    path.write_text(empty)
    again = RecallMPropertyGraphStore.from_persist_path(str(path))
    assert again.get() == []
    again.memory.close()


def test_an_archive_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    with RecallM() as memory:
        RecallMPropertyGraphStore(memory=memory).upsert_nodes([EntityNode(name="Ann")])
        memory.export(path)
    with RecallM() as memory:
        store = RecallMPropertyGraphStore.from_persist_path(str(path), memory=memory)
        assert [node.id for node in store.get()] == ["Ann"]


def test_as_a_dict(store: RecallMPropertyGraphStore) -> None:
    """JSON values, which both stores read."""
    store.upsert_llama_nodes([TextNode(id_="c", text="Ann lives in Oslo.\u2028She sings.")])
    typed = EntityNode(name="Ann", properties={"raw": b"\xff", "tags": {"a"}, "at": Path("a")})
    store.upsert_nodes([typed])
    store.upsert_relations([Relation(label="LIVES_IN", source_id="Ann", target_id="Oslo")])
    data = store.to_dict()
    assert json.loads(json.dumps(data)) == data
    with RecallM() as memory:
        again = RecallMPropertyGraphStore.from_dict(data, memory=memory, timestamp_key="said")
        assert again.get() == store.get()
        assert again.get_triplets() == store.get_triplets()
        assert "Oslo" in memory.recall("Where does Ann live?").text
        with pytest.raises(InvalidInputError, match="namespace"):
            RecallMPropertyGraphStore.from_dict(data, memory=memory)
    assert len(SimplePropertyGraphStore.from_dict(data).get()) == 3


def test_a_dict_of_another_store() -> None:
    cases: dict[str, tuple[Any, type[Exception]]] = {
        "none": (None, InvalidInputError),
        "list": ([], InvalidInputError),
        "another": (SimplePropertyGraphStore().to_dict(), InvalidInputError),
        "text": ({"recallm": "text"}, InvalidInputError),
        "no records": ({"recallm": []}, ArchiveError),
        "number": ({"recallm": [1]}, ArchiveError),
    }
    for data, error in cases.values():
        with RecallM() as memory:
            with pytest.raises(error):
                RecallMPropertyGraphStore.from_dict(data, memory=memory)
            assert memory.stats().t_index == 0
