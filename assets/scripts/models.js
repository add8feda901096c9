import { $ } from "./dom.js";

/**
 * Models are suggested from the chosen driver while one is typed.
 * @param {HTMLFormElement} form
 */
export function suggestModels(form) {
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
