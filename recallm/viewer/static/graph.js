// The drawing beside the results, as SVG, and the list that says all that the drawing shows.

import { address } from "./address.js";
import { find, shape, shortened } from "./dom.js";

export const NARROW = 480; // pixels: a narrower drawing shows less
export const LETTER = 7.2; // pixels of one, in the texts of a drawing

const canvas = find("canvas");
let draw = () => {};
let drawnWidth = 0;

new ResizeObserver(() => canvas.clientWidth !== drawnWidth && draw()).observe(canvas);

// `drawing` makes the picture for a width; `more` brings more rows, where there are more.
export function showGraph({ title, rows, more = null, drawing }) {
  find("graph").hidden = false;
  find("graph-title").textContent = title;
  find("graph-note").textContent = "";
  find("graph-list").replaceChildren(...rows);
  find("graph-more").hidden = !more;
  find("graph-more").onclick = more;
  draw = () => {
    drawnWidth = canvas.clientWidth;
    if (drawnWidth) canvas.replaceChildren(drawing(drawnWidth));
  };
  draw();
}

export function showNothing() {
  find("graph").hidden = true;
  draw = () => {};
}

export const picture = (width, height, ...parts) =>
  shape("svg", {
    viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-labelledby": "graph-title graph-note",
  }, ...parts);

export const words = (x, y, text, anchor = "middle") => shape("text", { x, y, "text-anchor": anchor }, text);

// A concept: a dot with its label of at most `room` letters. It leads to the page of the concept;
// the name null has none.
export function dot({ name, label, statements = 0, x, y, room = 20, isAbove = false, kinds = "" }) {
  const radius = 6 + Math.min(6, Math.log2(1 + statements));
  const parts = [
    shape("title", {}, shortened(label, 200)),
    shape("circle", { cx: x, cy: y, r: radius }),
    words(x, isAbove ? y - radius - 5 : y + radius + 14, shortened(label, Math.max(6, Math.floor(room)))),
  ];
  return name === null
    ? shape("g", { class: `node ${kinds}` }, ...parts)
    : shape("a", { class: `node ${kinds}`, href: address("concept", name), tabindex: "-1" }, ...parts);
}
