// Makes the pages smoother. Everything works without it, by plain forms and links.
import { unhide } from "./scripts/copy.js";
import { $, each } from "./scripts/dom.js";
import "./scripts/downloads.js";
import { uploadDrivers } from "./scripts/driver-uploads.js";
import { fillFromFile } from "./scripts/file-text.js";
import { settleFocus } from "./scripts/focus.js";
import { countSet } from "./scripts/folds.js";
import { guard } from "./scripts/guard.js";
import { rememberGuide } from "./scripts/guides.js";
import { fitPictures } from "./scripts/icon.js";
import { keepTyped } from "./scripts/imports.js";
import { pairIpp } from "./scripts/ipp.js";
import { chooseRows, countRows } from "./scripts/lists.js";
import { forgetWhatWasDone, unhideClose } from "./scripts/messages.js";
import { searchOnly, suggestModels } from "./scripts/models.js";
import { derivePort } from "./scripts/port-name.js";
import "./scripts/printer-upload.js";
import "./scripts/row-menu.js";
import "./scripts/search.js";
import { askFirst } from "./scripts/signed-out.js";
import { watchUpload } from "./scripts/uploads.js";

/**
 * Sets up a part of the page, once.
 * @param {Element} root
 */
function prepare(root) {
  each(root, "form", derivePort);
  each(root, "form", pairIpp);
  each(root, "[data-models]", suggestModels);
  each(root, "form[data-guard]", guard);
  each(root, "form[data-guard]:not([hx-post])", askFirst);
  each(root, "input[data-search]", searchOnly);
  each(root, "form.upload:not([data-driver-upload])", watchUpload);
  each(root, "form[data-driver-upload]", uploadDrivers);
  each(root, "form.icon-form", fitPictures);
  each(root, "#import", keepTyped);
  each(root, "details[data-fold]", countSet);
  each(root, "[data-file-text]", fillFromFile);
  each(root, "[data-guide]", rememberGuide);
  each(root, "form.list", chooseRows);
  each(root, ".rows > table, .list > table", countRows);
  each(root, "button[data-copy]", unhide);
  each(root, "[data-close]", unhideClose);
}

document.addEventListener("htmx:load", ({ target }) => {
  if (target instanceof Element) prepare(target);
});
// At this event the response is in the page, and the button that was disabled during the request is enabled again.
document.addEventListener("htmx:afterRequest", settleFocus);

// A link to the new-printer form opens it; a link to a field opens the fold or the tab around it.
function openTarget() {
  const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const fold = target?.closest("details");
  if (fold) fold.open = true;
  const tab = target?.closest(".tab");
  if (tab) $(`#${tab.id.replace("pane", "tab")}`)?.click();
}
addEventListener("hashchange", openTarget);
// The link to the current address does not change the hash.
addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest('a[href*="#"]')) setTimeout(openTarget);
});

prepare(document.body);
openTarget();
forgetWhatWasDone();
if ($("[data-focus]")) settleFocus();
