import { $ } from "./dom.js";

// The field that every page has: the key / leads to it, results come below it, Escape closes them.

/** @type {HTMLInputElement | null} */
const field = $("#find");
const results = $("#find-results");

/** @param {EventTarget | null} target */
function isTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("select, textarea, input:not([type=checkbox], [type=radio])"))
  );
}

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== "/" || ctrlKey || metaKey || altKey || isTyping(target) || $("dialog[open]")) return;
  event.preventDefault();
  field?.focus();
  field?.select();
});

function close() {
  results?.replaceChildren();
}

/**
 * The arrow keys go from the field through what was found and back.
 * @param {number} step
 */
function move(step) {
  if (!results || !field) return;
  /** @type {(Element | null)[]} */
  const stops = [field, ...results.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  const to = stops[Math.max(0, Math.min(at + step, stops.length - 1))];
  if (to instanceof HTMLElement) to.focus();
}

field?.form?.addEventListener("keydown", (event) => {
  const isOpen = results?.hasChildNodes() ?? false;
  if (!isOpen) return;
  if (event.key === "Escape") {
    close();
    field.focus();
  } else if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else return;
  event.preventDefault();
});

field?.form?.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget instanceof Node && !field.form?.contains(relatedTarget)) close();
});

document.addEventListener("click", ({ target }) => {
  if (target instanceof Node && !field?.form?.contains(target)) close();
});

// Nothing to look for has no results; what comes in is said to who cannot see it.
results?.addEventListener("htmx:beforeSwap", (event) => {
  if (field?.value.trim() !== "") return;
  event.preventDefault();
  close();
});
results?.addEventListener("htmx:afterSwap", () => {
  const said = field?.form && $("[role=status]", field.form);
  const summary = $(".summary", results);
  if (said) said.textContent = summary?.textContent ?? "";
});
