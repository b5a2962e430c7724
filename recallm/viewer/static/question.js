// A question, what is recalled for it, and why.

import { asOf } from "./address.js";
import { read } from "./api.js";
import { about, announce, counted, find, heading, make, plain, references, remembered, shortened } from "./dom.js";
import { showNothing } from "./graph.js";
import { light, showPaths } from "./paths.js";
import { showMoment } from "./time.js";

const UNLIKELY = 0.25; // of the first statement's probability

export async function ask(question, signal) {
  const found = await read("recall", { question, as_of: asOf() }, signal);
  showMoment(found.said);
  const results = find("results");
  const names = found.unknown.map((each) => shortened(each));
  const unknown = names.length ? `Nothing known of ${names.join(", ")}` : null;
  if (!found.statements.length) {
    const title = unknown ?? "Nothing known";
    results.replaceChildren(heading(title, unknown ? null : confidence(found)));
    results.firstChild.classList.add("lead");
    announce(`${title}.`);
    showNothing();
    return;
  }
  const [first, ...others] = ranked(found.statements);
  const isUnlikely = (each) => !each.superseded && each.score < UNLIKELY * first.score;
  const likely = [first, ...others.filter((each) => !isUnlikely(each))];
  const unlikely = others.filter(isUnlikely);
  const statements = [...likely, ...unlikely];
  const greatest = Math.max(...statements.flatMap((each) => each.signals.map(({ part }) => Math.abs(part))), 0.01);
  const select = (place) => {
    cards.forEach((card, each) => {
      card.classList.toggle("lit", each === place);
      card.querySelector(".badge").setAttribute("aria-expanded", String(each === place));
      card.querySelector(".why").hidden = each !== place;
    });
    light(place);
  };
  const cards = statements.map((each, place) => card(each, place, greatest, found, select));
  const folded = unlikely.length > 0 && make("details", { class: "unlikely" },
    make("summary", {}, counted(unlikely.length, "unlikely statement")),
    make("ol", { start: likely.length + 1 }, ...cards.slice(likely.length)));
  const draw = () => {
    showPaths(found, folded?.open ? statements : likely, (place) => {
      select(place);
      cards[place].scrollIntoView({ block: "nearest" });
    });
    select(0);
  };
  if (folded) folded.addEventListener("toggle", draw);
  // What is recalled for somebody unknown is about others.
  cards[0].classList.toggle("lead", unknown === null);
  results.replaceChildren(...[
    unknown && heading(unknown),
    make("p", { class: "quiet text" }, reading(found)),
    make("ol", {}, ...cards.slice(0, likely.length)),
    folded,
    make("details", {},
      make("summary", {}, `What the model is given: ${counted(found.tokens, "token")}`),
      make("p", { class: "quote text", dir: "auto", tabindex: "0" }, plain(found.text))),
  ].filter(Boolean));
  announce(`${counted(statements.length, "statement")} recalled.`);
  draw();
}

// The likeliest statement that still stands comes first; then what was superseded, then the rest.
function ranked(statements) {
  const byScore = [...statements].sort((a, b) => b.score - a.score);
  const standing = byScore.filter((each) => !each.superseded);
  return [...standing.slice(0, 1), ...byScore.filter((each) => each.superseded), ...standing.slice(1)];
}

function confidence({ confidence: known }) {
  if (known === null) return null;
  return `Confidence ${known > 0.99 ? "> 99" : known < 0.01 ? "< 1" : Math.round(100 * known)} %`;
}

function reading(found) {
  return [
    confidence(found),
    found.complete && "all that matches is here",
    found.left_out > 0 && `${counted(found.left_out, "match", "matches")} left out`,
  ].filter(Boolean).map(plain).join(" · ");
}

function card(statement, place, greatest, { intercept, time }, select) {
  const why = `why-${place}`;
  const badge = make("button", {
    type: "button", class: "badge", "aria-expanded": "false", "aria-controls": why,
    "aria-label": `Why statement ${place + 1}`, on: { click: () => select(place) },
  }, String(place + 1));
  const text = remembered(statement.text, statement.superseded ? "s" : "span");
  text.classList.toggle("long", statement.text.length > 120);
  text.addEventListener("click", () => select(place)); // for the mouse; the button serves all
  return make("li", { class: `card${statement.superseded ? " superseded" : ""}` },
    badge,
    text,
    about(statement,
      statement.superseded && "superseded",
      statement.score !== null && `${Math.round(100 * statement.score)} % likely`,
      ...references(statement)),
    make("div", { class: "why", id: why, hidden: "" },
      make("details", {},
        make("summary", {}, "Why"),
        make("ul", { class: "path", "aria-label": "Path" },
          ...[...statement.path, ...time.map((rule) => `time: ${rule}`)].map((step) => make("li", { class: "text", dir: "auto" }, plain(step)))),
        ...signals(statement.signals, greatest, intercept)),
      make("div", { class: "meta" }, passage(statement))));
}

// Bars to the right speak for a statement, bars to the left against it.
function signals(parts, greatest, intercept) {
  if (!parts.length) return [];
  return [
    make("ul", { class: "signals", "aria-label": "Signals" }, ...parts.map(({ name, part, meaning }) => {
      const fill = make("span", { class: part > 0 ? "plus" : "minus" });
      fill.style.width = `${(50 * Math.abs(part)) / greatest}%`;
      return make("li", {},
        make("span", { class: "name" }, name),
        make("span", { class: "bar", "aria-hidden": "true" }, fill),
        make("span", { class: "part" }, `${part > 0 ? "+" : "−"}${Math.abs(part).toFixed(2)}`),
        make("span", { class: "meaning" }, meaning));
    })),
    make("p", { class: "quiet number" },
      `Their sum and ${intercept.toFixed(2)}, where every statement begins, are the log-odds.`),
  ];
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
