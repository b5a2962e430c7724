// How the graph led from a question to each statement that is shown.

import { make, shape, shortened } from "./dom.js";
import { LETTER, NARROW, dot, picture, showGraph, words } from "./graph.js";

const ROW = 52; // pixels
const QUESTION = " "; // no concept has this name

let parts = new Map(); // a statement's place → the parts of the drawing on its paths
let lit = 0;

export function showPaths(found, statements, onStatement) {
  const concepts = new Map(found.concepts.map((each) => [each.name, each]));
  // A statement that its words alone led to has one path, without a concept.
  const paths = statements.map(({ links }) => {
    const known = links.filter((each) => each.every((name) => concepts.has(name)));
    return known.length ? known : [[]];
  });
  const inWords = (names, place) =>
    ["question", ...names.map((name) => shortened(concepts.get(name).label)), `statement ${place + 1}`].join(" › ");
  showGraph({
    title: "How the graph led there",
    rows: paths.flatMap((each, place) => each.map((names) => make("li", { class: "text" }, inWords(names, place)))),
    drawing: (width) => recalled(width, statements, concepts, paths, onStatement),
  });
}

// In columns: the question, its concepts, their neighbours, the statements.
function recalled(width, statements, concepts, paths, onStatement) {
  const isNarrow = width < NARROW;
  const names = [...new Set(paths.flat(2))];
  const columns = [
    [QUESTION],
    names.filter((name) => concepts.get(name).essential),
    names.filter((name) => !concepts.get(name).essential),
    [...statements.keys()],
  ];
  const x = isNarrow ? [16, 0.32 * width, 0.64 * width, width - 16] : [20, 0.15 * width, 0.34 * width, 0.5 * width];
  const height = Math.max(...columns.map((each) => each.length)) * ROW + 16;
  const at = new Map(columns.flatMap((column, depth) => column.map((key, place) =>
    [key, { x: x[depth], y: height / 2 + ROW * (place - (column.length - 1) / 2) }])));
  const room = ((isNarrow ? 0.3 : 0.17) * width) / LETTER;
  const says = isNarrow ? 0 : Math.floor((width / 2 - 24) / (1.14 * LETTER)); // letters, bold ones
  const nodes = new Map([
    [QUESTION, question(at.get(QUESTION))],
    ...names.map((name) =>
      [name, dot({ ...concepts.get(name), ...at.get(name), room, isAbove: at.get(name).y < height / 2 })]),
    ...statements.map((each, place) => [place, chip(each, place, at.get(place), says, onStatement)]),
  ]);
  const steps = new Map();
  const step = (from, to) => {
    const key = `${from}\n${to}`;
    if (!steps.has(key)) steps.set(key, curve(at.get(from), at.get(to)));
    return steps.get(key);
  };
  parts = new Map(paths.map((each, place) => [place, each.flatMap((links) => {
    const path = [QUESTION, ...links, place];
    return path.flatMap((key, depth) => (depth ? [nodes.get(key), step(path[depth - 1], key)] : [nodes.get(key)]));
  })]));
  const drawn = picture(width, height, shape("g", {}, ...steps.values()), ...nodes.values());
  light(lit);
  return drawn;
}

const question = ({ x, y }) =>
  shape("g", { class: "node question" }, shape("circle", { cx: x, cy: y, r: 13 }), words(x, y + 5, "?"));

// A statement: its number, and so many letters of its text.
function chip(statement, place, { x, y }, says, onStatement) {
  const kinds = statement.superseded ? "node statement ended" : "node statement";
  return shape("g", { class: kinds, on: { click: () => onStatement(place) } },
    shape("title", {}, shortened(statement.text, 200)),
    shape("rect", { x: x - 12, y: y - 12, width: 24, height: 24, rx: 7 }),
    words(x, y + 4.5, String(place + 1)),
    says > 0 && words(x + 20, y + 4.5, shortened(statement.text, says), "start"));
}

function curve(from, to) {
  const middle = (from.x + to.x) / 2;
  const way = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
  return shape("path", { class: "step", d: way });
}

// Lights the paths to one statement.
export function light(place) {
  lit = place;
  for (const each of [...parts.values()].flat()) each.classList.remove("lit");
  for (const each of parts.get(place) ?? []) {
    each.classList.add("lit");
    if (each.classList.contains("step")) each.parentNode.append(each); // above the others
  }
}
