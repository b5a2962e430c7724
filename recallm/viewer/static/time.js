// The slider over t: the memory as it stood.

import { address, asOf, place } from "./address.js";
import { announce, find, moment, number } from "./dom.js";

let newest = 0;
let said = null; // when the latest text of the view was said
let changed = () => {};
let waiting;

const slider = find("as-of");
const exact = find("as-of-t");

export function setNewest(t) {
  newest = t;
  for (const input of [slider, exact]) input.max = t;
  find("time").hidden = t === 0;
  show();
}

export function showMoment(ofView) {
  said = ofView;
  show();
}

function show() {
  const t = asOf();
  exact.value = slider.value = t ?? newest;
  const text = [t === null && "now", moment(said)].filter(Boolean).join(" · ");
  find("as-of-said").textContent = text;
  slider.setAttribute("aria-valuetext", text || `t ${number(t)}`);
  find("as-of-now").hidden = t === null;
}

export function onChange(listener) {
  changed = listener;
}

function move(t) {
  const { view, given } = place();
  history.replaceState(null, "", address(view, given, t >= newest ? null : t));
  showMoment(null);
  clearTimeout(waiting);
  waiting = setTimeout(() => changed(), 120);
}

slider.addEventListener("input", () => move(Number(slider.value)));
exact.addEventListener("change", () => move(exact.value === "" ? newest : Math.max(0, Math.trunc(exact.value))));
find("as-of-now").addEventListener("click", () => {
  move(newest);
  slider.focus();
});

// The whole address, token and all: a part of it would be a search to most browsers.
find("copy-link").addEventListener("click", async () => {
  const button = find("copy-link");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  announce(button.textContent);
  setTimeout(() => { button.textContent = "Copy link"; }, 1500);
});
