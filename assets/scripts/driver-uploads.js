import { $, bring, notify } from "./dom.js";
import { advance, lineOf, offerAgain, refuse, say } from "./upload-lines.js";

/** @typedef {import("./upload-lines.js").Upload} Upload */

/** How many uploads of this page are waiting or under way. */
let open = 0;

addEventListener("beforeunload", (event) => {
  if (open > 0) event.preventDefault();
});

/**
 * Drivers are uploaded one after the other, with a line for each: how far it is, what it brought, a way to cancel it.
 * What cannot be a driver's ZIP is said before anything travels.
 * @param {HTMLFormElement} form
 */
export function uploadDrivers(form) {
  /** @type {HTMLInputElement | null} */
  const input = $("input[type=file]", form);
  const button = $(".primary", form);
  const lines = $(form.dataset.driverUpload ?? "");
  if (!input || !button || !lines) return;
  const isSingle = form.dataset.single !== undefined;
  input.multiple = !isSingle;
  $("[data-scripted]", form)?.removeAttribute("hidden");
  const queue = queueOf(form, button);

  /** @param {readonly File[]} files */
  const add = (files) => {
    if (!queue.isRunning()) lines.replaceChildren();
    const [taken, others] = isSingle ? [files.slice(0, 1), files.slice(1)] : [files, []];
    for (const file of taken) lines.append(queue.add(file).line);
    for (const file of others) {
      const upload = lineOf(file);
      lines.append(upload.line);
      refuse(upload, "One ZIP is taken here: upload others under Drivers.");
    }
    lines.hidden = false;
    queue.goOn();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add([...(input.files ?? [])]);
  });
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    add([...(event.dataTransfer?.files ?? [])]);
  });
}

/**
 * Files that wait, of which one at a time is uploaded.
 * @param {HTMLFormElement} form
 * @param {HTMLElement} button says how far it is
 */
function queueOf(form, button) {
  const label = button.textContent ?? "";
  /** @type {Upload[]} */
  const waiting = [];
  let isRunning = false;
  /** How many have had their turn, the one that has it now among them. */
  let turns = 0;

  /** @param {number} percent */
  const show = (percent) => {
    const total = turns + waiting.length;
    button.textContent = progressText(percent, total > 1 ? `${turns} of ${total}` : "");
  };
  const run = async () => {
    isRunning = true;
    button.setAttribute("disabled", "");
    /** @type {HTMLElement[]} */
    const answers = [];
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      open = waiting.length + 1;
      turns++;
      const answer = await uploadOne(next, form, show);
      if (answer) answers.push(answer);
    }
    open = 0;
    turns = 0;
    isRunning = false;
    button.removeAttribute("disabled");
    button.textContent = label;
    form.reset();
    const [first] = answers.filter((answer) => answer.matches(".bad"));
    (first ?? answers.at(-1))?.focus();
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
 * @param {number} percent
 * @param {string} which of several
 */
function progressText(percent, which) {
  if (percent === 100) return which ? `Reading ${which}…` : "Reading the file…";
  return which ? `Uploading ${which}, ${percent} %` : `Uploading ${percent} %`;
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @param {(percent: number) => void} show
 * @returns {Promise<HTMLElement | undefined>} what is said of it
 */
async function uploadOne(upload, form, show) {
  if (upload.isCancelled) return undefined;
  const problem = await problemOf(upload.file, Number(form.dataset.limit));
  if (problem !== undefined) return refuse(upload, problem);
  const answer = await send(upload, form, show);
  if (upload.isCancelled) {
    say(upload, "cancelled");
    notify("The upload is cancelled.", "good");
    return undefined;
  }
  if (answer === undefined) {
    return refuse(upload, "The service does not answer, or the upload broke off. Nothing was stored.", true);
  }
  const page = new DOMParser().parseFromString(answer, "text/html");
  const notice = $(".notice", page.body);
  const isAway = upload.request.status >= 500 || upload.request.status === 401;
  if (!notice) return refuse(upload, `The service answered with ${upload.request.status}.`, isAway);
  say(upload, "");
  upload.line.append(notice);
  if (isAway) offerAgain(upload);
  notice.removeAttribute("data-focus");
  renew("#driver-rows", page);
  bring(notice);
  form.dispatchEvent(new CustomEvent("driver:uploaded", { bubbles: true, detail: { notice, page } }));
  return notice;
}

/**
 * What a look at a file tells: none of it has travelled then.
 * @param {File} file
 * @param {number} limit in bytes
 */
async function problemOf(file, limit) {
  if (limit > 0 && file.size > limit) {
    const [size, most] = [file.size, limit].map((bytes) => Math.round(bytes / 1024 / 1024));
    return `It has ${size} MB; at most ${most} MB are taken (UPLOAD_LIMIT_MB). Nothing was sent.`;
  }
  const start = await file
    .slice(0, 2)
    .text()
    .catch(() => undefined);
  if (start === "PK") return undefined;
  if (file.size === 0) return "It is empty. Nothing was sent.";
  if (start === undefined) return "It cannot be read here: a folder has to be packed as a ZIP first.";
  return "This is not a ZIP file, so nothing was uploaded. If it is a setup program, unpack it and upload the folder with the INF as a ZIP.";
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @param {(percent: number) => void} show
 * @returns {Promise<string | undefined>} what the service answers, if it does
 */
function send({ file, line, request }, form, show) {
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (!lengthComputable) return;
    const percent = Math.floor((100 * loaded) / total);
    advance(line, percent);
    show(percent);
  });
  const body = new FormData();
  body.set("file", file);
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("Accept", "text/html");
  request.setRequestHeader("HX-Current-URL", location.href);
  show(0);
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
