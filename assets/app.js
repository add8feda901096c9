// What makes the pages smoother. Everything works without it, by plain forms and links.
(() => {
  /**
   * The first element that a selector finds.
   * @template {Element} [T=HTMLElement]
   * @param {string} selector
   * @param {ParentNode} [from]
   * @returns {T | null}
   */
  const $ = (selector, from = document) => from.querySelector(selector);

  /**
   * Shows a message in the status line; screen readers read it out.
   * @param {string} text
   */
  function notify(text) {
    const place = $("#status");
    if (place) place.textContent = text;
  }

  /**
   * The port's name follows the address until somebody types one.
   * @param {HTMLFormElement} form
   */
  function derivePort(form) {
    /** @type {HTMLInputElement | null} */
    const address = $("[name=address]", form);
    /** @type {HTMLInputElement | null} */
    const port = $("[name=port_name]", form);
    if (!address || !port) return;
    const derived = () => {
      const typed = address.value.trim().replace(/^\[(.*)\]$/, "$1");
      return typed === "" ? "" : `IP_${typed}`;
    };
    let isOwn = port.value !== "" && port.value !== derived();
    address.addEventListener("input", () => {
      if (!isOwn) port.value = derived();
    });
    port.addEventListener("input", () => {
      isOwn = port.value.trim() !== "";
    });
  }

  /**
   * Models are suggested from the chosen driver while one is typed.
   * @param {HTMLFormElement} form
   */
  function suggestModels(form) {
    /** @type {HTMLSelectElement | null} */
    const driver = $("select[data-models]", form);
    /** @type {HTMLInputElement | null} */
    const model = $("[name=driver_desc]", form);
    if (!driver || !model) return;
    /** @type {number | undefined} */
    let timer;
    let asked = 0;
    const ask = async () => {
      const list = $("#models", form);
      const mine = ++asked;
      if (driver.value === "") {
        list?.replaceChildren();
        return;
      }
      const query = new URLSearchParams({ suggest: "1", q: model.value });
      const answer = await fetch(`/drivers/${encodeURIComponent(driver.value)}/models?${query}`);
      if (!answer.ok || mine !== asked) return;
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      list?.replaceChildren(...found.querySelectorAll("option"));
    };
    driver.addEventListener("change", () => {
      model.value = "";
      void ask();
    });
    model.addEventListener("focus", () => void ask());
    model.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => void ask(), 200);
    });
  }

  /** @type {HTMLFormElement | undefined} */
  let changed;

  /**
   * Nothing typed is lost: leaving a changed form asks.
   * @param {HTMLFormElement} form
   */
  function guard(form) {
    form.addEventListener("input", () => {
      changed = form;
    });
    form.addEventListener("submit", () => {
      changed = undefined;
    });
  }
  addEventListener("beforeunload", (event) => {
    if (changed?.isConnected) event.preventDefault();
  });

  /**
   * Uploads show how far they are, and can be cancelled.
   * @param {HTMLFormElement} form
   */
  function watchUpload(form) {
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
      if (detail.successful) form.reset();
    });
    form.addEventListener("htmx:xhr:abort", () => notify("The upload is cancelled."));
    cancel?.addEventListener("click", () => htmx.trigger(form, "htmx:abort"));
  }

  /**
   * Copies text also on plain http, where the clipboard interface does not exist.
   * @param {string} text
   */
  async function copy(text) {
    if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("the browser refused");
  }

  document.addEventListener("click", async ({ target }) => {
    if (!(target instanceof Element)) return;
    /** @type {HTMLButtonElement | null} */
    const button = target.closest("button[data-copy]");
    const source = button && $(`#${button.dataset.copy}`);
    if (!source) return;
    try {
      await copy(source.textContent);
      button.textContent = "Copied";
      notify("Copied");
    } catch {
      notify("Copying is not allowed here: select the text and copy it.");
    }
    button.focus();
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });

  /** @param {HTMLButtonElement} button */
  function unhide(button) {
    button.hidden = false;
  }

  /**
   * Brings a part of the page to life, once.
   * @param {Element} root
   */
  function prepare(root) {
    each(root, "form", derivePort);
    each(root, "form", suggestModels);
    each(root, "form[data-guard]", guard);
    each(root, "form.upload", watchUpload);
    each(root, "button[data-copy]", unhide);
  }

  /** @type {WeakMap<Element, Set<unknown>>} */
  const prepared = new WeakMap();

  /**
   * Works once on each element that a selector finds, the root among them.
   * @template {Element} T
   * @param {Element} root
   * @param {string} selector
   * @param {(element: T) => void} work
   */
  function each(root, selector, work) {
    /** @type {T[]} */
    const found = Array.from(root.querySelectorAll(selector));
    if (root.matches(selector)) found.push(/** @type {T} */ (root));
    for (const element of found) {
      const done = prepared.get(element) ?? new Set();
      if (done.has(work)) continue;
      prepared.set(element, done.add(work));
      work(element);
    }
  }

  document.addEventListener("htmx:load", ({ target }) => {
    if (target instanceof Element) prepare(target);
  });
  document.addEventListener("htmx:afterSettle", () => {
    const place = $("[data-focus]");
    place?.removeAttribute("data-focus");
    place?.focus();
  });
  document.addEventListener("htmx:sendError", () =>
    notify("The service does not answer. What you typed is still here."),
  );
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) changed = undefined;
  });

  // A link to the new-printer form opens it.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  }
  addEventListener("hashchange", openTarget);

  // Where there is room beside the list, the form stands there open.
  /** @type {HTMLDetailsElement | null} */
  const form = $("#new-printer");
  if (form && matchMedia("(min-width: 1200px)").matches) form.open = true;
  prepare(document.body);
  openTarget();
  const refused = $("[data-focus]");
  if (refused) refused.focus();
})();
