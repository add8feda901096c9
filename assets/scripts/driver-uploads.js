import { $, base, bring, notify } from "./dom.js";
import { isForeign, withoutAnswer } from "./messages.js";
import { chosenIn, droppedIn, fileToSend } from "./upload-files.js";
import { advance, lineOf, offerAgain, refuse, say } from "./upload-lines.js";

/** @typedef {import("./upload-files.js").Folder} Folder */
/** @typedef {import("./upload-lines.js").Upload} Upload */

/** How many uploads of this page are waiting or under way. */
let open = 0;

addEventListener("beforeunload", (event) => {
  if (open > 0) event.preventDefault();
});

/**
 * Uploads drivers one after the other, each with a line for its progress and result. Files and folders are chosen in the
 * form or dropped anywhere on the page.
 * @param {HTMLFormElement} form
 */
export function uploadDrivers(form) {
  /** @type {HTMLInputElement | null} */
  const input = $("input[type=file]", form);
  const lines = $(form.dataset.driverUpload ?? "");
  if (!input || !lines) return;
  const place = /** @type {HTMLDialogElement | HTMLDetailsElement | null} */ (
    form.closest("dialog, details")
  );
  const queue = queueOf(form, (answer) => {
    if (place?.open === false)
      notify("Upload finished.", answer.matches(".bad") ? "bad" : "good", [
        { label: "Show result", work: show },
      ]);
    answer.focus();
  });
  input.multiple = true;
  for (const part of form.querySelectorAll("[data-scripted]")) part.removeAttribute("hidden");
  /** @returns whether the form was hidden until now */
  const show = () => {
    if (!place || place.open) return false;
    if (place instanceof HTMLDialogElement) place.showModal();
    else place.open = true;
    return true;
  };
  /** @param {readonly (File | Folder)[]} files */
  const add = (files) => {
    show();
    if (!queue.isRunning()) lines.replaceChildren();
    for (const file of files) lines.append(queue.add(file).line);
    lines.hidden = false;
    queue.goOn();
  };
  form.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement) add(chosenIn(target));
    form.reset();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link?.getAttribute("href") !== `${base}/drivers#upload-form` || event.ctrlKey || event.metaKey)
      return;
    event.preventDefault();
    if (!show()) input.click();
  });
  dropAnywhere(form, add);
}

/**
 * Takes files that no other part of the page takes.
 * @param {HTMLFormElement} form
 * @param {(files: readonly (File | Folder)[]) => void} add
 */
function dropAnywhere(form, add) {
  for (const type of /** @type {const} */ (["dragover", "dragleave", "drop"])) {
    document.addEventListener(type, (event) => {
      const isTaken = event.defaultPrevented || !event.dataTransfer?.types.includes("Files");
      const { target } = event;
      const isChoice =
        target instanceof Element && target.matches("input[type=file]") && !form.contains(target);
      form.classList.toggle("over", type === "dragover" && !isTaken);
      if (isTaken || isChoice || type === "dragleave") return;
      event.preventDefault();
      if (type === "drop" && event.dataTransfer) add(droppedIn(event.dataTransfer));
    });
  }
}

/**
 * Files that wait, of which one at a time is uploaded.
 * @param {HTMLFormElement} form
 * @param {(answer: HTMLElement) => void} end shows the worst or last answer
 */
function queueOf(form, end) {
  /** @type {Upload[]} */
  const waiting = [];
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    /** @type {HTMLElement[]} */
    const answers = [];
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      open = waiting.length + 1;
      const answer = await uploadOne(next, form);
      if (answer) answers.push(answer);
    }
    open = 0;
    isRunning = false;
    const [first] = answers.filter((answer) => answer.matches(".bad"));
    const answer = first ?? answers.at(-1);
    if (answer) end(answer);
    form.dispatchEvent(new CustomEvent("driver:uploads-end", { bubbles: true, detail: answer }));
  };
  const goOn = () => {
    open = waiting.length + Number(isRunning);
    if (!isRunning) void run();
  };
  /** @param {File | Folder} file */
  const add = (file) => {
    const upload = lineOf(file, () => {
      const next = add(upload.file);
      upload.line.replaceWith(next.line);
      $("button", next.line)?.focus();
      goOn();
    });
    waiting.push(upload);
    return upload;
  };
  return { add, goOn, isRunning: () => isRunning };
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @returns {Promise<HTMLElement | undefined>} what is said of it
 */
async function uploadOne(upload, form) {
  if (upload.isCancelled) return undefined;
  const file = await fileToSend(upload, Number(form.dataset.limit));
  if (upload.isCancelled) return undefined;
  if (!(file instanceof File)) return refuse(upload, file);
  upload.file = file;
  const answer = await send(upload, file, form);
  if (upload.isCancelled) {
    say(upload, "Cancelled");
    notify("Upload cancelled.", "good");
    return undefined;
  }
  if (answer === undefined) {
    return refuse(upload, "The upload was interrupted. Nothing was saved. Try again.", true);
  }
  const page = new DOMParser().parseFromString(answer, "text/html");
  const notice = isForeign(answer) ? null : $(".notice", page.body);
  const { status } = upload.request;
  const isAway = status >= 500 || status === 401;
  if (!notice) return refuse(upload, withoutAnswer(status, "Platen did not confirm the upload."), isAway);
  say(upload, "");
  upload.line.append(notice);
  if (Number(upload.line.parentElement?.children.length) > 1) linkForm(notice);
  if (isAway) offerAgain(upload);
  notice.removeAttribute("data-focus");
  renew("#driver-rows", page);
  bring(notice);
  form.dispatchEvent(new CustomEvent("driver:uploaded", { bubbles: true, detail: { notice, page } }));
  return notice;
}

/**
 * Replaces the form for a new printer by a link: its save would leave the other uploads.
 * @param {HTMLElement} notice
 */
function linkForm(notice) {
  const link = $('.new-printer a[href*="driver_id"]', notice);
  if (!link) return;
  link.textContent = "New printer with this driver";
  $(".new-printer", notice)?.replaceWith(link);
}

/**
 * @param {Upload} upload
 * @param {File} file
 * @param {HTMLFormElement} form
 * @returns {Promise<string | undefined>} what the service answers, if it does
 */
function send({ line, request }, file, form) {
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (!lengthComputable) return;
    const percent = Math.floor((100 * loaded) / total);
    advance(line, percent, percent < 100 ? `${percent} %` : "Reading…");
  });
  const body = new FormData();
  body.set("file", file);
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("Accept", "text/html");
  request.setRequestHeader("HX-Current-URL", location.href);
  return new Promise((resolve) => {
    request.addEventListener("load", () => resolve(request.responseText));
    for (const end of ["error", "abort"]) request.addEventListener(end, () => resolve(undefined));
    request.send(body);
  });
}

/**
 * Puts what an answer holds in the place of the page's own.
 * @param {string} selector
 * @param {Document} page
 */
function renew(selector, page) {
  const [old, fresh] = [$(selector), $(selector, page)];
  if (!old || !fresh) return;
  old.replaceWith(fresh);
  bring(fresh);
}
