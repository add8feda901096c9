import { $ } from "./dom.js";

/**
 * Models are suggested from the chosen driver while one is typed, and the field says what the driver needs.
 * @param {HTMLFormElement} form
 */
export function suggestModels(form) {
  /** @type {HTMLSelectElement | null} */
  const driver = $("select[data-models]", form);
  /** @type {HTMLInputElement | null} */
  const model = $("[name=driver_desc]", form);
  if (!driver || !model) return;
  const hint = $("#f-driver_desc-hint", form);
  const withoutDriver = "Empty takes the driver’s own.";
  /** @type {number | undefined} */
  let timer;
  let asked = 0;
  const ask = async () => {
    const list = $("datalist", form);
    const mine = ++asked;
    if (driver.value === "") {
      list?.replaceChildren();
      model.required = false;
      if (hint) hint.textContent = withoutDriver;
      return;
    }
    const text = await suggestionsOf(driver.value, model.value);
    if (mine !== asked) return;
    if (text === undefined) {
      list?.replaceChildren();
      if (hint)
        hint.textContent =
          "The service does not answer with the driver’s models: type the name as its INF has it.";
      return;
    }
    const found = new DOMParser().parseFromString(text, "text/html");
    const fresh = $("datalist", found);
    list?.replaceChildren(...found.querySelectorAll("option"));
    model.required = fresh?.dataset.needed === "1";
    if (hint && fresh?.dataset.hint) hint.textContent = fresh.dataset.hint;
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
    const answer = await fetch(`/drivers/${encodeURIComponent(driver)}/models?${query}`);
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Enter in a search within a form searches, and does not send the form.
 * @param {HTMLInputElement} input
 */
export function searchOnly(input) {
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
