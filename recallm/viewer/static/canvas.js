// The drawing of a graph, by Cytoscape.js. What it shows stands in lists as well.

import { conceptAddress, find, shortened } from "./dom.js";

const LABEL = 22;
let drawing = null;
let chosen = () => {};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const narrow = () => find("canvas").clientWidth < 480;

function style() {
  const [ink, quiet, line, accent, paper, onAccent] = [
    "--ink", "--quiet", "--line", "--accent", "--raised", "--on-accent",
  ].map(colour);
  return [
    { selector: "node", style: {
      label: "data(label)", width: "data(size)", height: "data(size)",
      "background-color": quiet, "background-opacity": "data(newness)",
      "font-family": "system-ui, sans-serif", "font-size": 12, color: ink,
      "text-valign": "bottom", "text-margin-y": 5, "text-outline-color": paper,
      "text-outline-width": 2, "min-zoomed-font-size": 6, "overlay-opacity": 0,
    } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": quiet, "line-opacity": "data(newness)",
      "curve-style": "haystack", "haystack-radius": 0, "overlay-opacity": 0,
    } },
    { selector: "node.centre", style: {
      "background-color": accent, "background-opacity": 1, "font-weight": 600, "font-size": 14,
    } },
    { selector: "node.question", style: {
      "background-color": paper, "border-width": 1.5, "border-color": quiet, "background-opacity": 1,
      "text-valign": "center", "text-margin-y": 0, "font-weight": 600,
    } },
    { selector: "node.statement", style: {
      shape: "round-rectangle", "background-color": paper, "border-width": 1.5,
      "border-color": quiet, "background-opacity": 1, "text-valign": "center", "text-margin-y": 0,
    } },
    { selector: "edge.step", style: { "line-style": "dashed", "line-color": line, "line-opacity": 1 } },
    { selector: ".dim", style: { opacity: 0.35 } },
    { selector: "node.lit", style: { "border-color": accent, "border-width": 2.5 } },
    { selector: "node.concept.lit", style: { "background-color": accent, "background-opacity": 1 } },
    { selector: "node.statement.lit", style: {
      "background-color": accent, color: onAccent, "text-outline-width": 0,
    } },
    { selector: "edge.lit", style: {
      "line-color": accent, "line-opacity": 1, "line-style": "solid", width: 3, opacity: 1,
    } },
  ];
}

async function canvas() {
  find("canvas").hidden = false;
  if (drawing === null) {
    drawing = import("./vendor/cytoscape/cytoscape.esm.min.mjs").then(({ default: cytoscape }) => {
      const made = cytoscape({
        container: find("canvas"), style: style(), minZoom: 0.25, maxZoom: 3,
        boxSelectionEnabled: false, autounselectify: true, userZoomingEnabled: true,
      });
      made.on("tap", "node.concept", (event) => {
        location.hash = conceptAddress(event.target.id().slice(2));
      });
      made.on("tap", "node.statement", (event) => chosen(Number(event.target.id().slice(2))));
      made.on("mouseover", "node", () => { find("canvas").style.cursor = "pointer"; });
      made.on("mouseout", "node", () => { find("canvas").style.cursor = ""; });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => made.style(style()));
      new ResizeObserver(() => { made.resize(); made.fit(undefined, 36); }).observe(find("canvas"));
      return made;
    });
  }
  return drawing;
}

// Elements. The width of a relation is its strength, its opacity how new it is.

const conceptId = (name) => `c:${name}`;
const statementId = (place) => `s:${place}`;

function scales(relations, newest) {
  const oldest = Math.min(newest, ...relations.map((each) => each.t_index));
  return {
    width: (strength) => Math.min(6, 1 + 1.1 * Math.log2(strength)),
    newness: (t) => (newest > oldest ? 0.15 + (0.45 * (t - oldest)) / (newest - oldest) : 0.6),
  };
}

const pair = (a, b) => (a < b ? `${a}\n${b}` : `${b}\n${a}`);

function concept(each, kinds, newness) {
  return {
    group: "nodes", classes: `concept ${kinds}`,
    data: {
      id: conceptId(each.name), label: shortened(each.label, LABEL), newness,
      size: 12 + Math.min(16, 3 * Math.log2(1 + each.statements)),
    },
  };
}

