import { $, make, notify } from "./dom.js";
import { leaveMessage } from "./focus.js";

/** @param {HTMLElement} item of a message, with the button that closes it */
export function unhideClose(item) {
  item.hidden = false;
}

/** Takes the message away, if there is one. */
function closeMessage() {
  const place = $("#message");
  if (!place?.firstElementChild) return false;
  place.replaceChildren();
  place.className = "";
  leaveMessage();
  return true;
}

document.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("[data-close]")) closeMessage();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || $("dialog[open]")) return;
  if (closeMessage()) event.preventDefault();
});

/** What the address says became of a change is said once: not again when the page is loaded anew. */
export function forgetWhatWasDone() {
  const here = new URL(location.href);
  const said = [
    "done",
    "change",
    "saved",
    "undo",
    "restored",
    "ended",
    "uploaded",
    "taken",
    "moved",
    "bulk",
    "deleted",
    "replaced",
    "revoked",
  ].filter((name) => here.searchParams.has(name));
  if (said.length === 0) return;
  for (const name of said) here.searchParams.delete(name);
  history.replaceState(history.state, "", here);
}

// An answer that is not ours comes from something between here and the service: its page has no place in this one.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { status } = detail.xhr;
  if (status < 400 || !isForeign(detail.serverResponse)) return;
  detail.shouldSwap = false;
  const text = withoutAnswer(status, stateAfter(detail));
  if (isSilence(status)) sayUntilItWorks(text);
  else say(text);
});

/**
 * Whether a status says that the service did not answer.
 * @param {number} status
 */
export function isSilence(status) {
  return status === 502 || status === 503 || status === 504;
}

/**
 * Whether an answer is none of Platen's, which are fragments: other programs answer whole pages, or plain text.
 * @param {string} text
 */
export function isForeign(text) {
  return !/^\s*<(?![!?]|(?:html|head|body)\b)/i.test(text);
}

/**
 * What is said of an answer that does not speak for itself.
 * @param {number} status
 * @param {string} state what is true all the same, in a sentence
 */
export function withoutAnswer(status, state) {
  if (status < 400) return "A proxy answered instead of Platen. Reload the page: it may ask you to sign in.";
  if (status === 413)
    return "A proxy in front of Platen refused the file (413). Raise its limit (nginx: client_max_body_size).";
  if (status === 404) return "This page no longer exists. Reload the list.";
  if (isSilence(status)) {
    const why = status === 504 ? ": a proxy in front of it gave up waiting" : "";
    return `Platen does not respond (${status})${why}. ${state} Try again in a minute.`;
  }
  return `Platen answers with an error (${status}). ${state}`;
}

document.addEventListener("htmx:sendError", ({ detail }) =>
  sayUntilItWorks(`Platen does not respond. ${stateAfter(detail)}`),
);
document.addEventListener("htmx:timeout", ({ detail }) =>
  sayUntilItWorks(`Platen does not respond in time. ${stateAfter(detail)}`),
);

/**
 * What is true after a request that came to nothing. Whether the service did what it was asked for before it fell silent,
 * nobody knows here.
 * @param {HtmxRequest} request
 */
function stateAfter({ elt, target, requestConfig: { verb, path, formData } }) {
  if (verb === "get")
    return target.matches("[id$=-list]") ? "The list is as it was." : "Nothing was changed.";
  if (verb === "delete" || path.endsWith("/delete") || formData.get("action") === "delete")
    return "Platen did not confirm the deletion. Reload the page to check.";
  if (elt.matches(".list")) return "Platen did not confirm the change. Your rows are still chosen.";
  const file = $("input[type=file]", elt);
  if (file instanceof HTMLInputElement && file.files?.length) return "The file is still chosen.";
  return $("input:not([type=hidden]), textarea, select", elt)
    ? "Your input is still here."
    : "Platen did not confirm the change. Reload the page to check.";
}

/** What is true until something works. */
/** @type {HTMLElement | undefined} */
let passing;

/**
 * Says what went wrong, until it is closed or something else is said; with the focus, unless somebody types a search.
 * @param {string | Node} text
 * @param {readonly import("./dom.js").Way[]} [ways]
 * @returns {HTMLElement | undefined} the message
 */
export function say(text, ways = []) {
  const message = notify(text, "bad", ways);
  if (!document.activeElement?.matches("input[type=search]")) message?.focus();
  return message;
}

/**
 * Says that there was no answer, until the next thing that is asked for works.
 * @param {string | Node} text
 * @param {readonly import("./dom.js").Way[]} [ways]
 */
export function sayUntilItWorks(text, ways = []) {
  passing = say(text, ways);
}

/**
 * Takes away what was said until something works.
 * @param {HTMLElement} [other] a message that goes as well
 */
export function itWorks(other) {
  if (passing?.isConnected || other?.isConnected) closeMessage();
  passing = undefined;
}

document.addEventListener("htmx:afterRequest", ({ detail: { successful, xhr } }) => {
  if (successful && xhr.status < 400) itWorks();
});

const slowMs = 1000;

/**
 * Shows that something is still being worked at, once it takes longer than a moment, with a way to give it up.
 * @param {string} text
 * @param {() => void} cancel
 * @returns {() => void} ends it
 */
export function showWaiting(text, cancel) {
  const button = make("button", { type: "button", class: "link" }, "Cancel");
  button.addEventListener("click", cancel);
  const box = make("div", { class: "notice working", role: "status" }, make("p", {}, text, " "), button);
  const timer = setTimeout(() => {
    const place = $("#message");
    if (!place) return;
    place.className = "floating";
    place.append(box);
  }, slowMs);
  return () => {
    clearTimeout(timer);
    if (!box.isConnected) return;
    box.remove();
    if (!$("#message")?.firstElementChild) $("#message")?.setAttribute("class", "");
    leaveMessage();
  };
}

/** @type {WeakMap<XMLHttpRequest, () => void>} */
const waits = new WeakMap();

// Forms that have a button of their own for it, as uploads do, need none here.
document.addEventListener("htmx:beforeRequest", ({ detail: { elt, xhr } }) => {
  if (!(elt instanceof HTMLFormElement) || $(".cancel", elt)) return;
  waits.set(
    xhr,
    showWaiting("Platen is still working.", () => htmx.trigger(elt, "htmx:abort")),
  );
});
document.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => waits.get(xhr)?.());
document.addEventListener("htmx:sendAbort", ({ target }) => {
  if (target instanceof HTMLFormElement && $(".cancel", target)) return;
  notify("Cancelled. Reload the page to check the result.", "good");
});
