"""The pictures of the documentation, of a real memory: ``python docs/pictures.py``.

``memory.svg`` is drawn. ``viewer.png`` is the viewer's page in an installed Chromium.
"""

from __future__ import annotations

import shutil
import threading
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from urllib.parse import quote

from recallm import RecallM

PICTURE = Path(__file__).with_name("memory.svg")
SCREENSHOT = Path(__file__).with_name("viewer.png")

UPDATES = (
    "Ingrid lives in Malaga.",
    "Ingrid works for a bakery in Malaga.",
    "Tom visited Ingrid in Malaga.",
    "Ingrid moved to Porto.",
    "Ingrid works for a hospital in Porto now.",
)

_PLACES = {
    "Ingrid": (150, 128),
    "Malaga": (52, 186),
    "bakery": (48, 78),
    "Tom": (140, 206),
    "Porto": (250, 182),
    "hospital": (252, 82),
}
_WIDTH, _HEIGHT, _COLUMNS = 300, 236, 3

_STYLE = """
text{font:13px system-ui,sans-serif;fill:#222}.t{font-weight:600;fill:#3f51b5}.n{text-anchor:middle}
circle{fill:#fff;stroke:#3f51b5;stroke-width:1.5}line{stroke:#3f51b5}
@media (prefers-color-scheme:dark){
text{fill:#ddd}.t{fill:#9fa8da}circle{fill:#23252e;stroke:#9fa8da}line{stroke:#9fa8da}}
"""


def memory_svg() -> str:
    """The memory after each of the five updates, one drawing each."""
    memory = RecallM()
    for text in UPDATES:
        memory.update(text)
    panels = "".join(_panel(memory, t_index) for t_index in range(1, len(UPDATES) + 1))
    size = f"{_COLUMNS * _WIDTH} {-(-len(UPDATES) // _COLUMNS) * _HEIGHT}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">'
        f"<style>{_STYLE}</style>{panels}</svg>\n"
    )


def _panel(memory: RecallM, t_index: int) -> str:
    labels = [concept.label for concept in memory.concepts(as_of=t_index)]
    lines: dict[frozenset[str], str] = {}
    for label in labels:
        for found in memory.relations(label, as_of=t_index):
            (x1, y1), (x2, y2) = _PLACES[label], _PLACES[found.label]
            age = t_index - found.t_index
            opacity = max(0.2, 1 - 0.27 * age)
            look = f'stroke-width="{1.5 * found.strength:.1f}" opacity="{opacity:.2f}"'
            lines[frozenset((label, found.label))] = (
                f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {look}/>'
            )
    # The labels of what stands below Ingrid stand below it.
    nodes = "".join(
        f'<circle cx="{x}" cy="{y}" r="7"/><text class="n" x="{x}"'
        f' y="{y + 23 if y > 150 else y - 13}">{escape(label)}</text>'
        for label, (x, y) in _PLACES.items()
        if label in labels
    )
    row, column = divmod(t_index - 1, _COLUMNS)
    return (
        f'<g transform="translate({column * _WIDTH} {row * _HEIGHT})">'
        f'<text x="12" y="20"><tspan class="t">t = {t_index}</tspan></text>'
        f'<text x="12" y="40">{escape(UPDATES[t_index - 1])}</text>'
        f"{''.join(lines.values())}{nodes}</g>"
    )


_QUESTION = "Where does Ingrid live now?"
_FIRST = datetime(2026, 1, 8, tzinfo=UTC)
_PAGE_WIDTH, _PAGE_HEIGHT = 1000, 376
"""Narrow, so that the text is legible where a page shows the picture smaller."""


def viewer_png() -> bytes:
    """A question in the viewer, as a picture of twice the pixels of the page."""
    # Only this picture needs a browser and a server.
    from playwright.sync_api import sync_playwright

    from recallm.viewer import Viewer

    with RecallM() as memory, sync_playwright() as driver:
        memory.update_many(
            {"text": text, "timestamp": _FIRST + timedelta(days=37 * place)}
            for place, text in enumerate(UPDATES)
        )
        viewer = Viewer(memory)
        thread = threading.Thread(target=viewer.run, daemon=True)
        thread.start()
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox"],
        )
        page = browser.new_page(
            viewport={"width": _PAGE_WIDTH, "height": _PAGE_HEIGHT},
            device_scale_factor=2,
            locale="en-GB",
        )
        page.goto(f"{viewer.url}#/ask/{quote(_QUESTION)}")
        page.locator("#canvas .statement.lit").wait_for()
        picture = page.screenshot()
        browser.close()
        viewer.stop()
        thread.join()
    return picture


if __name__ == "__main__":
    PICTURE.write_text(memory_svg(), encoding="utf-8")
    SCREENSHOT.write_bytes(viewer_png())
