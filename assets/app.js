// What makes the pages smoother. Everything works without it, by plain forms and links.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);

  /** Shows a message in the status line; screen readers read it out. */
  function notify(text) {
    const place = $("#status");
    if (place) place.textContent = text;
  }

  // The port's name follows the address until somebody types one.
  function derivePort(form) {
    const address = $("[name=address]", form);
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

  // Models are suggested from the chosen driver while one is typed.
  function suggestModels(form) {
    const driver = $("select[data-models]", form);
    const model = $("[name=driver_desc]", form);
    if (!driver || !model) return;
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

  // Nothing typed is lost: leaving a changed form asks.
  let changed;
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

  // Uploads show how far they are, and can be cancelled.
  function watchUpload(form) {
    const bar = $("progress", form);
    const button = $("button:not(.cancel)", form);
    const cancel = $(".cancel", form);
    const label = button.textContent;
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

  /** Copies text also on plain http, where the clipboard interface does not exist. */
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
    const button = target.closest?.("button[data-copy]");
    if (!button) return;
    try {
      await copy($(`#${button.dataset.copy}`).textContent);
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

  /** Brings a part of the page to life, once. */
  function prepare(root) {
    const each = (selector, work) => {
      const found = [...root.querySelectorAll(selector)];
      if (root.matches?.(selector)) found.push(root);
      for (const element of found) {
        element.prepared ??= new Set();
        if (element.prepared.has(work)) continue;
        element.prepared.add(work);
        work(element);
      }
    };
    each("form", derivePort);
    each("form", suggestModels);
    each("form[data-guard]", guard);
    each("form.upload", watchUpload);
    each("button[data-copy]", (button) => {
      button.hidden = false;
    });
  }

  document.addEventListener("htmx:load", ({ target }) => prepare(target));
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
  const form = $("#new-printer");
  if (form && matchMedia("(min-width: 1200px)").matches) form.open = true;
  prepare(document.body);
  openTarget();
  const refused = $("[data-focus]");
  if (refused) refused.focus();
})();
