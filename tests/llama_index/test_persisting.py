"""The archives that LlamaIndex's graph stores persist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from llama_index.core import PropertyGraphIndex, StorageContext, load_index_from_storage
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import EntityNode
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.schema import Document

from llama_index_recallm import RecallMExtractor, RecallMGraphStore, RecallMPropertyGraphStore
from recallm import ArchiveError, ClosedError, InvalidInputError, RecallM

_NO_MODEL: dict[str, Any] = {"kg_extractors": [ImplicitPathExtractor()], "embed_kg_nodes": False}


def test_an_index_is_read_again(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    with RecallM() as memory:
        index = PropertyGraphIndex.from_documents(
            [Document(id_="d", text="Ann met Bo.")],
            kg_extractors=[RecallMExtractor(memory=memory)],
            property_graph_store=RecallMPropertyGraphStore(memory=memory),
            embed_kg_nodes=False,
        )
        index.storage_context.persist(folder)
    with pytest.raises(json.JSONDecodeError):
        StorageContext.from_defaults(persist_dir=folder)
    with RecallM(tmp_path / "again.db") as memory:
        store = RecallMPropertyGraphStore.from_persist_dir(folder, memory=memory)
        context = StorageContext.from_defaults(persist_dir=folder, property_graph_store=store)
        again = load_index_from_storage(context, **_NO_MODEL)
        assert isinstance(again, PropertyGraphIndex)
        assert again.property_graph_store is store
        assert memory.recall("Whom did Ann meet?").text.endswith("Ann met Bo.")
        store.delete_llama_nodes(ref_doc_ids=["d"])
        assert store.get() == []


def test_folders_are_made(tmp_path: Path) -> None:
    """By each kind of store, on each kind of file system; written again, a file is replaced."""
    with RecallM() as memory:
        memory.update("Ann met Bo.")
        for kind in (RecallMPropertyGraphStore, RecallMGraphStore):
            for fs in (None, LocalFileSystem(), fsspec.filesystem("memory")):
                path = str(tmp_path / f"{kind.__name__} {fs}" / "folder" / "graph.json")
                for _ in range(2):
                    kind(memory=memory).persist(path, fs)
                with kind.from_persist_path(path, fs).memory as again:
                    assert "Ann met Bo." in again.recall("Whom did Ann meet?").text


def test_what_is_no_archive_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        store = RecallMPropertyGraphStore(memory=memory)
        store.upsert_nodes([EntityNode(name="Ann")])
        foreign = tmp_path / "graph.json"
        SimplePropertyGraphStore().persist(str(foreign))
        before = foreign.read_text()
        for fs in (None, LocalFileSystem()):
            for there in (path, foreign):
                with pytest.raises(ArchiveError, match="name another file"):
                    store.persist(str(there), fs)
            with pytest.raises(ArchiveError, match="cannot be written"):
                store.persist(str(path / "graph.json"), fs)
        assert [node.id for node in store.get()] == ["Ann"]
        memory.close()
        with pytest.raises(ClosedError):
            store.persist(str(tmp_path / "new.json"))
    assert foreign.read_text() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["graph.json", "memory.db"]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """The memory stays empty."""
    path = str(tmp_path / "graph.json")
    SimplePropertyGraphStore().persist(path)
    with RecallM() as memory:
        for each in (path, str(tmp_path / "missing.json")):
            for fs in (None, fsspec.filesystem("memory")):
                with pytest.raises(ArchiveError):
                    RecallMPropertyGraphStore.from_persist_path(each, fs, memory=memory)
        assert memory.stats().t_index == 0
        memory.update("Ann met Bo.")
        memory.export(path + "l")
        with pytest.raises(InvalidInputError, match="restore into a new one"):
            RecallMPropertyGraphStore.from_persist_path(path + "l", memory=memory)
