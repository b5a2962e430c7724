// Elements. Texts become text nodes: nothing that is remembered is ever read as markup.

import { address, place } from "./address.js";

export const find = (id) => document.getElementById(id);

// An element with attributes and children; `on` holds listeners, strings become text nodes.
export const make = (tag, ...rest) => filled(document.createElement(tag), ...rest);

// The same for a part of a drawing.
export const shape = (tag, ...rest) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), ...rest);

function filled(element, { on = {}, ...attributes } = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Characters that control a terminal or the direction of writing, shown instead of obeyed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
export const plain = (text) => text.replace(/\r\n/g, "\n").replace(CONTROLS, "\ufffd");

const LONG = 600;

// A remembered text, with a button for the rest where it is very long.
export function remembered(stored, kind = "span") {
  const text = plain(stored);
  const shown = make(kind, { class: "text statement", dir: "auto" });
  if (text.length <= LONG) {
    shown.append(text);
    return shown;
  }
  const rest = make("button", { type: "button", class: "plain" }, "Show all of it");
  rest.addEventListener("click", () => shown.replaceChildren(text));
  shown.append(`${text.slice(0, LONG)}… `, rest);
  return shown;
}

export const conceptLink = (name, label, ...more) =>
  make("a", { href: address("concept", name), class: "text", dir: "auto" }, shortened(label), ...more);

export const heading = (title, note) =>
  make("div", { class: "heading" },
    make("h2", { class: "text", dir: "auto" }, shortened(title, 200)),
    note && make("p", { class: "quiet" }, note));

export function shortened(text, most = 80) {
  const line = plain(text).replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const whole = new Intl.NumberFormat();
export const number = (value) => whole.format(value);
export const counted = (count, noun, plural = `${noun}s`) =>
  `${number(count)} ${count === 1 ? noun : plural}`;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export function moment(said) {
  if (!said) return null;
  // Midnight stands for a day, which is the same day everywhere.
  if (/T00:00:00/.test(said)) return day.format(new Date(said.slice(0, 10)));
  return minute.format(new Date(said));
}

// When something was said, or its t where nobody knows: a link to the view as it was then.
export function when({ said, t_index: t }) {
  const { view, given } = place();
  return make("a", { href: address(view, given, t), title: `As of t ${number(t)}` }, moment(said) ?? `t ${number(t)}`);
}

// When a statement was said, by whom, where it stands; `more` are texts and elements.
export function about(statement, ...more) {
  const parts = [
    when(statement),
    statement.speaker && shortened(statement.speaker),
    statement.source && shortened(statement.source, 40),
    ...more,
  ].filter(Boolean);
  return make("div", { class: "meta" }, ...parts.map((each) =>
    typeof each === "string" ? make("span", { class: "text", dir: "auto" }, each) : each));
}

// Pronouns of a statement, and whom they stand for.
export function references(statement) {
  return statement.stands_for.map((each) => `${shortened(each.text, 40)} = ${shortened(each.label, 40)}`);
}

// What a screen reader hears of a change of the page.
export function announce(text) {
  find("status").textContent = text;
}

export function notice(error) {
  announce(error.message);
  return make("p", { class: "notice" }, error.message);
}
