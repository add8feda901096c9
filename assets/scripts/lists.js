import { $, make } from "./dom.js";

/** @type {HTMLInputElement | undefined} The box that was ticked last: a range begins there. */
let last;

/**
 * How many rows each group has, for the scroll bar: a group that is not seen yet is not laid out.
 * @param {HTMLTableElement} table
 */
export function countRows(table) {
  for (const body of table.tBodies) body.style.setProperty("--rows", String(body.rows.length));
}

/**
 * Rows are chosen one by one, as a range with the shift key, by client or all; what can be done with them appears.
 * @param {HTMLFormElement} form
 */
export function chooseRows(form) {
  for (const box of form.querySelectorAll("input.all, input.group")) box.removeAttribute("hidden");
  form.addEventListener("click", (event) => {
    const { target } = event;
    if (target instanceof HTMLInputElement && target.name === "ids") tick(form, target, event.shiftKey);
  });
  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "checkbox") return;
    if (target.name !== "ids")
      tickAll(target.matches(".all") ? form : target.closest("tbody"), target.checked);
    show(form);
    leadOn(form, target);
  });
  form.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (key !== "Enter" || !(target instanceof HTMLInputElement)) return;
    event.preventDefault();
    const sheet = target.closest(".sheet");
    if (sheet) $("button", sheet)?.click();
  });
  show(form);
}

/** @param {Element} part */
function boxesIn(part) {
  return /** @type {NodeListOf<HTMLInputElement>} */ (part.querySelectorAll("input[name=ids]"));
}

/**
 * @param {Element | null} part
 * @param {boolean} isChosen
 */
function tickAll(part, isChosen) {
  if (part) for (const box of boxesIn(part)) box.checked = isChosen;
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} box
 * @param {boolean} isRange
 */
function tick(form, box, isRange) {
  const boxes = Array.from(boxesIn(form));
  const from = last === undefined ? -1 : boxes.indexOf(last);
  if (isRange && from >= 0) {
    const to = boxes.indexOf(box);
    for (const other of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) other.checked = box.checked;
  }
  last = box;
}

/**
 * Shows how many rows are chosen, and what can be done with them.
 * @param {HTMLFormElement} form
 */
function show(form) {
  let chosen = 0;
  let rows = 0;
  for (const body of form.querySelectorAll("tbody")) {
    const boxes = Array.from(boxesIn(body));
    const ticked = boxes.filter((box) => box.checked).length;
    mark($("input.group", body), ticked, boxes.length);
    chosen += ticked;
    rows += boxes.length;
  }
  mark($("input.all", form), chosen, rows);
  const bar = $(".bulk", form);
  const text = $(".chosen", form);
  if (!bar || !text) return;
  bar.classList.add("ready");
  bar.hidden = chosen === 0;
  text.textContent = `${chosen} chosen`;
  const remove = $("button.danger", bar);
  if (remove) remove.textContent = `Delete ${chosen} ${chosen === 1 ? "printer" : "printers"}`;
}

/**
 * What can be done with the chosen rows stands behind all of them: the next stop of the Tab key leads there.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} box that was ticked last
 */
function leadOn(form, box) {
  const bar = $(".bulk", form);
  $(".to-chosen", form)?.remove();
  if (!bar || bar.hidden) return;
  const link = make("button", { type: "button", class: "visually-hidden to-chosen" }, "Go to the actions");
  link.addEventListener("click", () => $("summary", bar)?.focus());
  (box.closest("label") ?? box).after(link);
}

/**
 * A box for several is ticked, empty or between.
 * @param {Element | null} box
 * @param {number} ticked
 * @param {number} all
 */
function mark(box, ticked, all) {
  if (!(box instanceof HTMLInputElement)) return;
  box.checked = ticked === all;
  box.indeterminate = ticked > 0 && ticked < all;
}

// htmx says of every element of an old list that it goes, one by one; here thousands go at once, and none needs it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.shouldSwap && detail.target.matches(".rows")) detail.target.replaceChildren();
});
