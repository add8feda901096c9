import { $, announce, base, notify, withoutBase } from "./dom.js";
import { renewDownloaded } from "./downloaded.js";
import { hasUnsaved } from "./guard.js";
import { isSilence, itWorks, say, sayUntilItWorks, showWaiting, withoutAnswer } from "./messages.js";

// What is at a file's address is asked about first: the browser would put a refusal in the place of the page, or of the
// file.

const files =
  /^\/(?:printers|clients|drivers)\/\d+\/(?:scripts\/\w+|packages\/\w+|publish|archive|files)$|^\/packages\/\w+$|^\/export\/[\w.]+$/;

/** @param {URL} address */
function isFile({ origin, pathname, searchParams }) {
  return origin === location.origin && (files.test(withoutBase(pathname)) || searchParams.has("download"));
}

document.addEventListener("click", (event) => {
  const { target, button, altKey, ctrlKey, metaKey, shiftKey } = event;
  if (event.defaultPrevented || button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return;
  /** @type {HTMLAnchorElement | null} */
  const link = target instanceof Element ? target.closest("a[href]") : null;
  if (!link || (link.target !== "" && link.target !== "_self") || link.dataset.download === "no") return;
  if (link.dataset.download === undefined && !isFile(new URL(link.href))) return;
  event.preventDefault();
  void download(link, link.href);
});

// Before htmx, which would fetch the file and put it into the page.
document.addEventListener(
  "submit",
  (event) => {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement)) return;
    const button = submitter instanceof HTMLButtonElement ? submitter : null;
    const method = button?.getAttribute("formmethod") ?? form.method;
    const address = new URL(button?.getAttribute("formaction") ?? form.action, location.href);
    if (method.toLowerCase() !== "get" || !isFile(address)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const only = button?.dataset.only;
    for (const [name, value] of new FormData(form, button))
      if (only === undefined || name === only) address.searchParams.append(name, String(value));
    void download(closedSheet(button) ?? button ?? form, address.href);
  },
  true,
);

/**
 * What opens the sheet that a button stands in, which is closed: whatever is said of the download, it is in nobody's way.
 * @param {HTMLElement | null} button
 */
function closedSheet(button) {
  const sheet = button?.closest(".bulk details");
  if (!(sheet instanceof HTMLDetailsElement)) return undefined;
  sheet.open = false;
  const opener = $("summary", sheet);
  opener?.focus();
  return opener;
}

/** What is asked about at the moment. */
/** @type {WeakMap<HTMLElement, AbortController>} */
const asked = new WeakMap();

/**
 * @param {HTMLElement} asker what was pressed; it shows that it works
 * @param {string} address
 */
async function download(asker, address) {
  if (asked.has(asker)) return;
  const stop = new AbortController();
  asked.set(asker, stop);
  asker.setAttribute("aria-busy", "true");
  asker.setAttribute("aria-disabled", "true");
  const endWaiting = showWaiting("The download is being prepared.", () => stop.abort());
  try {
    const refusal = await refusalOf(address, stop.signal);
    if (refusal === undefined) start(address);
    else refuse(asker, address, refusal);
  } catch {
    if (stop.signal.aborted) notify("Download cancelled.", "good");
    else
      refuse(asker, address, {
        text: "Platen does not respond. Nothing was downloaded.",
        ways: [],
        isLasting: false,
        isAnswered: false,
      });
  } finally {
    asked.delete(asker);
    asker.removeAttribute("aria-busy");
    asker.removeAttribute("aria-disabled");
    endWaiting();
  }
}

/**
 * @typedef {object} Refusal
 * @property {string | Node} text
 * @property {import("./dom.js").Way[]} ways out of it
 * @property {boolean} isLasting whether the same would be refused again
 * @property {boolean} isAnswered whether it was the service that refused
 */

/**
 * Why an address answers no file; undefined where it does.
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<Refusal | undefined>}
 */
async function refusalOf(address, signal) {
  const head = await fetch(address, {
    method: "HEAD",
    headers: { "HX-Request": "true" },
    signal,
    cache: "no-store",
  });
  if (head.ok) return undefined;
  // A HEAD has no words.
  const stopReading = new AbortController();
  const headers = { Accept: "text/html", "HX-Request": "true" };
  const signals = AbortSignal.any ? AbortSignal.any([signal, stopReading.signal]) : stopReading.signal;
  const answer = await fetch(address, { headers, signal: signals, cache: "no-store" });
  if (answer.ok) {
    stopReading.abort();
    return undefined;
  }
  const isLasting = answer.status < 500;
  const isAnswered = !isSilence(answer.status);
  const isOurs = answer.headers.get("HX-Retarget") === "#message";
  const notice = isOurs ? parsed(await answer.text()) : undefined;
  if (notice === undefined)
    return { text: withoutAnswer(answer.status, "Nothing was downloaded."), ways: [], isLasting, isAnswered };
  return { ...notice, isLasting, isAnswered };
}

/**
 * The sentence and the links of a message as the service writes it.
 * @param {string} fragment
 * @returns {Pick<Refusal, "text" | "ways"> | undefined}
 */
function parsed(fragment) {
  const { body } = new DOMParser().parseFromString(fragment, "text/html");
  const text = $(".notice > p", body);
  if (!text) return undefined;
  /** @type {HTMLAnchorElement[]} */
  const links = Array.from(body.querySelectorAll(".notice > .actions a"));
  const ways = links.map((link) => ({
    label: contentOf(link),
    path: link.getAttribute("href") ?? "",
    isNewTab: link.target === "_blank",
  }));
  return { text: contentOf(text), ways };
}

/** @param {Element} element */
function contentOf(element) {
  const content = document.createDocumentFragment();
  content.append(...element.childNodes);
  return content;
}

/** What was said of the latest download that was refused: it is over with the next that starts. */
/** @type {HTMLElement | undefined} */
let refused;

/** @param {string} address */
function start(address) {
  itWorks(refused);
  refused = undefined;
  announce("The download starts.");
  void renewDownloaded();
  if (!hasUnsaved()) {
    location.assign(address);
    return;
  }
  // What was typed must not be asked about for a page that stays: a download of its own leaves nothing.
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.dataset.download = "no";
  link.click();
}

/** @type {Record<string, string>} */
const records = { printers: "Open the printer", clients: "Open the client", drivers: "Open the driver" };

/**
 * Says why, where the eye is, with what can be done about it.
 * @param {HTMLElement} asker
 * @param {string} address
 * @param {Refusal} refusal
 */
function refuse(asker, address, { text, ways, isLasting, isAnswered }) {
  const [, place = "", id = ""] = withoutBase(new URL(address).pathname).split("/");
  const path = `${base}/${place}/${id}`;
  const label = records[place];
  const again = isLasting ? [] : [{ label: "Try again", work: () => void download(asker, address) }];
  const record = label && ways.length === 0 && path !== location.pathname ? [{ label, path }] : [];
  const next = [...ways, ...record, ...again];
  if (isAnswered) refused = say(text, next);
  else sayUntilItWorks(text, next);
}
