// The drawing beside the results, as SVG, and the list that says all that the drawing shows.

import { address } from "./address.js";
import { read } from "./api.js";
import { conceptLink, counted, find, make, number, shape, shortened } from "./dom.js";
import { showMoment } from "./time.js";

const DRAWN = 24; // neighbours; the list has all
const DRAWN_NARROW = 8;
const NARROW = 480;
const LETTER = 7.2; // pixels, of the drawing's texts
const LETTER_BOLD = 8.2;

const canvas = find("canvas");
let draw = () => {};

new ResizeObserver(() => draw()).observe(canvas);

function show({ title, note, rows, more = null, drawing }) {
  find("graph").hidden = false;
  find("graph-title").textContent = title;
  find("graph-note").textContent = note;
  find("graph-list").replaceChildren(...rows);
  find("graph-more").hidden = !more;
  find("graph-more").onclick = more;
  draw = () => canvas.clientWidth && canvas.replaceChildren(drawing(canvas.clientWidth));
  draw();
}

export function showNothing() {
  find("graph").hidden = true;
  draw = () => {};
}

const picture = (width, height, ...parts) =>
  shape("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-labelledby": "graph-title graph-note" }, ...parts);

const words = (x, y, text, anchor = "middle") => shape("text", { x, y, "text-anchor": anchor }, text);

// A concept: a dot with its label, which leads to the page of the concept if there is one.
function dot({ name, label, statements = 0, x, y, room = 20, isAbove = false, kinds = "" }) {
  const radius = 6 + Math.min(6, Math.log2(1 + statements));
  const parts = [
    shape("title", {}, shortened(label, 200)),
    shape("circle", { cx: x, cy: y, r: radius }),
    words(x, isAbove ? y - radius - 5 : y + radius + 14, shortened(label, Math.max(6, room))),
  ];
  return name === null
    ? shape("g", { class: `node ${kinds}` }, ...parts)
    : shape("a", { class: `node ${kinds}`, href: address("concept", name), tabindex: "-1" }, ...parts);
}

// ---- one concept and what is around it

// The graph around one of the concepts that a list shows.
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
  const links = linksOf(graph, centre);
  const neighbours = [...links.values()];
  show({
    title: shortened(centre.label),
    note: "", // the drawing says how many neighbours fit
    rows: neighbours.map((each) => make("li", {},
      each.name === null ? make("span", { class: "text" }, shortened(each.label)) : conceptLink(each.name, each.label),
      make("span", { class: "meta" }, ...each.facts.map((fact) => make(fact.ended ? "s" : "span", { class: "text" }, fact.words)),
        each.strength && make("span", {}, `strength ${number(each.strength)}, t ${number(each.t_index)}`)))),
    more: graph.more ? onMore : null,
    drawing: (width) => around(width, centre, neighbours, graph),
  });
}

// What the centre is linked with, by name: facts first, which have words, then relations, latest
// first.
function linksOf(graph, centre) {
  const links = new Map();
  const link = (label, known) => {
    const key = known?.name ?? ` ${label}`; // no name begins with a blank
    if (!links.has(key)) links.set(key, { key, name: known?.name ?? null, label: known?.label ?? label, statements: known?.statements, facts: [] });
    return links.get(key);
  };
  for (const { relation, values } of graph.facts) {
    for (const { object, until_t: until } of values.toReversed()) {
      link(object, graph.ends[object]).facts.push({ words: relation, ended: until !== null, outward: true });
    }
  }
  for (const { subject, relation } of graph.pointing) {
    link(subject, graph.ends[subject]).facts.push({ words: relation, ended: false, outward: false });
  }
  const relations = new Map(graph.relations.map((each) => [each.a === centre.name ? each.b : each.b === centre.name ? each.a : null, each]));
  for (const each of graph.concepts.slice(1)) Object.assign(link(each.label, each), relations.get(each.name) ?? {}, { name: each.name });
  links.delete(centre.name);
  return links;
}

// Concepts that stay keep their places, so that the eye can follow the slider.
let placed = { centre: null, keys: [] };

