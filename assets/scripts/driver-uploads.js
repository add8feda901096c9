import { $, base, bring, notify } from "./dom.js";
import { advance, lineOf, offerAgain, refuse, say } from "./upload-lines.js";

/** @typedef {import("./upload-lines.js").Upload} Upload */

/** How many uploads of this page are waiting or under way. */
let open = 0;

addEventListener("beforeunload", (event) => {
  if (open > 0) event.preventDefault();
});

/**
 * Uploads drivers one after the other, each with a line for its progress and result. Files are chosen in the form or
 * dropped anywhere on the page. A file that is no ZIP is refused before it is sent.
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
  $("[data-scripted]", form)?.removeAttribute("hidden");
  /** @returns whether the form was hidden until now */
  const show = () => {
    if (!place || place.open) return false;
    if (place instanceof HTMLDialogElement) place.showModal();
    else place.open = true;
    return true;
  };
  /** @param {readonly File[]} files */
  const add = (files) => {
    show();
    if (!queue.isRunning()) lines.replaceChildren();
    for (const file of files) lines.append(queue.add(file).line);
    lines.hidden = false;
    queue.goOn();
  };
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
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
 * @param {(files: readonly File[]) => void} add
 */
function dropAnywhere(form, add) {
  for (const type of /** @type {const} */ (["dragover", "dragleave", "drop"])) {
    document.addEventListener(type, (event) => {
      const isTaken = event.defaultPrevented || !event.dataTransfer?.types.includes("Files");
      const isChoice = event.target instanceof Element && event.target.matches("input[type=file]");
      form.classList.toggle("over", type === "dragover" && !isTaken);
      if (isTaken || isChoice || type === "dragleave") return;
      event.preventDefault();
      if (type === "drop") add([...(event.dataTransfer?.files ?? [])]);
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
  /** @param {File} file */
  const add = (file) => {
    const upload = lineOf(file, () => {
      const next = add(file);
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
  const problem = await problemOf(upload.file, Number(form.dataset.limit));
  if (problem !== undefined) return refuse(upload, problem);
  const answer = await send(upload, form);
  if (upload.isCancelled) {
    say(upload, "Cancelled");
    notify("Upload cancelled.", "good");
    return undefined;
  }
  if (answer === undefined) {
    return refuse(upload, "The upload was interrupted. Nothing was saved. Try again.", true);
  }
  const page = new DOMParser().parseFromString(answer, "text/html");
  const notice = $(".notice", page.body);
  const isAway = upload.request.status >= 500 || upload.request.status === 401;
  if (!notice) return refuse(upload, `Platen answered with error ${upload.request.status}.`, isAway);
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
 * What a look at a file tells: none of it has travelled then.
 * @param {File} file
 * @param {number} limit in bytes
 */
async function problemOf(file, limit) {
  if (limit > 0 && file.size > limit) {
    const [size, most] = [file.size, limit].map((bytes) => Math.round(bytes / 1024 / 1024));
    return `The file has ${size} MB. The limit is ${most} MB (UPLOAD_LIMIT_MB).`;
  }
  const start = await file
    .slice(0, 2)
    .text()
    .catch(() => undefined);
  if (start === "PK") return undefined;
  if (file.size === 0) return "The file is empty. Choose another file.";
  if (start === undefined) return "Platen cannot upload a folder. Zip it first.";
  return "This is not a ZIP. Extract a setup program with 7-Zip, zip the INF folder and upload it.";
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @returns {Promise<string | undefined>} what the service answers, if it does
 */
function send({ file, line, request }, form) {
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (lengthComputable) advance(line, Math.floor((100 * loaded) / total));
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
