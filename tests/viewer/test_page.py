"""The page in a browser: what it shows, by mouse and keyboard, and what it never does."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from recallm import RecallM
from recallm.viewer import Viewer
from tests.tools import skip_for_want_of_a_tool

from .conftest import HOSTILE

pytestmark = pytest.mark.slow  # a browser

QUESTION = "Where does Ingrid live now?"
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = ("chromium", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        skip_for_want_of_a_tool("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@dataclass
class Shown:
    """A page, and what it did that no page of ours may do."""

    page: Page
    address: str
    problems: list[str] = field(default_factory=list)

    def open(self, view: str = "#/") -> Page:
        """Load the page anew at one of its views."""
        self.page.goto("about:blank")
        self.page.goto(self.address + view)
        self.settle()
        return self.page

    def settle(self) -> None:
        expect(self.page.locator("#results")).to_have_attribute("aria-busy", "false")

    @property
    def rows(self) -> Locator:
        """The list that says what the drawing shows."""
        return self.page.locator("#graph-list li")

    @property
    def nodes(self) -> set[str]:
        """What the drawing shows: the labels of concepts, the numbers of statements."""
        return self._texts("#canvas .node")

    @property
    def lit(self) -> set[str]:
        """Those of them that are lit."""
        return self._texts("#canvas .node.lit")

    def _texts(self, selector: str) -> set[str]:
        found: list[str] = self.page.locator(selector).evaluate_all(
            "all => all.map(each => each.querySelector('text').textContent)"
        )
        return set(found)


@contextmanager
def serving(memory: RecallM) -> Iterator[str]:
    """The address of a viewer that runs in a thread of this process."""
    viewer = Viewer(memory)
    thread = threading.Thread(target=viewer.run, daemon=True)
    thread.start()
    try:
        yield viewer.url
    finally:
        viewer.stop()
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def shown_at(browser: Browser, address: str, **options: Any) -> Iterator[Shown]:
    """A page at ``address`` in a browser that knows nothing of others."""
    context = browser.new_context(**{"viewport": WIDE, "locale": "en-GB"} | options)
    shown = Shown(context.new_page(), address)
    host = re.escape(address.partition("?")[0])

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            shown.problems.append(message.text)

    shown.page.on("console", on_console)
    shown.page.on("pageerror", lambda error: shown.problems.append(str(error)))
    shown.page.on(
        "request",
        lambda request: (
            None
            if re.match(f"{host}|about:|data:", request.url)
            else shown.problems.append(f"asked {request.url}")
        ),
    )
    try:
        yield shown
        assert shown.page.evaluate("window.hacked") is None
    finally:
        context.close()
    assert shown.problems == []


@pytest.fixture(scope="module")
def address(shared: RecallM) -> Iterator[str]:
    """A viewer of the memory that all tests read."""
    with serving(shared) as url:
        yield url


@pytest.fixture
def shown(browser: Browser, address: str) -> Iterator[Shown]:
    with shown_at(browser, address) as shown:
        yield shown


# ---- the views -------------------------------------------------------------------------------


def test_the_first_load_shows_the_memory_and_its_most_mentioned_concept(shown: Shown) -> None:
    page = shown.open()
    expect(page.get_by_label("Question")).to_be_visible()
    expect(page.locator("#namespace")).to_have_text("default")
    expect(page.get_by_role("heading", name="6 statements and 2 facts about")).to_be_visible()
    expect(page.locator(".chips a").first).to_have_text(re.compile("^Ingrid"))
    expect(page.locator("#graph-title")).to_have_text("Ingrid")
    assert "Carter" in shown.nodes
    latest = page.locator("#results .rows li")
    expect(latest.first).to_contain_text("Ingrid works for BMW")
    expect(latest.locator("s")).to_have_text(["Ingrid lives in Malaga."])
    page.get_by_label("Temporal index t").fill("2")
    page.get_by_label("Temporal index t").press("Enter")
    expect(latest.locator(".statement")).to_have_text(
        ["Brandon wants to go to Paris.", "Ingrid lives in Malaga."]
    )


def test_the_page_opens_on_the_last_question(browser: Browser, memory: RecallM) -> None:
    with serving(memory) as url, shown_at(browser, url) as shown:
        shown.open("#/ask/What about Brandon%3F")
        page = shown.open("")
        expect(page.get_by_label("Question")).to_have_value("What about Brandon?")
        expect(page.locator(".card.lit")).to_have_count(1)
        page.get_by_role("link", name="Memory").click()
        expect(page.get_by_role("heading", name="Most mentioned")).to_be_visible()


def test_an_empty_memory_has_an_empty_page(browser: Browser) -> None:
    with RecallM() as memory, serving(memory) as url, shown_at(browser, url) as shown:
        for view in ("#/", "#/concepts", "#/concept/ann", "#/ask/Who%3F"):
            page = shown.open(view)
            expect(page.locator("#time")).to_be_hidden()
            expect(page.locator("#results")).not_to_be_empty()
            expect(page.locator("#graph")).to_be_hidden()
            expect(page.locator(".notice")).to_have_count(0)


def test_a_concept_is_found_and_shown(shown: Shown) -> None:
    page = shown.open("#/concepts")
    page.get_by_label("Concept", exact=True).fill("ingr")
    page.get_by_role("button", name="Find").click()
    page.locator("#results").get_by_role("link", name="Ingrid").click()
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    # Nothing can be forgotten where the viewer was started without the option.
    expect(page.get_by_role("button", name="Forget…")).to_have_count(0)
    assert page.title() == "ingrid – recallm"
    page.go_back()
    expect(page.get_by_label("Concept", exact=True)).to_have_value("ingr")


def test_no_such_concept_is_said(shown: Shown) -> None:
    page = shown.open("#/concepts/zeppelin")
    expect(page.locator("#results")).to_contain_text("No concept has this name.")
    page = shown.open("#/concept/zeppelin")
    expect(page.locator("#results")).to_contain_text("This concept is not known at this time.")
    expect(page.locator("#graph")).to_be_hidden()


def test_the_neighbourhood_shows_strength_by_width_and_age_by_opacity(shown: Shown) -> None:
    page = shown.open("#/concept/ingrid")
    expect(shown.rows).to_have_count(5)
    assert shown.nodes == {"Ingrid", "Carter", "Malaga", "Porto", "Siemens", "BMW"}
    looks = page.locator("#canvas .relation").evaluate_all(
        """all => all.map(line => [line.getAttribute("stroke-width"),
            line.getAttribute("stroke-opacity")].map(Number))"""
    )
    assert max(looks)[0] > min(looks)[0]  # Carter was seen twice
    assert len({opacity for _, opacity in looks}) > 1
    expect(shown.rows.filter(has_text="Carter")).to_contain_text("strength 2, t 6")


def test_facts_are_arrows_with_words(shown: Shown) -> None:
    """What no longer holds is dashed, and its words are struck through."""
    page = shown.open("#/concept/ingrid")
    expect(page.locator("#canvas .words")).to_have_text(["works for", "works for"])
    expect(page.locator("#canvas .words.ended")).to_have_count(1)
    expect(page.locator("#canvas .fact.ended")).to_have_count(1)
    expect(shown.rows.filter(has_text="Siemens")).to_contain_text("works for (ended)")
    page = shown.open("#/concept/bmw")  # no statement mentions it
    assert shown.nodes == {"BMW", "Ingrid"}
    expect(page.locator(".facts")).to_contain_text("works for BMW")


def test_the_slider_shows_the_memory_as_it_stood(shown: Shown) -> None:
    page = shown.open("#/concept/ingrid")
    page.get_by_label("Temporal index t").fill("4")
    page.get_by_label("Temporal index t").press("Enter")
    expect(page.locator("#as-of-said")).to_have_text("8 Jan 2026")
    expect(shown.rows).to_have_count(2)
    assert shown.nodes == {"Ingrid", "Malaga", "Carter"}
    expect(page.locator(".timeline")).not_to_contain_text("Porto")
    expect(page.locator(".timeline s")).to_have_count(0)
    page.get_by_role("slider").press("ArrowRight")
    expect(page.locator(".timeline")).to_contain_text("Ingrid moved to Porto.")
    page.get_by_role("button", name="Now").click()
    expect(page.locator("#as-of-said")).to_have_text("now")
    expect(shown.rows).to_have_count(5)


def test_a_link_leads_to_a_state(shown: Shown) -> None:
    page = shown.open("#/concept/ingrid")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".timeline").get_by_role("link", name="8 Jan 2026").click()
    expect(page.get_by_role("slider")).to_have_value("4")
    expect(page.locator(".timeline > li")).to_have_count(2)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#status")).to_contain_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{shown.address}#/concept/ingrid?t=4"
    shown.open(link.removeprefix(shown.address))
    expect(page.get_by_label("Temporal index t")).to_have_value("4")
    expect(page.locator(".timeline > li")).to_have_count(2)
    # Links of this page stay in the past.
    page.locator("#graph-details summary").click()
    shown.rows.get_by_role("link", name="Carter").click()
    expect(page.locator("#results h2")).to_have_text("Carter")
    expect(page.locator(".timeline")).not_to_contain_text("Porto")


def test_the_statement_that_holds_comes_first_and_its_path_is_lit(shown: Shown) -> None:
    page = shown.open()
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Recall").click()
    cards = page.locator(".card")
    lead = cards.first
    expect(lead.locator(".statement")).to_have_text("Ingrid moved to Porto.")
    expect(lead).to_have_class(re.compile("lit"))
    expect(lead).to_contain_text("9 Jan 2026")
    expect(cards.nth(1).locator("s")).to_have_text("Ingrid lives in Malaga.")
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    sizes = [cards.nth(each).locator(".statement").evaluate(size) for each in (0, 1)]
    assert sizes[0] > 1.3 * sizes[1]
    assert {"?", "Ingrid", "Porto", "1"} <= shown.lit
    assert "2" in shown.nodes
    assert "2" not in shown.lit
    # What is not lit is there to be seen, too.
    faintest = page.locator("#canvas .step").evaluate_all(
        "all => Math.min(...all.map(each => Number(getComputedStyle(each).opacity)))"
    )
    assert faintest == 1
    page.locator("#graph-details summary").click()
    expect(shown.rows.filter(has_text="statement 1").first).to_contain_text("question › Ingrid")


def test_unlikely_statements_are_folded_away(shown: Shown) -> None:
    page = shown.open(f"#/ask/{QUESTION}")
    folded = page.locator("details.unlikely")
    expect(folded.locator(".card").first).to_be_hidden()
    before = page.locator("#canvas .node").count()
    folded.locator("summary").first.click()
    expect(folded.locator(".card").first).to_be_visible()
    # The drawing follows behind the list.
    more = "before => document.querySelectorAll('#canvas .node').length > before"
    page.wait_for_function(more, arg=before)


def test_another_statement_lights_another_path(shown: Shown) -> None:
    page = shown.open("#/ask/What about Brandon%3F")
    second = page.get_by_role("button", name="Why statement 2")
    second.click()
    expect(second).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".card.lit")).to_have_count(1)
    assert "2" in shown.lit
    assert "1" not in shown.lit
    page.locator(".card.lit").get_by_role("button", name="Passage").click()
    expect(page.locator(".card.lit .quote")).to_have_text(re.compile("Brandon.*Paris"))


def test_a_long_timeline_comes_in_pages(browser: Browser) -> None:
    with RecallM() as memory, serving(memory) as url, shown_at(browser, url) as shown:
        memory.update_many([f"Ada met Person{n}." for n in range(100, 140)])
        page = shown.open("#/concept/ada")
        expect(page.locator(".timeline > li")).to_have_count(30)
        page.get_by_role("button", name="Earlier statements").click()
        expect(page.locator(".timeline > li")).to_have_count(40)
        expect(page.locator(".timeline > li").nth(30)).to_be_focused()
        expect(page.get_by_role("button", name="Earlier statements")).to_be_hidden()
        expect(page.locator("#graph-note")).to_have_text("latest 24 neighbours")
        page.locator("#graph-details summary").click()
        expect(shown.rows).to_have_count(24)
        page.get_by_role("button", name="More neighbours").click()
        expect(shown.rows).to_have_count(40)
        expect(page.locator("#graph-note")).to_have_text("24 of 40 neighbours")


# ---- hostile texts ---------------------------------------------------------------------------


HOSTILE_VIEWS = ("#/", "#/concepts", "#/concepts/script", "#/concept/mallori", "#/ask/Mallory%3F")


def test_hostile_texts_stay_text(browser: Browser, memory: RecallM) -> None:
    for place, text in enumerate(HOSTILE):
        memory.update(f"Mallory wrote {text} to Ann.", speaker=text[:500], source=text[:500])
        memory.update(f"{place} Mallory met Ann.", session=text[:500])
    with serving(memory) as url:
        for viewport in (WIDE, NARROW):
            with shown_at(browser, url, viewport=viewport) as shown:
                for view in HOSTILE_VIEWS:
                    page = shown.open(view)
                    markup = "#results img, #results script, #graph-list img"
                    assert page.locator(markup).count() == 0, view
                    assert page.locator('a[href^="javascript"]').count() == 0, view
                    assert "\u202e" not in page.locator("body").inner_text(), view
                    width = page.evaluate("document.documentElement.scrollWidth")
                    assert width <= viewport["width"], view


def test_a_hostile_address_stays_text(shown: Shown) -> None:
    for text in ("<img src=x onerror=window.hacked=1>", "%", "%E0%A4%A", "javascript:alert(1)"):
        page = shown.open(f"#/concept/{text}")
        expect(page.locator("#results")).not_to_be_empty()
        assert page.locator("#results img").count() == 0


def test_a_very_long_statement_is_shown_when_it_is_asked_for(browser: Browser) -> None:
    with RecallM() as memory, serving(memory) as url, shown_at(browser, url) as shown:
        memory.update(
            "Mallory wrote " + " and ".join(f"letter {n}" for n in range(900)) + " to Ann."
        )
        page = shown.open("#/concept/ann")
        expect(page.locator(".timeline")).not_to_contain_text("letter 899")
        page.get_by_role("button", name="Show all of it").click()
        expect(page.locator(".timeline")).to_contain_text("letter 899 to Ann.")


# ---- everybody -------------------------------------------------------------------------------


def contrast(page: Page, selector: str) -> float:
    """The contrast ratio (WCAG 2.2) of an element's text with the page."""
    found: float = page.locator(selector).first.evaluate(
        """element => {
            const luminance = text => {
                const parts = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map(each => each / 255)
                    .map(each => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
            };
            const style = getComputedStyle(document.documentElement);
            const [ink, paper] = [getComputedStyle(element).color, style.backgroundColor];
            const [high, low] = [luminance(ink), luminance(paper)].sort((a, b) => b - a);
            return (high + 0.05) / (low + 0.05);
        }"""
    )
    return found


