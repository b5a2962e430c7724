// A question, what is recalled for it, and why.

import { read } from "./api.js";
import { about, announce, conceptLink, counted, find, make, notice, plain, references, remembered } from "./dom.js";
import { forgetButton } from "./forgetting.js";
import { lightPath, showAround, showNothing, showRecall } from "./panel.js";
import { asOf, showMoment } from "./time.js";

const SHOWN_SIGNALS = 5;

const LATEST = 8;
const NEIGHBOURS = 24;

// The page before any question: what the memory last heard of.
export async function welcome(signal) {
  const at = { as_of: asOf() };
  const { concepts } = await read("concepts", at, signal);
  find("results").replaceChildren(
    make("p", { class: "intro" },
      "Ask a question, and see which statements come back, what spoke for each of them, and the path " +
      "through the graph that led there. Move the slider to ask the memory as it stood."),
    ...(concepts.length ? [make("ul", { class: "examples", "aria-label": "Latest concepts" },
      ...concepts.slice(0, LATEST).map((each) => make("li", {}, conceptLink(each.name, each.label))))] : []),
  );
  await showAround(concepts[0], NEIGHBOURS, at, signal);
}

export async function ask(question, signal) {
  const found = await read("recall", { question, as_of: asOf() }, signal);
  showMoment(found.said);
  const results = find("results");
  if (!found.statements.length) {
    results.replaceChildren(make("p", { class: "empty" }, "Nothing was recalled for this question."));
    announce("Nothing was recalled.");
    await showNothing("Nothing was recalled.");
    return;
  }
  const greatest = Math.max(...found.statements.flatMap((each) => each.signals.map(({ part }) => Math.abs(part))), 0.01);
  let cards = [];
  const select = (place) => {
    cards.forEach((card, each) => {
      card.classList.toggle("lit", each === place);
      card.querySelector(".badge").setAttribute("aria-expanded", String(each === place));
      card.querySelector(".why").hidden = each !== place;
    });
    return lightPath(found, place);
  };
  const selectAndShow = async (place) => {
    await select(place);
    cards[place].scrollIntoView({ block: "nearest" });
  };
  cards = found.statements.map((each, place) => card(each, place, greatest, found.intercept, select));
  results.replaceChildren(
    make("div", { class: "heading" },
      make("h2", {}, "Recalled"),
      make("p", { class: "quiet" }, `${counted(found.statements.length, "statement")}, ${counted(found.tokens, "token")}, oldest first`)),
    ...reading(found),
    make("ol", {}, ...cards),
    asGiven(found),
  );
  announce(`${counted(found.statements.length, "statement")} recalled.`);
  try {
    await showRecall(found, selectAndShow);
    await select(best(found.statements));
  } catch (error) {
    results.prepend(notice(error));
  }
}

// The statement that most speaks for; it is lit first.
function best(statements) {
  const scores = statements.map((each) => each.score ?? 0);
  return scores.indexOf(Math.max(...scores));
}

function reading(found) {
  const notes = [...found.time.map((rule) => `Time: ${rule}`)];
  if (found.complete) notes.push("All that matches is here.");
  if (found.left_out) notes.push(`${counted(found.left_out, "match", "matches")} left out.`);
  return notes.map((note) => make("p", { class: "quiet text" }, note));
}

function asGiven(found) {
  return make("details", { class: "block" },
    make("summary", {}, "The text that the model is given"),
    make("p", { class: "quote text", dir: "auto", tabindex: "0" }, plain(found.text)));
}

function card(statement, place, greatest, intercept, select) {
  const flags = [
    statement.score !== null && make("span", { class: "number" }, `${Math.round(100 * statement.score)} % likely`),
    statement.superseded && make("span", { class: "flag" }, "superseded"),
  ];
  const why = `why-${place}`;
  const badge = make("button", {
    type: "button", class: "badge", "aria-expanded": "false", "aria-controls": why,
    "aria-label": `Why statement ${place + 1}`, on: { click: () => select(place) },
  }, String(place + 1));
  const text = remembered(statement.text, "p");
  text.addEventListener("click", () => select(place)); // for the mouse; the button serves all
  return make("li", { class: `card${statement.superseded ? " superseded" : ""}` },
    badge,
    text,
    about(statement, ...flags, ...references(statement)),
    make("div", { class: "why", id: why, hidden: "" },
      path(statement),
      signals(statement.signals.slice(0, SHOWN_SIGNALS), greatest, "Strongest signals"),
      explained(statement.signals, greatest, intercept),
      make("div", { class: "actions" }, passage(statement), forgetButton(statement))));
}

function path(statement) {
  if (!statement.path.length) return null;
  return make("ul", { class: "path", "aria-label": "Path" },
    ...statement.path.map((step) => make("li", { class: "text", dir: "auto" }, plain(step))));
}

// Bars to the right speak for a statement, bars to the left against it.
function signals(parts, greatest, label, isExplained = false) {
  if (!parts.length) return null;
  return make("ul", { class: "signals", "aria-label": label }, ...parts.map(({ name, part, meaning }) => {
    const fill = make("span", { class: part > 0 ? "plus" : "minus" });
    fill.style.width = `${(50 * Math.abs(part)) / greatest}%`;
    return make("li", { title: isExplained ? null : meaning },
      make("span", { class: "name" }, name),
      make("span", { class: "bar", "aria-hidden": "true" }, fill),
      make("span", { class: "part" }, `${part > 0 ? "+" : "−"}${Math.abs(part).toFixed(2)}`),
      isExplained ? make("span", { class: "meaning" }, meaning) : null);
  }));
}

function explained(parts, greatest, intercept) {
  if (!parts.length) return null;
  return make("details", {},
    make("summary", {}, `All ${counted(parts.length, "signal")}, and what they mean`),
    signals(parts, greatest, "All signals", true),
    make("p", { class: "quiet number" },
      `Their sum and ${intercept.toFixed(2)}, where every statement begins, are the log-odds.`));
}

// The whole passage, verbatim, when it is asked for.
function passage(statement) {
  if (!statement.passage) return null;
  const text = make("p", { class: "quote text", dir: "auto", tabindex: "0", hidden: "" });
  const button = make("button", { type: "button", class: "plain", "aria-expanded": "false" }, "Passage");
  button.addEventListener("click", async () => {
    if (text.hidden) {
      try {
        text.textContent = plain((await read("passage", { id: statement.passage })).text);
      } catch (error) {
        text.textContent = error.message;
      }
    }
    text.hidden = !text.hidden;
    button.setAttribute("aria-expanded", String(!text.hidden));
    button.parentElement.after(text);
  });
  return button;
}
