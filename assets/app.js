// What makes the pages smoother. Everything works without it, by plain forms and links.
import { unhide } from "./scripts/copy.js";
import { $, each, notify } from "./scripts/dom.js";
import { forgetChanges, guard } from "./scripts/guard.js";
import { suggestModels } from "./scripts/models.js";
import { derivePort } from "./scripts/port-name.js";
import { watchUpload } from "./scripts/uploads.js";

/**
 * Brings a part of the page to life, once.
 * @param {Element} root
 */
function prepare(root) {
  each(root, "form", derivePort);
  each(root, "form", suggestModels);
  each(root, "form[data-guard]", guard);
  each(root, "form.upload", watchUpload);
  each(root, "button[data-copy]", unhide);
}

document.addEventListener("htmx:load", ({ target }) => {
  if (target instanceof Element) prepare(target);
});
document.addEventListener("htmx:afterSettle", () => {
  const place = $("[data-focus]");
  place?.removeAttribute("data-focus");
  place?.focus();
});
document.addEventListener("htmx:sendError", () =>
  notify("The service does not answer. What you typed is still here."),
);
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful) forgetChanges();
});

// A link to the new-printer form opens it.
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openTarget);

// Where there is room beside the list, the form stands there open.
/** @type {HTMLDetailsElement | null} */
const form = $("#new-printer");
if (form && matchMedia("(min-width: 1200px)").matches) form.open = true;
prepare(document.body);
openTarget();
const refused = $("[data-focus]");
if (refused) refused.focus();