export async function drawNeighbourhood(graph, centre) {
  const made = await canvas();
  const scale = scales(graph.relations, graph.t_index);
  const wanted = [
    ...graph.concepts.map((each) =>
      concept(each, each.name === centre ? "centre" : "", Math.min(1, 0.35 + scale.newness(each.t_index)))),
    ...graph.relations.map((each) => ({
      group: "edges",
      data: {
        id: `r:${pair(each.a, each.b)}`, source: conceptId(each.a), target: conceptId(each.b),
        width: scale.width(each.strength), newness: scale.newness(each.t_index),
      },
    })),
  ];
  // Concepts that stay keep their places, so that the eye can follow the slider.
  const places = new Map(made.nodes(".concept").map((node) => [node.id(), { ...node.position() }]));
  const stays = places.has(conceptId(centre)) && made.nodes(".centre").id() === conceptId(centre);
  made.batch(() => {
    made.elements().remove();
    wanted.forEach((each, place) => {
      if (each.group !== "nodes") return;
      const angle = place * 2.399963; // the golden angle spreads any number of points
      const reach = each.classes.includes("centre") ? 0 : 90 + 22 * Math.sqrt(place);
      each.position = (stays && places.get(each.data.id)) ||
        { x: reach * Math.cos(angle), y: reach * Math.sin(angle) };
    });
    made.add(wanted);
  });
  const isNew = !stays || wanted.some((each) => each.group === "nodes" && !places.has(each.data.id));
  if (isNew) {
    made.layout({
      name: "cose", animate: false, randomize: false, fit: false, padding: 36, nodeOverlap: 24,
      idealEdgeLength: () => 95, nodeRepulsion: () => 90000, gravity: 0.5, numIter: 400,
    }).run();
  }
  made.fit(undefined, 36);
}

// From the question by way of concepts to the statements, in layers.
export async function drawRecall(found, onStatement) {
  chosen = onStatement;
  const made = await canvas();
  const { concepts, relations, t_index: t } = found.graph;
  const scale = scales(relations, t);
  const strengths = new Map(relations.map((each) => [pair(each.a, each.b), each]));
  const known = new Map(concepts.map((each) => [each.name, each]));
  const edges = new Map();
  const step = (source, target) =>
    edges.set(`${source}\n${target}`, {
      group: "edges", classes: "step",
      data: { id: `e:${source}\n${target}`, source, target, width: 1.5, newness: 1 },
    });
  const walk = (a, b) => {
    const relation = strengths.get(pair(a, b));
    if (!relation) return step(conceptId(a), conceptId(b));
    const data = {
      id: `e:${conceptId(a)}\n${conceptId(b)}`, source: conceptId(a), target: conceptId(b),
      width: scale.width(relation.strength), newness: scale.newness(relation.t_index),
    };
    return edges.set(`${conceptId(a)}\n${conceptId(b)}`, { group: "edges", data });
  };
  found.statements.forEach((statement, place) => {
    for (const link of linksOf(statement, known)) {
      step("q", conceptId(link[0]));
      link.slice(1).forEach((name, each) => walk(link[each], name));
      step(conceptId(link.at(-1)), statementId(place));
    }
    if (!linksOf(statement, known).length) step("q", statementId(place));
  });
  const essential = concepts.filter((each) => each.essential);
  const others = concepts.filter((each) => !each.essential);
  essential.forEach((each) => step("q", conceptId(each.name)));
  const node = (id, label, kinds, size) => ({
    group: "nodes", classes: kinds, data: { id, label, size, newness: 1 },
  });
  const layers = [
    [node("q", "?", "question", 30)],
    essential.map((each) => concept(each, "", 0.9)),
    others.map((each) => concept(each, "", scale.newness(each.t_index))),
    found.statements.map((_, place) => node(statementId(place), String(place + 1), "statement", 24)),
  ].filter((layer) => layer.length);
  const place = narrow() ? downwards : rightwards;
  place(layers);
  made.batch(() => {
    made.elements().remove();
    made.add([...layers.flat(), ...edges.values()]);
  });
  made.fit(undefined, 36);
}

function rightwards(layers) {
  layers.forEach((layer, depth) => layer.forEach((each, place) => {
    each.position = { x: 185 * depth, y: 46 * (place - (layer.length - 1) / 2) };
  }));
}

// Where the canvas is narrow, layers run down, and long ones take several rows.
function downwards(layers) {
  const inRow = 5;
  let y = 0;
  for (const layer of layers) {
    layer.forEach((each, place) => {
      const row = Math.floor(place / inRow);
      const size = Math.min(inRow, layer.length - row * inRow);
      each.position = { x: 64 * ((place % inRow) - (size - 1) / 2), y: y + 46 * row };
    });
    y += 90 + 46 * (Math.ceil(layer.length / inRow) - 1);
  }
}

const linksOf = (statement, known) =>
  statement.links.filter((link) => link.every((name) => known.has(name)));

// Lights the path from the question to one statement.
export async function light(found, place) {
  const made = await canvas();
  const known = new Set(found.graph.concepts.map((each) => each.name));
  const links = linksOf(found.statements[place], known);
  const steps = links.length
    ? links.map((link) => ["q", ...link.map(conceptId), statementId(place)])
    : [["q", statementId(place)]];
  made.batch(() => {
    made.elements().removeClass("lit").addClass("dim");
    for (const path of steps) {
      path.forEach((id, each) => {
        made.getElementById(id).removeClass("dim").addClass("lit");
        if (each) made.getElementById(`e:${path[each - 1]}\n${id}`).removeClass("dim").addClass("lit");
      });
    }
  });
  return steps;
}

export async function clear() {
  find("canvas").hidden = true;
  if (drawing !== null) (await drawing).elements().remove();
}