function places(centre, keys, most) {
  if (placed.centre !== centre || placed.most !== most) placed = { centre, most, keys: [] };
  const wanted = new Set(keys);
  placed.keys = placed.keys.map((key) => (wanted.has(key) ? key : null));
  for (const key of keys.filter((each) => !placed.keys.includes(each))) {
    const free = placed.keys.indexOf(null);
    if (free < 0) placed.keys.push(key);
    else placed.keys[free] = key;
  }
  return placed.keys;
}

// The centre, and around it one ring of neighbours, or two.
function around(width, centre, neighbours, graph) {
  const drawn = neighbours.slice(0, width < NARROW ? DRAWN_NARROW : DRAWN);
  const all = counted(neighbours.length, "neighbour");
  find("graph-note").textContent = drawn.length < neighbours.length
    ? `${number(drawn.length)} of ${graph.more ? "more than " : ""}${all}`
    : `${graph.more ? "latest " : ""}${all}`;
  // Words need room: facts stand in the outer ring.
  const keys = [...drawn].sort((a, b) => a.facts.length - b.facts.length).map((each) => each.key);
  const slots = places(centre.name, keys, width);
  const inner = slots.length > 12 ? Math.floor(slots.length / 3) : 0;
  const height = Math.min(500, Math.max(240, width * 0.72));
  const [x, y] = [width / 2, height / 2];
  const at = new Map([[centre.name, { x, y }]]);
  slots.forEach((key, place) => {
    const [position, size, reach] = place < inner ? [place, inner, 0.5] : [place - inner, slots.length - inner, 1];
    const angle = (2 * Math.PI * position) / size - Math.PI / 2 + (inner && reach === 1 ? Math.PI / size : 0) + 0.35;
    at.set(key, { x: x + reach * (x - 64) * Math.cos(angle), y: y + reach * (y - 36) * Math.sin(angle) });
  });
  const drawnLinks = drawn.map((each) => edge(at.get(centre.name), at.get(each.key), each, graph, inner ? 0.76 : 0.58));
  const among = graph.relations
    .filter((each) => at.has(each.a) && at.has(each.b) && each.a !== centre.name && each.b !== centre.name)
    .map((each) => line(at.get(each.a), at.get(each.b), "among"));
  const room = Math.floor(width / (slots.length > 8 ? 6 : 4) / LETTER);
  return picture(width, height,
    shape("defs", {}, shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
      shape("path", { d: "M0 0L8 4L0 8z" }))),
    ...among, ...drawnLinks.map((each) => each.line),
    ...drawn.map((each) => dot({ ...each, ...at.get(each.key), room, isAbove: at.get(each.key).y < y })),
    dot({ ...centre, x, y, kinds: "lit" }),
    ...drawnLinks.flatMap((each) => each.words));
}

// The stronger a relation, the thicker; the older, the fainter.
function look({ strength, t_index: t }, { relations, t_index: newest }) {
  const oldest = Math.min(newest, ...relations.map((each) => each.t_index));
  const newness = newest > oldest ? (t - oldest) / (newest - oldest) : 1;
  return { "stroke-width": Math.min(4, 1 + 0.7 * Math.log2(strength)).toFixed(1), "stroke-opacity": (0.3 + 0.6 * newness).toFixed(2) };
}

