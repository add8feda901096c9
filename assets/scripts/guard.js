/** @type {Set<HTMLFormElement>} */
const guarded = new Set();
/** What forms held when they were last saved, where they are still on the page. */
/** @type {WeakMap<HTMLFormElement, string>} */
const saved = new WeakMap();
/** @type {HTMLFormElement | undefined} */
let leaving;

/**
 * Nothing typed is lost: leaving a changed form asks.
 * @param {HTMLFormElement} form
 */
export function guard(form) {
  guarded.add(form);
}

/** Whether a form on the page holds what was typed and not saved. */
export function hasUnsaved() {
  for (const form of guarded) if (!form.isConnected) guarded.delete(form);
  return [...guarded].some((form) => form !== leaving && isChanged(form));
}

/** @param {HTMLFormElement} form */
function isChanged(form) {
  // What comes back refused is what was typed; what was chosen may have come as a fragment.
  if (form.querySelector(".problems, [data-unsaved]")) return true;
  return contentOf(form, valueNow) !== (saved.get(form) ?? contentOf(form, valueFirst));
}

/**
 * @param {HTMLFormElement} form
 * @param {(control: Element) => string} valueIn
 */
function contentOf(form, valueIn) {
  return JSON.stringify(Array.from(form.elements, valueIn));
}

/** @param {Element} control */
function valueNow(control) {
  if (control instanceof HTMLSelectElement) return control.value;
  if (control instanceof HTMLTextAreaElement) return control.value;
  if (!(control instanceof HTMLInputElement)) return "";
  if (control.type === "file") return control.files?.length ? "a file" : "";
  return isTick(control) ? String(control.checked) : control.value;
}

/** @param {Element} control */
function valueFirst(control) {
  if (control instanceof HTMLSelectElement) {
    const chosen = Array.from(control.options).find((option) => option.defaultSelected);
    return (chosen ?? control.options[0])?.value ?? "";
  }
  if (control instanceof HTMLTextAreaElement) return control.defaultValue;
  if (!(control instanceof HTMLInputElement) || control.type === "file") return "";
  return isTick(control) ? String(control.defaultChecked) : control.defaultValue;
}

/** @param {HTMLInputElement} control */
function isTick({ type }) {
  return type === "checkbox" || type === "radio";
}

// A form that is sent as a page may leave; one that htmx sends stays, and is saved when the answer says so.
addEventListener("submit", (event) => {
  if (!event.defaultPrevented && event.target instanceof HTMLFormElement) leaving = event.target;
});
addEventListener("pageshow", () => {
  leaving = undefined;
});
addEventListener("beforeunload", (event) => {
  if (hasUnsaved()) event.preventDefault();
});
// What was saved, and is shown on the page that the answer leads to.
document.addEventListener("htmx:beforeOnLoad", ({ detail: { elt, xhr } }) => {
  if (elt instanceof HTMLFormElement && xhr.getResponseHeader("HX-Redirect")) leaving = elt;
});
document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
  if (!(elt instanceof HTMLFormElement) || xhr.status < 200 || xhr.status >= 300) return;
  // Others may empty the form first.
  setTimeout(() => saved.set(elt, contentOf(elt, valueNow)));
});

// A file that misses its place would be opened in place of the page.
for (const type of ["dragover", "drop"]) {
  addEventListener(type, (event) => {
    const isChoice = event.target instanceof HTMLInputElement && event.target.type === "file";
    if (event instanceof DragEvent && event.dataTransfer?.types.includes("Files") && !isChoice)
      event.preventDefault();
  });
}
