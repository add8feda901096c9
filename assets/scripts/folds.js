import { $ } from "./dom.js";

/** Folds whose content lies over the page. */
const overlays = "details.why[open], .bulk details[open]";

// A form for a new record opens at its first field.
document.addEventListener("click", ({ target }) => {
  const fold = target instanceof Element ? target.closest(".fold > summary")?.parentElement : null;
  if (fold && !fold.hasAttribute("open"))
    setTimeout(() => $("input:not([type=hidden]), select", fold)?.focus());
});

// A click elsewhere closes a reason; sheets with choices stay open while rows are chosen.
document.addEventListener("click", ({ target }) => {
  const inside = target instanceof Element ? target.closest("details.why") : null;
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const open = document.querySelectorAll("details.why[open]");
  for (const fold of open) if (fold !== inside) fold.open = false;
});

// Before messages, which the same key closes.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || $("dialog[open]")) return;
    /** @type {HTMLDetailsElement | null} */
    const fold = $(overlays);
    if (!fold) return;
    event.preventDefault();
    const hadFocus = fold.contains(document.activeElement);
    fold.open = false;
    if (hadFocus) $("summary", fold)?.focus();
  },
  true,
);

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
