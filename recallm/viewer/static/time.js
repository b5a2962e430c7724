// The slider over t: the memory as it stood.

import { find, moment, number } from "./dom.js";

let newest = 0;
let changed = () => {};
let waiting;

const slider = find("as-of");
const exact = find("as-of-t");

// The t that is looked at; null is the present.
export const asOf = () => (Number(slider.value) >= newest ? null : Number(slider.value));

export function setNewest(t) {
  if (t === newest) return;
  const wasNow = asOf() === null;
  newest = t;
  for (const input of [slider, exact]) {
    input.max = t;
    input.disabled = t === 0;
  }
  if (wasNow) moveTo(t);
}

// When the latest text of the view was said.
export function showMoment(said) {
  const when = moment(said);
  const t = asOf() === null ? `now, t ${number(newest)}` : `t ${number(asOf())} of ${number(newest)}`;
  const text = when ? `${t} · ${when}` : t;
  find("as-of-said").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  find("as-of-now").hidden = asOf() === null;
}

export function onChange(listener) {
  changed = listener;
}

function moveTo(t) {
  slider.value = t;
  exact.value = slider.value;
  showMoment(null);
}

function move(t) {
  moveTo(t);
  clearTimeout(waiting);
  waiting = setTimeout(() => changed(), 120);
}

slider.addEventListener("input", () => move(slider.value));
exact.addEventListener("change", () => move(exact.value === "" ? newest : exact.value));
find("as-of-now").addEventListener("click", () => {
  move(newest);
  slider.focus();
});
