import { $ } from "./dom.js";

/** @type {HTMLButtonElement | undefined} The button whose menu is open. */
let opener;

/** @param {HTMLButtonElement} button */
function menuOf(button) {
  return $(".row-menu", button.closest(".rows") ?? document);
}

/**
 * One menu serves all rows of a list: it moves to the button, and its paths get the id of the button's printer.
 * @param {HTMLButtonElement} button
 */
function open(button) {
  const menu = menuOf(button);
  if (!menu) return;
  const not = button.dataset.not?.split(" ") ?? [];
  for (const item of /** @type {Iterable<HTMLElement>} */ (menu.children)) {
    const path = item.dataset.path?.replace(/\b0\b/, button.value) ?? "";
    item.setAttribute(item.matches("a") ? "href" : "formaction", path);
    item.hidden = not.includes(item.dataset.kind ?? "");
  }
  button.after(menu);
  button.setAttribute("aria-expanded", "true");
  menu.hidden = false;
  opener = button;
  $("[role=menuitem]", menu)?.focus();
}

function close() {
  const menu = opener && menuOf(opener);
  if (menu?.contains(document.activeElement)) opener?.focus();
  if (menu) menu.hidden = true;
  opener?.removeAttribute("aria-expanded");
  opener = undefined;
}

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  /** @type {HTMLButtonElement | null} */
  const button = target.closest(".menu > button");
  const isAgain = button !== null && button === opener;
  // Later: htmx forgets the button that was pressed as soon as it loses the focus.
  if (target.closest(".row-menu")) setTimeout(close);
  else close();
  if (button && !isAgain) open(button);
});

// Before messages, which Escape closes too.
document.addEventListener(
  "keydown",
  (event) => {
    const menu = opener && menuOf(opener);
    if (!menu) return;
    /** @type {HTMLElement[]} */
    const items = Array.from(menu.querySelectorAll("[role=menuitem]:not([hidden])"));
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const place = places[event.key];
    if (place !== undefined) items.at(place % items.length)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    if (place !== undefined || event.key === "Escape") event.preventDefault();
  },
  true,
);
