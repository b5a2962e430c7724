// Concepts: finding them, and what is known of one over time.

import { asOf } from "./address.js";
import { read } from "./api.js";
import {
  about, announce, conceptLink, counted, find, heading, make, moment, number, plain, references, remembered, when,
} from "./dom.js";
import { showNothing } from "./graph.js";
import { showAround, showNeighbourhood } from "./neighbourhood.js";
import { showMoment } from "./time.js";

// A list whose next page a button brings; focus goes to the first new item.
function paged(kind, first, nextPage, label) {
  const list = make(kind, { class: label.class });
  const button = make("button", { type: "button", class: "plain" }, label.more);
  const add = ({ items, hasMore }) => {
    list.append(...items);
    button.hidden = !hasMore;
    return items[0];
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const added = add(await nextPage(list.children.length));
      announce(`${counted(list.children.length, "item")} shown.`);
      if (added) {
        added.tabIndex = -1;
        added.focus();
      }
    } catch (error) {
      announce(error.message);
    }
    button.disabled = false;
  });
  add(first);
  return [list, button];
}

export async function search(text, signal) {
  const at = { as_of: asOf() };
  const page = async (skip) => {
    const found = await read("concepts", { text, skip, ...at }, signal);
    return {
      found,
      hasMore: found.more,
      items: found.concepts.map((each) =>
        make("li", {},
          conceptLink(each.name, each.label),
          make("span", { class: "meta" }, counted(each.statements, "statement")))),
    };
  };
  const first = await page(0);
  const none = make("p", { class: "empty" }, "No concept has this name.");
  find("results").replaceChildren(
    heading(text ? "Found" : "Latest concepts"),
    ...(first.items.length ? paged("ul", first, page, { class: "rows", more: "More concepts" }) : [none]),
  );
  announce(first.items.length ? `${counted(first.items.length, "concept")} found.` : none.textContent);
  if (first.items.length) await showAround(first.found.concepts[0].name, at, signal);
  else showNothing();
}

export async function show(name, signal, neighbours = 24) {
  const at = { as_of: asOf() };
  const [graph, first] = await Promise.all([
    read("graph", { concept: name, limit: neighbours, ...at }, signal),
    timelinePage(name, at, 0, signal),
  ]);
  showMoment(graph.said);
  const [centre] = graph.concepts;
  const note = centre ? centre.statements > 0 && counted(centre.statements, "statement")
    : "This concept is not known at this time.";
  find("results").replaceChildren(
    heading(centre?.label ?? name, note),
    ...section("Facts", [...graph.facts.map(values), ...graph.pointing.map(pointing)], (rows) =>
      [make("dl", { class: "facts" }, ...rows)]),
    ...section("Timeline", first.items, () =>
      paged("ol", first, (skip) => timelinePage(name, at, skip), { class: "timeline", more: "Earlier statements" })),
  );
  announce(`${centre?.label ?? name}: ${counted(first.items.length, "statement")} shown.`);
  showNeighbourhood(graph, () => show(name, undefined, neighbours * 2));
}

const section = (title, items, shown) =>
  items.length ? [make("section", { class: "block" }, make("h3", {}, title), ...shown(items))] : [];

async function timelinePage(name, at, skip, signal) {
  const found = await read("timeline", { concept: name, skip, ...at }, signal);
  return {
    hasMore: found.more,
    items: found.statements.reverse().map((each) =>
      make("li", { class: each.superseded ? "superseded" : "" },
        remembered(each.text, each.superseded ? "s" : "span"),
        about(each, each.superseded && "superseded", ...references(each)))),
  };
}

const values = ({ relation, values }) =>
  make("div", {},
    make("dt", { class: "text", dir: "auto" }, plain(relation)),
    make("dd", {}, make("ul", {}, ...values.map((each) => {
      const since = moment(each.since) ?? `t ${number(each.since_t)}`;
      const until = each.until_t === null ? null : moment(each.until) ?? `t ${number(each.until_t)}`;
      return make("li", { class: until ? "superseded" : "" },
        make(until ? "s" : "span", { class: "text", dir: "auto" }, plain(each.object)),
        make("span", { class: "meta" }, until ? `${since} – ${until}, ${each.ended_by}` : `since ${since}`));
    }))));

const pointing = (fact) =>
  make("div", {},
    make("dt", {}, conceptLink(fact.subject, fact.subject)),
    make("dd", {},
      make("span", { class: "text", dir: "auto" }, plain(`${fact.relation} ${fact.object}`)),
      make("span", { class: "meta" }, when(fact))));
