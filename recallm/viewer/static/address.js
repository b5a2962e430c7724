// The address of the page after #: what is shown, and as of which t. It never holds the token.
//
// #/, #/ask/QUESTION, #/concepts, #/concepts/TEXT, #/concept/NAME; each with ?t=T for the past.

export function place() {
  const [, path, t] = location.hash.match(/^#?\/?(.*?)(?:\?t=(\d{1,16}))?$/s);
  const [view, ...rest] = path.split("/");
  let given = rest.join("/");
  try {
    given = decodeURIComponent(given);
  } catch {
    // a text that nobody encoded stands for itself
  }
  return { view, given, t: t === undefined ? null : Number(t) };
}

// The t that is looked at; null is the present.
export const asOf = () => place().t;

export function address(view, given = "", t = asOf()) {
  const path = given ? `${view}/${encodeURIComponent(given)}` : view;
  return `#/${path}${t === null ? "" : `?t=${t}`}`;
}
