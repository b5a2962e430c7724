// How much the memory holds.

import { find, make, number, shortened } from "./dom.js";
import { showNothing } from "./panel.js";

const FIGURES = [
  ["passages", "passages"], ["statements", "statements"], ["concepts", "concepts"],
  ["relations", "relations"], ["entities", "entities"], ["triplets", "triplets"],
  ["sessions", "sessions"], ["vectors", "vectors"], ["summaries", "revised contexts"],
  ["t_index", "t, the latest update"],
];

export function showMemory({ namespace, stats }) {
  find("results").replaceChildren(
    make("div", { class: "heading" },
      make("h2", {}, "Memory"),
      make("p", { class: "quiet text", dir: "auto" }, `namespace ${shortened(namespace)}, as of now`)),
    make("dl", { class: "figures" }, ...FIGURES.map(([name, label]) =>
      make("div", {}, make("dt", {}, label), make("dd", {}, number(stats[name]))))),
  );
  return showNothing("Select a concept, or ask a question.");
}
