import { $, notify } from "./dom.js";

/**
 * Uploads show how far they are, and can be cancelled.
 * @param {HTMLFormElement} form
 */
export function watchUpload(form) {
  /** @type {HTMLProgressElement | null} */
  const bar = $("progress", form);
  const button = $("button:not(.cancel)", form);
  const cancel = $(".cancel", form);
  if (!bar || !button) return;
  const label = button.textContent;
  /** @param {boolean} isRunning */
  const show = (isRunning) => {
    bar.hidden = !isRunning;
    if (cancel) cancel.hidden = !isRunning;
    if (!isRunning) button.textContent = label;
  };
  form.addEventListener("htmx:beforeRequest", () => show(true));
  form.addEventListener("htmx:xhr:progress", ({ detail }) => {
    if (!detail.lengthComputable) return;
    const percent = Math.floor((100 * detail.loaded) / detail.total);
    bar.value = percent;
    button.textContent = percent < 100 ? `Uploading ${percent} %` : "Reading the file…";
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    show(false);
    // What was refused stays chosen.
    if (detail.successful && detail.xhr.status < 400) form.reset();
  });
  form.addEventListener("htmx:xhr:abort", () => {
    notify("Upload cancelled.", "good");
    // The button that was pressed is gone; the file is still chosen.
    $("input[type=file]", form)?.focus();
  });
  cancel?.addEventListener("click", () => htmx.trigger(form, "htmx:abort"));
}
