import { $ } from "./dom.js";

/** @type {HTMLElement | undefined} */
let last;
/** Where the focus was before a message took it. */
/** @type {HTMLElement | undefined} */
let before;

document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  last = target;
  if (!target.closest("#message, dialog")) before = target;
});

/** Gives the focus to the message or form that asks for it; where a change took it away, back to where it was. */
export function settleFocus() {
  const wanted = $("[data-focus]");
  if (wanted) {
    wanted.removeAttribute("data-focus");
    wanted.focus();
  }
  if (last !== undefined && isLost()) returnFocus(last);
}

/** After a message is gone: to where the focus was before. */
export function leaveMessage() {
  if (isLost()) returnFocus(before);
}

function isLost() {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.matches(":disabled");
}

/** @param {HTMLElement | undefined} element */
function returnFocus(element) {
  const places = [element, element?.id ? $(`#${CSS.escape(element.id)}`) : null, $("#message > .notice")];
  for (const place of places) {
    if (!place?.isConnected) continue;
    place.focus({ preventScroll: true });
    if (!isLost()) return;
  }
  const heading = $("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}
