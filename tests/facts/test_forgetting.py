"""After any ``forget``, a memory is as if it had never held what went; no byte of it is left."""

from __future__ import annotations

import io
import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recallm import NewEntity, RecallM
from recallm.adapting.memory_tools import forgotten_by_model
from recallm.facts import FactMemory

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_NAMES = ("Avexa", "Bonuro", "Cimola", "Dastep")


def _piece(random: random.Random, number: int) -> dict[str, Any]:
    """A text, a fact or a row about one or two names, with words of its own."""
    name, other = random.sample(_NAMES, 2)
    own = f"Own{number}zq"
    given = {
        "source": random.choice([None, "src1", "src2"]),
        "said": random.choice([None, _DAY + timedelta(days=number)]),
    }
    kind = random.choice(["text", "fact", "row", "entity", "entity"])
    about = {name, other} if random.random() < 0.3 and kind != "row" else {name}
    words = {"kind": kind, "name": name, "own": own, "id": f"id{number}zq", "about": about, **given}
    return {**words, "other": other if other in about else own}


def _write(memory: RecallM, piece: dict[str, Any]) -> None:
    facts, name, own = FactMemory(memory), piece["name"], piece["own"]
    if piece["kind"] == "row":
        row = {"name": name, "phone": own, "note": f"{own} b"}
        piece["source"], piece["said"] = f"table{own}", piece["said"] or _DAY
        facts.load([row], key="name", name=piece["source"], said=piece["said"])
    elif piece["kind"] == "fact":
        given = {key: piece[key] for key in ("source", "said", "id")}
        facts.write(name, f"rel{own}", piece["other"], properties={"p": own}, **given)
    else:
        label = name.upper() if "5" in own else name.lower()
        entity = NewEntity(id=name, type=f"type{own}", label=label, properties={own: 1})
        memory.update(
            f"{name} met {piece['other']}.",
            id=piece["id"],
            source=piece["source"],
            timestamp=piece["said"],
            metadata={"who": own},
            entities=[entity] if piece["kind"] == "entity" else [],
        )


def _archive(memory: RecallM) -> Any:
    """What is exported, but for t and what follows from it."""
    target = io.StringIO()
    memory.export(target)
    lines = [json.loads(line) for line in target.getvalue().splitlines()]
    text = json.dumps([line["update"] for line in lines if "update" in line])
    text = re.sub(r'"t(_index)?": \d+', '"t": 0', text)
    text = re.sub(r'"id": "[0-9a-f]{32}"', '"id": ""', text)
    return json.loads(re.sub(r'"session_key": "@\d+"', '"session_key": ""', text))


EACH_SELECTION_ONCE = range(1, 5)


@pytest.mark.parametrize(
    "seeds", [EACH_SELECTION_ONCE, pytest.param(range(20), marks=pytest.mark.nightly)]
)
def test_as_if_never_held_and_no_byte_is_left(tmp_path: Path, seeds: range) -> None:
    """With texts, facts and rows, for every selection: the archive equals that of a memory without
    the selected pieces, and the file holds no word that only these had."""
    wrong: list[str] = []
    for seed in seeds:
        draw = random.Random(seed)
        pieces = [_piece(draw, number) for number in range(1, 9)]
        path = tmp_path / f"{seed}.db"
        with RecallM(path) as memory:
            for piece in pieces:
                _write(memory, piece)
            chosen = draw.choice(pieces)
            moment = _DAY + timedelta(days=5)
            selection: dict[str, Any]
            match ["concept", "concept", "source", "session", "before"][seed % 5]:
                case "before":
                    selection = {"before": moment}
                    gone = [piece for piece in pieces if piece["said"] and piece["said"] < moment]
                case "concept":
                    selection = {"concept": chosen["name"]}
                    gone = [piece for piece in pieces if chosen["name"] in piece["about"]]
                case kind:
                    name = chosen["source"] or "nothing"
                    selection = {kind: name}
                    gone = [piece for piece in pieces if piece["source"] == name]
            before = _archive(memory)
            counted = memory.forget(**selection, dry_run=True)
            if _archive(memory) != before:
                wrong.append(f"{seed}: the dry run changed something")
            if memory.forget(**selection) != counted or bool(counted) != bool(gone):
                wrong.append(f"{seed}: {counted} of {selection}")
            with RecallM() as control:
                for piece in pieces:
                    if piece not in gone:
                        _write(control, piece)
                if _archive(memory) != _archive(control):
                    wrong.append(f"{seed}: {selection} left another archive")
        kept = {str(piece[key]) for piece in pieces if piece not in gone for key in piece}
        kept |= {name for piece in pieces if piece not in gone for name in piece["about"]}
        words = {str(piece[key]) for piece in gone for key in ("own", "id", "name", "source")}
        words -= {*kept, "None"}
        held = b"".join(path.read_bytes() for path in tmp_path.glob(f"{seed}.db*")).lower()
        wrong += [
            f"{seed}: {selection} left {word}" for word in words if word.lower().encode() in held
        ]
    assert wrong == []


def test_a_model_forgets_the_facts_of_its_session() -> None:
    """Where a tool sees one session alone, the facts of others stay."""
    with RecallM() as memory:
        facts = FactMemory(memory)
        facts.write("Avexa", "phone", "555 0199", source="mine")
        facts.write("Avexa", "email", "a@b.c", source="other")
        said = forgotten_by_model(memory, id=None, about="Avexa", session="mine")
        assert said == "Forgot 1 fact that mentions 'Avexa'."
        assert [fact.object for fact in facts.read("Avexa")] == ["a@b.c"]
