"""The weights as a table that people read, and what they were fitted on."""

from __future__ import annotations

from recallm.recall.ranking.signals import SIGNALS, Weights

_HEAD = """\
# The weights of the default ranking: log-odds that a statement helps to answer, one for each
# signal (recallm/recall/ranking/signals.py says what each measures; docs/ranking.md explains them).
# [words] is for memories without vectors, [vectors] for those with.
# Written by: {command}
"""


def written(words: Weights, vectors: Weights, *, command: str) -> str:
    """Both tables as TOML, in the order of the signals; ``command`` fits them again."""
    parts = [_HEAD.format(command=command)]
    for name, weights in (("words", words), ("vectors", vectors)):
        lines = [f"[{name}]", f"intercept = {weights.intercept:.3f}"]
        lines += [
            f'"{signal}" = {weights.signals[signal]:.3f}  # {meaning}'
            for signal, meaning in SIGNALS.items()
            if weights.signals.get(signal)
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
