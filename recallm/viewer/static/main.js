// The page: its views, and the addresses that lead to them.

import { address, place } from "./address.js";
import { read } from "./api.js";
import { search, show } from "./concepts.js";
import { find, notice, shortened } from "./dom.js";
import { overview } from "./overview.js";
import { ask } from "./question.js";
import { onChange, setNewest } from "./time.js";

let under = new AbortController();
let isFirst = true;

function showForms(view, given) {
  const current = view.startsWith("concept") ? "concepts" : "memory";
  for (const link of document.querySelectorAll("nav a")) {
    link.href = address(link.dataset.view === "memory" ? "" : link.dataset.view);
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  find("question-form").hidden = current !== "memory";
  find("concept-form").hidden = current !== "concepts";
  if (current === "memory") find("question").value = given;
  if (view === "concepts") find("concept").value = given;
  document.title = given ? `${shortened(given, 40)} – recallm` : "recallm";
}

async function counts(signal) {
  const found = await read("overview", {}, signal);
  find("namespace").textContent = shortened(found.namespace);
  setNewest(found.stats.t_index);
  return found;
}

async function refresh() {
  under.abort();
  under = new AbortController();
  const { signal } = under;
  find("results").setAttribute("aria-busy", "true");
  try {
    // The size of a large memory takes a while to count: only the first view waits for it.
    const counted = counts(signal);
    counted.catch(() => {}); // the view's own request fails too, and says so
    if (isFirst) {
      const { question } = await counted;
      // The page opens on the last question that was asked of this viewer.
      if (!location.hash && question) history.replaceState(null, "", address("ask", question));
    }
    const { view, given } = place();
    showForms(view, given);
    document.querySelector("main").dataset.view = view;
    if (view === "concepts") await search(given, signal);
    else if (view === "concept") await show(given, signal);
    else if (view === "ask" && given) await ask(given, signal);
    else await overview(counted, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    find("graph").hidden = true;
    find("results").replaceChildren(notice(error));
  }
  find("results").setAttribute("aria-busy", "false");
  // Where the link that led here is gone, the keyboard goes on at the results.
  if (!isFirst && document.activeElement === document.body) find("results").focus({ preventScroll: true });
  isFirst = false;
}

function submits(form, input, view) {
  find(form).addEventListener("submit", (event) => {
    event.preventDefault();
    const given = find(input).value.trim();
    const hash = address(given ? view : view.replace("ask", ""), given);
    if (location.hash === hash) refresh();
    else location.hash = hash;
  });
}

submits("question-form", "question", "ask");
submits("concept-form", "concept", "concepts");
onChange(refresh);
addEventListener("hashchange", () => {
  if (location.hash === "" || location.hash.startsWith("#/")) refresh();
});
refresh();
