// The memory at a glance: how much there is, what is mentioned most, what came last.

import { asOf } from "./address.js";
import { read } from "./api.js";
import { about, announce, conceptLink, counted, find, heading, make, number, plain, remembered, when } from "./dom.js";
import { showNothing } from "./graph.js";
import { showAround } from "./neighbourhood.js";
import { showMoment } from "./time.js";

const FIGURES = [
  ["passages", "passage"], ["relations", "relation"], ["sessions", "session"], ["vectors", "vector"],
  ["summaries", "revised context"],
];

const figures = (stats, named) =>
  named.filter(([name]) => stats[name]).map(([name, noun]) => counted(stats[name], noun));

export async function overview(counting, signal) {
  const at = { as_of: asOf() };
  const found = await read("latest", at, signal);
  showMoment(found.said);
  const { namespace, stats } = await counting;
  const centre = found.concepts[0]?.name ?? found.facts[0]?.subject;
  const what = [["statements", "statement"], ["triplets", "fact"]];
  const title = `${figures(stats, what).join(" and ")} about ${counted(stats.concepts, "concept")}`;
  const latest = [...found.facts, ...found.statements.reverse()].sort((a, b) => b.t_index - a.t_index);
  find("results").replaceChildren(
    ...(stats.t_index
      ? [heading(title, figures(stats, FIGURES).join(" · "))]
      : [heading(`Nothing is remembered in “${namespace}”`, "“recallm namespaces” lists who owns something here.")]),
    ...section("Most mentioned", make("ul", { class: "chips" }, ...found.concepts.map(concept))),
    ...section("Latest", make("ul", { class: "rows below" },
      ...latest.map((each) => (each.relation ? fact(each) : statement(each))))),
  );
  announce(title);
  if (centre) await showAround(centre, at, signal);
  else showNothing();
}

const section = (title, list) =>
  list.children.length ? [make("section", { class: "block" }, make("h3", {}, title), list)] : [];

const concept = ({ name, label, updates }) =>
  make("li", {}, conceptLink(name, label, make("span", { class: "quiet" }, ` ${number(updates)}`)));

const statement = (each) =>
  make("li", { class: each.superseded ? "superseded" : "" },
    remembered(each.text, each.superseded ? "s" : "span"), about(each, each.superseded && "superseded"));

const fact = (each) =>
  make("li", {},
    make("span", { class: "text", dir: "auto" },
      conceptLink(each.subject, each.subject), ` ${plain(each.relation)} `, make("b", {}, plain(each.object))),
    make("div", { class: "meta" }, when(each)));
