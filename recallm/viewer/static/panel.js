// The graph beside the results: its title, its list, which says all that the drawing shows.

import { read } from "./api.js";
import { light, clear, drawNeighbourhood, drawRecall } from "./canvas.js";
import { conceptLink, counted, find, make, number, shortened } from "./dom.js";
import { showMoment } from "./time.js";

function head(title, note, legend) {
  find("graph-title").textContent = title;
  find("graph-note").textContent = note;
  find("legend").textContent = legend;
}

function list(rows) {
  find("graph-list").replaceChildren(...rows);
}

function more(listener) {
  const button = find("graph-more");
  button.hidden = !listener;
  button.onclick = listener;
}

export async function showNothing(note) {
  head("Graph", note, "");
  list([]);
  more(null);
  find("graph-details").hidden = true;
  await clear();
}

// The graph around one of the concepts that a list shows.
export async function showAround(concept, limit, at, signal) {
  if (!concept) {
    await showNothing("Nothing to draw.");
    return;
  }
  const graph = await read("graph", { concept: concept.name, limit, ...at }, signal);
  showMoment(graph.said);
  await showNeighbourhood(graph, null);
}

export async function showNeighbourhood(graph, onMore) {
  const [centre] = graph.concepts;
  if (!centre) {
    await showNothing("This concept is not known at this time.");
    return;
  }
  find("graph-details").hidden = false;
  const neighbours = graph.concepts.slice(1);
  head(
    shortened(centre.label),
    `${graph.more ? "its latest " : ""}${counted(neighbours.length, "neighbour")}, ` +
      counted(graph.relations.length, "relation"),
    "The stronger a relation, the thicker; the older, the fainter. Select a concept to go there.",
  );
  const own = new Map();
  for (const each of graph.relations) {
    if (each.a === centre.name) own.set(each.b, each);
    if (each.b === centre.name) own.set(each.a, each);
  }
  list(neighbours.map((each) => {
    const relation = own.get(each.name);
    const about = relation ? `strength ${number(relation.strength)}, t ${number(relation.t_index)}` : "";
    return make("li", {}, conceptLink(each.name, each.label), make("span", { class: "quiet number" }, about));
  }));
  more(graph.more ? onMore : null);
  await drawNeighbourhood(graph, centre.name);
}

export async function showRecall(found, onStatement) {
  find("graph-details").hidden = false;
  more(null);
  head(
    "How the graph led there",
    `${counted(found.graph.concepts.length, "concept")}, ${counted(found.statements.length, "statement")}`,
    "From the question (?) by its concepts to the statements, by their numbers. The path of the selected one is lit.",
  );
  await drawRecall(found, onStatement);
}

export async function lightPath(found, place) {
  await light(found, place);
  const labels = new Map(found.graph.concepts.map((each) => [each.name, each.label]));
  const { links } = found.statements[place];
  const paths = links.length ? links : [[]];
  list(paths.map((names) => {
    const steps = ["question", ...names.map((name) => shortened(labels.get(name) ?? name)), `statement ${place + 1}`];
    return make("li", { class: "text" }, steps.join(" › "));
  }));
}
