import { $, notify } from "./dom.js";

/**
 * @typedef {object} Upload
 * @property {File} file
 * @property {HTMLLIElement} line
 * @property {XMLHttpRequest} request
 * @property {boolean} isCancelled
 */

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
  const label = button.textContent ?? "";
  /** @type {Upload[]} */
  const waiting = [];
  let isRunning = false;

  /** @param {readonly File[]} files */
  const add = (files) => {
    if (!isRunning) lines.replaceChildren();
    const [taken, others] = isSingle ? [files.slice(0, 1), files.slice(1)] : [files, []];
    for (const file of taken) waiting.push(lineOf(file, lines));
    for (const file of others)
      refuse(lineOf(file, lines), "One ZIP is taken here: upload others under Drivers.");
    lines.hidden = false;
    open = waiting.length + Number(isRunning);
    if (!isRunning) void run();
  };
  const run = async () => {
    isRunning = true;
    button.setAttribute("disabled", "");
    /** @type {HTMLElement[]} */
    const answers = [];
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      open = waiting.length + 1;
      const answer = await uploadOne(next, form, (text) => {
        button.textContent = text;
      });
      if (answer) answers.push(answer);
    }
    open = 0;
    isRunning = false;
    button.removeAttribute("disabled");
    button.textContent = label;
    form.reset();
    const [first] = answers.filter((answer) => answer.matches(".bad"));
    (first ?? answers.at(-1))?.focus();
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
 * @param {File} file
 * @param {HTMLElement} lines
 * @returns {Upload}
 */
function lineOf(file, lines) {
  const line = document.createElement("li");
  const name = document.createElement("bdi");
  name.textContent = file.name;
  const state = document.createElement("span");
  state.className = "state";
  state.textContent = "waits";
  const bar = document.createElement("progress");
  bar.max = 100;
  bar.value = 0;
  bar.setAttribute("aria-label", `Upload of ${file.name}`);
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.setAttribute("aria-label", `Cancel ${file.name}`);
  line.append(name, " ", state, bar, cancel);
  lines.append(line);
  const upload = { file, line, request: new XMLHttpRequest(), isCancelled: false };
  cancel.addEventListener("click", () => {
    upload.isCancelled = true;
    upload.request.abort();
    if (upload.request.readyState === XMLHttpRequest.UNSENT) say(upload, "cancelled");
  });
  return upload;
}

/**
 * What stands in the line once the upload is over.
 * @param {Upload} upload
 * @param {string} text
 */
function say({ line }, text) {
  for (const part of line.querySelectorAll("progress, button")) part.remove();
  const state = $(".state", line);
  if (state) state.textContent = text;
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @param {(text: string) => void} show
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
    return refuse(
      upload,
      "The service does not answer, or the upload broke off. Nothing was stored: try again.",
    );
  }
  const page = new DOMParser().parseFromString(answer, "text/html");
  const notice = $(".notice", page.body);
  if (!notice) return refuse(upload, `The service answered with ${upload.request.status}.`);
  say(upload, "");
  upload.line.append(notice);
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
  return "It is no ZIP, and nothing was sent. Of a setup program, unpack it and upload the folder with the INF as a ZIP.";
}

/**
 * @param {Upload} upload
 * @param {HTMLFormElement} form
 * @param {(text: string) => void} show
 * @returns {Promise<string | undefined>} what the service answers, if it does
 */
function send({ file, line, request }, form, show) {
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (lengthComputable) advance(line, Math.floor((100 * loaded) / total), show);
  });
  const body = new FormData();
  body.set("file", file);
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("Accept", "text/html");
  request.setRequestHeader("HX-Current-URL", location.href);
  show("Uploading 0 %");
  return new Promise((resolve) => {
    request.addEventListener("load", () => resolve(request.responseText));
    for (const end of ["error", "abort"]) request.addEventListener(end, () => resolve(undefined));
    request.send(body);
  });
}

/**
 * @param {HTMLElement} line
 * @param {number} percent
 * @param {(text: string) => void} show
 */
function advance(line, percent, show) {
  /** @type {HTMLProgressElement | null} */
  const bar = $("progress", line);
  const state = $(".state", line);
  if (bar) bar.value = percent;
  if (state) state.textContent = percent < 100 ? `${percent} %` : "is read…";
  show(percent < 100 ? `Uploading ${percent} %` : "Reading the file…");
}

/**
 * @param {Upload} upload
 * @param {string} text
 */
function refuse(upload, text) {
  say(upload, "");
  const notice = document.createElement("div");
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.tabIndex = -1;
  notice.textContent = text;
  upload.line.append(notice);
  return notice;
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

/**
 * Brings to life what no fragment of htmx brought.
 * @param {HTMLElement} element
 */
function bring(element) {
  htmx.process(element);
  element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
}
