/** @type {HTMLFormElement | undefined} */
let changed;

/**
 * Nothing typed is lost: leaving a changed form asks.
 * @param {HTMLFormElement} form
 */
export function guard(form) {
  form.addEventListener("input", () => {
    changed = form;
  });
  form.addEventListener("submit", () => {
    changed = undefined;
  });
}
addEventListener("beforeunload", (event) => {
  if (changed?.isConnected) event.preventDefault();
});

/** What was typed is saved. */
export function forgetChanges() {
  changed = undefined;
}
