import { announce, notify } from "./dom.js";
import { hasUnsaved } from "./guard.js";
import { showWaiting, withoutAnswer } from "./messages.js";

// What is at a file's address is asked about first: the browser would put a refusal in the place of the page, or of the
// file.

const files =
  /^\/(?:printers|clients|drivers)\/\d+\/(?:scripts\/\w+|packages\/\w+|publish|archive|files)$|^\/packages\/\w+$|^\/export\/[\w.]+$/;

/** @param {URL} address */
function isFile({ origin, pathname, searchParams }) {
  return origin === location.origin && (files.test(pathname) || searchParams.has("download"));
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
    void download(button ?? form, address.href);
  },
  true,
);

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
    if (stop.signal.aborted) notify("Cancelled: nothing is downloaded.", "good");
    else refuse(asker, address, "The service does not answer: nothing is downloaded.");
  } finally {
    asked.delete(asker);
    asker.removeAttribute("aria-busy");
    asker.removeAttribute("aria-disabled");
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
 * @param {HTMLElement} asker
 * @param {string} address
 * @param {string} text
 */
function refuse(asker, address, text) {
  const [, place = "", id = ""] = new URL(address).pathname.split("/");
  const path = `/${place}/${id}`;
  const label = records[place];
  const ways = [{ label: "Try again", work: () => void download(asker, address) }];
  const record = label && path !== location.pathname ? [{ label, path }] : [];
  notify(text, "bad", [...record, ...ways])?.focus();
}
