"""Files that are remembered whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallm import DocumentError, InvalidInputError, RecallM

PAGE = "<!DOCTYPE html><html><body><p>Ann bought a boat in Málaga.</p></body></html>"


def test_a_file_is_one_knowledge_update(tmp_path: Path) -> None:
    sentence = "Ann bought a boat in Málaga."
    for name, encoding in (("a.txt", "utf-8"), ("b.md", "utf-8-sig")):
        (tmp_path / name).write_bytes(sentence.encode(encoding))
        memory = RecallM()
        update = memory.update_from_file(tmp_path / name, session="s", metadata={"room": 1})
        (passage,) = memory.passages()
        assert passage.text == sentence, name
        assert (passage.id, passage.source, passage.session) == (update.id, name, "s")
        assert passage.metadata == {"room": 1}
    assert "Málaga" in memory.recall("Where did Ann buy a boat?").text


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Zoë sails.".encode("latin-1"))
    memory = RecallM()
    with pytest.raises(DocumentError, match="not text in UTF-8") as raised:
        memory.update_from_file(path)
    assert raised.value.name == str(path)
    for encoding in ("no-such", "base64", "\0"):
        with pytest.raises(InvalidInputError, match="no encoding"):
            memory.update_from_file(path, encoding=encoding)
    assert memory.stats().t_index == 0
    memory.update_from_file(path, encoding="latin-1", source="diary")
    assert [(passage.text, passage.source) for passage in memory.passages()] == [
        ("Zoë sails.", "diary")
    ]


def test_what_holds_no_prose_is_refused(tmp_path: Path) -> None:
    memory = RecallM()
    for name, content, problem in (
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t", "empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
        ("a.pdf", b"%PDF-1.7\n\xe2\xe3", "PDF; give its text"),
        ("a.html", b"<p>Ann sails.</p>", "loader of LangChain or LlamaIndex"),
        ("saved", PAGE.encode(), "web page"),
        ("notes", "Ann sails.".encode("utf-16"), "name its encoding"),
        ("saved2", b"\xef\xbb\xbf \n" + PAGE.encode(), "web page"),
        ("a.csv", b"name,town\n", "no prose"),
        ("a.JSONL", b"{}\n", "no prose"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((DocumentError, InvalidInputError), match=problem):
            memory.update_from_file(tmp_path / name)
    with pytest.raises(DocumentError, match="cannot be read"):
        memory.update_from_file(tmp_path / "nowhere.txt")
    with pytest.raises(InvalidInputError, match="path"):
        memory.update_from_file(7)  # type: ignore[arg-type]
    assert memory.stats().t_index == 0
