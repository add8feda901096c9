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
  /** @type {HTMLSelectElement | null} */
  const select = $("#printer-form [name=driver_id]");
  if (!dialog || !select) return;
  const { notice, page } = event.detail;
  const id = notice.dataset.uploaded;
  /** @type {HTMLOptionElement[]} */
  const options = Array.from(page.querySelectorAll("#driver-select option"));
  if (id === undefined || options.length === 0) return;
  offerForArm64(notice, options);
  select.replaceChildren(...[select.options[0] ?? [], ...options].flat());
  select.value = id;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  select.dispatchEvent(new Event("input", { bubbles: true }));
  const said = $("#driver-uploaded");
  if (said) said.textContent = `${select.selectedOptions[0]?.textContent ?? ""}: uploaded and chosen.`;
  // Bad news stay on the screen until they are read; what was typed stays behind them.
  if (notice.matches(".bad")) {
    const next = document.createElement("p");
    next.textContent = "It is chosen in the printer’s form, behind this window.";
    $("[data-next]", notice)?.replaceWith(next);
    for (const link of notice.querySelectorAll("a")) link.target = "_blank";
    return;
  }
  dialog.close();
  $("#printer-form [name=driver_desc]")?.focus();
});

/**
 * What was uploaded may be the driver for ARM64 too.
 * @param {HTMLElement} notice
 * @param {HTMLOptionElement[]} options
 */
function offerForArm64({ dataset: { uploaded, arm64 } }, options) {
  /** @type {HTMLSelectElement | null} */
  const select = $("#printer-form [name=arm64_driver_id]");
  const option = options.find(({ value }) => value === uploaded);
  if (arm64 && option) select?.options[0]?.after(option.cloneNode(true));
}
