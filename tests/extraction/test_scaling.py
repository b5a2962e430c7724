"""Extraction takes steps in proportion to a text's length, whatever the text."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from spacy.tokens import Doc
from thinc.api import NumpyOps
from threadpoolctl import ThreadpoolController

import recallm.english
from recallm.english.extractor import Extractor
from recallm.english.pipeline import Pipeline, load_pipeline
from recallm.english.shipped import Labels, Network, load_shipped
from recallm.ground.config import RecallConfig
from recallm.model import exact_token
from tests.tables import each_row

EXTRACTOR = Extractor(RecallConfig())
SOURCE = str(Path(recallm.english.__file__).parent)


def steps(work: Callable[[], object]) -> int:
    """The bytecode instructions that the extraction's own modules run for a piece of work."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            if not frame.f_code.co_filename.startswith(SOURCE):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def lines(size: int) -> str:
    """Short lines, no two alike."""
    letters = str.maketrans("0123456789", "abcdefghij")
    return "\n".join(f"line {1000 + n} holds milk".translate(letters) for n in range(size // 20))


def encoded(size: int) -> str:
    return base64.b64encode(Random(1).randbytes(size)).decode()[:size]


def listed(size: int) -> str:
    return json.dumps([{"id": n, "name": f"Ann{n}", "tags": ["a", "b"]} for n in range(size // 40)])


KINDS: dict[str, Callable[[int], str]] = {
    "names in short sentences": repeated("Al Bo. "),
    "quoted sentences": repeated('"Al ran." '),
    "sentences in brackets": repeated("(Al ran.) "),
    "symbols that end sentences": repeated("! ? "),
    "emoji": repeated("👍 🍕 "),
    "no sentence end": repeated("anna likes tea and bread while bob reads "),
    "no white space": repeated("anna,likes/tea;"),
    "one character": repeated("a"),
    "punctuation": repeated(".,;:-)("),
    "unclosed brackets": repeated("(hello "),
    "unclosed tags": repeated("<a <!-- "),
    "a script without spaces": repeated("私は東京に住んでいます。"),
    "capitals": repeated("ANNA LIVES IN OSLO. "),
    "short lines": lines,
    "base64": encoded,
    "JSON": listed,
}


def check_steps(kind: str, size: int) -> None:
    text = KINDS[kind]
    EXTRACTOR.extract(text(2 * size))  # its words are looked up once
    once, twice = (
        steps(lambda length=length: EXTRACTOR.extract(text(length)))  # type: ignore[misc]
        for length in (size, 2 * size)
    )
    assert twice < 2.4 * once
    assert twice < 400 * 2 * size


@pytest.mark.slow
@each_row(KINDS)
def test_twice_the_text_takes_twice_the_steps(kind: str) -> None:
    check_steps(kind, 1_400)


@pytest.mark.nightly
@each_row(KINDS)
def test_twice_the_text_of_several_blocks_takes_twice_the_steps(kind: str) -> None:
    check_steps(kind, 3_000)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the pipeline reads."""
    nlp = load_pipeline(None)._nlp
    made: list[str] = []
    make_doc = nlp.make_doc

    def watched(text: str) -> Doc:
        made.append(text)
        return make_doc(text)

    monkeypatch.setattr(nlp, "make_doc", watched)
    return made


def test_equal_blocks_are_tagged_once(made: list[str]) -> None:
    """A log's or a table's lines are often alike."""
    text = "Anna left.\nBob stayed.\n" * 500
    extraction = EXTRACTOR.extract(text)
    assert made == ["Anna left.", "Bob stayed."]
    found = [text[statement.start : statement.end] for statement in extraction.statements]
    assert found == ["Anna left.", "Bob stayed."] * 500


def test_one_of_many_rows_is_tagged(made: list[str]) -> None:
    """Rows differ in their digits alone. What numbers they have is read of each."""
    rows = [f"Shelf {100 + n} holds {1900 + n} apples." for n in range(99)]
    text = "\n".join(["Bo saw shelf 7.", *rows])
    read = EXTRACTOR.extract(text).statements
    assert made == ["Bo saw shelf 7.", rows[0]]
    assert [each.text_in(text) for each in read] == text.splitlines()
    assert read[71].terms == ("shelf", "170", "hold", "1970", "appl", exact_token("shelf170"))
    assert read[71].concepts == EXTRACTOR.extract(rows[70]).statements[0].concepts
    made.clear()
    EXTRACTOR.extract("\n".join(rows[80:]))
    assert made == rows[80:], "few rows are read, each by itself"


def test_matrices_are_multiplied_by_numpy_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's library is the faster one, and its threads cost more than they bring: by the network
    of the shipped pipeline, and where spaCy runs a pipeline."""
    threads: list[list[int]] = []
    multiply, read = NumpyOps.gemm, Network.read

    def watched(ops: NumpyOps, *args: Any, **kwargs: Any) -> Any:
        assert not ops.use_blis
        threads.append([library["num_threads"] for library in controller.info()])
        return multiply(ops, *args, **kwargs)

    def watched_read(network: Network, docs: Sequence[Doc]) -> list[Labels]:
        threads.append([library["num_threads"] for library in controller.info()])
        return read(network, docs)

    # A pipeline limits the libraries that are loaded when it is made; another test may have loaded
    # SciPy's since.
    shipped = Pipeline(load_pipeline(None)._nlp, load_pipeline(None)._network)
    pipeline = Pipeline(load_shipped())
    controller = ThreadpoolController().select(user_api="blas")
    before = controller.info()
    component: Any = pipeline._nlp.get_pipe("tok2vec")
    for ops in {id(layer.ops): layer.ops for layer in component.model.walk()}.values():
        monkeypatch.setattr(ops, "gemm", partial(watched, ops), raising=False)
    assert list(pipeline.tag(["Anna moved to Oslo."]))
    assert threads
    before_network = len(threads)
    monkeypatch.setattr(Network, "read", watched_read)
    assert list(shipped.tag(["Anna moved to Oslo."]))
    assert len(threads) == before_network + 1
    assert {number for each in threads for number in each} <= {1}
    assert controller.info() == before
