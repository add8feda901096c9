import { $, bring } from "./dom.js";

/** @type {HTMLElement | undefined} The first step as it was when its preview was asked for, with what was typed. */
let typed;

/**
 * Whoever looked at a preview goes back to what was pasted and typed.
 * @param {HTMLElement} step
 */
export function keepTyped(step) {
  const link = $("a[data-back]", step);
  step.addEventListener(
    "submit",
    () => {
      // A copy of a form holds what was typed into it, but not the file: another one is to be chosen.
      if (!link) typed = /** @type {HTMLElement} */ (step.cloneNode(true));
    },
    true,
  );
  link?.addEventListener("click", (event) => {
    if (!typed) return;
    event.preventDefault();
    step.replaceWith(typed);
    bring(typed);
    $("input[type=file]", typed)?.focus();
    typed = undefined;
  });
}
