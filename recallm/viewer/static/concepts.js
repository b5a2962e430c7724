// Concepts: finding them, and what is known of one over time.

import { read } from "./api.js";
import { about, announce, conceptLink, counted, find, make, moment, number, plain, references, remembered, shortened } from "./dom.js";
import { forgetButton } from "./forgetting.js";
import { showAround, showNeighbourhood } from "./panel.js";
import { asOf, showMoment } from "./time.js";

const NEIGHBOURS = 24;

const heading = (title, note, id) =>
  make("div", { class: "heading" },
    make("h2", { id, class: "text", dir: "auto" }, shortened(title, 200)),
    note && make("p", { class: "quiet" }, note));

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
  const page = async (skip) => {
    const found = await read("concepts", { text, skip, as_of: asOf() }, signal);
    return {
      found,
      hasMore: found.more,
      items: found.concepts.map((each) =>
        make("li", {},
          conceptLink(each.name, each.label),
          make("span", { class: "quiet number" },
            `${counted(each.statements, "statement")} · t ${number(each.t_index)}`))),
    };
  };
  const first = await page(0);
  const { of_updates: updates, searched } = first.found;
  const listed = updates ? `of the ${number(updates)} updates before` : `of the newest ${number(searched)}`;
  const note = text ? `names first, then parts of the labels ${listed}` : `latest first${updates ? `, ${listed}` : ""}`;
  const none = make("p", { class: "empty" }, "No concept has this name.");
  find("results").replaceChildren(
    heading(text ? "Found" : "Concepts", note),
    ...(first.items.length ? paged("ul", first, page, { class: "rows", more: "More concepts" }) : [none]),
  );
  announce(first.items.length ? `${counted(first.items.length, "concept")} found.` : none.textContent);
  await showAround(first.found.concepts[0], NEIGHBOURS, { as_of: asOf() }, signal);
}

export async function show(name, signal, neighbours = NEIGHBOURS) {
  const at = { as_of: asOf() };
  const [graph, first, facts] = await Promise.all([
    read("graph", { concept: name, limit: neighbours, ...at }, signal),
    timelinePage(name, at, 0, signal),
    read("facts", { subject: name, ...at }, signal),
  ]);
  showMoment(graph.said);
  const [centre] = graph.concepts;
  const label = centre?.label ?? name;
  const timeline = first.items.length
    ? paged("ol", first, (skip) => timelinePage(name, at, skip), { class: "timeline", more: "Earlier statements" })
    : [make("p", { class: "empty" }, "No statement mentions it at this time.")];
  find("results").replaceChildren(
    make("div", { class: "block" },
      heading(label, centre ? `${counted(centre.statements, "statement")}, latest at t ${number(centre.t_index)}` : null)),
    ...(facts.relations.length
      ? [make("section", { class: "block", "aria-labelledby": "facts-title" },
          heading("Facts", "what holds, and what held", "facts-title"), factList(facts.relations))]
      : []),
    make("section", { class: "block", "aria-labelledby": "timeline-title" },
      heading("Timeline", "newest first", "timeline-title"), ...timeline),
  );
  announce(`${label}: ${counted(first.items.length, "statement")} shown.`);
  await showNeighbourhood(graph, () => show(name, undefined, neighbours * 2));
}

async function timelinePage(name, at, skip, signal) {
  const found = await read("timeline", { concept: name, skip, ...at }, signal);
  return {
    hasMore: found.more,
    items: found.statements.reverse().map((each) =>
      make("li", { class: each.superseded ? "superseded" : "" },
        remembered(each.text, each.superseded ? "s" : "span"),
        about(each, each.superseded && make("span", { class: "flag" }, "superseded"),
          ...references(each), forgetButton(each)))),
  };
}

function factList(relations) {
  return make("dl", { class: "facts" }, ...relations.map(({ relation, values }) =>
    make("div", {},
      make("dt", { class: "text", dir: "auto" }, plain(relation)),
      make("dd", {}, make("ul", {}, ...values.map(factValue))))));
}

function factValue(value) {
  const since = moment(value.since) ?? `t ${number(value.since_t)}`;
  const until = value.until_t === null ? null : moment(value.until) ?? `t ${number(value.until_t)}`;
  return make("li", { class: until ? "ended" : "" },
    make(until ? "s" : "span", { class: "text", dir: "auto" }, plain(value.object)),
    make("span", { class: "quiet number" }, until ? `${since} – ${until}, ${value.ended_by}` : `since ${since}`));
}
