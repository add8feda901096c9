import { $, base } from "./dom.js";

/**
 * Models are suggested from the chosen driver while one is typed, and the field says what the driver needs.
 * @param {HTMLSelectElement | HTMLInputElement} driver with the name of the model's field
 */
export function suggestModels(driver) {
  const { form } = driver;
  /** @type {HTMLInputElement | null} */
  const model = form && $(`[name=${driver.dataset.models}]`, form);
  if (!form || !model) return;
  const hint = $(`#f-${model.name}-hint`, form);
  // What the second driver's field says of the first.
  const arm64Hint = model.name === "driver_desc" ? $("#f-arm64_driver_id-hint", form) : null;
  const withoutDriver = "Leave empty to use the driver’s model.";
  const unanswered = "Platen cannot load the models. Type the model as in the INF.";
  /** @type {number | undefined} */
  let timer;
  let asked = 0;
  /**
   * @param {readonly Node[]} options
   * @param {boolean} isNeeded
   * @param {string | undefined} text
   */
  const show = (options, isNeeded, text) => {
    model.list?.replaceChildren(...options);
    // A field without a hint stands in a form that says by itself whether it is needed.
    if (hint) model.required = isNeeded;
    if (hint && text) hint.textContent = text;
  };
  const ask = async () => {
    const mine = ++asked;
    if (driver.value === "") return show([], false, withoutDriver);
    const text = await suggestionsOf(driver.value, model.value);
    if (mine !== asked) return;
    if (text === undefined) return show([], model.required, unanswered);
    const found = new DOMParser().parseFromString(text, "text/html");
    const fresh = $("datalist", found);
    show([...found.querySelectorAll("option")], fresh?.dataset.needed === "1", fresh?.dataset.hint);
    if (arm64Hint && fresh?.dataset.arm64) arm64Hint.textContent = fresh.dataset.arm64;
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

/**
 * @param {string} driver
 * @param {string} typed
 * @returns {Promise<string | undefined>} undefined where there is no answer
 */
async function suggestionsOf(driver, typed) {
  const query = new URLSearchParams({ suggest: "1", q: typed });
  try {
    const answer = await fetch(`${base}/drivers/${encodeURIComponent(driver)}/models?${query}`, {
      headers: { "HX-Request": "true" },
    });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

// A button with a model's name fills the field with it. Without scripts it sends the form.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button?.form || button.dataset.fill === undefined) return;
  /** @type {HTMLInputElement | null} */
  const field = $(`[name="${button.name}"]:not(button, [type=hidden])`, button.form);
  if (!field) return;
  event.preventDefault();
  field.value = button.value;
  field.removeAttribute("aria-invalid");
  field.closest(".wrong")?.classList.remove("wrong");
  $(`#f-${field.name}-problem`, button.form)?.remove();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
});

/**
 * Enter in a search within a form searches, and does not send the form.
 * @param {HTMLInputElement} input
 */
export function searchOnly(input) {
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
