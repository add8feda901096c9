import { announce, notify } from "./dom.js";
import { hasUnsaved } from "./guard.js";
import { showWaiting, withoutAnswer } from "./messages.js";

// A link to a file is asked about first: the browser would put a refusal in the place of the page, or of the file.

const files =
  /^\/(?:printers|clients|drivers)\/\d+\/(?:scripts\/\w+|packages\/\w+|publish|archive|files)$|^\/export\/[\w.]+$/;

/** @param {HTMLAnchorElement} link */
function isDownload(link) {
  if (link.origin !== location.origin || (link.target !== "" && link.target !== "_self")) return false;
  if (link.dataset.download !== undefined) return link.dataset.download !== "no";
  return files.test(link.pathname);
}

/** What is asked about at the moment. */
/** @type {WeakMap<HTMLAnchorElement, AbortController>} */
const asked = new WeakMap();

document.addEventListener("click", (event) => {
  const { target, button, altKey, ctrlKey, metaKey, shiftKey } = event;
  if (event.defaultPrevented || button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return;
  /** @type {HTMLAnchorElement | null} */
  const link = target instanceof Element ? target.closest("a[href]") : null;
  if (!link || !isDownload(link)) return;
  event.preventDefault();
  void download(link);
});

/** @param {HTMLAnchorElement} link */
async function download(link) {
  if (asked.has(link)) return;
  const stop = new AbortController();
  asked.set(link, stop);
  link.setAttribute("aria-busy", "true");
  link.setAttribute("aria-disabled", "true");
  const endWaiting = showWaiting("The download is being prepared.", () => stop.abort());
  try {
    const refusal = await refusalOf(link.href, stop.signal);
    if (refusal === undefined) start(link.href);
    else refuse(link, refusal);
  } catch {
    if (stop.signal.aborted) notify("Cancelled: nothing is downloaded.", "good");
    else refuse(link, "The service does not answer: nothing is downloaded.");
  } finally {
    asked.delete(link);
    link.removeAttribute("aria-busy");
    link.removeAttribute("aria-disabled");
    endWaiting();
  }
}

const longestReason = 1000;

/**
 * Why an address answers no file; undefined where it does.
 * @param {string} address
 * @param {AbortSignal} signal
 */
async function refusalOf(address, signal) {
  const head = await fetch(address, { method: "HEAD", signal, cache: "no-store" });
  if (head.ok) return undefined;
  // A HEAD has no words.
  const stopReading = new AbortController();
  const headers = { Accept: "text/plain" };
  const signals = AbortSignal.any ? AbortSignal.any([signal, stopReading.signal]) : stopReading.signal;
  const answer = await fetch(address, { headers, signal: signals, cache: "no-store" });
  if (answer.ok) {
    stopReading.abort();
    return undefined;
  }
  const isOurs = answer.headers.get("content-type")?.startsWith("text/plain");
  const text = isOurs ? (await answer.text()).trim().slice(0, longestReason) : "";
  return text || withoutAnswer(answer.status);
}

/** @param {string} address */
function start(address) {
  announce("The download starts.");
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
 * @param {HTMLAnchorElement} link
 * @param {string} text
 */
function refuse(link, text) {
  const [, place = "", id = ""] = link.pathname.split("/");
  const path = `/${place}/${id}`;
  const label = records[place];
  const ways = [{ label: "Try again", work: () => void download(link) }];
  const record = label && path !== location.pathname ? [{ label, path }] : [];
  notify(text, "bad", [...record, ...ways])?.focus();
}
