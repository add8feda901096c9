import { make } from "./dom.js";

/**
 * Asks before something is done that is hard to take back.
 * @param {string} question
 * @param {string} verb what the button says that does it
 * @returns {Promise<boolean>}
 */
function ask(question, verb) {
  return new Promise((resolve) => {
    const text = make("p", { id: "dialog-question" }, question);
    const yes = make("button", { value: "yes", class: "danger" }, verb);
    const no = make("button", { value: "no", autofocus: "" }, "Cancel");
    const form = make("form", { method: "dialog", class: "actions" }, yes, no);
    const dialog = make("dialog", { "aria-labelledby": "dialog-question", role: "alertdialog" }, text, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

document.addEventListener("htmx:confirm", (event) => {
  const { question, elt, triggeringEvent, issueRequest } = event.detail;
  if (!question) return;
  event.preventDefault();
  const button =
    triggeringEvent instanceof SubmitEvent ? triggeringEvent.submitter : elt.querySelector("button");
  const verb = (button ?? elt).textContent?.trim().replace(/\s+/g, " ") || "Yes";
  void ask(question, verb).then((isConfirmed) => {
    if (isConfirmed) issueRequest(true);
  });
});
