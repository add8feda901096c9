import { $ } from "./dom.js";

/**
 * A fold says how many of its fields are not as in an empty form.
 * @param {HTMLDetailsElement} fold
 */
export function countSet(fold) {
  const place = $(".count", fold);
  if (!place) return;
  fold.addEventListener("input", () => {
    /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */
    const controls = fold.querySelectorAll("input, select, textarea");
    const set = Array.from(controls).filter(isSet).length;
    place.textContent = set > 0 ? `${set} set` : "";
  });
}

/** @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} control */
function isSet(control) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked;
  if (control instanceof HTMLSelectElement) return control.selectedIndex > 0;
  return control.value !== (control.dataset.default ?? "");
}
