import { $ } from "./dom.js";

/**
 * The port's name follows the address until somebody types one.
 * @param {HTMLFormElement} form
 */
export function derivePort(form) {
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
