import { announce, notify } from "./dom.js";

const shownMs = 2000;

/**
 * Copies text also on plain http, where the clipboard interface does not exist.
 * @param {string} text
 */
async function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.className = "copied-from";
  // An open dialog keeps the focus to itself.
  (document.activeElement?.closest("dialog") ?? document.body).append(area);
  area.focus({ preventScroll: true });
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser refused");
}

/** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} */
const timers = new WeakMap();

document.addEventListener("click", async ({ target }) => {
  if (!(target instanceof Element)) return;
  /** @type {HTMLButtonElement | null} */
  const button = target.closest("button[data-copy]");
  const source = button && document.getElementById(button.dataset.copy ?? "");
  if (!source) return;
  const label = button.dataset.label ?? button.textContent ?? "Copy";
  button.dataset.label = label;
  try {
    await copy(source.textContent);
    button.textContent = "Copied";
    announce("Copied");
  } catch {
    notify("The browser does not allow copying. Select the text and copy it.");
  }
  button.focus({ preventScroll: true });
  clearTimeout(timers.get(button));
  timers.set(
    button,
    setTimeout(() => {
      button.textContent = label;
    }, shownMs),
  );
});

/** @param {HTMLButtonElement} button which works with scripts alone */
export function unhide(button) {
  button.hidden = false;
}
