// Forgetting, where the viewer was started with --allow-forget: only after a confirmation.

import { forget } from "./api.js";
import { announce, counted, find, make, shortened } from "./dom.js";

let allowed = false;
let changed = () => {};
const dialog = find("forget");

export function allowForgetting(isAllowed, listener) {
  allowed = isAllowed;
  changed = listener;
}

// A button that asks whether to forget a statement; null where nothing may be forgotten.
export function forgetButton(statement) {
  if (!allowed || !statement.passage) return null;
  const button = make("button", { type: "button", class: "plain danger", "aria-haspopup": "dialog" }, "Forget…");
  button.addEventListener("click", () => ask(statement, button));
  return button;
}

function ask(statement, opener) {
  find("forget-text").textContent = shortened(statement.text, 300);
  find("forget-note").textContent =
    "What is forgotten is gone for good, with all that it alone supported.";
  const isStatement = statement.id.startsWith(`${statement.passage}#`);
  find("forget-statement").hidden = !isStatement;
  const done = async (kind, id) => {
    try {
      const gone = await forget(kind, id);
      dialog.close();
      announce(`Forgotten: ${counted(gone.statements, "statement")}.`);
      await changed();
      find("results").focus();
    } catch (error) {
      find("forget-note").textContent = error.message;
    }
  };
  find("forget-statement").onclick = () => done("statement", statement.id);
  find("forget-passage").onclick = () => done("passage", statement.passage);
  find("forget-no").onclick = () => dialog.close();
  dialog.onclose = () => opener.isConnected && opener.focus();
  dialog.showModal();
}
