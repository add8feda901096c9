import { $ } from "./dom.js";

/**
 * The choice of a driver in the form of a printer, unless the form is folded.
 * @returns {HTMLSelectElement | null}
 */
function openChoice() {
  /** @type {HTMLSelectElement | null} */
  const select = $("#printer-form [name=driver_id]");
  return select?.closest("details:not([open])") ? null : select;
}

/** Where the last uploaded driver was chosen. */
/** @type {HTMLSelectElement | undefined} */
let chosen;

// A driver that is uploaded beside a printer's form is chosen there.
document.addEventListener("driver:uploaded", (event) => {
  const select = openChoice();
  if (!(event instanceof CustomEvent) || !select) return;
  const { notice, page } = event.detail;
  const place = offered(select, notice, page);
  if (!place) return;
  choose(place, notice.dataset.uploaded);
  chosen = place;
  const said = $("#driver-uploaded");
  const where = place === select ? "chosen" : "chosen for ARM64 PCs";
  if (said) said.textContent = `${place.selectedOptions[0]?.textContent ?? ""}: uploaded and ${where}.`;
  const next = document.createElement("p");
  next.textContent = "The printer’s form now uses this driver.";
  $("[data-next]", notice)?.replaceWith(next);
  for (const link of notice.querySelectorAll("a")) link.target = "_blank";
});

// The dialog stays open for bad news. What was typed stays behind it.
document.addEventListener("driver:uploads-end", (event) => {
  const select = openChoice();
  if (!(event instanceof CustomEvent) || !(event.target instanceof Element) || !select) return;
  if (!event.detail?.dataset.uploaded || event.detail.matches(".bad")) return;
  event.target.closest("dialog")?.close();
  $(`#printer-form [name=${(chosen ?? select).dataset.models}]`)?.focus();
});

/**
 * Adds what was uploaded to the printer's choices of drivers.
 * @param {HTMLSelectElement} select
 * @param {HTMLElement} notice
 * @param {Document} page
 * @returns {HTMLSelectElement | undefined} where it belongs: the second driver's place if it is for ARM64 alone, and the
 *   printer has a first one that can have a second
 */
function offered(select, notice, page) {
  /** @type {HTMLSelectElement | null} */
  const fresh = $("#driver-select", page);
  if (!fresh || ![...fresh.options].some(({ value }) => value === notice.dataset.uploaded)) return undefined;
  for (const option of fresh.options) option.defaultSelected = false;
  const second = offeredForArm64(notice, fresh);
  const before = select.value;
  // Groups go along with what is in them.
  select.replaceChildren(...[select.options[0] ?? [], ...fresh.children].flat());
  select.value = before;
  const isAlone = notice.dataset.arm64 === "alone" && before !== "" && before !== select.dataset.ipp;
  return second && isAlone ? second : select;
}

/**
 * @param {HTMLElement} notice
 * @param {HTMLSelectElement} fresh
 * @returns {HTMLSelectElement | null} where ARM64 machines' driver is chosen, if this can be it
 */
function offeredForArm64({ dataset: { uploaded, arm64 } }, fresh) {
  /** @type {HTMLSelectElement | null} */
  const select = $("#printer-form [name=arm64_driver_id]");
  const [option] = Array.from(fresh.options).filter(({ value }) => value === uploaded);
  if (!arm64 || !option || !select) return null;
  const isThere = Array.from(select.options).some(({ value }) => value === uploaded);
  if (!isThere) select.options[0]?.after(option.cloneNode(true));
  return select;
}

/**
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
function choose(select, value) {
  const fold = select.closest("details");
  if (fold) fold.open = true;
  // A model that was typed for the same driver stays.
  if (select.value === value) return;
  select.value = value;
  for (const event of ["change", "input"]) select.dispatchEvent(new Event(event, { bubbles: true }));
}
