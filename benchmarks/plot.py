"""Curves over repetitions, like the paper's Figures 5 and 6: the same figures, the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_SETTINGS: dict[Any, Any] = {"svg.hashsalt": "recallm", "svg.fonttype": "path", "font.size": 9}
_MARKERS = "osD^vPX*"


def draw_over_repetitions(
    path: Path,
    repetitions: Sequence[int],
    panels: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> None:
    """Write an SVG file: side by side the panels, title → row → accuracy after so many of the
    ``repetitions`` (0 to 1; None leaves a gap)."""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(9, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            for place, (name, values) in enumerate(rows.items()):
                heights = [float("nan") if value is None else value for value in values]
                axis.plot(
                    repetitions,
                    heights,
                    label=name,
                    marker=_MARKERS[place % len(_MARKERS)],
                    markersize=4,
                    linewidth=2 if name.startswith("recallm") else 1.2,
                    linestyle="-" if name.startswith("recallm") else "--",
                )
            axis.set_title(title)
            axis.set_xlabel("repetitions")
            axis.set_xticks(repetitions)
            axis.set_ylim(-0.03, 1.03)
            axis.grid(alpha=0.3)
        axes[0].set_ylabel("accuracy among five statements")
        lines, names = axes[0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
