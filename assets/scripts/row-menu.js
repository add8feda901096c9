import { $, base } from "./dom.js";

/**
 * One menu serves all rows of a list: it opens below the button, and its paths get the id of the button's printer.
 * @param {HTMLButtonElement} button
 */
function open(button) {
  const menu = $("dialog.row-menu", button.closest(".rows") ?? document);
  if (!(menu instanceof HTMLDialogElement)) return;
  const not = button.dataset.not?.split(" ") ?? [];
  for (const item of /** @type {Iterable<HTMLElement>} */ (menu.children)) {
    const path = base + (item.dataset.path ?? "").replace(/\b0\b/, button.value);
    item.setAttribute(item.matches("a") ? "href" : "formaction", path);
    item.hidden = not.includes(item.dataset.kind ?? "");
  }
  menu.setAttribute("aria-label", button.getAttribute("aria-label") ?? "");
  menu.showModal();
  const { right, bottom } = button.getBoundingClientRect();
  menu.style.left = `${right - menu.offsetWidth}px`;
  menu.style.top = `${Math.min(bottom, innerHeight - menu.offsetHeight)}px`;
}

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  const button = target.closest(".menu > button");
  if (button instanceof HTMLButtonElement) open(button);
  const menu = target.closest("dialog.row-menu");
  // Later: htmx forgets the button that was pressed as soon as it loses the focus.
  if (menu instanceof HTMLDialogElement) setTimeout(() => menu.close());
});

// The arrow keys work as the Tab key does.
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const menu = document.activeElement?.closest("dialog.row-menu");
  if (!step || !menu) return;
  /** @type {HTMLElement[]} */
  const items = Array.from(menu.querySelectorAll("[data-path]:not([hidden])"));
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  items.at((at + step) % items.length)?.focus();
  event.preventDefault();
});
