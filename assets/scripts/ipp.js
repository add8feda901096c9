import { $ } from "./dom.js";

/**
 * IPP and its driver are chosen together, and each protocol has its own usual port.
 * @param {HTMLFormElement} form
 */
export function pairIpp(form) {
  /** @type {HTMLSelectElement | null} */
  const protocol = $("[name=protocol]", form);
  /** @type {HTMLSelectElement | null} */
  const driver = $("select[data-ipp]", form);
  /** @type {HTMLInputElement | null} */
  const number = $("[name=port_number]", form);
  if (!protocol || !driver || !number) return;
  const ippDriver = driver.dataset.ipp ?? "";
  const usual = { raw: number.dataset.default ?? "", ipp: number.dataset.ipp ?? "" };
  /** @param {boolean} isIpp */
  const follow = (isIpp) => {
    const [from, to] = isIpp ? [usual.raw, usual.ipp] : [usual.ipp, usual.raw];
    if (number.value.trim() === from) number.value = to;
  };
  /** @param {HTMLSelectElement} select @param {string} value */
  const choose = (select, value) => {
    if (select.value === value) return;
    select.value = value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };
  driver.addEventListener("change", () => {
    if (driver.value === ippDriver) choose(protocol, "ipp");
    else if (protocol.value === "ipp") choose(protocol, "raw");
  });
  protocol.addEventListener("change", () => {
    const isIpp = protocol.value === "ipp";
    follow(isIpp);
    if (isIpp) choose(driver, ippDriver);
    else if (driver.value === ippDriver) choose(driver, "");
  });
}
