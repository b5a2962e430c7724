// The page: its views, and the addresses that lead to them.

import { read } from "./api.js";
import { find, notice, shortened } from "./dom.js";
import { allowForgetting } from "./forgetting.js";
import { search, show } from "./concepts.js";
import { showMemory } from "./memory.js";
import { ask, welcome } from "./question.js";
import { onChange, setNewest } from "./time.js";

let under = new AbortController();
let isFirst = true;

// #/, #/ask/QUESTION, #/concepts, #/concepts/TEXT, #/concept/NAME, #/memory
function route() {
  const [view = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  let given;
  try {
    given = decodeURIComponent(rest.join("/"));
  } catch {
    given = rest.join("/");
  }
  return { view: view || "ask", given };
}

const NAVIGATION = { ask: "question", concepts: "concepts", concept: "concepts", memory: "memory" };

function showForms(view, given) {
  const current = NAVIGATION[view] ?? "question";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  find("question-form").hidden = current === "concepts";
  find("concept-form").hidden = current !== "concepts";
  if (view === "ask") find("question").value = given;
  if (view === "concepts") find("concept").value = given;
  document.title = given ? `${shortened(given, 40)} – recallm` : "recallm";
}

async function overview(signal) {
  const found = await read("overview", {}, signal);
  find("namespace").textContent = shortened(found.namespace);
  setNewest(found.stats.t_index);
  allowForgetting(found.may_forget, refresh);
  return found;
}

async function refresh() {
  under.abort();
  under = new AbortController();
  const { signal } = under;
  const { view, given } = route();
  showForms(view, given);
  find("results").setAttribute("aria-busy", "true");
  try {
    // The size of a large memory takes a while to count: only the first view waits for it.
    const counted = overview(signal);
    if (isFirst || view === "memory") await counted;
    else counted.catch(() => {}); // the view's own request fails too, and says so
    if (view === "memory") await showMemory(await counted);
    else if (view === "concepts") await search(given, signal);
    else if (view === "concept") await show(given, signal);
    else if (given) await ask(given, signal);
    else await welcome(signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    find("results").replaceChildren(notice(error));
  }
  find("results").setAttribute("aria-busy", "false");
  // Where the link that led here is gone, the keyboard goes on at the results.
  if (!isFirst && document.activeElement === document.body) find("results").focus({ preventScroll: true });
  isFirst = false;
}

function submits(form, input, address) {
  find(form).addEventListener("submit", (event) => {
    event.preventDefault();
    const hash = address(encodeURIComponent(find(input).value.trim()));
    if (location.hash === hash) refresh();
    else location.hash = hash;
  });
}

submits("question-form", "question", (text) => (text ? `#/ask/${text}` : "#/"));
submits("concept-form", "concept", (text) => (text ? `#/concepts/${text}` : "#/concepts"));
onChange(refresh);
addEventListener("hashchange", () => {
  if (location.hash === "" || location.hash.startsWith("#/")) refresh();
});
refresh();
