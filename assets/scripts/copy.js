import { $, notify } from "./dom.js";

/**
 * Copies text also on plain http, where the clipboard interface does not exist.
 * @param {string} text
 */
async function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser refused");
}

document.addEventListener("click", async ({ target }) => {
  if (!(target instanceof Element)) return;
  /** @type {HTMLButtonElement | null} */
  const button = target.closest("button[data-copy]");
  const source = button && $(`#${button.dataset.copy}`);
  if (!source) return;
  try {
    await copy(source.textContent);
    button.textContent = "Copied";
  } catch {
    notify("Copying is not allowed here: select the text and copy it.");
  }
  button.focus();
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
});

/** @param {HTMLButtonElement} button */
export function unhide(button) {
  button.hidden = false;
}
