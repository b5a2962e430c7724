// Elements. Texts become text nodes: nothing that is remembered is ever read as markup.

export const find = (id) => document.getElementById(id);

// An element with attributes and children; `on` holds listeners, strings become text nodes.
export function make(tag, { on = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  element.append(...children.filter((child) => child !== null && child !== undefined));
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

export const conceptAddress = (name) => `#/concept/${encodeURIComponent(name)}`;

export const conceptLink = (name, label) =>
  make("a", { href: conceptAddress(name), class: "text", dir: "auto" }, shortened(label));

export function shortened(text, most = 80) {
  const line = plain(text).replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const whole = new Intl.NumberFormat();
export const number = (value) => whole.format(value);
export const counted = (count, noun, plural = `${noun}s`) =>
  `${number(count)} ${count === 1 ? noun : plural}`;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export function moment(said) {
  if (!said) return null;
  const date = new Date(said);
  return (/T00:00:00/.test(said) ? day : minute).format(date);
}

// t, date, speaker and source of a statement.
export function about(statement, ...flags) {
  const parts = [
    make("span", { class: "number" }, `t ${number(statement.t_index)}`),
    statement.said && make("time", { datetime: statement.said }, moment(statement.said)),
    statement.speaker && make("span", { class: "text", dir: "auto" }, shortened(statement.speaker)),
    statement.source && make("span", { class: "text", dir: "auto" }, shortened(statement.source, 40)),
    ...flags,
  ];
  return make("div", { class: "meta" }, ...parts.filter(Boolean));
}

// Pronouns of a statement, and whom they stand for.
export function references(statement) {
  return statement.stands_for.map((each) =>
    make("span", { class: "text", dir: "auto" }, `${shortened(each.text, 40)} = ${shortened(each.label, 40)}`),
  );
}

// What a screen reader hears of a change of the page.
export function announce(text) {
  find("status").textContent = text;
}

export function notice(error) {
  announce(error.message);
  return make("p", { class: "notice" }, error.message);
}
