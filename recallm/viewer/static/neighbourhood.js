// One concept, and around it what facts and relations link it with.

import { read } from "./api.js";
import { conceptLink, counted, find, make, number, shape, shortened } from "./dom.js";
import { LETTER, NARROW, dot, picture, showGraph, showNothing, words } from "./graph.js";
import { showMoment } from "./time.js";

const DRAWN = 24; // neighbours; the list has all
const DRAWN_NARROW = 8;

// The neighbourhood of one of the concepts that a list shows.
export async function showAround(concept, at, signal) {
  const graph = await read("graph", { concept, limit: DRAWN, ...at }, signal);
  showMoment(graph.said);
  showNeighbourhood(graph, null);
}

export function showNeighbourhood(graph, onMore) {
  const [centre] = graph.concepts;
  if (!centre) {
    showNothing();
    return;
  }
  const neighbours = neighboursOf(graph, centre);
  showGraph({
    title: shortened(centre.label),
    rows: neighbours.map(row),
    more: graph.more ? onMore : null,
    drawing: (width) => around(width, centre, neighbours, graph),
  });
}

function row({ name, label, facts, strength, t_index: t }) {
  return make("li", {},
    name === null ? make("span", { class: "text" }, shortened(label)) : conceptLink(name, label),
    make("span", { class: "meta" },
      ...facts.map((fact) => make("span", { class: "text" }, fact.ended ? `${fact.words} (ended)` : fact.words)),
      strength && make("span", {}, `strength ${number(strength)}, t ${number(t)}`)));
}

// What the centre is linked with: by facts, which have words, then by relations, latest first.
function neighboursOf(graph, centre) {
  const found = new Map();
  const neighbour = (label, concept) => {
    const { name, statements } = concept ?? { name: null };
    const key = name ?? ` ${label}`; // no name begins with a blank
    if (!found.has(key)) found.set(key, { key, name, label: concept?.label ?? label, statements, facts: [] });
    return found.get(key);
  };
  for (const { relation, values } of graph.facts) {
    for (const { object, until_t: until } of values.toReversed()) {
      neighbour(object, graph.ends[object]).facts.push({ words: relation, ended: until !== null, outward: true });
    }
  }
  for (const { subject, relation } of graph.pointing) {
    neighbour(subject, graph.ends[subject]).facts.push({ words: relation, ended: false, outward: false });
  }
  const relations = new Map();
  for (const each of graph.relations) {
    if (each.a === centre.name) relations.set(each.b, each);
    if (each.b === centre.name) relations.set(each.a, each);
  }
  for (const each of graph.concepts.slice(1)) Object.assign(neighbour(each.label, each), relations.get(each.name));
  found.delete(centre.name);
  return [...found.values()];
}

// Concepts that stay keep their places, so that the eye can follow the slider.
let placed = { centre: null, width: 0, keys: [] };

function placesFor(centre, width, keys) {
  if (placed.centre !== centre || placed.width !== width) placed = { centre, width, keys: [] };
  const wanted = new Set(keys);
  placed.keys = placed.keys.map((key) => (wanted.has(key) ? key : null));
  for (const key of keys.filter((each) => !placed.keys.includes(each))) {
    const free = placed.keys.indexOf(null);
    placed.keys[free < 0 ? placed.keys.length : free] = key;
  }
  return placed.keys;
}

