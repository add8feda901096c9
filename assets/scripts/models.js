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
    const query = new URLSearchParams({ suggest: "1", q: model.value });
    const answer = await fetch(`/drivers/${encodeURIComponent(driver.value)}/models?${query}`);
    if (!answer.ok || mine !== asked) return;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
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
 * Enter in a search within a form searches, and does not send the form.
 * @param {HTMLInputElement} input
 */
export function searchOnly(input) {
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
