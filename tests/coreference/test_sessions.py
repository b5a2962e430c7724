"""Sessions written by hand: a wrong antecedent misleads, so that precision counts."""

import os
from pathlib import Path

import pytest

from benchmarks.coreference import main, score_dialogues

_GAP = os.environ.get("RECALLM_GAP", "")


def test_what_is_resolved_in_the_sessions_is_nearly_always_right() -> None:
    result = score_dialogues()["all"]
    assert result.precision >= 0.85
    assert result.recall >= 0.4


@pytest.mark.skipif(not _GAP, reason="RECALLM_GAP does not name the folder of GAP's files")
def test_gap_validation_reaches_what_the_card_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = Path(_GAP) / "gap-validation.tsv"
    output = tmp_path / "predictions.tsv"
    main([str(source), "--output", str(output)])
    row = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("| recallm |")
    )
    _, _, _, _, bias, f1, _, _, _ = (cell.strip() for cell in row.split("|"))
    assert float(f1) >= 70.0
    assert 0.9 <= float(bias) <= 1.1
    lines = output.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(source.read_text(encoding="utf-8").splitlines()) - 1
    assert all(line.split("\t")[1] in ("TRUE", "FALSE") for line in lines)