def test_both_themes_are_readable(browser: Browser, address: str) -> None:
    for scheme in ("light", "dark"):
        with shown_at(browser, address, color_scheme=scheme) as shown:
            page = shown.open("#/concept/ingrid")
            paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            is_dark = all(int(part) < 64 for part in re.findall(r"\d+", paper))
            assert is_dark == (scheme == "dark")
            for selector in ("#results h2", ".meta a", ".timeline s", "nav a", ".time label"):
                assert contrast(page, selector) >= 4.5, (scheme, selector)


def test_a_question_is_asked_and_read_with_the_keyboard_alone(shown: Shown) -> None:
    page = shown.open()
    focused = page.locator(":focus")
    page.keyboard.press("Tab")
    expect(focused).to_have_text("Skip to the results")
    for name in ("Memory", "Concepts"):
        page.keyboard.press("Tab")
        expect(focused).to_have_text(name)
    page.keyboard.press("Tab")
    expect(focused).to_have_id("question")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".card.lit")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("recalled")
    for name in ("Recall", "", "", "Copy link"):  # between them the slider and t
        page.keyboard.press("Tab")
        expect(focused).to_have_text(name)
    page.keyboard.press("Tab")
    expect(focused).to_have_attribute("aria-label", "Why statement 1")
    page.get_by_role("button", name="Why statement 2").focus()
    page.keyboard.press("Enter")
    expect(focused).to_have_attribute("aria-expanded", "true")
    page.locator("#graph-details summary").focus()
    page.keyboard.press("Enter")
    expect(shown.rows.first).to_be_visible()


def test_everything_has_a_name(shown: Shown) -> None:
    for view in ("#/", "#/concepts", "#/concept/ingrid", f"#/ask/{QUESTION}"):
        page = shown.open(view)
        nameless = page.locator(
            "button:visible, a:visible, input:visible, [role=img]"
        ).evaluate_all(
            """all => all.filter(each => !(each.textContent.trim() || each.labels?.length
                || each.getAttribute("aria-label") || each.getAttribute("aria-labelledby")))
                .map(each => each.outerHTML)"""
        )
        assert nameless == []
        assert page.locator("h2:visible").count() >= 1
