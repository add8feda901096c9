import { $, base } from "./dom.js";
import { say } from "./messages.js";

/** What is asked about, or may go on. */
/** @type {WeakMap<HTMLFormElement, "asked" | "free">} */
const states = new WeakMap();

/**
 * A form that is sent as a page is sent only while its sender is signed in: the answer would take the place of what was
 * typed.
 * @param {HTMLFormElement} form
 */
export function askFirst(form) {
  // Who did not sign in here is not signed out here.
  if (!$(".visitor form")) return;
  form.addEventListener("submit", (event) => {
    if (states.get(form) === "free") {
      states.delete(form);
      return;
    }
    event.preventDefault();
    if (states.has(form)) return;
    states.set(form, "asked");
    void goOn(form, event.submitter);
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function goOn(form, submitter) {
  if (await isSignedOut()) {
    states.delete(form);
    say("Your session ended. Nothing was saved. Your input is still here. Sign in and save again.", [
      { label: "Sign in (new tab)", path: `${base}/sign-in`, isNewTab: true },
    ]);
    return;
  }
  states.set(form, "free");
  form.requestSubmit(submitter);
}

/** Whatever is not known, the form's own answer says. */
async function isSignedOut() {
  try {
    const answer = await fetch(`${base}/account`, {
      method: "HEAD",
      headers: { "HX-Request": "true" },
      cache: "no-store",
    });
    return answer.status === 401;
  } catch {
    return false;
  }
}