// The centre, and around it one ring of neighbours, or two.
function around(width, centre, neighbours, graph) {
  const isNarrow = width < NARROW;
  const drawn = neighbours.slice(0, isNarrow ? DRAWN_NARROW : DRAWN);
  const all = counted(neighbours.length, "neighbour");
  find("graph-note").textContent = drawn.length < neighbours.length
    ? `${number(drawn.length)} of ${graph.more ? "more than " : ""}${all}`
    : `${graph.more ? "latest " : ""}${all}`;
  const hasWords = drawn.some((each) => each.facts.length);
  const height = Math.min(500, Math.max(isNarrow && hasWords ? 340 : 240, width * 0.72));
  const margin = isNarrow ? 46 : 64; // half of a label
  const middle = { x: width / 2, y: height / 2 };
  // Words need room: facts stand in the outer ring.
  const keys = [...drawn].sort((a, b) => a.facts.length - b.facts.length).map((each) => each.key);
  const slots = placesFor(centre.name, width, keys);
  const inner = slots.length > 12 ? Math.floor(slots.length / 3) : 0;
  const at = new Map([[centre.name, middle]]);
  slots.forEach((key, place) => {
    const isInner = place < inner;
    const size = isInner ? inner : slots.length - inner;
    const turn = (isInner ? place : place - inner + (inner && 0.5)) / size;
    const angle = 2 * Math.PI * turn - 1.22; // no neighbour straight above: its label would hide a line
    const reach = isInner ? 0.5 : 1;
    at.set(key, {
      x: middle.x + reach * (middle.x - margin) * Math.cos(angle),
      y: middle.y + reach * (middle.y - 36) * Math.sin(angle),
    });
  });
  const room = width / (slots.length > 8 ? 6 : 4) / LETTER;
  const way = inner ? 0.76 : isNarrow ? 0.54 : 0.58;
  const edges = drawn.map((each) => edge(middle, at.get(each.key), each, graph, way));
  const isAmong = ({ a, b }) => at.has(a) && at.has(b) && a !== centre.name && b !== centre.name;
  return picture(width, height,
    arrow(),
    ...graph.relations.filter(isAmong).map(({ a, b }) => line(at.get(a), at.get(b), "among")),
    ...edges.map((each) => each.line),
    ...drawn.map((each) => dot({ ...each, ...at.get(each.key), room, isAbove: at.get(each.key).y < middle.y })),
    dot({ ...centre, ...middle, kinds: "lit" }),
    ...edges.flatMap((each) => each.words));
}

const arrow = () =>
  shape("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7,
    orient: "auto-start-reverse", markerUnits: "userSpaceOnUse",
  }, shape("path", { d: "M0 0L8 4L0 8z" }));

const line = (from, to, kinds, more) =>
  shape("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: kinds, ...more });

// From the centre to a neighbour: an arrow with words, `way` of the way, where facts link them,
// else a plain line.
function edge(from, to, link, graph, way) {
  if (!link.facts.length) return { line: line(from, to, "relation", look(link, graph)), words: [] };
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const on = (part) => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
  const end = link.facts.some((each) => each.outward) ? "marker-end" : "marker-start";
  const kinds = link.facts.every((each) => each.ended) ? "fact ended" : "fact";
  const holds = new Map();
  for (const fact of link.facts) holds.set(fact.words, holds.get(fact.words) || !fact.ended);
  const { x, y } = on(way);
  return {
    line: line(on(18 / length), on(1 - 16 / length), kinds, { [end]: "url(#arrow)" }),
    words: [...holds].slice(0, 3).map(([text, isHeld], place) =>
      inLine(x, y + 15 * place, shortened(text, 24), isHeld)),
  };
}

// Words in a gap of their line.
function inLine(x, y, text, isHeld) {
  const width = 0.9 * LETTER * text.length + 8;
  return shape("g", { class: isHeld ? "words" : "words ended" },
    shape("rect", { x: x - width / 2, y: y - 8, width, height: 16 }), words(x, y + 4, text));
}

// The stronger a relation, the thicker; the older, the fainter.
function look({ strength, t_index: t }, { relations, t_index: newest }) {
  const oldest = Math.min(newest, ...relations.map((each) => each.t_index));
  const newness = newest > oldest ? (t - oldest) / (newest - oldest) : 1;
  return {
    "stroke-width": Math.min(4, 1 + 0.7 * Math.log2(strength)).toFixed(1),
    "stroke-opacity": (0.3 + 0.6 * newness).toFixed(2),
  };
}