const line = (from, to, kind, more) => shape("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: kind, ...more });

// From the centre to a neighbour: an arrow with words where facts link them, else a plain line.
function edge(from, to, link, graph, way) {
  if (!link.facts.length) return { line: line(from, to, "relation", look(link, graph)), words: [] };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const on = (way) => ({ x: from.x + dx * way, y: from.y + dy * way });
  const outward = link.facts.some((each) => each.outward);
  const end = outward ? { "marker-end": "url(#arrow)" } : { "marker-start": "url(#arrow)" };
  const ended = link.facts.every((each) => each.ended) ? " ended" : "";
  const middle = on(way);
  return {
    line: line(on(18 / length), on(1 - 16 / length), `fact${ended}`, end),
    words: [...new Set(link.facts.map((each) => each.words))].slice(0, 3).map((each, row) =>
      inLine(middle.x, middle.y + 15 * row, shortened(each, 24), link.facts.some((fact) => fact.words === each && !fact.ended))),
  };
}

// Words in a gap of their line.
function inLine(x, y, text, holds) {
  const width = 0.9 * LETTER * text.length + 8;
  return shape("g", { class: holds ? "words" : "words ended" },
    shape("rect", { x: x - width / 2, y: y - 8, width, height: 16 }), words(x, y + 4, text));
}

// ---- from a question to statements

let paths = new Map(); // a statement's number → the parts of the drawing on its paths
let lit = 0;

export function showRecall(found, statements, onStatement) {
  const concepts = new Map(found.concepts.map((each) => [each.name, each]));
  const links = statements.map((each) => each.links.filter((link) => link.every((name) => concepts.has(name))));
  show({
    title: "How the graph led there",
    note: "",
    rows: links.flatMap((each, place) => (each.length ? each : [[]]).map((names) => make("li", { class: "text" },
      ["question", ...names.map((name) => shortened(concepts.get(name).label)), `statement ${place + 1}`].join(" › ")))),
    drawing: (width) => recalled(width, statements, concepts, links, onStatement),
  });
}

// In columns: the question, its concepts, their neighbours, the statements.
function recalled(width, statements, concepts, links, onStatement) {
  const isNarrow = width < NARROW;
  const names = [...new Set(links.flat(2))];
  const columns = [
    ["q"],
    names.filter((name) => concepts.get(name).essential),
    names.filter((name) => !concepts.get(name).essential),
    statements.map((_, place) => place),
  ];
  const x = isNarrow ? [16, 0.32, 0.64, width - 16] : [20, 0.15, 0.34, width * 0.5];
  for (const column of [1, 2]) x[column] *= width;
  const row = isNarrow ? 54 : 52;
  const height = Math.max(...columns.map((each) => each.length)) * row + 16;
  const at = new Map();
  columns.forEach((column, depth) => column.forEach((each, place) =>
    at.set(each, { x: x[depth], y: height / 2 + row * (place - (column.length - 1) / 2) })));
  const edges = new Map();
  paths = new Map();
  const step = (from, to) => {
    const key = `${from}\n${to}`;
    if (!edges.has(key)) edges.set(key, curve(at.get(from), at.get(to)));
    return edges.get(key);
  };
  const nodes = new Map([
    ["q", shape("g", { class: "node question" }, shape("circle", { cx: x[0], cy: height / 2, r: 13 }), words(x[0], height / 2 + 5, "?"))],
    ...names.map((name) => [name, dot({ ...concepts.get(name), ...at.get(name), room: Math.floor((isNarrow ? 0.3 : 0.17) * width / LETTER), isAbove: at.get(name).y < height / 2 })]),
    ...statements.map((each, place) => [place, chip(each, place, at.get(place), isNarrow ? 0 : Math.floor((width / 2 - 24) / LETTER_BOLD), onStatement)]),
  ]);
  links.forEach((each, place) => {
    const parts = new Set();
    for (const link of each.length ? each : [[]]) {
      const way = ["q", ...link, place];
      way.forEach((key, depth) => {
        parts.add(nodes.get(key));
        if (depth) parts.add(step(way[depth - 1], key));
      });
    }
    paths.set(place, parts);
  });
  const drawn = picture(width, height, shape("g", {}, ...edges.values()), ...nodes.values());
  mark();
  return drawn;
}

function curve(from, to) {
  const middle = (from.x + to.x) / 2;
  return shape("path", { class: "step", d: `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}` });
}

// A statement: its number, and its text where there is room.
function chip(statement, place, { x, y }, room, onStatement) {
  const kinds = statement.superseded ? "node statement ended" : "node statement";
  return shape("g", { class: kinds, on: { click: () => onStatement(place) } },
    shape("title", {}, shortened(statement.text, 200)),
    shape("rect", { x: x - 12, y: y - 12, width: 24, height: 24, rx: 7 }),
    words(x, y + 4.5, String(place + 1)),
    room && words(x + 20, y + 4.5, shortened(statement.text, room), "start"));
}

// Lights the paths from the question to one statement.
export function light(place) {
  lit = place;
  mark();
}

function mark() {
  for (const parts of paths.values()) for (const each of parts) each.classList.remove("lit");
  for (const each of paths.get(lit) ?? []) {
    each.classList.add("lit");
    if (each.classList.contains("step")) each.parentNode.append(each); // above the others
  }
}
