import { $ } from "./dom.js";

/** When the service is asked what it counts by now, in milliseconds after the one before: a download may take its time. */
const waits = [1000, 2000, 4000, 8000, 16_000, 30_000, 60_000];

let asking = 0;

/** Brings what a page says of its downloads up to date once a download that starts now has been counted. */
export async function renewDownloaded() {
  const own = ++asking;
  for (const wait of waits) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const old = $(".downloaded");
    if (!old || own !== asking) return;
    const fresh = await downloadedNow();
    if (fresh && withoutState(fresh) !== withoutState(old)) {
      replace(old, fresh);
      return;
    }
  }
}

async function downloadedNow() {
  try {
    const answer = await fetch(location.pathname, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok) return null;
    return $(".downloaded", new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    return null;
  }
}

/** @param {HTMLElement} line */
function withoutState(line) {
  return line.innerHTML.replace('<details class="more" open="">', '<details class="more">');
}

/**
 * What is folded out stays so, and keeps the focus.
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
function replace(old, fresh) {
  const isOpen = $("details[open]", old) !== null;
  const hadFocus = old.contains(document.activeElement);
  old.replaceChildren(...fresh.childNodes);
  if (isOpen) $("details", old)?.setAttribute("open", "");
  if (hadFocus) $("summary", old)?.focus();
}
