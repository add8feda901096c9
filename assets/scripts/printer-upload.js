import { $ } from "./dom.js";

/**
 * A link that leads to a page elsewhere opens a window of this page instead.
 * @param {HTMLElement} link
 */
export function opensWindow(link) {
  const dialog = document.getElementById(link.dataset.opens ?? "");
  if (!(dialog instanceof HTMLDialogElement)) return;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
  });
  link.setAttribute("role", "button");
  link.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    dialog.showModal();
  });
  $("[data-close-window]", dialog)?.addEventListener("click", () => dialog.close());
}

// A driver that was uploaded from a printer's form is chosen there.
document.addEventListener("driver:uploaded", (event) => {
  if (!(event instanceof CustomEvent) || !(event.target instanceof Element)) return;
  const dialog = event.target.closest("dialog");
  const { notice, page } = event.detail;
  const place = dialog && offered(notice, page);
  if (!place) return;
  choose(place, notice.dataset.uploaded);
  const said = $("#driver-uploaded");
  const where = place.name === "driver_id" ? "chosen" : "chosen for ARM64 machines";
  if (said) said.textContent = `${place.selectedOptions[0]?.textContent ?? ""}: uploaded and ${where}.`;
  // Bad news stay on the screen until they are read; what was typed stays behind them.
  if (notice.matches(".bad")) {
    const next = document.createElement("p");
    next.textContent = "It is chosen in the printer’s form, behind this window.";
    $("[data-next]", notice)?.replaceWith(next);
    for (const link of notice.querySelectorAll("a")) link.target = "_blank";
    return;
  }
  dialog.close();
  $(`#printer-form [name=${place.dataset.models}]`)?.focus();
});

/**
 * Offers what was uploaded wherever it is possible.
 * @param {HTMLElement} notice
 * @param {Document} page
 * @returns {HTMLSelectElement | undefined} where it is meant: the second driver's place where it is for ARM64 alone, and
 *   the printer has a first one that can have a second
 */
function offered(notice, page) {
  /** @type {HTMLSelectElement | null} */
  const select = $("#printer-form [name=driver_id]");
  /** @type {HTMLSelectElement | null} */
  const fresh = $("#driver-select", page);
  if (notice.dataset.uploaded === undefined || !select || !fresh) return undefined;
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
  select.value = value;
  for (const event of ["change", "input"]) select.dispatchEvent(new Event(event, { bubbles: true }));
}
