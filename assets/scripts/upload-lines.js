import { $, make } from "./dom.js";

/** @typedef {import("./upload-files.js").Folder} Folder */

/**
 * @typedef {object} Upload
 * @property {File | Folder} file the ZIP of a folder, once it is made
 * @property {HTMLLIElement} line
 * @property {XMLHttpRequest} request
 * @property {boolean} isCancelled
 * @property {(() => void) | undefined} again uploads the same file once more
 */

/**
 * A file that waits for its turn, with a line that says how far it is.
 * @param {File | Folder} file
 * @param {() => void} [again] uploads the same file once more
 * @returns {Upload}
 */
export function lineOf(file, again) {
  const cancel = make("button", { type: "button", "aria-label": `Cancel ${file.name}` }, "Cancel");
  const bar = make("progress", { max: "100", value: "0", "aria-label": `Upload of ${file.name}` });
  const state = make("span", { class: "state" }, "Waiting");
  // What is under way can be given up with the keyboard: afterwards the line has the focus.
  const line = make("li", { tabindex: "-1" }, make("bdi", {}, file.name), " ", state, bar, cancel);
  /** @type {Upload} */
  const upload = { file, line, request: new XMLHttpRequest(), isCancelled: false, again };
  cancel.addEventListener("click", () => {
    upload.isCancelled = true;
    upload.request.abort();
    if (upload.request.readyState === XMLHttpRequest.UNSENT) say(upload, "Cancelled");
  });
  return upload;
}

/**
 * What stands in the line once the upload is over.
 * @param {Upload} upload
 * @param {string} text
 */
export function say({ line }, text) {
  const hadFocus = line.contains(document.activeElement);
  for (const part of line.querySelectorAll("progress, button")) part.remove();
  const state = $(".state", line);
  if (state) state.textContent = text;
  if (hadFocus) line.focus();
}

/**
 * @param {HTMLElement} line
 * @param {number} percent
 * @param {string} text
 */
export function advance(line, percent, text) {
  /** @type {HTMLProgressElement | null} */
  const bar = $("progress", line);
  const state = $(".state", line);
  if (bar) bar.value = percent;
  if (state) state.textContent = text;
}

/**
 * @param {Upload} upload
 * @param {string | Node} text
 * @param {boolean} isPassing whether the same file may go through later
 */
export function refuse(upload, text, isPassing = false) {
  say(upload, "");
  const attributes = { class: "notice bad", role: "alert", tabindex: "-1" };
  const notice = make("div", attributes, make("p", {}, text));
  upload.line.append(notice);
  if (isPassing) offerAgain(upload);
  return notice;
}

/**
 * The file is still known, although the field is empty.
 * @param {Upload} upload
 */
export function offerAgain({ file, line, again }) {
  const notice = $(".notice", line);
  if (!again || !notice) return;
  const button = make("button", { type: "button", "aria-label": `Try ${file.name} again` }, "Try again");
  button.addEventListener("click", again);
  notice.append(make("p", {}, button));
}
